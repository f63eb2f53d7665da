package websocket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gorilla/websocket"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/transport/rtvi"
	"github.com/turnwise/turnwise/transport/websocket/wire"
)

// Session is what a connection serves. *[pipeline.Task] is one. If it has a method
// SessionID that returns a string, the connection's log lines carry it.
type Session interface {
	// Run runs the session until it ends; a cancelled ctx ends it at once.
	Run(ctx context.Context) error
	// QueueFrame hands the session a frame without waiting.
	QueueFrame(f frames.Frame)
	// Enqueue hands the session a frame and waits while its queue is full.
	Enqueue(ctx context.Context, f frames.Frame) error
}

// Run serves a session: it runs it on a goroutine of its own and reads from
// the client on the calling one, until both have ended. It is called once.
//
// When the client goes first, for whatever reason, a client that was ready is
// announced as gone by one [frames.ClientDisconnectedFrame] and the session is
// cancelled. When the session ends first, or ctx is cancelled, what is queued for the
// client is written, the closing handshake made and the socket closed, all within
// [Config].CloseTimeout. A session that fails, or does not get ready in time, is
// told the client as a fatal error.
//
// Run returns the session's error when the session ended first, nil meaning
// gracefully, and otherwise an error that wraps one of this package's, such as
// [ErrPeerGone].
func (c *Conn) Run(ctx context.Context, session Session) error {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	if s, ok := session.(interface{ SessionID() string }); ok {
		c.log = c.log.With("session", s.SessionID())
	}
	in, err := rtvi.NewInput(rtvi.InputConfig{
		Sender: c, Logger: c.log, MaxText: c.cfg.MaxText,
		Queue: func(f frames.Frame) error { return session.Enqueue(reading, f) },
	})
	if err != nil {
		return err
	}
	c.begin(session, in, stop)
	ended := make(chan error, 1)
	go func() {
		err := session.Run(ctx)
		c.sessionEnded(ctx, err)
		ended <- err
	}()
	c.disconnect(c.read())
	err = c.await(ended)
	c.finish()
	return c.verdict(err)
}

// Reject tells the client why it gets no session, as a fatal error, and closes the
// connection within [Config].CloseTimeout. It is called instead of Run.
func (c *Conn) Reject(reason string) {
	c.Send(rtvi.AppendError(nil, reason, true), rtvi.Final)
	c.goodbye(websocket.CloseTryAgainLater, reason)
	for {
		if _, _, err := c.ws.NextReader(); err != nil {
			break
		}
	}
	c.finish()
}

// begin starts the clocks.
func (c *Conn) begin(session Session, in *rtvi.Input, stop context.CancelFunc) {
	c.alive()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session, c.in, c.stop = session, in, stop
	c.ping = time.AfterFunc(c.cfg.PingInterval, c.sendPing)
	c.ready = time.AfterFunc(c.cfg.ReadyTimeout, c.checkReady)
}

// checkReady is the function of the timer that watches the beginning: first for
// the client, then for the bot.
func (c *Conn) checkReady() {
	if !c.enter() {
		return
	}
	defer c.jobs.Done()
	switch {
	case !c.in.Ready():
		c.refuse(ErrNotReady, websocket.ClosePolicyViolation, "The client did not send client-ready in time.")
	case !c.in.Answered():
		c.refuse(ErrBotNotReady, websocket.CloseInternalServerErr, "The bot could not get ready in time.")
	}
}

// read reads until the connection is at its end, and says why it is.
func (c *Conn) read() error {
	var buf []byte
	ready := false
	for {
		kind, r, err := c.ws.NextReader()
		if err != nil {
			return readCause(err)
		}
		buf, err = readMessage(buf, r, c.cfg.MaxMessage)
		switch {
		case errors.Is(err, ErrTooLarge):
			c.refuse(err, websocket.CloseMessageTooBig, fmt.Sprintf("A message may have at most %d bytes.", c.cfg.MaxMessage))
			buf = nil
			continue
		case err != nil:
			return readCause(err)
		}
		c.handle(kind, buf)
		if !ready && c.in.Ready() {
			ready = true
			c.ready.Reset(c.cfg.BotReadyTimeout)
		}
		if cap(buf) > keepBuffer {
			buf = nil
		}
	}
}

// keepBuffer is the largest read buffer that a connection keeps.
const keepBuffer = 2 << 10

// readMessage reads one message into buf, growing it as needed.
func readMessage(buf []byte, r io.Reader, limit int) ([]byte, error) {
	if buf == nil {
		buf = make([]byte, 0, 512)
	}
	buf = buf[:0]
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if len(buf) > limit {
			return buf, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
		}
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
	}
}

// handle acts on one message, within the limits. What the session does not take
// any more is ignored: the end is under way then.
func (c *Conn) handle(kind int, msg []byte) {
	if c.isClosing() {
		return
	}
	if kind == websocket.TextMessage {
		c.out.settle(formJSON)
		c.message(msg)
		return
	}
	c.out.settle(formBinary)
	f, err := wire.Decode(msg)
	switch {
	case err != nil:
		if c.allow(c.messages) {
			c.Send(rtvi.AppendErrorResponse(nil, "", "The binary message is not a frame of the protocol."), rtvi.Essential)
		}
	case f.Kind == wire.Message:
		c.message(f.Data)
	case f.Kind == wire.Audio:
		if c.allow(c.audio) {
			_ = c.in.Audio(f.Audio, int(f.Rate), int(f.Channels))
		}
	default:
		// Kinds that clients have no reason to send.
		c.allow(c.messages)
	}
}

func (c *Conn) message(msg []byte) {
	if c.allow(c.messages) {
		_ = c.in.Message(msg)
	}
}
