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
	l := s.loop
	if dir == Downstream {
		s.downstream(f)
		return
	}
	switch f := f.(type) {
	case *frames.ErrorFrame:
		l.report(f)
	case *frames.EndFrame, *frames.CancelFrame:
		l.walkTo(s.node, f, Downstream)
	default:
		Drop(f)
	}
}

// downstream passes f on. An end that has entered has a deadline, and after a
// cancellation the session is over whatever processors make of it.
func (s *source) downstream(f frames.Frame) {
	switch f := f.(type) {
	case *frames.EndFrame:
		s.loop.beginEnd()
	case *frames.CancelFrame:
		s.Push(f, Downstream)
		s.loop.finish(&CancelError{Reason: f.Reason, Cause: s.loop.cancelled})
		return
	}
	s.Push(f, Downstream)
}

// sink is the tail of every pipeline: what arrives here has been played or sent.
type sink struct{ Base }

// Name is "sink".
func (*sink) Name() string { return "sink" }

// Process takes frames in.
func (s *sink) Process(f frames.Frame, dir Direction) {
	l := s.loop
	f.Header().Trail().Settled = true
	switch f := f.(type) {
	case *frames.InputAudioFrame, *frames.CancelFrame:
		return
	case *frames.EndFrame:
		l.ended = true
		return
	case *frames.HeartbeatFrame:
		l.heartbeatArrived(time.Since(f.Sent))
		return
	case *frames.MarkFrame:
		f.Arrive()
	}
	if f.Class().IsSystem() {
		return
	}
	// The way out works: a graceful end has more time, and the session is alive.
	if l.ending {
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
	// Cause is that of the context of [Task.Run], when its end cancelled the
	// session; else nil.
	Cause error
}

// Error says why the session was cancelled.
func (e *CancelError) Error() string {
	if e.Reason == "" {
		return "pipeline: the session was cancelled"
	}
	return "pipeline: the session was cancelled: " + e.Reason
}

// Unwrap returns the context's cause, if there is one.
func (e *CancelError) Unwrap() error { return e.Cause }

// ErrEndTimeout ends a session whose graceful end made no progress any more.
var ErrEndTimeout = errors.New("pipeline: the end took too long; what was left was dropped")

// beginEnd starts the clock of a graceful end. The clock starts again whenever
// content arrives at the sink, so that a long farewell is played out, up to
// [Params.EndLimit] in all.
func (l *loop) beginEnd() {
	if l.ending {
		return
	}
	l.ending = true
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
