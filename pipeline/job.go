package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"github.com/turnwise/turnwise/frames"
)

// Scope says how long work lives.
type Scope uint8

// The scopes.
const (
	// TurnScope work dies with its turn: an interruption cancels its context and
	// its posts fail from then on.
	TurnScope Scope = 1 + iota
	// SessionScope work survives interruptions; what it posts belongs to no turn.
	SessionScope
)

// ErrTurnOver is returned to a job that posts after its turn or session is over.
var ErrTurnOver = errors.New("pipeline: the turn is over")

// Job is a piece of slow work. Its methods are for the job's own goroutine.
type Job struct {
	node  *node
	fn    func(*Job)
	ctx   context.Context
	frame frames.Frame // dropped when the job will not run; nil for none
	turn  uint64       // 0 for session scope
	epoch uint64       // the loop's when the job was made
	order uint64       // number among the processor's ordered jobs; 0 for detached
	// owed counts posts that survive interruptions and wait at the door.
	owed atomic.Int32
}

// over reports whether the job's turn has ended, when now is the current one.
func (j *Job) over(now uint64) bool { return j.turn != 0 && j.turn < now }

// keeps reports whether an interruption has to look at the job.
func (j *Job) keeps() bool { return j.turn == 0 || (j.frame != nil && isDroppable(j.frame)) }

// Context is cancelled when the job's scope ends.
func (j *Job) Context() context.Context { return j.ctx }

// Post hands f to the processor's Receive on the session loop, or pushes it
// downstream from the processor where it has none. Posts of one job arrive in
// order. It waits while a processor downstream holds or the session's queue is
// full, and fails with [ErrTurnOver] when the job's scope has ended; f is dropped
// then. Whatever the outcome, f belongs to the session from now on.
func (j *Job) Post(f frames.Frame) error { return j.post(f, 0) }

// Push is [Job.Post] past the processor: f is pushed from it in direction dir, which
// panics when it is none.
func (j *Job) Push(f frames.Frame, dir Direction) error {
	dir.check()
	return j.post(f, dir)
}

// post leaves the frame's header alone: it belongs to the loop, which may have the
// same frame in another branch.
func (j *Job) post(f frames.Frame, dir Direction) error { return j.node.loop.door.post(j, f, dir) }

// stamp gives a frame that the job has made the job's turn.
func (j *Job) stamp(f frames.Frame, h *frames.Meta) {
	switch {
	case h.Stamped():
	case f.Class().Survives():
		h.Stamp(0)
	default:
		h.Stamp(j.turn)
	}
}

// run is the job's goroutine.
func (j *Job) run() {
	l := j.node.loop
	defer func() {
		if r := recover(); r != nil {
			err := &PanicError{Processor: j.node.name, Value: r, Stack: debug.Stack()}
			if !l.door.fail(err) {
				l.log.Error("panic after the session's end", "err", err)
			}
		}
		l.door.note(jobDone, j)
		l.jobs.end(j.node)
	}()
	j.fn(j)
}

// PanicError tells that a processor panicked and so ended its session.
type PanicError struct {
	// Processor is the name of the processor that panicked; empty when it was
	// something else on the session loop, such as an observer.
	Processor string
	// Value is what it panicked with.
	Value any
	// Stack is the goroutine's at that moment.
	Stack []byte
}

// Error names the panic and shows the stack.
func (e *PanicError) Error() string {
	where := "on the session loop"
	if e.Processor != "" {
		where = "in " + e.Processor
	}
	return fmt.Sprintf("pipeline: panic %s: %v\n%s", where, e.Value, e.Stack)
}

// Unwrap returns the panic's value when it was an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
