package pipeline

import (
	"errors"
	"time"

	"github.com/turnwise/turnwise/frames"
)

// source is the head of every pipeline: what travels upstream past the first
// processor ends here.
type source struct{ Base }

// Name is "source".
func (*source) Name() string { return "source" }

// Process passes frames on downstream and handles what comes up.
func (s *source) Process(f frames.Frame, dir Direction) {
	l := s.node.loop
	if dir == Downstream {
		if _, end := f.(*frames.EndFrame); end {
			l.beginEnd()
		}
		s.Push(f, Downstream)
		return
	}
	switch f := f.(type) {
	case *frames.ErrorFrame:
		l.report(f)
	case *frames.EndFrame, *frames.CancelFrame:
		l.walkTo(s.node, f, Downstream)
	default:
		drop(f)
	}
}

// sink is the tail of every pipeline: what arrives here has been played or sent.
type sink struct{ Base }

// Name is "sink".
func (*sink) Name() string { return "sink" }

// Process takes frames in.
func (s *sink) Process(f frames.Frame, dir Direction) {
	l := s.node.loop
	switch f := f.(type) {
	case *frames.EndFrame:
		l.finish(nil)
		return
	case *frames.CancelFrame:
		l.finish(&CancelError{Reason: f.Reason})
		return
	case *frames.MarkFrame:
		f.Arrive()
	case *frames.HeartbeatFrame:
		l.heartbeatArrived(time.Since(f.Sent))
	}
	if l.endTimer.Active() {
		l.endTimer.postpone(l.task.params.EndTimeout)
	}
	if f.Class().Kind() == frames.ClassData {
		l.active()
	}
}

// CancelError is how a session ended that was cancelled.
type CancelError struct {
	// Reason is the CancelFrame's.
	Reason string
}

// Error says why the session was cancelled.
func (e *CancelError) Error() string {
	if e.Reason == "" {
		return "pipeline: the session was cancelled"
	}
	return "pipeline: the session was cancelled: " + e.Reason
}

// ErrEndTimeout ends a session whose graceful end made no progress any more.
var ErrEndTimeout = errors.New("pipeline: the end took too long; what was left was dropped")

// beginEnd starts the clock of a graceful end. The clock starts again whenever
// something arrives at the sink, so that a long farewell is played out, up to
// [Params.EndLimit] in all.
func (l *loop) beginEnd() {
	if l.endTimer.Active() {
		return
	}
	p := &l.task.params
	begun := time.Now()
	l.endTimer = l.timers.after(SessionScope, p.EndTimeout, func() { l.finish(ErrEndTimeout) })
	l.timers.after(SessionScope, p.EndLimit, func() {
		l.log.Warn("graceful end cut", "after", time.Since(begun))
		l.finish(ErrEndTimeout)
	})
}

// report hands an error frame that reached the head to the log and the session's
// owner.
func (l *loop) report(f *frames.ErrorFrame) {
	l.log.Error("session error", "category", string(f.Category), "source", f.Source, "err", f.Err, "fatal", f.Fatal)
	if h := l.task.params.OnError; h != nil {
		h(f)
	}
	if f.Fatal {
		err := f.Err
		if err == nil {
			err = errors.New(f.Public)
		}
		l.fail(err)
	}
}

// active notes that something happened, for the idle timeout.
func (l *loop) active() {
	if l.task.params.IdleTimeout > 0 {
		l.lastActive = time.Now()
	}
}

// watchIdle ends a session in which nothing has happened for too long.
func (l *loop) watchIdle() {
	limit := l.task.params.IdleTimeout
	if limit <= 0 {
		return
	}
	l.lastActive = time.Now()
	var t *Timer
	t = l.timers.after(SessionScope, limit, func() {
		if left := limit - time.Since(l.lastActive); left > 0 {
			t.Reset(left)
			return
		}
		if h := l.task.params.OnIdle; h != nil && h() {
			l.lastActive = time.Now()
			t.Reset(limit)
			return
		}
		l.log.Info("session idle", "for", limit)
		l.task.End("idle")
	})
}

// beat sends heartbeats through the pipeline.
func (l *loop) beatHeart() {
	every := l.task.params.Heartbeat
	if every <= 0 {
		return
	}
	var t *Timer
	t = l.timers.after(SessionScope, every, func() {
		l.walkTo(l.head, &frames.HeartbeatFrame{Sent: time.Now()}, Downstream)
		t.Reset(every)
	})
}

func (l *loop) heartbeatArrived(took time.Duration) {
	if h := l.task.params.OnHeartbeat; h != nil {
		h(took)
	}
}
