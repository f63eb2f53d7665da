package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/turnwise/turnwise/frames"
)

// doorBound is how many ordered frames wait at the door before those who can wait
// have to, and hardBound is where those who cannot fail the session.
const (
	doorBound = 512
	hardBound = 16 * doorBound
)

// ErrOverflow ends a session whose control queue is full: something feeds it
// faster than it can ever work.
var ErrOverflow = errors.New("pipeline: a control queue is full")

// envelope is one thing that waits at the door.
type envelope struct {
	kind  envelopeKind
	frame frames.Frame
	node  *node  // for posted and jobDone
	job   *Job   // for posted and jobDone
	turn  uint64 // the turn it belongs to; 0 for none
	// begins is the turn that begins before the frame is handled; 0 for none.
	begins uint64
	reason string
	fn     func() // for called
}

type envelopeKind uint8

const (
	arrived envelopeKind = iota // a frame from outside, for the head
	posted                      // a frame from a job, for its processor
	jobDone                     // the end of a job
	called                      // a function to run
)

// door is where other goroutines hand things to the loop. It is the only part of
// a session that is shared, and the turn number it keeps is the one that counts:
// what belongs to an older turn is refused here.
type door struct {
	mu     sync.Mutex
	wake   chan struct{} // holds a token while there is something to do
	turn   uint64
	system []envelope
	order  []envelope
	mic    micRing
	closed bool
	failed error
	// changed is closed and renewed when someone who waits may look again.
	changed chan struct{}
	waiting int
	holdAt  int32 // jobs of nodes below this index wait; 0 for none

	// urgent counts system envelopes, so that the loop can look without locking.
	urgent atomic.Int32
}

func (d *door) init() {
	d.wake = make(chan struct{}, 1)
	d.turn = 1
}

// signal wakes the loop; d.mu is held.
func (d *door) signal() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// arrive takes a frame from outside. It never waits.
func (d *door) arrive(f frames.Frame) error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		drop(f)
		return ErrClosed
	}
	err := d.admit(f)
	d.mu.Unlock()
	return err
}

// arriveWaiting takes a frame from outside, waiting while the queue is full.
func (d *door) arriveWaiting(ctx context.Context, f frames.Frame) error {
	ordered := !f.Class().IsSystem()
	d.mu.Lock()
	for ordered && len(d.order) >= doorBound && !d.closed {
		if err := d.wait(ctx); err != nil {
			d.mu.Unlock()
			return err
		}
	}
	if d.closed {
		d.mu.Unlock()
		drop(f)
		return ErrClosed
	}
	err := d.admit(f)
	d.mu.Unlock()
	return err
}

// admit queues a frame from outside; d.mu is held.
func (d *door) admit(f frames.Frame) error {
	if a, ok := f.(*frames.InputAudioFrame); ok {
		d.mic.put(a)
		d.signal()
		return nil
	}
	e := envelope{kind: arrived, frame: f}
	if i, ok := f.(frames.Interrupting); ok {
		if reason, yes := i.Interrupts(); yes {
			d.turn++
			e.begins, e.reason = d.turn, reason
		}
	}
	class := f.Class()
	if !class.Survives() {
		e.turn = d.turn
	}
	f.Header().Stamp(e.turn)
	if class.IsSystem() || e.begins != 0 {
		d.system = append(d.system, e)
		d.urgent.Add(1)
	} else {
		if len(d.order) >= hardBound {
			d.failLocked(fmt.Errorf("%w: %d frames wait for the session loop", ErrOverflow, hardBound))
			drop(f)
			return ErrOverflow
		}
		d.order = append(d.order, e)
	}
	d.signal()
	return nil
}

// post takes a frame from a job, on the job's goroutine.
func (d *door) post(ctx context.Context, e envelope) error {
	system := e.frame.Class().IsSystem()
	d.mu.Lock()
	for {
		if d.closed || (e.turn != 0 && e.turn < d.turn) {
			d.mu.Unlock()
			drop(e.frame)
			return ErrTurnOver
		}
		held := int32(e.node.index) < d.holdAt || len(d.order) >= doorBound
		if !held || system || e.frame.Class().Survives() {
			break
		}
		if err := d.wait(ctx); err != nil {
			d.mu.Unlock()
			drop(e.frame)
			return ErrTurnOver
		}
	}
	// A post keeps its place among the job's other posts, whatever its class: the
	// order of one job's results is theirs, not ours.
	d.order = append(d.order, e)
	d.signal()
	d.mu.Unlock()
	return nil
}

// done takes the end of a job. It is always accepted.
func (d *door) done(e envelope) {
	d.mu.Lock()
	if !d.closed {
		d.order = append(d.order, e)
		d.signal()
	}
	d.mu.Unlock()
}

// call takes a function for the loop. It overtakes what is ordered.
func (d *door) call(e envelope) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	if len(d.system) >= hardBound {
		d.failLocked(fmt.Errorf("%w: %d calls wait for the session loop", ErrOverflow, hardBound))
		return false
	}
	d.system = append(d.system, e)
	d.urgent.Add(1)
	d.signal()
	return true
}

// fail makes the loop end the session with err.
func (d *door) fail(err error) {
	d.mu.Lock()
	d.failLocked(err)
	d.mu.Unlock()
}

func (d *door) failLocked(err error) {
	if d.failed == nil {
		d.failed = err
	}
	d.urgent.Add(1)
	d.signal()
}

// wait releases d.mu until something has changed; d.mu is held again afterwards.
func (d *door) wait(ctx context.Context) error {
	if d.changed == nil {
		d.changed = make(chan struct{})
	}
	changed := d.changed
	d.waiting++
	d.mu.Unlock()
	var err error
	select {
	case <-changed:
	case <-ctx.Done():
		err = ctx.Err()
	}
	d.mu.Lock()
	d.waiting--
	return err
}

// announce lets everyone who waits look again; d.mu is held.
func (d *door) announce() {
	if d.waiting > 0 && d.changed != nil {
		close(d.changed)
		d.changed = nil
	}
}

// setHold makes jobs of nodes below index wait.
func (d *door) setHold(index int32) {
	d.mu.Lock()
	lowered := index < d.holdAt
	d.holdAt = index
	if lowered {
		d.announce()
	}
	d.mu.Unlock()
}

// nextTurn begins a turn that the loop has decided on.
func (d *door) nextTurn() uint64 {
	d.mu.Lock()
	d.turn++
	t := d.turn
	d.announce()
	d.mu.Unlock()
	return t
}

// take moves what waits to the loop: system envelopes first. The slices it returns
// are the ones given, swapped, so that nothing is allocated in the long run.
func (d *door) take(system, order []envelope) (sys, ord []envelope, failed error) {
	d.mu.Lock()
	sys, d.system = d.system, system[:0]
	if order != nil {
		ord, d.order = d.order, order[:0]
		d.announce()
	}
	d.urgent.Store(0)
	failed = d.failed
	d.mu.Unlock()
	return sys, ord, failed
}

// close refuses everything from now on and returns what was waiting.
func (d *door) close() []envelope {
	d.mu.Lock()
	d.closed = true
	left := append(d.system, d.order...)
	d.system, d.order = nil, nil
	d.mic = micRing{}
	d.announce()
	d.mu.Unlock()
	return left
}
