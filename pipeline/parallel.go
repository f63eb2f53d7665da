package pipeline

import (
	"fmt"

	"github.com/turnwise/turnwise/frames"
)

// maxParallels is how many parallel sections a pipeline may have.
const maxParallels = 16

// Branch is a chain of processors in a parallel section; an empty one passes
// everything on.
type Branch []Processor

// Parallel makes a section of a pipeline in which frames take several branches, on
// the same loop as everything else. It is given to [New] among other processors,
// or stands in a branch of another section.
//
// Every frame that enters goes into each branch, one branch after the other. All
// get the same frame: a branch that changes it must work on a copy. What comes out
// of the branches leaves the section in the order in which it comes out, and the
// same frame leaves only once, when it first comes out, so it is enough that one
// branch passes it on. Copies are frames of their own: a branch that copies what
// another passes on must be meant to.
//
// An EndFrame, a MarkFrame and a HeartbeatFrame leave when they have come out of
// every branch, that is when what was before them has; each branch must pass them
// on. A CancelFrame leaves when every branch has seen it. Interruptions reach the
// processors of all branches.
func Parallel(branches ...Branch) Processor {
	f := &fork{branches: branches}
	f.join = &join{fork: f}
	return f
}

// fork is where a parallel section begins.
type fork struct {
	Base
	branches []Branch
	join     *join
	heads    []*node // the first node of each branch, or the join
	gate     int     // the section's number in its pipeline
}

// Name is "parallel".
func (*fork) Name() string { return "parallel" }

// Process sends what comes down into each branch, and on what comes up from one.
func (k *fork) Process(f frames.Frame, dir Direction) {
	if dir == Upstream {
		k.leave(f, Upstream, &k.Base)
		return
	}
	k.join.expect(f)
	k.enter(f, Downstream, k.heads)
	if _, cancel := f.(*frames.CancelFrame); cancel {
		k.join.Push(f, Downstream)
	}
}

// enter gives f to each of the nodes.
func (k *fork) enter(f frames.Frame, dir Direction, to []*node) {
	t := f.Header().Trail()
	t.Left &^= k.bit(dir)
	if isDroppable(f) {
		t.Copies += uint16(len(to) - 1)
	}
	for _, n := range to {
		k.loop.walkTo(n, f, dir)
	}
}

// leave passes on what has come out of a branch, if it is the first time.
func (k *fork) leave(f frames.Frame, dir Direction, out *Base) {
	t := f.Header().Trail()
	if t.Left&k.bit(dir) != 0 {
		Drop(f)
		return
	}
	t.Left |= k.bit(dir)
	out.Push(f, dir)
}

// bit marks frames that have left the section in a direction.
func (k *fork) bit(dir Direction) uint32 { return 1 << (2*k.gate + int(dir) - 1) }

// join is where a parallel section ends.
type join struct {
	Base
	fork    *fork
	tails   []*node // the last node of each branch, or the fork
	awaited []awaited
}

// awaited is a frame that leaves when it has come out of every branch.
type awaited struct {
	frame   frames.Frame
	missing int
}

// Name is "join".
func (*join) Name() string { return "join" }

// Process sends on what comes down from a branch, and what comes up into each
// branch.
func (j *join) Process(f frames.Frame, dir Direction) {
	if dir == Upstream {
		j.fork.enter(f, Upstream, j.tails)
		return
	}
	if _, cancel := f.(*frames.CancelFrame); cancel {
		return // the fork passes it on
	}
	if j.missing(f) {
		Drop(f) // this branch's copy of it
		return
	}
	j.fork.leave(f, Downstream, &j.Base)
}

// expect notes a frame that enters, if it is one that all branches must let out.
func (j *join) expect(f frames.Frame) {
	switch f.(type) {
	case *frames.EndFrame, *frames.MarkFrame, *frames.HeartbeatFrame:
	default:
		return
	}
	if len(j.awaited) >= maxHeld {
		j.loop.fail(fmt.Errorf("%w: %d marks have not come out of %s", ErrOverflow, maxHeld, j.node.name))
		return
	}
	j.awaited = append(j.awaited, awaited{frame: f, missing: len(j.fork.branches)})
}

// missing counts f out of one branch and reports whether others still have it.
func (j *join) missing(f frames.Frame) bool {
	for i := range j.awaited {
		a := &j.awaited[i]
		if a.frame != f {
			continue
		}
		if a.missing--; a.missing > 0 {
			return true
		}
		j.awaited = append(j.awaited[:i], j.awaited[i+1:]...)
		return false
	}
	return false
}

// Interrupt forgets the frames that the interruption has dropped.
func (j *join) Interrupt(*frames.InterruptionFrame) {
	kept := j.awaited[:0]
	for _, a := range j.awaited {
		if a.frame.Class().Survives() || a.frame.Header().Turn() == 0 {
			kept = append(kept, a)
		}
	}
	clear(j.awaited[len(kept):])
	j.awaited = kept
}
