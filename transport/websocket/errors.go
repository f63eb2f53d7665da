package websocket

import (
	"errors"
	"fmt"
	"net"

	"github.com/gorilla/websocket"
)

// Why a connection ended before its session did; [Conn.Run] returns one of them,
// wrapped.
var (
	// ErrPeerGone tells that the client has left. It is how most sessions end.
	ErrPeerGone = errors.New("websocket: the client has gone")
	// ErrPeerDead tells that the client gave no sign of life.
	ErrPeerDead = errors.New("websocket: the client does not answer")
	// ErrSlowReader tells that the client did not read what it was sent.
	ErrSlowReader = errors.New("websocket: the client reads too slowly")
	// ErrFlood tells that the client sent more than the limits allow.
	ErrFlood = errors.New("websocket: the client sends too much")
	// ErrTooLarge tells that the client sent a message that is too large.
	ErrTooLarge = errors.New("websocket: a message is too large")
	// ErrProtocol tells that what the client sent is no WebSocket traffic.
	ErrProtocol = errors.New("websocket: the client breaks the protocol")
	// ErrNotReady tells that the client connected and did not send client-ready
	// in time.
	ErrNotReady = errors.New("websocket: the client never got ready")
	// ErrBotNotReady tells that the session did not answer client-ready in time.
	ErrBotNotReady = errors.New("websocket: the bot did not get ready")
	// ErrStuck tells that the client has gone and the session does not end.
	ErrStuck = errors.New("websocket: the session does not end")
)

// readCause says in the package's terms why reading failed.
func readCause(err error) error {
	var closed *websocket.CloseError
	var timeout net.Error
	switch {
	case errors.As(err, &closed):
		if closed.Code == websocket.CloseAbnormalClosure {
			return fmt.Errorf("%w without a close message", ErrPeerGone)
		}
		return fmt.Errorf("%w: it closed with code %d", ErrPeerGone, closed.Code)
	case errors.As(err, &timeout) && timeout.Timeout():
		return ErrPeerDead
	case errors.As(err, &timeout), errors.Is(err, net.ErrClosed):
		return fmt.Errorf("%w: %w", ErrPeerGone, err)
	}
	return fmt.Errorf("%w: %w", ErrProtocol, err)
}

// writeCause says in the package's terms why writing failed.
func writeCause(err error) error {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return fmt.Errorf("%w: a write took too long", ErrSlowReader)
	}
	return fmt.Errorf("%w: %w", ErrPeerGone, err)
}
