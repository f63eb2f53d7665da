package pipeline

import (
	"fmt"

	"github.com/turnwise/turnwise/frames"
)

const (
	// maxTurned bounds the frames that wait to be turned around, and maxTurns
	// those that one dispatch may turn around in all.
	maxTurned, maxTurns = 8192, 16 * 8192
	// maxSettles bounds the rounds of Settle after one dispatch.
	maxSettles = 1000
	// maxInterruptions bounds the interruptions that one dispatch may ask for.
	maxInterruptions = 100
)

// cause is a frame that asked for an interruption and is handled again after it.
type cause struct {
	node  *node
	frame frames.Frame
	dir   Direction
}

func (l *loop) markDirty(n *node) {
	if !n.dirty && n.settler != nil {
		n.dirty = true
		l.dirty++
	}
}

func (l *loop) requestInterruption(n *node, reason string, f frames.Frame, dir Direction) {
	if !l.asked {
		l.asked, l.reason, l.askedBy = true, reason, n
	}
	if f != nil {
		dir.check()
		l.causes = append(l.causes, cause{node: n, frame: f, dir: dir})
	}
}

// interrupt is the one step that ends a turn: nothing queued before it acts
// afterwards. The epoch is that of an interruption that was begun at the door, 0
// for one that the loop begins. The frame says why.
func (l *loop) interrupt(f *frames.InterruptionFrame, epoch uint64) {
	l.turn++
	f.Turn = l.turn
	f.Header().Stamp(0)
	if epoch != 0 {
		epoch = max(epoch, l.epoch)
	}
	l.epoch, l.lost = l.door.begin(l.turn, epoch, l.lost[:0])
	if l.turnStop != nil {
		l.turnStop()
		l.turnCtx, l.turnStop = nil, nil
	}
	l.counts.Interruptions++
	l.walk = walkClosed
	l.timers.purge()
	l.purgeTurned()
	for _, n := range l.nodes {
		n.purge()
	}
	// Those that want to know are told when nothing is left to be purged, for what
	// they do then may queue anew.
	for i, f := range l.lost {
		l.lost[i] = nil
		Drop(f)
	}
	for _, n := range l.nodes {
		if l.observers != nil {
			l.observe(n, f, Downstream)
		}
		if n.interrupted != nil {
			n.interrupted.Interrupt(f)
		}
	}
	l.walk = walkNone
}

// settle finishes a dispatch: interruptions that were asked for, frames that were
// turned around, then decisions, until nothing is left.
func (l *loop) settle() {
	l.turns = 0
	interruptions := 0
	for rounds := 0; !l.finished; {
		switch {
		case l.asked:
			if interruptions++; interruptions > maxInterruptions {
				l.fail(fmt.Errorf("%w: one dispatch asked for %d interruptions, the last by %s", ErrOverflow, interruptions, nameOr(l.askedBy, "the session")))
				return
			}
			l.runInterruption()
		case l.turned.len() > 0:
			l.runTurned()
		case l.dirty > 0:
			if rounds++; rounds > maxSettles {
				l.fail(fmt.Errorf("%w: processors settled %d times without coming to rest", ErrOverflow, maxSettles))
				return
			}
			l.runSettles()
		case l.ended:
			l.finish(nil)
		default:
			return
		}
	}
}

func (l *loop) runInterruption() {
	causes := l.causes
	f := &frames.InterruptionFrame{Reason: l.reason}
	l.asked, l.reason, l.causes = false, "", nil
	l.interrupt(f, 0)
	for i, c := range causes {
		if l.asked || l.finished {
			l.causes = append(l.causes, causes[i:]...)
			return
		}
		l.stamp(c.frame, c.frame.Header())
		l.walkTo(c.node, c.frame, c.dir)
	}
}

// runSettles lets processors decide, in pipeline order, until one of them causes
// something that has to be over before the next one decides.
func (l *loop) runSettles() {
	for _, n := range l.nodes {
		if !n.dirty {
			continue
		}
		n.dirty = false
		l.dirty--
		n.settler.Settle()
		if l.finished || l.asked || l.turned.len() > 0 {
			return
		}
	}
}
