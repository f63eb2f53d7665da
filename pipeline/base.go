package pipeline

import (
	"context"
	"log/slog"
	"time"

	"github.com/turnwise/turnwise/frames"
)

// handler is where a push goes: to a processor, or to a node that thinks first.
type handler interface {
	Process(f frames.Frame, dir Direction)
}

// Base connects a processor with its session; every processor embeds it. Its
// methods may be called on the session loop only, that is from the processor's
// own Process, Receive, Settle, Interrupt, Start and timer functions, and only
// once the processor is part of a running task.
type Base struct {
	node *node
	loop *loop
	// to holds, for each direction, where the frame that is under way goes when
	// nothing is in its way. Before and behind that is the node, where everything
	// else goes, and what has no direction.
	to [Upstream + 2]handler
}

func (b *Base) base() *Base { return b }

// Push passes f to the neighbour in direction dir. Downstream, control and data
// frames wait while ordered work of this processor is unfinished. A push against
// the direction of the walk under way happens when that walk is over. A frame of a
// turn that is over is dropped. A dir that is neither [Downstream] nor [Upstream]
// is a mistake in the processor and panics.
//
// Push must stay small enough to be inlined: one call a hop is what the processor's
// stack of return addresses can follow through a long chain.
func (b *Base) Push(f frames.Frame, dir Direction) {
	i := dir
	if f != b.loop.flying {
		i = 0
	}
	b.to[i].Process(f, dir)
}

// Queue runs fn in the processor's lane: ordered, one at a time, on a goroutine
// of its own. What this processor pushes downstream after Queue waits until fn has
// returned, except for system frames, live microphone audio and what Receive
// pushes on while it handles fn's own posts. A lane that is too long raises a
// hold, see [Base.Hold]; one with [MaxLane] jobs fails the session. A job whose
// scope ends before its turn comes is never run.
func (b *Base) Queue(scope Scope, fn func(*Job)) { b.node.queue(scope, fn, nil) }

// Go runs fn as a detached job: at once, on a goroutine of its own, in no order.
// More than [MaxDetached] of one processor fail the session.
func (b *Base) Go(scope Scope, fn func(*Job)) { b.node.detach(scope, fn) }

// Context is the context of the current turn or of the session. A turn's context
// is cancelled by the next interruption.
func (b *Base) Context(scope Scope) context.Context { return b.loop.context(scope) }

// Turn is the number of the current turn, from 1.
func (b *Base) Turn() uint64 { return b.loop.turn }

// After calls fn on the loop when d has passed, unless the timer is stopped or
// its scope ends before.
func (b *Base) After(scope Scope, d time.Duration, fn func()) *Timer {
	return b.loop.timers.after(scope, d, fn)
}

// Dirty asks for one call of Settle when the dispatch under way is over.
func (b *Base) Dirty() { b.loop.markDirty(b.node) }

// Interrupt asks for an interruption, for example because the user was heard. It
// happens when the dispatch under way is over and before anything else. Then
// cause, if not nil, is handed to this processor's Process again, travelling in
// direction dir, in the new turn; without a cause dir is of no account. Several
// requests in one dispatch make one interruption. A processor that is told of
// interruptions (see [Interrupted]) has a method of that name already and asks with
// p.Base.Interrupt.
func (b *Base) Interrupt(reason string, cause frames.Frame, dir Direction) {
	b.loop.requestInterruption(b.node, reason, cause, dir)
}

// Hold raises or lowers this processor's hold. While it is raised, jobs of
// processors upstream wait in Post, and so do callers of [Task.Enqueue]; system
// frames, results and the loop do not.
func (b *Base) Hold(on bool) { b.node.setHold(on) }

// Bound reports whether the processor is part of a task.
func (b *Base) Bound() bool { return b.node != nil }

// Do runs fn on the session loop, as a step of this processor. Unlike the other
// methods it may be called from any goroutine, once the task has been made; it
// does not wait, and what is done so overtakes ordered frames. It reports false
// when the session has ended; after true, fn runs unless the session ends before.
func (b *Base) Do(fn func()) bool { return b.loop.door.call(fn) }

// ExtendEnd gives a graceful end under way d more than [Params.EndTimeout] from
// now, for a processor that knows how long it will take.
func (b *Base) ExtendEnd(d time.Duration) {
	if b.loop.ending {
		b.loop.endTimer.postpone(b.loop.task.params.EndTimeout + d)
	}
}

// Fail ends the session with an error.
func (b *Base) Fail(err error) { b.loop.fail(err) }

// End asks for a graceful end of the session: an EndFrame is queued at the head of
// the pipeline.
func (b *Base) End(reason string) { b.loop.task.End(reason) }

// Ending reports whether a graceful end has begun: an EndFrame has entered the
// pipeline. What is owed is still delivered then, but nothing new should start.
func (b *Base) Ending() bool { return b.loop.ending }

// Logger is the session's logger.
func (b *Base) Logger() *slog.Logger { return b.loop.log }

// SessionID names the session.
func (b *Base) SessionID() string { return b.loop.task.params.SessionID }

// ProcessorName returns the processor's name in this pipeline.
func (b *Base) ProcessorName() string { return b.node.name }
