package llm

import (
	"context"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// TurnWatcher is the optional side of a [Director] that is told when a response
// without calls, that is a whole bot turn, has been generated, or has failed for
// good. A frame pushed then follows the turn's last word, or the apology. It is
// called on the loop.
type TurnWatcher interface {
	BotTurnEnded(response uint64)
}

// AsyncWatcher is the optional side of a [Director] that is told when a call that
// was presented asynchronously has settled and its result is in the conversation,
// and decides what follows. It is called on the loop; a batch may be open.
type AsyncWatcher interface {
	AsyncSettled(call Settled) Decision
}

// Direct puts d in charge of what follows a batch and returns what it steers with.
// A service has one director.
func (s *Service) Direct(d Director) Steering {
	s.director = d
	return &steering{s}
}

// steering is the service as its director sees it.
type steering struct{ s *Service }

// doneFrame brings the end of a director's job to the loop.
type doneFrame struct {
	frames.UninterruptibleFrame
	done func()
}

func (t *steering) Update(u frames.ContextUpdate) { t.s.update(u) }

func (t *steering) Run() { t.s.requestRun() }

func (t *steering) Block() { t.s.blocked++ }

func (t *steering) Unblock() {
	t.s.blocked--
	t.s.Dirty()
}

func (t *steering) Push(f frames.Frame) {
	if end, ok := f.(*frames.EndFrame); ok {
		t.s.beginEnd(end)
		return
	}
	t.s.send(f)
}

func (t *steering) Go(fn func(ctx context.Context), done func()) {
	t.s.Go(pipeline.SessionScope, func(j *pipeline.Job) {
		fn(j.Context())
		if done != nil {
			_ = j.Post(&doneFrame{done: done})
		}
	})
}

func (t *steering) After(d time.Duration, fn func()) (stop func()) {
	timer := t.s.After(pipeline.SessionScope, d, fn)
	return func() { timer.Stop() }
}

func (t *steering) Busy() bool { return t.s.gen != nil || t.s.batch != nil }

func (t *steering) BatchOpen() bool { return t.s.batch != nil }

func (t *steering) Ending() bool { return t.s.end != nil || t.s.stopped }

func (t *steering) Do(fn func()) bool {
	if t.s.Bound() {
		return t.s.Do(fn)
	}
	t.s.early = append(t.s.early, fn)
	return true
}

func (t *steering) Context() *frames.LLMContext { return t.s.cfg.Context }

func (t *steering) Model() Model { return t.s.cfg.Model }

// Start runs what the director asked for before there was a loop.
func (s *Service) Start(context.Context) error {
	early := s.early
	s.early = nil
	for _, fn := range early {
		s.Do(fn)
	}
	return nil
}
