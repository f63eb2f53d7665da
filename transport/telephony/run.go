package telephony

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// Why a call ended before its session did; [Conn.Run] returns one of them, wrapped.
var (
	// ErrPeerGone tells that the caller has hung up. It is how most calls end.
	ErrPeerGone = errors.New("telephony: the caller has hung up")
	// ErrCarrierGone tells that the carrier closed the stream, or the network did.
	ErrCarrierGone = errors.New("telephony: the carrier's stream has broken off")
	// ErrPeerDead tells that nothing came from the carrier any more.
	ErrPeerDead = errors.New("telephony: the carrier sends nothing")
	// ErrFlood tells that more messages came than the limits allow.
	ErrFlood = errors.New("telephony: the carrier sends too much")
	// ErrProtocol tells that what came is no carrier's message.
	ErrProtocol = errors.New("telephony: the carrier breaks the protocol")
	// ErrStuck tells that the caller has gone and the session does not end.
	ErrStuck = errors.New("telephony: the session does not end")
)

// Session is what a call serves. *[pipeline.Task] is one.
type Session interface {
	// Run runs the session until it ends; a cancelled ctx ends it at once.
	Run(ctx context.Context) error
	// QueueFrame hands the session a frame without waiting. It copies the samples
	// of a [frames.InputAudioFrame].
	QueueFrame(f frames.Frame)
}

// Run serves a session: it runs it on a goroutine of its own and returns when both the
// session and the stream are over. It is called once.
//
// The session is told at once that the caller is there. When the caller goes first, for
// whatever reason, it is told so by one [frames.ClientDisconnectedFrame] and cancelled.
// When the session ends first, or ctx is cancelled, what is queued is written, the call
// hung up at the carrier and the stream closed.
//
// Run returns the session's error when the session ended first, nil meaning
// gracefully, and otherwise an error that wraps one of this package's, such as
// [ErrPeerGone].
func (c *Conn) Run(ctx context.Context, session Session) error {
	writing := make(chan struct{})
	go func() {
		defer close(writing)
		c.write()
	}()
	c.entry = c.exchange.pacer.Add(c)
	session.QueueFrame(&frames.ClientConnectedFrame{About: string(c.info.Carrier)})
	ended := make(chan error, 1)
	go func() { ended <- session.Run(ctx) }()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		c.read(session)
	}()
	var err error
	select {
	case err = <-ended:
		c.entry.Remove()
		c.finish()
		<-writing
		if c.why() == nil {
			c.hangUp(ctx)
		}
		c.goodbye()
		<-gone
		return err
	case <-gone:
	}
	cause := c.why()
	reason := strings.TrimPrefix(cause.Error(), "telephony: ")
	session.QueueFrame(&frames.ClientDisconnectedFrame{Reason: reason})
	session.QueueFrame(&frames.CancelFrame{Reason: reason})
	c.entry.Remove()
	err = c.await(ended)
	c.finish()
	_ = c.ws.Close()
	<-writing
	var cancelled *pipeline.CancelError
	if err == nil || errors.As(err, &cancelled) || errors.Is(err, context.Canceled) {
		return cause
	}
	return errors.Join(cause, err)
}

// Reject hangs up on a caller who gets no session. It is called instead of Run.
func (c *Conn) Reject(string) {
	c.hangUp(context.Background())
	c.goodbye()
	_ = c.ws.Close()
}

// finish lets the writer write what is queued and end.
func (c *Conn) finish() { close(c.quit) }

// goodbye closes the stream.
func (c *Conn) goodbye() {
	c.closing.Store(true)
	limit := time.Now().Add(time.Second)
	_ = c.ws.SetReadDeadline(limit) // for the carrier's answer
	closing := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	if err := c.ws.WriteControl(websocket.CloseMessage, closing, limit); err != nil {
		_ = c.ws.Close()
	}
}

// await waits for the session's end, which follows the stream's.
func (c *Conn) await(ended <-chan error) error {
	limit := time.NewTimer(c.exchange.cfg.StopTimeout)
	defer limit.Stop()
	select {
	case err := <-ended:
		return err
	case <-limit.C:
		return fmt.Errorf("%w: %s after its caller had gone it still runs; look for a processor that blocks", ErrStuck, c.exchange.cfg.StopTimeout)
	}
}

// read hands the session what the carrier sends until the stream is at its end, whose
// reason it notes.
func (c *Conn) read(session Session) {
	sound := decoder{encoding: c.info.Encoding}
	for {
		if !c.closing.Load() {
			_ = c.ws.SetReadDeadline(time.Now().Add(c.exchange.cfg.SilenceTimeout))
		}
		_, raw, err := c.ws.ReadMessage()
		if err == nil && !c.closing.Load() {
			err = c.take(session, raw, &sound)
		} else if err != nil {
			err = readCause(err)
		}
		if err != nil {
			c.note(err)
			_ = c.ws.Close()
			return
		}
	}
}

// take acts on one message; an error ends the call.
func (c *Conn) take(session Session, raw []byte, sound *decoder) error {
	if !c.limit.Allow() {
		return ErrFlood
	}
	var m incoming
	if err := json.Unmarshal(raw, &m); err != nil {
		return fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	switch m.Event {
	case "media":
		if m.Media.Track != "" && !strings.HasPrefix(m.Media.Track, "inbound") {
			return nil // what we sent ourselves
		}
		if samples := sound.decode(m.Media.Payload); len(samples) > 0 {
			session.QueueFrame(&frames.InputAudioFrame{PCM: frames.PCM{Samples: samples, Rate: Rate, Channels: 1}})
		}
	case "dtmf":
		if d := m.DTMF.Digit; len(d) == 1 && strings.Contains("0123456789*#ABCD", d) {
			session.QueueFrame(&frames.DTMFFrame{Buttons: []string{d}})
		}
	case "stop", "closed":
		return ErrPeerGone
	}
	return nil // other messages, such as those that a mark was reached, are nothing to us
}

// readCause says in the package's terms why reading failed.
func readCause(err error) error {
	var closed *websocket.CloseError
	var timeout net.Error
	switch {
	case errors.As(err, &closed) && closed.Code == websocket.CloseNormalClosure:
		return ErrPeerGone
	case errors.Is(err, websocket.ErrReadLimit):
		return fmt.Errorf("%w: a message is too large", ErrProtocol)
	case errors.As(err, &timeout) && timeout.Timeout():
		return ErrPeerDead
	}
	return fmt.Errorf("%w: %w", ErrCarrierGone, err)
}
