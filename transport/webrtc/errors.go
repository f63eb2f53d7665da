package webrtc

import "errors"

// Why a call ended before its session did; [Conn.Run] returns one of them, wrapped, or
// [ErrClosed].
var (
	// ErrPeerGone tells that the caller has hung up. It is how most calls end.
	ErrPeerGone = errors.New("webrtc: the caller has gone")
	// ErrPeerDead tells that the caller was lost and has not come back.
	ErrPeerDead = errors.New("webrtc: the caller does not answer")
	// ErrNotConnected tells that the caller never connected after the answer.
	ErrNotConnected = errors.New("webrtc: the caller never connected")
	// ErrSlowReader tells that the client did not take its messages.
	ErrSlowReader = errors.New("webrtc: the client reads too slowly")
	// ErrFlood tells that the client sent more messages than the limits allow.
	ErrFlood = errors.New("webrtc: the client sends too much")
	// ErrTooLarge tells that the client sent a message that is too large.
	ErrTooLarge = errors.New("webrtc: a message is too large")
	// ErrNotReady tells that the client connected and did not send client-ready in
	// time.
	ErrNotReady = errors.New("webrtc: the client never got ready")
	// ErrBotNotReady tells that the session did not answer client-ready in time.
	ErrBotNotReady = errors.New("webrtc: the bot did not get ready")
	// ErrStuck tells that the caller has gone and the session does not end.
	ErrStuck = errors.New("webrtc: the session does not end")
)

// ErrOffer is wrapped by the errors about an offer that cannot be answered.
var ErrOffer = errors.New("webrtc: the offer cannot be answered")

// errOver tells that a call is over, or about to be.
var errOver = errors.New("webrtc: the call is over")
