package pipeline

import "github.com/turnwise/turnwise/frames"

// The loop's side of the door.

// catch is what the loop has taken from the door and not handled yet.
type catch struct {
	system  []envelope
	order   []envelope
	mic     micRing
	refused []frames.Frame
	// failed and cancelled are why the session has to end.
	failed, cancelled error
}

// takeUrgent moves everything but the ordered frames to c, whose own urgent part
// has been handled. Memory goes back and forth, so that nothing is allocated in
// the long run.
func (d *door) takeUrgent(c *catch) {
	d.mu.Lock()
	d.takeUrgentLocked(c)
	d.mu.Unlock()
}

// takeAll moves everything to c, which has been handled.
func (d *door) takeAll(c *catch) {
	d.mu.Lock()
	d.takeUrgentLocked(c)
	c.order, d.order = d.order, reuse(c.order)
	if len(c.order) > 0 {
		d.announce()
	}
	d.mu.Unlock()
}

func (d *door) takeUrgentLocked(c *catch) {
	c.system, d.system = d.system, reuse(c.system)
	c.refused, d.refused = d.refused, reuse(c.refused)
	if d.mic.size > 0 {
		c.mic, d.mic = d.mic, c.mic
	}
	c.failed, c.cancelled = d.failed, d.cancelled
	d.urgent.Store(false)
}

// reuse empties s, and lets go of it when it has grown large.
func reuse[T any](s []T) []T {
	if cap(s) > batchKeep {
		return nil
	}
	return s[:0]
}

// begin makes turn the current one. The epoch is that of the interruption, or 0
// when the loop itself begins it. What the end of the old turn makes stale is
// taken out; begin returns the epoch that counts from now on, and lost with those
// of the frames appended that want to know.
func (d *door) begin(turn, epoch uint64, lost []frames.Frame) (uint64, []frames.Frame) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.turn = turn
	if epoch == 0 {
		d.epoch++
		epoch = d.epoch
	}
	kept := d.order[:0]
	for i := range d.order {
		e := &d.order[i]
		switch {
		case !e.stale(turn, epoch):
			kept = append(kept, *e)
		case isDroppable(e.frame):
			lost = append(lost, e.frame)
		}
	}
	clear(d.order[len(kept):])
	d.order = kept
	d.announce()
	return epoch, lost
}

// setHolds tells whose jobs have to wait.
func (d *door) setHolds(nodes []*node) {
	d.mu.Lock()
	lowered := false
	for i := len(nodes) - 1; i >= 0; i-- {
		n := nodes[i]
		waits := n.heldBelow()
		lowered = lowered || n.waits && !waits
		n.waits = waits
	}
	if lowered {
		d.announce()
	}
	d.mu.Unlock()
}

// close refuses everything from now on and returns what was waiting.
func (d *door) close() []envelope {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	left := append(d.system, d.order...)
	d.system, d.order, d.mic = nil, nil, micRing{}
	d.announce()
	return left
}

// leave returns the frames that were refused since the door was closed, again and
// again until there are none; then nobody is left to tell them.
func (d *door) leave() []frames.Frame {
	d.mu.Lock()
	defer d.mu.Unlock()
	late := d.refused
	d.refused = nil
	d.gone = len(late) == 0
	return late
}
