package pipeline

import (
	"context"
	"log/slog"
	"time"

	"github.com/turnwise/turnwise/frames"
)

// Base connects a processor with its session; every processor embeds it. Its
// methods may be called on the session loop only, that is from the processor's
// own Process, Receive, Settle, Interrupt, Start and timer functions, and only
// once the processor is part of a running task.
type Base struct{ node *node }

func (b *Base) base() *Base { return b }

// Push passes f to the neighbour in direction dir. While ordered work of this
// processor is unfinished, control and data frames wait behind it.
func (b *Base) Push(f frames.Frame, dir Direction) {
	// The usual case is kept to a single call a hop: deep call chains cost more
	// than the work (the processor predicts only so many returns).
	n := b.node
	l := n.loop
	if l.plain && dir == Downstream && l.walk == walkDown && len(n.open) == 0 && f.Header().Stamped() {
		n.next.proc.Process(f, Downstream)
		return
	}
	n.push(f, dir)
}

// Queue runs fn in the processor's lane: ordered, one at a time, on a goroutine
// of its own. What this processor pushes downstream after Queue waits until fn has
// returned, except for system frames and what fn's own posts cause. A lane that
// is too long raises a hold, see [Base.Hold]; one with [MaxLane] jobs fails the
// session.
func (b *Base) Queue(scope Scope, fn func(*Job)) { b.node.queue(scope, fn) }

// Go runs fn as a detached job: at once, on a goroutine of its own, in no order.
func (b *Base) Go(scope Scope, fn func(*Job)) { b.node.detach(scope, fn) }

// Context is the context of the current turn or of the session. A turn's context
// is cancelled by the next interruption.
func (b *Base) Context(scope Scope) context.Context { return b.node.loop.context(scope) }

// Turn is the number of the current turn, from 1.
func (b *Base) Turn() uint64 { return b.node.loop.turn }

// After calls fn on the loop when d has passed, unless the timer is stopped or
// its scope ends before.
func (b *Base) After(scope Scope, d time.Duration, fn func()) *Timer {
	return b.node.loop.timers.after(scope, d, fn)
}

// Dirty asks for one call of Settle when the dispatch under way is over.
func (b *Base) Dirty() { b.node.loop.markDirty(b.node) }

// Interrupt asks for an interruption, for example because the user was heard. It
// happens when the dispatch under way is over and before anything else. Then
// cause, if not nil, is handed to this processor's Process again, travelling in
// direction dir, in the new turn. Several requests in one dispatch make one
// interruption.
func (b *Base) Interrupt(reason string, cause frames.Frame, dir Direction) {
	b.node.loop.requestInterruption(b.node, reason, cause, dir)
}

// Hold raises or lowers this processor's hold. While it is raised, jobs of
// processors upstream wait in Post; system frames, results and the loop do not.
func (b *Base) Hold(on bool) { b.node.setHold(on) }

// Bound reports whether the processor is part of a task.
func (b *Base) Bound() bool { return b.node != nil }

// Do runs fn on the session loop, as a step of this processor. Unlike the other
// methods it may be called from any goroutine, once the task has been made; it
// does not wait. It reports false when the session has ended and fn will not run.
func (b *Base) Do(fn func()) bool {
	return b.node.loop.door.call(envelope{kind: called, node: b.node, fn: fn})
}

// ExtendEnd gives a graceful end under way d more than [Params.EndTimeout] from
// now, for a processor that knows how long it will take.
func (b *Base) ExtendEnd(d time.Duration) {
	l := b.node.loop
	if l.endTimer.Active() {
		l.endTimer.postpone(l.task.params.EndTimeout + d)
	}
}

// Fail ends the session with an error.
func (b *Base) Fail(err error) { b.node.loop.fail(err) }

// End asks for a graceful end of the session: an EndFrame is queued at the head of
// the pipeline.
func (b *Base) End(reason string) { b.node.loop.task.End(reason) }

// Logger is the session's logger.
func (b *Base) Logger() *slog.Logger { return b.node.loop.log }

// SessionID names the session.
func (b *Base) SessionID() string { return b.node.loop.task.params.SessionID }

// ProcessorName returns the processor's name in this pipeline.
func (b *Base) ProcessorName() string { return b.node.name }
