package pipeline

import (
	"fmt"

	"github.com/turnwise/turnwise/frames"
)

// walk is the direction of the walk under way.
type walk uint8

const (
	walkNone walk = iota
	walkDown
	walkUp
	walkClosed // nothing may walk: an interruption or a start is under way
)

// turnedFrame waits for the walk to be over.
type turnedFrame struct {
	from, to *node // from is nil for a frame that no processor pushed
	frame    frames.Frame
	dir      Direction
}

// stamp gives a new frame its turn. Frames that survive belong to none.
func (l *loop) stamp(f frames.Frame, h *frames.Meta) {
	if f.Class().Survives() {
		h.Stamp(0)
	} else {
		h.Stamp(l.turn)
	}
}

// stale reports whether f belongs to a turn that is over.
func (l *loop) stale(f frames.Frame, h *frames.Meta) bool {
	t := h.Turn()
	return t != 0 && t < l.turn && !f.Class().Survives()
}

// walkTo lets n handle f, now when the walk under way goes that direction, else
// when it is over.
func (l *loop) walkTo(n *node, f frames.Frame, dir Direction) {
	switch {
	case l.finished:
		Drop(f)
	case l.walk == walkNone || l.walk == walk(dir):
		l.visit(n, f, dir)
	default:
		l.turnAround(nil, n, f, dir)
	}
}

// visit is one hop, and the beginning of a walk when none is under way.
func (l *loop) visit(n *node, f frames.Frame, dir Direction) {
	if l.observers != nil {
		l.observe(n, f, dir)
	}
	outer, current, flying := l.walk, l.current, l.flying
	l.walk, l.current = walk(dir), f
	if l.plain && dir == Downstream {
		l.flying = f
	}
	l.take(f)
	n.proc.Process(f, dir)
	l.give()
	l.walk, l.current = outer, current
	if l.plain {
		l.flying = flying
	}
}

// take and give bracket the time in which a frame is in the hands of processors,
// so that a panic does not lose it.
func (l *loop) take(f frames.Frame) { l.hands = append(l.hands, f) }

func (l *loop) give() {
	last := len(l.hands) - 1
	l.hands[last] = nil
	l.hands = l.hands[:last]
}

// turnAround puts f in the ring of those that wait for the walk to be over. What
// its node pushes after it in the same direction goes there too, so that order is
// kept.
func (l *loop) turnAround(from, to *node, f frames.Frame, dir Direction) {
	l.turns++
	if l.turned.len() >= maxTurned || l.turns > maxTurns {
		l.fail(fmt.Errorf("%w: %d frames were turned around in one dispatch, the last by %s", ErrOverflow, l.turns, nameOr(from, "the session")))
		Drop(f)
		return
	}
	l.turned.push(turnedFrame{from: from, to: to, frame: f, dir: dir})
	if from != nil {
		from.turned[dir]++
		from.route()
	}
}

// runTurned sends on the oldest of the turned frames.
func (l *loop) runTurned() {
	t := l.turned.pop()
	l.untie(&t)
	if l.stale(t.frame, t.frame.Header()) {
		Drop(t.frame)
		return
	}
	l.walkTo(t.to, t.frame, t.dir)
}

func (l *loop) untie(t *turnedFrame) {
	if t.from != nil {
		t.from.turned[t.dir]--
		t.from.route()
	}
}

func (l *loop) purgeTurned() {
	if l.turned.len() == 0 {
		return
	}
	l.turned.keep(func(t *turnedFrame) bool {
		if !l.stale(t.frame, t.frame.Header()) {
			return true
		}
		l.untie(t)
		l.lose(t.frame)
		return false
	})
}

// lose notes a frame that the interruption under way drops, if it wants to know.
func (l *loop) lose(f frames.Frame) {
	if f != nil && isDroppable(f) {
		l.lost = append(l.lost, f)
	}
}

func nameOr(n *node, other string) string {
	if n == nil {
		return other
	}
	return n.name
}
