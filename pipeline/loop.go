package pipeline

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/turnwise/turnwise/frames"
)

const (
	// maxTurned bounds the frames one dispatch may turn around.
	maxTurned = 8192
	// maxSettles bounds the rounds of Settle after one dispatch.
	maxSettles = 1000
)

// walk is the direction of the walk under way.
type walk uint8

const (
	walkNone walk = iota
	walkDown
	walkUp
	walkClosed // nothing may walk: an interruption or a start is under way
)

// loop is one session. Everything in it but the door belongs to the goroutine
// that runs it.
type loop struct {
	task      *Task
	log       *slog.Logger
	nodes     []*node // head first; the source and the sink are part of it
	head      *node
	sink      *node
	observers []Observer
	door      door
	timers    timers
	jobs      sync.WaitGroup

	ctx      context.Context
	cancel   context.CancelCauseFunc
	turn     uint64
	turnCtx  context.Context
	turnStop context.CancelFunc

	walk     walk
	plain    bool // nothing looks at single hops and the session goes on
	turned   []turnedFrame
	spare    []turnedFrame
	dirty    int
	asked    bool // an interruption was asked for in this dispatch
	reason   string
	causes   []cause
	system   []envelope
	order    []envelope
	micSpare *frames.InputAudioFrame

	watchdog   watchdog
	endTimer   *Timer
	lastActive time.Time
	finished   bool
	err        error
}

// turnedFrame waits for the walk to be over.
type turnedFrame struct {
	to    *node
	frame frames.Frame
	dir   Direction
}

// cause is a frame that asked for an interruption and is handled again after it.
type cause struct {
	node  *node
	frame frames.Frame
	dir   Direction
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
func (l *loop) stale(f frames.Frame) bool {
	t := f.Header().Turn()
	return t != 0 && t < l.turn && !f.Class().Survives()
}

// walkTo lets n handle f, now when the walk under way goes that direction, else
// when it is over.
func (l *loop) walkTo(n *node, f frames.Frame, dir Direction) {
	if n == nil || l.finished {
		drop(f)
		return
	}
	switch l.walk {
	case walkNone:
		l.walk = walk(dir)
		l.visit(n, f, dir)
		l.walk = walkNone
	case walk(dir):
		l.visit(n, f, dir)
	default:
		l.turnAround(n, f, dir)
	}
}

// visit is one hop.
func (l *loop) visit(n *node, f frames.Frame, dir Direction) {
	if l.observers != nil {
		l.observe(n, f, dir)
	}
	n.proc.Process(f, dir)
}

func (l *loop) turnAround(n *node, f frames.Frame, dir Direction) {
	if len(l.turned) >= maxTurned {
		l.fail(fmt.Errorf("%w: %d frames were turned around in one dispatch", ErrOverflow, maxTurned))
		drop(f)
		return
	}
	l.turned = append(l.turned, turnedFrame{to: n, frame: f, dir: dir})
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

func (l *loop) markDirty(n *node) {
	if !n.dirty && n.settler != nil {
		n.dirty = true
		l.dirty++
	}
}

func (l *loop) requestInterruption(n *node, reason string, f frames.Frame, dir Direction) {
	if !l.asked {
		l.asked, l.reason = true, reason
	}
	if f != nil {
		l.causes = append(l.causes, cause{node: n, frame: f, dir: dir})
	}
}

// interrupt is the one step that ends a turn: nothing queued before it acts
// afterwards.
func (l *loop) interrupt(reason string, turn uint64) {
	if l.turnStop != nil {
		l.turnStop()
		l.turnCtx, l.turnStop = nil, nil
	}
	l.turn = turn
	l.timers.purge()
	l.purgeTurned()
	f := &frames.InterruptionFrame{Reason: reason, Turn: turn}
	f.Header().Stamp(0)
	l.walk = walkClosed
	for _, n := range l.nodes {
		n.purge()
		if l.observers != nil {
			l.observe(n, f, Downstream)
		}
		if n.interrupted != nil {
			n.interrupted.Interrupt(f)
		}
	}
	l.walk = walkNone
	for _, n := range l.nodes {
		n.release()
	}
}

func (l *loop) purgeTurned() {
	kept := l.turned[:0]
	for _, t := range l.turned {
		if l.stale(t.frame) {
			drop(t.frame)
		} else {
			kept = append(kept, t)
		}
	}
	clear(l.turned[len(kept):])
	l.turned = kept
}

// settle finishes a dispatch: interruptions that were asked for, frames that were
// turned around, then decisions, until nothing is left.
func (l *loop) settle() {
	for rounds := 0; ; rounds++ {
		for l.asked || len(l.turned) > 0 {
			if l.asked {
				l.runInterruption()
				continue
			}
			l.runTurned()
		}
		if l.dirty == 0 || l.finished {
			return
		}
		if rounds == maxSettles {
			l.fail(fmt.Errorf("%w: processors settled %d times without coming to rest", ErrOverflow, maxSettles))
			return
		}
		for _, n := range l.nodes {
			if n.dirty {
				n.dirty = false
				l.dirty--
				n.settler.Settle()
			}
		}
	}
}

func (l *loop) runInterruption() {
	causes := l.causes
	reason := l.reason
	l.asked, l.reason, l.causes = false, "", nil
	l.interrupt(reason, l.door.nextTurn())
	for _, c := range causes {
		c.frame.Header().Unstamp()
		l.stamp(c.frame, c.frame.Header())
		l.walkTo(c.node, c.frame, c.dir)
	}
}

// runTurned sends on what was turned around up to now.
func (l *loop) runTurned() {
	batch := l.turned
	l.turned = l.spare[:0]
	for i := range batch {
		t := batch[i]
		batch[i] = turnedFrame{}
		if l.asked {
			// An interruption comes before anything else; what is left of the
			// batch keeps its order behind it.
			l.turned = append(l.turned, t)
			continue
		}
		if l.stale(t.frame) {
			drop(t.frame)
			continue
		}
		l.walkTo(t.to, t.frame, t.dir)
	}
	l.spare = batch[:0]
}

// dispatch handles one envelope and all that it causes.
func (l *loop) dispatch(e *envelope) {
	l.watchdog.beat()
	if e.begins != 0 {
		turn := e.begins
		if turn <= l.turn {
			// The loop began a turn of its own while this one waited.
			turn = l.door.nextTurn()
		}
		l.interrupt(e.reason, turn)
		l.settle()
	}
	switch {
	case e.kind == jobDone:
		e.node.jobDone(e.job)
	case e.kind == called:
		e.fn()
	case e.turn != 0 && e.turn < l.turn && !e.frame.Class().Survives():
		drop(e.frame)
		return
	case e.kind == posted:
		e.node.receive(e.job, e.frame)
	default:
		l.active()
		l.walkTo(l.head, e.frame, Downstream)
	}
	l.settle()
}

// drain handles what waits at the door: system frames, then microphone audio,
// then the rest in order, looking for newer system frames before each.
func (l *loop) drain() {
	var failed error
	l.system, l.order, failed = l.door.take(l.system, nonNil(l.order))
	if failed != nil {
		l.fail(failed)
		return
	}
	l.drainSystem()
	l.drainMic()
	for i := range l.order {
		if l.finished {
			l.dropOrder(i)
			return
		}
		if l.door.urgent.Load() != 0 {
			l.system, _, failed = l.door.take(l.system, nil)
			if failed != nil {
				l.dropOrder(i)
				l.fail(failed)
				return
			}
			l.drainSystem()
		}
		e := l.order[i]
		l.order[i] = envelope{}
		l.dispatch(&e)
	}
}

func (l *loop) dropOrder(from int) {
	for _, e := range l.order[from:] {
		if e.frame != nil {
			drop(e.frame)
		}
	}
}

func (l *loop) drainSystem() {
	for i := range l.system {
		e := l.system[i]
		l.system[i] = envelope{}
		if l.finished {
			if e.frame != nil {
				drop(e.frame)
			}
			continue
		}
		l.dispatch(&e)
	}
}

func (l *loop) drainMic() {
	for !l.finished {
		l.door.mu.Lock()
		f := l.door.mic.get(l.micSpare)
		l.door.mu.Unlock()
		if f == nil {
			return
		}
		l.micSpare = f
		f.Header().Stamp(l.turn)
		l.walkTo(l.head, f, Downstream)
		l.settle()
	}
}

func nonNil(s []envelope) []envelope {
	if s == nil {
		s = make([]envelope, 0, 8)
	}
	return s
}

// fireTimers runs the timers whose time has come.
func (l *loop) fireTimers() {
	now := time.Now()
	for !l.finished {
		t := l.timers.due(now)
		if t == nil {
			return
		}
		t.fn()
		l.settle()
	}
}

// run is the session's goroutine, from the first frame to the last.
func (l *loop) run() {
	defer func() {
		if r := recover(); r != nil {
			l.fail(&PanicError{Value: r, Stack: debug.Stack()})
			l.walk = walkNone
		}
	}()
	if !l.start() {
		return
	}
	for !l.finished {
		l.watchdog.sleep()
		select {
		case <-l.door.wake:
			l.watchdog.awake(l)
			l.drain()
			if l.timers.Len() > 0 {
				l.fireTimers()
			}
		case <-l.timers.arm():
			l.watchdog.awake(l)
			l.timers.fired()
			l.fireTimers()
		case <-l.task.ctxDone:
			l.cancelled()
		}
	}
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
	f.Header().Stamp(0)
	l.watchIdle()
	l.beatHeart()
	l.walkTo(l.head, f, Downstream)
	l.settle()
	return true
}

// cancelled ends the session because its context is.
func (l *loop) cancelled() {
	f := &frames.CancelFrame{Reason: context.Cause(l.task.ctx).Error()}
	f.Header().Stamp(0)
	l.walkTo(l.head, f, Downstream)
	l.finish(context.Cause(l.task.ctx))
}

// fail ends the session with an error, once the dispatch under way is over.
func (l *loop) fail(err error) {
	l.finish(err)
}

// finish ends the session; the first to call it says how.
func (l *loop) finish(err error) {
	if l.finished {
		return
	}
	l.finished, l.plain = true, false
	l.err = err
}

// updateHold tells the door which jobs have to wait.
func (l *loop) updateHold() {
	at := 0
	for _, n := range l.nodes {
		if n.holding || n.laneHold {
			at = n.index
		}
	}
	l.door.setHold(int32(at))
}
