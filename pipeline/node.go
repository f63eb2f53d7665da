package pipeline

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/turnwise/turnwise/frames"
)

// maxHeld bounds the frames that wait behind a processor's ordered work.
const maxHeld = 8192

// node is a processor's place in a running pipeline. But for waits, which belongs
// to the door, and the count of jobs, it is touched on the loop only.
type node struct {
	proc       Processor
	base       *Base
	name       string
	index      int
	loop       *loop
	next, prev *node
	branches   []*node // the neighbours downstream of a fork, which has no next

	receiver    Receiver
	interrupted Interrupted
	settler     Settler
	dirty       bool
	holding     bool         // asked for by the processor
	listed      bool         // in the loop's list of those with frames to release
	waits       bool         // a processor downstream holds; guarded by the door
	jobs        atomic.Int32 // that run

	lane     lane
	held     ring[heldFrame]
	keepers  int    // the held frames that an interruption cannot just forget
	delivery *Job   // the job whose post is being handled
	turned   [3]int // its frames in the ring of turned ones, by direction
}

// heldFrame waits until the ordered job with number behind has finished.
type heldFrame struct {
	frame  frames.Frame
	behind uint64
	keep   bool // survives interruptions
}

// bind ties the processor's Base to its place.
func (n *node) bind() {
	n.base = n.proc.base()
	n.base.node, n.base.loop = n, n.loop
	for i := range n.base.to {
		n.base.to[i] = n
	}
	n.receiver, _ = n.proc.(Receiver)
	n.interrupted, _ = n.proc.(Interrupted)
	n.settler, _ = n.proc.(Settler)
}

// route says where the frame under way goes when the processor pushes it
// downstream: straight to the neighbour while nothing of this node's waits.
func (n *node) route() {
	if n.next != nil && n.turned[Downstream] == 0 && !n.orders(Downstream) {
		n.base.to[Downstream] = n.next.proc
	} else {
		n.base.to[Downstream] = n
	}
}

// Process takes what the node's processor pushes, when it is not the frame of a
// downstream walk or something is in its way.
func (n *node) Process(f frames.Frame, dir Direction) {
	dir.check()
	l := n.loop
	to := n.prev
	waiting := n.turned[dir] != 0
	if dir == Downstream {
		to = n.next
	}
	if f == l.current && l.walk == walk(dir) && !waiting && !n.orders(dir) && to != nil && !l.finished {
		if l.observers != nil {
			l.observe(to, f, dir)
		}
		to.proc.Process(f, dir)
		return
	}
	h := f.Header()
	switch {
	case l.finished:
		Drop(f)
		return
	case !h.Stamped():
		l.stamp(f, h)
	case l.stale(f, h):
		Drop(f)
		return
	}
	switch {
	case n.orders(dir) && n.mustWait(f):
		n.hold(f)
	case to == nil:
		Drop(f)
	case waiting || (l.walk != walkNone && l.walk != walk(dir)):
		l.turnAround(n, to, f, dir)
	default:
		l.visit(to, f, dir)
	}
}

// orders reports whether frames in that direction may have to wait for ordered
// work, or behind those that do.
func (n *node) orders(dir Direction) bool {
	return dir == Downstream && (n.lane.open() != 0 || n.held.len() != 0)
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
	if n.held.len() >= maxHeld {
		n.loop.fail(fmt.Errorf("%w: %d frames wait behind unfinished work of %s", ErrOverflow, maxHeld, n.name))
		Drop(f)
		return
	}
	h := heldFrame{frame: f, behind: n.lane.last(), keep: f.Class().Survives() || f.Header().Turn() == 0}
	if h.keep || isDroppable(f) {
		n.keepers++
	}
	n.held.push(h)
	n.route()
}

// releasable reports whether the first of the held frames waits for nothing any
// more.
func (n *node) releasable() bool {
	return n.held.len() > 0 && (n.lane.open() == 0 || n.held.at(0).behind < n.lane.first())
}

// release takes out the first of the held frames.
func (n *node) release() frames.Frame {
	h := n.held.pop()
	if h.keep || isDroppable(h.frame) {
		n.keepers--
	}
	n.route()
	return h.frame
}

// purge drops what belongs to the turn that has ended.
func (n *node) purge() {
	n.purgeLane()
	switch {
	case n.held.len() == 0:
	case n.keepers == 0:
		n.held.clear()
	default:
		n.keepers = 0
		n.held.keep(func(h *heldFrame) bool {
			if h.keep {
				n.keepers++
			} else {
				n.loop.lose(h.frame)
			}
			return h.keep
		})
	}
	n.route()
	n.list()
}

// list has the loop release what waits for nothing any more, when the dispatch
// under way is over.
func (n *node) list() {
	if !n.listed && n.releasable() {
		n.listed = true
		n.loop.backlog = append(n.loop.backlog, n)
	}
}

// setHold raises or lowers the processor's own hold.
func (n *node) setHold(on bool) {
	if n.holding != on {
		n.holding = on
		n.loop.updateHolds()
	}
}

// heldBelow reports whether some processor downstream holds, given that the nodes
// downstream know it already.
func (n *node) heldBelow() bool {
	if n.next != nil {
		return n.next.heldHere()
	}
	return slices.ContainsFunc(n.branches, (*node).heldHere)
}

// heldHere reports whether this processor or one downstream of it holds.
func (n *node) heldHere() bool { return n.holding || n.lane.holds || n.waits }

// receive handles a frame that one of the node's jobs posted.
func (n *node) receive(j *Job, f frames.Frame, dir Direction) {
	n.delivery = j
	switch {
	case dir != 0:
		n.Process(f, dir)
	case n.receiver != nil:
		n.loop.take(f)
		n.receiver.Receive(f)
		n.loop.give()
	default:
		n.Process(f, Downstream)
	}
	n.delivery = nil
}
