package websocket

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/time/rate"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/transport/rtvi"
)

// allow takes one message from a limit, and ends the connection when there is none
// left.
func (c *Conn) allow(l *rate.Limiter) bool {
	if l.Allow() {
		return true
	}
	c.flooded()
	return false
}

func (c *Conn) flooded() {
	c.refuse(ErrFlood, websocket.ClosePolicyViolation, "Too many messages; slow down.")
}

// note remembers why the connection ends; the first reason counts.
func (c *Conn) note(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil && !c.over && !c.closing {
		c.cause = cause
	}
}

func (c *Conn) isClosing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closing
}

// refuse ends the connection from our side: the client is told why, the session
// that it is gone. The reading goes on until the handshake is over.
func (c *Conn) refuse(cause error, code int, public string) {
	c.note(cause)
	if !c.startClosing() {
		return
	}
	c.Send(rtvi.AppendError(nil, public, true), rtvi.Final)
	c.tell(cause)
	c.spawn(func() { c.farewell(code, public) })
}

// broken is the outbox's: nothing can be written any more. Closing the socket ends
// the reading, and that ends the session.
func (c *Conn) broken(err error) {
	cause := err
	if !errors.Is(err, ErrSlowReader) {
		cause = writeCause(err)
	}
	c.note(cause)
	c.spawn(func() {
		c.stopReading()
		_ = c.ws.Close()
	})
}

func (c *Conn) stopReading() {
	c.mu.Lock()
	stop := c.stop
	c.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// disconnect follows the end of the reading.
func (c *Conn) disconnect(cause error) {
	c.note(cause)
	c.tell(cause)
	_ = c.ws.Close()
}

// tell lets the session know, once, that its client is gone, and cancels it.
func (c *Conn) tell(cause error) {
	c.mu.Lock()
	told := c.told
	c.told = true
	if c.cause != nil {
		cause = c.cause
	}
	c.mu.Unlock()
	if told {
		return
	}
	reason := strings.TrimPrefix(cause.Error(), "websocket: ")
	if c.in.Ready() {
		c.session.QueueFrame(&frames.ClientDisconnectedFrame{Reason: reason})
	}
	c.session.QueueFrame(&frames.CancelFrame{Reason: reason})
}

// sessionEnded follows the end of the session: a failure is told the client, and the
// connection closed.
func (c *Conn) sessionEnded(ctx context.Context, err error) {
	c.mu.Lock()
	c.over = c.cause == nil
	away := c.away
	c.mu.Unlock()
	var cancelled *pipeline.CancelError
	switch {
	case err != nil && ctx.Err() == nil && !errors.As(err, &cancelled):
		c.Send(rtvi.AppendError(nil, "The session ended because of an error on the server.", true), rtvi.Final)
		c.goodbye(websocket.CloseInternalServerErr, "the session failed")
	case c.in.Ready() && !c.in.Answered():
		c.Send(rtvi.AppendError(nil, "The session ended before the bot was ready.", true), rtvi.Final)
		c.goodbye(websocket.CloseInternalServerErr, "the bot was not ready")
	case err != nil:
		c.goodbye(websocket.CloseGoingAway, "the session was cancelled")
	case away:
		c.goodbye(websocket.CloseGoingAway, "the server is shutting down")
	default:
		c.goodbye(websocket.CloseNormalClosure, "the session has ended")
	}
}

// GoingAway tells that the server, not the conversation, is at its end: when the
// session ends gracefully from now on, the client is told so with the close code
// 1001, and may connect again elsewhere.
func (c *Conn) GoingAway() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.away = true
}

// goodbye closes the connection in good order, unless that is under way.
func (c *Conn) goodbye(code int, reason string) {
	if c.startClosing() {
		c.farewell(code, reason)
	}
}

// startClosing reports whether the caller is the one to close the connection. What
// the client sends from here on is not acted on.
func (c *Conn) startClosing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return false
	}
	c.closing = true
	return true
}

// farewell writes out what is queued, then the close message, and lets the reading
// goroutine wait for the answer until the time is up.
func (c *Conn) farewell(code int, reason string) {
	now := time.Now()
	deadline := now.Add(c.cfg.CloseTimeout)
	c.stopReading()
	_ = c.ws.SetReadDeadline(deadline)
	// A third of the time is left for the handshake.
	if !c.out.flush(now.Add(c.cfg.CloseTimeout * 2 / 3)) {
		_ = c.ws.Close()
		return
	}
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "")
	}
	if err := c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, reason), deadline); err != nil {
		_ = c.ws.Close()
	}
}

// maxReason is what fits a close message beside its code.
const maxReason = 123

// await waits for the session's end, which follows the connection's.
func (c *Conn) await(ended <-chan error) error {
	limit := time.NewTimer(c.cfg.StopTimeout)
	defer limit.Stop()
	select {
	case err := <-ended:
		return err
	case <-limit.C:
		return fmt.Errorf("%w: %s after its client had gone it still runs; look for a processor that blocks", ErrStuck, c.cfg.StopTimeout)
	}
}

// finish closes the socket and waits for what the connection started.
func (c *Conn) finish() {
	c.mu.Lock()
	c.finished = true
	for _, t := range []*time.Timer{c.ping, c.ready} {
		if t != nil {
			t.Stop()
		}
	}
	playing := c.playing
	c.mu.Unlock()
	if playing != nil {
		playing.Remove()
	}
	_ = c.ws.Close()
	c.out.seal()
	c.jobs.Wait()
	c.out.jobs.Wait()
}

// verdict is what Run returns.
func (c *Conn) verdict(session error) error {
	c.mu.Lock()
	cause := c.cause
	c.mu.Unlock()
	var cancelled *pipeline.CancelError
	if cause == nil {
		return session
	}
	if session == nil || errors.As(session, &cancelled) {
		return cause
	}
	return errors.Join(cause, session)
}
