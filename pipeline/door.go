package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/turnwise/turnwise/frames"
)

const (
	// doorBound is how many ordered frames wait at the door before those who can
	// wait have to.
	doorBound = 512
	// hardBound is where those who cannot wait fail the session.
	hardBound = 16 * doorBound
	// batchKeep is the capacity the door's queues may keep when they are empty.
	batchKeep = doorBound
)

// ErrOverflow ends a session whose control queue is full: something feeds it
// faster than it can ever work.
var ErrOverflow = errors.New("pipeline: a control queue is full")

// door is where other goroutines hand things to the loop. It is the only part of
// a session that is shared.
//
// Two numbers tell what is stale. The turn is the loop's; jobs belong to one, and
// what they post after it is refused. The epoch is the door's: it grows with every
// interruption, whoever begins it, at the moment it is begun. A frame from outside
// carries the epoch it came in, so that of two things that were queued one after
// the other an interruption between them takes the first and leaves the second,
// however late the loop gets to it.
type door struct {
	mu     sync.Mutex
	wake   chan struct{} // holds a token while there is something to do
	turn   uint64
	epoch  uint64
	system []envelope
	order  []envelope
	mic    micRing
	// refused holds droppable frames that did not get in; the loop tells them.
	refused  []frames.Frame
	micDrops uint64
	closed   bool // nothing gets in any more
	gone     bool // the loop is no more
	// failed is an error that ends the session, cancelled the cause of its
	// context's end.
	failed, cancelled error
	// changed is closed and renewed when someone who waits may look again.
	changed chan struct{}

	// urgent tells that there is something the loop should not put off, so that it
	// can look without locking.
	urgent atomic.Bool
}

func (d *door) init() {
	d.wake = make(chan struct{}, 1)
	d.turn, d.epoch = 1, 1
}

// signal wakes the loop; d.mu is held. It is enough to do so for the first thing in
// a queue: the loop takes everything after it has woken.
func (d *door) signal() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// hurry wakes the loop for something urgent; d.mu is held.
func (d *door) hurry() {
	d.urgent.Store(true)
	d.signal()
}

// arrive takes a frame from outside. It never waits.
func (d *door) arrive(f frames.Frame) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.admit(f)
}

// arriveWaiting takes a frame from outside, waiting while the queue is full or
// some processor holds. Live audio never waits: it has a ring of its own, and what the
// user says while much is queued for them is what would interrupt it.
func (d *door) arriveWaiting(ctx context.Context, f frames.Frame, head *node) error {
	_, live := f.(*frames.InputAudioFrame)
	waits := !live && !f.Class().Survives()
	d.mu.Lock()
	defer d.mu.Unlock()
	for waits && !d.closed && (len(d.order) >= doorBound || head.waits) {
		if err := d.wait(ctx); err != nil {
			d.refuse(f)
			return err
		}
	}
	return d.admit(f)
}

// admit queues a frame from outside; d.mu is held.
func (d *door) admit(f frames.Frame) error {
	if d.closed {
		d.refuse(f)
		return ErrClosed
	}
	if a, ok := f.(*frames.InputAudioFrame); ok {
		if d.mic.put(a) {
			d.micDrops++
		}
		if d.mic.size == 1 {
			d.hurry()
		}
		return nil
	}
	class := f.Class()
	e := envelope{kind: arrived, frame: f, survives: class.Survives()}
	if i, ok := f.(frames.Interrupting); ok {
		if _, e.begins = i.Interrupts(); e.begins {
			e.survives = true // it belongs to the turn it begins
		}
	}
	return d.enter(e, class.IsSystem() || e.begins)
}

// interrupt begins an interruption from outside that no frame causes.
func (d *door) interrupt(reason string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		f := &frames.InterruptionFrame{Reason: reason}
		_ = d.enter(envelope{kind: interrupt, frame: f, begins: true, survives: true}, true)
	}
}

// call takes a function for the loop. It overtakes what is ordered.
func (d *door) call(fn func()) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.closed && d.enter(envelope{kind: called, fn: fn, survives: true}, true) == nil
}

// enter puts an envelope from outside in its queue; d.mu is held.
func (d *door) enter(e envelope, system bool) error {
	queue := &d.order
	if system {
		queue = &d.system
	}
	if len(*queue) >= hardBound {
		return d.overflow(e.frame)
	}
	if e.begins {
		d.epoch++
		d.announce()
	}
	e.epoch = d.epoch
	*queue = append(*queue, e)
	if len(*queue) > 1 {
		return nil // whoever came first has woken the loop
	}
	if system {
		d.hurry()
	} else {
		d.signal()
	}
	return nil
}

// post takes a frame from a job, on the job's goroutine. It keeps its place among
// the job's other posts, whatever its class: the order of one job's results is
// theirs, not ours.
func (d *door) post(j *Job, f frames.Frame, dir Direction) error {
	e := envelope{kind: posted, frame: f, job: j, dir: dir, survives: f.Class().Survives()}
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		if d.closed || d.over(j) {
			d.refuse(f)
			return ErrTurnOver
		}
		if e.survives || (!j.node.waits && len(d.order) < doorBound) {
			break
		}
		if d.wait(j.ctx) != nil {
			d.refuse(f)
			return ErrTurnOver
		}
	}
	if len(d.order) >= hardBound {
		return d.overflow(f)
	}
	if e.survives {
		j.owed.Add(1)
	}
	d.order = append(d.order, e)
	if len(d.order) == 1 {
		d.signal()
	}
	return nil
}

// over reports whether j's turn has ended, or is about to because an interruption
// waits that was begun after j; d.mu is held.
func (d *door) over(j *Job) bool {
	return j.over(d.turn) || (j.turn != 0 && j.epoch < d.epoch)
}

// note queues what the loop tells itself about a job. It is always accepted.
func (d *door) note(kind envelopeKind, j *Job) {
	d.mu.Lock()
	if !d.closed {
		d.order = append(d.order, envelope{kind: kind, job: j, survives: true})
		if len(d.order) == 1 {
			d.signal()
		}
	}
	d.mu.Unlock()
}

// overflow fails the session; d.mu is held.
func (d *door) overflow(f frames.Frame) error {
	err := fmt.Errorf("%w: %d frames wait for the session loop", ErrOverflow, hardBound)
	d.failLocked(err)
	d.refuse(f)
	return err
}

// fail makes the loop end the session with err. It reports false when the session
// has ended already.
func (d *door) fail(err error) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failLocked(err)
	return !d.closed
}

// cancel makes the loop end the session because its context has ended.
func (d *door) cancel(cause error) {
	d.mu.Lock()
	d.cancelled = cause
	d.hurry()
	d.mu.Unlock()
}

func (d *door) failLocked(err error) {
	if d.failed == nil {
		d.failed = err
	}
	d.hurry()
}

// refuse has f, if there is one, told that it was dropped, on the loop, or here
// when the loop is no more; d.mu is held.
func (d *door) refuse(f frames.Frame) {
	switch {
	case f == nil || !isDroppable(f):
	case d.gone:
		d.mu.Unlock()
		Drop(f)
		d.mu.Lock()
	default:
		d.refused = append(d.refused, f)
		if len(d.refused) > hardBound {
			d.failLocked(fmt.Errorf("%w: %d frames were refused", ErrOverflow, hardBound))
		}
		d.hurry()
	}
}

// wait releases d.mu until something has changed; d.mu is held again afterwards.
func (d *door) wait(ctx context.Context) error {
	if d.changed == nil {
		d.changed = make(chan struct{})
	}
	changed := d.changed
	d.mu.Unlock()
	defer d.mu.Lock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// announce lets everyone who waits look again; d.mu is held.
func (d *door) announce() {
	if d.changed != nil {
		close(d.changed)
		d.changed = nil
	}
}
