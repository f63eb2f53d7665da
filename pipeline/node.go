package pipeline

import (
	"fmt"

	"github.com/turnwise/turnwise/frames"
)

// maxHeld bounds the frames that wait behind a processor's ordered work.
const maxHeld = 8192

// node is a processor's place in a running pipeline. It is touched on the loop
// only.
type node struct {
	proc       Processor
	name       string
	index      int
	loop       *loop
	next, prev *node

	receiver    Receiver
	interrupted Interrupted
	settler     Settler
	dirty       bool

	// Ordered work: open jobs by number, the lane's queue, and what waits behind.
	lastOrder uint64
	open      []uint64
	lane      []*Job
	running   *Job // the lane's job whose goroutine has not returned
	held      []heldFrame
	delivery  *Job // the job whose post is being handled
	holding   bool // asked for by the processor
	laneHold  bool // raised by a long lane
}

// heldFrame waits until the ordered job with number behind has finished.
type heldFrame struct {
	frame  frames.Frame
	behind uint64
}

// push sends f to the neighbour, now or when its order has come.
func (n *node) push(f frames.Frame, dir Direction) {
	l := n.loop
	if h := f.Header(); !h.Stamped() {
		l.stamp(f, h)
	}
	if dir == Downstream {
		if len(n.open) > 0 && n.mustWait(f) {
			n.hold(f)
			return
		}
		l.walkTo(n.next, f, Downstream)
		return
	}
	l.walkTo(n.prev, f, Upstream)
}

// mustWait reports whether f has to wait behind unfinished ordered work.
func (n *node) mustWait(f frames.Frame) bool {
	if f.Class().IsSystem() {
		return false
	}
	if _, live := f.(*frames.InputAudioFrame); live {
		return false
	}
	return n.delivery == nil || n.delivery.order == 0
}

func (n *node) hold(f frames.Frame) {
	if len(n.held) >= maxHeld {
		n.loop.fail(fmt.Errorf("%w: %d frames wait behind unfinished work of %s", ErrOverflow, maxHeld, n.name))
		drop(f)
		return
	}
	n.held = append(n.held, heldFrame{frame: f, behind: n.open[len(n.open)-1]})
}

// release sends on what waits for nothing any more.
func (n *node) release() {
	for len(n.held) > 0 && (len(n.open) == 0 || n.held[0].behind < n.open[0]) {
		f := n.held[0].frame
		n.held[0] = heldFrame{}
		n.held = n.held[1:]
		if len(n.held) == 0 {
			n.held = nil
		}
		if n.loop.stale(f) {
			drop(f)
			continue
		}
		n.loop.walkTo(n.next, f, Downstream)
	}
}

// purge drops what belongs to the turn that has ended.
func (n *node) purge() {
	if len(n.open) > 0 {
		n.purgeLane()
	}
	if len(n.held) > 0 {
		kept := n.held[:0]
		for _, h := range n.held {
			if h.frame.Class().Survives() || h.frame.Header().Turn() == 0 {
				kept = append(kept, h)
			} else {
				drop(h.frame)
			}
		}
		clear(n.held[len(kept):])
		n.held = kept
	}
}

// purgeLane counts all turn-scope work as finished. The running job, if it is one,
// keeps the lane until its goroutine has returned.
func (n *node) purgeLane() {
	session := n.lane[:0]
	for _, j := range n.lane {
		if j.turn == 0 {
			session = append(session, j)
		} else {
			n.finish(j.order)
		}
	}
	clear(n.lane[len(session):])
	n.lane = session
	if n.running != nil && n.running.turn != 0 {
		n.finish(n.running.order)
	}
	n.checkLaneHold()
}

// finish takes an ordered job out of the open ones.
func (n *node) finish(order uint64) {
	for i, o := range n.open {
		if o == order {
			n.open = append(n.open[:i], n.open[i+1:]...)
			return
		}
	}
}

func (n *node) queue(scope Scope, fn func(*Job)) {
	if len(n.lane) >= MaxLane {
		n.loop.fail(fmt.Errorf("%w: %d jobs wait in the lane of %s", ErrOverflow, MaxLane, n.name))
		return
	}
	j := n.job(scope, fn)
	n.lastOrder++
	j.order = n.lastOrder
	n.open = append(n.open, j.order)
	n.lane = append(n.lane, j)
	n.advanceLane()
	n.checkLaneHold()
}

func (n *node) detach(scope Scope, fn func(*Job)) {
	n.start(n.job(scope, fn))
}

func (n *node) job(scope Scope, fn func(*Job)) *Job {
	j := &Job{node: n, fn: fn, ctx: n.loop.context(scope)}
	if scope == TurnScope {
		j.turn = n.loop.turn
	}
	return j
}

func (n *node) start(j *Job) {
	n.loop.jobs.Add(1)
	go j.run()
}

// advanceLane starts the lane's next job when the last has returned.
func (n *node) advanceLane() {
	if n.running != nil || len(n.lane) == 0 || n.loop.finished {
		return
	}
	j := n.lane[0]
	n.lane[0] = nil
	n.lane = n.lane[1:]
	if len(n.lane) == 0 {
		n.lane = nil
	}
	n.running = j
	n.start(j)
}

// jobDone follows a job's last post through the door.
func (n *node) jobDone(j *Job) {
	if j.order == 0 {
		return
	}
	n.running = nil
	n.finish(j.order)
	n.advanceLane()
	n.release()
	n.checkLaneHold()
}

func (n *node) checkLaneHold() {
	switch {
	case !n.laneHold && len(n.open) > laneHigh:
		n.laneHold = true
	case n.laneHold && len(n.open) <= laneLow:
		n.laneHold = false
	default:
		return
	}
	n.loop.updateHold()
}

func (n *node) setHold(on bool) {
	if n.holding != on {
		n.holding = on
		n.loop.updateHold()
	}
}

// receive handles a frame that one of the node's jobs posted.
func (n *node) receive(j *Job, f frames.Frame) {
	n.delivery = j
	if n.receiver != nil {
		n.receiver.Receive(f)
	} else {
		n.push(f, Downstream)
	}
	n.delivery = nil
}

// drop tells a frame that it will not arrive.
func drop(f frames.Frame) {
	if d, ok := f.(frames.Droppable); ok {
		d.Dropped()
	}
}
