package pipeline

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/turnwise/turnwise/frames"
)

// timersEvery is after how many envelopes of a batch the loop looks at the clock.
const timersEvery = 8

// loop is one session. Everything in it but the door and the jobs' count belongs
// to the goroutine that runs it.
type loop struct {
	// flying is the frame of the downstream walk under way; nil where pushes have
	// to be looked at one by one.
	flying frames.Frame

	task      *Task
	log       *slog.Logger
	nodes     []*node // in pipeline order; the source and the sink are part of it
	head      *node
	tail      *node
	observers []Observer
	door      door
	caught    catch
	timers    timers
	jobs      crew

	ctx      context.Context
	cancel   context.CancelCauseFunc
	turn     uint64
	epoch    uint64 // the door's, as far as the loop has come
	turnCtx  context.Context
	turnStop context.CancelFunc

	walk    walk
	current frames.Frame   // of the walk under way
	plain   bool           // nothing looks at single hops and the session goes on
	hands   []frames.Frame // in the hands of processors
	turned  ring[turnedFrame]
	turns   int     // frames turned around in this dispatch
	backlog []*node // nodes with held frames to release
	dirty   int
	asked   bool // an interruption was asked for in this dispatch
	askedBy *node
	reason  string
	causes  []cause
	lost    []frames.Frame

	watchdog   watchdog
	counts     Counts // not handed to the stats yet
	endTimer   *Timer
	lastActive time.Time
	ending     bool // an EndFrame has entered
	ended      bool // an EndFrame has arrived
	finished   bool
	cancelled  error // the context's cause, when its end cancelled the session
	err        error
}

// context is the context of a scope.
func (l *loop) context(scope Scope) context.Context {
	if scope == SessionScope {
		return l.ctx
	}
	if l.turnCtx == nil {
		l.turnCtx, l.turnStop = context.WithCancel(l.ctx)
	}
	return l.turnCtx
}

// run is the session's goroutine, from the first frame to the last.
func (l *loop) run() {
	defer l.recovered()
	l.watchdog.awake()
	if !l.start() {
		return
	}
	for !l.finished {
		l.watchdog.sleep()
		l.tally()
		select {
		case <-l.door.wake:
		case <-l.timers.arm():
			l.timers.fired()
		}
		l.watchdog.awake()
		l.work()
	}
}

// recovered ends the session when something on the loop has panicked.
func (l *loop) recovered() {
	r := recover()
	if r == nil {
		return
	}
	stack := debug.Stack()
	l.fail(&PanicError{Processor: l.watchdog.blame(string(stack)), Value: r, Stack: stack})
	l.walk = walkNone
}

// start lets the processors prepare and sends the StartFrame.
func (l *loop) start() bool {
	l.walk = walkClosed
	for _, n := range l.nodes {
		if s, ok := n.proc.(Starter); ok {
			if err := s.Start(l.ctx); err != nil {
				l.fail(fmt.Errorf("pipeline: %s did not start: %w", n.name, err))
				return false
			}
		}
	}
	l.walk = walkNone
	p := &l.task.params
	f := &frames.StartFrame{SessionID: p.SessionID, AudioInRate: p.AudioInRate, AudioOutRate: p.AudioOutRate}
	l.watchIdle()
	l.beatHeart()
	l.walkTo(l.head, f, Downstream)
	l.flush()
	return true
}

// work handles what waits: first what is urgent, then timers, then the rest in
// order, with an eye on what is urgent before each.
func (l *loop) work() {
	c := &l.caught
	l.door.takeAll(c)
	l.attend()
	l.flush()
	l.fireTimers()
	for i := range c.order {
		l.glance()
		if i%timersEvery == timersEvery-1 {
			l.fireTimers()
		}
		if l.finished {
			return
		}
		e := c.order[i]
		c.order[i] = envelope{}
		l.dispatch(&e)
		l.flush()
	}
}

// glance attends to what has become urgent, if anything has.
func (l *loop) glance() {
	if l.door.urgent.Load() {
		l.door.takeUrgent(&l.caught)
		l.attend()
	}
}

// attend handles what is urgent: the end, then system frames, then live audio.
func (l *loop) attend() {
	c := &l.caught
	for i, f := range c.refused {
		c.refused[i] = nil
		Drop(f)
	}
	if c.failed != nil {
		l.fail(c.failed)
	}
	if c.cancelled != nil && !l.finished {
		l.cancelled = c.cancelled
		l.walkTo(l.head, &frames.CancelFrame{Reason: c.cancelled.Error()}, Downstream)
	}
	for i := range c.system {
		if l.finished {
			return
		}
		e := c.system[i]
		c.system[i] = envelope{}
		l.dispatch(&e)
	}
	for !l.finished {
		f := c.mic.get()
		if f == nil {
			return
		}
		f.Header().Stamp(0)
		l.watchdog.beat()
		l.counts.Audio++
		l.walkTo(l.head, f, Downstream)
		l.settle()
	}
}

// dispatch handles one envelope and all that it causes, except for held frames
// that may go on because of it.
func (l *loop) dispatch(e *envelope) {
	l.watchdog.beat()
	if e.begins {
		l.beginTurn(e)
	}
	switch e.kind {
	case arrived:
		if e.stale(l.turn, l.epoch) {
			Drop(e.frame)
			return
		}
		l.counts.Frames++
		l.active()
		e.frame.Header().Unstamp()
		l.stamp(e.frame, e.frame.Header())
		l.walkTo(l.head, e.frame, Downstream)
	case posted:
		if e.survives {
			e.job.owed.Add(-1)
		}
		h := e.frame.Header()
		e.job.stamp(e.frame, h)
		if e.stale(l.turn, l.epoch) || l.stale(e.frame, h) {
			Drop(e.frame)
			return
		}
		l.counts.Posts++
		e.job.node.receive(e.job, e.frame, e.dir)
	case jobDone:
		e.job.node.jobDone(e.job)
	case fence:
		e.job.node.fencePassed(e.job)
	case called:
		e.fn()
	}
	l.settle()
}

// beginTurn is an interruption that was begun at the door.
func (l *loop) beginTurn(e *envelope) {
	f, ok := e.frame.(*frames.InterruptionFrame)
	if e.kind != interrupt || !ok {
		reason, _ := e.frame.(frames.Interrupting).Interrupts()
		f = &frames.InterruptionFrame{Reason: reason}
	}
	l.interrupt(f, e.epoch)
	l.settle()
}

// flush finishes a dispatch and then releases held frames that wait for nothing
// any more, one dispatch each.
func (l *loop) flush() {
	l.settle()
	for len(l.backlog) > 0 && !l.finished {
		n := l.backlog[0]
		if !n.releasable() {
			n.listed = false
			l.backlog = l.backlog[:copy(l.backlog, l.backlog[1:])]
			continue
		}
		l.glance()
		if !n.releasable() || l.finished {
			continue
		}
		l.watchdog.beat()
		if f := n.release(); l.stale(f, f.Header()) {
			Drop(f)
		} else {
			l.visit(n.next, f, Downstream)
		}
		l.settle()
	}
}

// fireTimers runs the timers whose time has come.
func (l *loop) fireTimers() {
	if len(l.timers.heap) == 0 {
		return
	}
	now, last := time.Now(), l.timers.seq
	for !l.finished {
		t := l.timers.due(now, last)
		if t == nil {
			return
		}
		l.watchdog.beat()
		t.fn()
		l.flush()
	}
}

// fail ends the session with an error, once the dispatch under way is over.
func (l *loop) fail(err error) { l.finish(err) }

// finish ends the session; the first to call it says how.
func (l *loop) finish(err error) {
	if l.finished {
		return
	}
	l.finished, l.plain = true, false
	l.flying = nil
	l.err = err
}

// updateHolds tells the door which jobs have to wait.
func (l *loop) updateHolds() { l.door.setHolds(l.nodes) }

// tally hands what was counted to the stats.
func (l *loop) tally() {
	if s := l.task.params.Stats; s != nil && l.counts != (Counts{}) {
		s.add(&l.counts)
		l.counts = Counts{}
	}
}
