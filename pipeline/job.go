package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

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

const (
	// MaxLane is the largest number of jobs in a processor's lane.
	MaxLane = 4096
	// laneHigh and laneLow raise and lower the automatic hold of a long lane.
	laneHigh, laneLow = 32, 16
)

// ErrTurnOver is returned to a job that posts after its turn or session is over.
var ErrTurnOver = errors.New("pipeline: the turn is over")

// Job is a piece of slow work. Its methods are for the job's own goroutine.
type Job struct {
	node  *node
	fn    func(*Job)
	ctx   context.Context
	turn  uint64 // 0 for session scope
	order uint64 // number among the processor's ordered jobs; 0 for detached
}

// Context is cancelled when the job's scope ends.
func (j *Job) Context() context.Context { return j.ctx }

// Post hands f to the processor's Receive on the session loop, or pushes it
// downstream from the processor where it has none. Posts of one job arrive in
// order. It waits while a processor downstream holds or the session's queue is
// full, and fails with [ErrTurnOver] when the job's scope has ended.
func (j *Job) Post(f frames.Frame) error {
	h := f.Header()
	if !h.Stamped() {
		h.Stamp(j.turn)
	}
	return j.node.loop.door.post(j.ctx, envelope{kind: posted, job: j, node: j.node, turn: j.turn, frame: f})
}

// run is the job's goroutine.
func (j *Job) run() {
	l := j.node.loop
	defer func() {
		if r := recover(); r != nil {
			l.door.fail(&PanicError{Processor: j.node.name, Value: r, Stack: debug.Stack()})
		}
		l.door.done(envelope{kind: jobDone, job: j, node: j.node})
		l.jobs.Done()
	}()
	j.fn(j)
}

// PanicError tells that a processor panicked and so ended its session.
type PanicError struct {
	// Processor is the name of the processor whose job panicked; empty when the
	// panic was on the loop, where the stack tells.
	Processor string
	Value     any
	Stack     []byte
}

// Error names the panic and shows the stack.
func (e *PanicError) Error() string {
	where := "on the session loop"
	if e.Processor != "" {
		where = "in a job of " + e.Processor
	}
	return fmt.Sprintf("pipeline: panic %s: %v\n%s", where, e.Value, e.Stack)
}

// Unwrap returns the panic's value when it was an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
