package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/turnwise/turnwise/frames"
)

// BlockingProcessor is a processor that may wait in Process. [Serial] puts it in a
// pipeline. Of the optional sides, it may have [Named], [Wired], [Starter] and
// [Stopper], which are called as Process is and may wait too, and [Interrupted] and
// [SystemHandler], which are called on the session loop, at once, also while
// Process runs.
type BlockingProcessor interface {
	// Process handles one frame, on a goroutine of the session's. Calls come one
	// after the other, in the order of the frames. ctx ends when an interruption
	// drops the frame, and with the session. Process passes on what it does not
	// consume with push, which waits while a processor downstream holds, and
	// fails with [ErrTurnOver] when ctx has ended. An error is reported upstream
	// in an ErrorFrame.
	Process(ctx context.Context, f frames.Frame, dir Direction, push PushFunc) error
}

// PushFunc passes a frame on to the neighbour in a direction.
type PushFunc func(f frames.Frame, dir Direction) error

// SystemHandler is the side of a [BlockingProcessor] that sees system frames.
type SystemHandler interface {
	// HandleSystem is called for each system frame, which passes on by itself. It
	// must neither block nor keep the frame.
	HandleSystem(f frames.Frame, dir Direction)
}

// Serial makes a processor of one that wants to block, at the price of a goroutine
// while it has work. Control and data frames and live audio wait in its lane and
// are handled there; system frames overtake them and pass. Live audio is copied,
// and the oldest is dropped when more than a second of it waits.
func Serial(p BlockingProcessor) Processor {
	s := &serial{p: p}
	s.system, _ = p.(SystemHandler)
	s.interrupted, _ = p.(Interrupted)
	return s
}

type serial struct {
	Base
	p           BlockingProcessor
	system      SystemHandler
	interrupted Interrupted
	live        chan *frames.InputAudioFrame // audio that waits in the lane
	busy        sync.Mutex                   // held while p runs
}

// Name is what the blocking processor calls itself.
func (s *serial) Name() string { return nameOf(s.p) }

// Wiring is the blocking processor's.
func (s *serial) Wiring() Wiring {
	if w, ok := s.p.(Wired); ok {
		return w.Wiring()
	}
	return Wiring{}
}

// Start lets the blocking processor start before anything else in its lane.
func (s *serial) Start(context.Context) error {
	st, ok := s.p.(Starter)
	if !ok {
		return nil
	}
	s.Queue(SessionScope, func(j *Job) {
		s.busy.Lock()
		defer s.busy.Unlock()
		if err := st.Start(j.Context()); err != nil && j.Context().Err() == nil {
			s.loop.door.fail(fmt.Errorf("pipeline: %s did not start: %w", s.node.name, err))
		}
	})
	return nil
}

// Process puts what is not urgent in the lane.
func (s *serial) Process(f frames.Frame, dir Direction) {
	if a, ok := f.(*frames.InputAudioFrame); ok {
		s.listen(a, dir)
		return
	}
	if f.Class().IsSystem() {
		if s.system != nil {
			s.system.HandleSystem(f, dir)
		}
		s.Push(f, dir)
		return
	}
	scope := TurnScope
	if f.Class().Survives() || f.Header().Turn() == 0 {
		scope = SessionScope
	}
	s.node.queue(scope, func(j *Job) { s.handle(j, f, dir) }, f)
}

// listen puts live audio in the lane, in the place of the oldest when there is too
// much.
func (s *serial) listen(f *frames.InputAudioFrame, dir Direction) {
	if s.live == nil {
		s.live = make(chan *frames.InputAudioFrame, micSlots)
	}
	c := f.Clone()
	select {
	case s.live <- c:
		s.Queue(SessionScope, func(j *Job) { s.handle(j, <-s.live, dir) })
		return
	default:
	}
	// The loop alone sends, so there is room once the oldest is out; a job that
	// was about to take it takes the next one.
	select {
	case <-s.live:
		s.loop.counts.AudioDropped++
	default:
	}
	s.live <- c
}

// handle runs in the lane.
func (s *serial) handle(j *Job, f frames.Frame, dir Direction) {
	s.busy.Lock()
	defer s.busy.Unlock()
	err := s.p.Process(j.Context(), f, dir, j.Push)
	if err == nil || errors.Is(err, ErrTurnOver) || j.Context().Err() != nil {
		return
	}
	_ = j.Push(&frames.ErrorFrame{
		Category: frames.ErrorInternal,
		Public:   "something went wrong while processing",
		Err:      fmt.Errorf("pipeline: %s: %w", s.node.name, err),
		Source:   s.node.name,
	}, Upstream)
}

// Interrupt passes the news on.
func (s *serial) Interrupt(f *frames.InterruptionFrame) {
	if s.interrupted != nil {
		s.interrupted.Interrupt(f)
	}
}

// Stop lets the blocking processor stop when it has returned.
func (s *serial) Stop() {
	st, ok := s.p.(Stopper)
	if !ok {
		return
	}
	s.node.start(s.node.job(SessionScope, func(*Job) {
		s.busy.Lock()
		defer s.busy.Unlock()
		st.Stop()
	}))
}
