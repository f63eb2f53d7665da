package webrtc

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/transport/rtvi"
)

// Session is what a call serves. *[pipeline.Task] is one. If it has a method SessionID
// that returns a string, the call's log lines carry it.
type Session interface {
	// Run runs the session until it ends; a cancelled ctx ends it at once.
	Run(ctx context.Context) error
	// QueueFrame hands the session a frame without waiting. It copies the samples
	// of a [frames.InputAudioFrame].
	QueueFrame(f frames.Frame)
	// Enqueue hands the session a frame and waits while its queue is full.
	Enqueue(ctx context.Context, f frames.Frame) error
}

// Run serves a session: it runs it on a goroutine of its own and returns when both the
// session and the call are over. It is called once.
//
// When the caller goes first, for whatever reason, a client that was ready is announced
// as gone by one [frames.ClientDisconnectedFrame] and the session is cancelled. A
// caller whose network fails counts as gone only when it has not come back within
// [Config].ReattachWindow. When the session ends first, or ctx is cancelled, what is
// queued for the client is sent, the client told that the bot has left, and the
// connection closed, all within [Config].CloseTimeout. A session that fails, or does
// not get ready in time, is told the client as a fatal error; for that, a caller that
// is still connecting is waited for, up to [Config].LostAfter.
//
// Run returns the session's error when the session ended first, nil meaning
// gracefully, and otherwise an error that wraps one of this package's, such as
// [ErrPeerGone].
func (c *Conn) Run(ctx context.Context, session Session) error {
	s := &served{session: session, log: c.engine.cfg.Logger}
	s.reading, s.stop = context.WithCancel(ctx)
	defer s.stop()
	if id, ok := session.(interface{ SessionID() string }); ok {
		s.log = s.log.With("session", id.SessionID())
	}
	in, err := rtvi.NewInput(rtvi.InputConfig{
		Sender: c, Logger: s.log, MaxText: c.engine.cfg.MaxText,
		Queue: func(f frames.Frame) error { return session.Enqueue(s.reading, f) },
	})
	if err != nil {
		return err
	}
	s.in = in
	c.begin(s)
	ended := make(chan error, 1)
	go func() { ended <- session.Run(ctx) }()
	select {
	case err = <-ended:
		c.sessionEnded(ctx, s, err)
	case <-c.gone:
		s.stop()
		c.tell(s)
		err = c.await(ended)
	}
	c.finish()
	return c.verdict(err)
}

// Reject tells the client why it gets no session, as a fatal error, and ends the call.
// It is called instead of Run, and returns when that is done: a caller that is still
// connecting is waited for, up to [Config].LostAfter.
func (c *Conn) Reject(reason string) {
	c.mu.Lock()
	c.starting, c.over = true, true
	c.mu.Unlock()
	c.Send(rtvi.AppendError(nil, reason, true), rtvi.Final)
	c.farewell(c.patience())
	c.finish()
}

// begin lets messages in and starts the clock.
func (c *Conn) begin(s *served) {
	c.served.Store(s)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.starting = true
	c.ready = time.AfterFunc(c.engine.cfg.ReadyTimeout, c.checkReady)
	close(c.begun)
}

// clientReady gives the bot a time in which to answer.
func (c *Conn) clientReady() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.heardReady {
		c.heardReady = true
		c.ready.Reset(c.engine.cfg.BotReadyTimeout)
	}
}

// checkReady is the function of the timer that watches the beginning: first for the
// client, then for the bot.
func (c *Conn) checkReady() {
	in := c.served.Load().in
	switch {
	case !in.Ready():
		c.refuse(ErrNotReady, "The client did not send client-ready in time.")
	case !in.Answered():
		c.refuse(ErrBotNotReady, "The bot could not get ready in time.")
	}
}

// refuse ends the call from our side, telling the client why.
func (c *Conn) refuse(cause error, public string) {
	c.Send(rtvi.AppendError(nil, public, true), rtvi.Final)
	c.end(cause)
}

// end ends the call; the first reason counts.
func (c *Conn) end(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause != nil || c.over || c.closing || c.finished {
		return
	}
	c.cause = cause
	close(c.gone)
}

// abandon ends the call because the engine is closed.
func (c *Conn) abandon(cause error) {
	c.end(cause)
	c.mu.Lock()
	starting := c.starting
	c.mu.Unlock()
	if !starting {
		c.discard()
	}
}

func (c *Conn) isClosing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closing || c.cause != nil
}

// tell lets the session know that its client is gone, and cancels it.
func (c *Conn) tell(s *served) {
	c.mu.Lock()
	reason := strings.TrimPrefix(c.cause.Error(), "webrtc: ")
	c.mu.Unlock()
	if s.in.Ready() {
		s.session.QueueFrame(&frames.ClientDisconnectedFrame{Reason: reason})
	}
	s.session.QueueFrame(&frames.CancelFrame{Reason: reason})
}

// sessionEnded follows the end of the session: a failure is told the client.
func (c *Conn) sessionEnded(ctx context.Context, s *served, err error) {
	c.mu.Lock()
	c.over = c.cause == nil
	c.mu.Unlock()
	s.stop()
	var cancelled *pipeline.CancelError
	limit := c.engine.cfg.CloseTimeout / 2
	switch {
	case err != nil && ctx.Err() == nil && !errors.As(err, &cancelled):
		limit = c.patience()
		c.Send(rtvi.AppendError(nil, "The session ended because of an error on the server.", true), rtvi.Final)
	case s.in.Ready() && !s.in.Answered():
		c.Send(rtvi.AppendError(nil, "The session ended before the bot was ready.", true), rtvi.Final)
	}
	c.farewell(limit)
}

// patience is how long a client is waited for that is to be told an error: one that is
// still connecting, as when the bot cannot even be started, as long as it would take to
// count as lost.
func (c *Conn) patience() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reached {
		return c.engine.cfg.CloseTimeout / 2
	}
	return max(c.engine.cfg.CloseTimeout/2, c.engine.cfg.LostAfter)
}

// farewell sends what is queued and tells the client that the bot has left, so that it
// does not try to come back, within the limit.
func (c *Conn) farewell(limit time.Duration) {
	c.mu.Lock()
	again := c.closing
	c.closing = true
	c.mu.Unlock()
	if again {
		return
	}
	c.out.last([]byte(peerLeftMessage))
	c.out.flush(time.Now().Add(limit))
}

// await waits for the session's end, which follows the call's.
func (c *Conn) await(ended <-chan error) error {
	limit := time.NewTimer(c.engine.cfg.StopTimeout)
	defer limit.Stop()
	select {
	case err := <-ended:
		return err
	case <-limit.C:
		return fmt.Errorf("%w: %s after its caller had gone it still runs; look for a processor that blocks", ErrStuck, c.engine.cfg.StopTimeout)
	}
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
