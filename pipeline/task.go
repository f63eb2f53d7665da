package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/turnwise/turnwise/frames"
)

// ErrClosed is returned for frames that come after the session's end.
var ErrClosed = errors.New("pipeline: the session has ended")

// ErrAlreadyRun is returned by [Task.Run] for a task that has run.
var ErrAlreadyRun = errors.New("pipeline: the task has run already")

// Task is a running pipeline: one session. Its methods may be called from any
// goroutine.
type Task struct {
	params Params
	pipe   *Pipeline
	loop   loop
	used   atomic.Bool
	done   chan struct{}
}

// NewTask binds a pipeline to a session. A pipeline serves one task. Frames may be
// queued before Run is called; they wait.
func NewTask(p *Pipeline, params Params) (*Task, error) {
	if p.used {
		return nil, fmt.Errorf("%w: the pipeline %s belongs to a task already; build one for each session", ErrWiring, p)
	}
	p.used = true
	params.complete()
	t := &Task{params: params, pipe: p, done: make(chan struct{})}
	t.loop.bind(t)
	return t, nil
}

// bind makes the loop's nodes.
func (l *loop) bind(t *Task) {
	l.task, l.log = t, t.params.Logger
	l.observers = t.params.Observers
	l.plain = len(l.observers) == 0
	l.turn, l.epoch = 1, 1
	l.door.init()
	t.pipe.place(l)
	l.head, l.tail = l.nodes[0], l.nodes[len(l.nodes)-1]
}

// Run runs the session on the calling goroutine, which becomes its loop, until it
// ends. It returns nil after a graceful end, a [*CancelError] after a cancellation
// (it wraps the cause of ctx, when that was it), and otherwise the error that ended
// the session. When it has returned, every goroutine that the session started has
// too, except jobs that ignored their context for longer than
// [Params.CloseTimeout]; the error, [ErrJobsLeft], names their processors.
func (t *Task) Run(ctx context.Context) (err error) {
	if t.used.Swap(true) {
		return ErrAlreadyRun
	}
	l := &t.loop
	// The session's own context outlives ctx until the loop has said goodbye.
	l.ctx, l.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	unlink := context.AfterFunc(ctx, func() { l.door.cancel(context.Cause(ctx)) })
	l.watchdog.start(l, t.params.StuckAfter, t.stuck)
	l.counts.Started++
	defer func() {
		unlink()
		err = l.shutdown()
		close(t.done)
	}()
	l.run()
	return nil
}

func (t *Task) stuck(s Stuck) {
	if t.params.OnStuck != nil {
		t.params.OnStuck(s)
		return
	}
	t.params.Logger.Error("the session loop is held", "processor", s.Processor, "for", s.Limit, "stack", s.Stack)
}

// QueueFrame hands a frame to the session: it enters at the head and travels
// downstream. It never blocks, and may be called anywhere, also on the session
// loop. The frame belongs to the session from now on. After the end of the session
// frames are dropped; a control queue that is full fails the session.
func (t *Task) QueueFrame(f frames.Frame) { _ = t.loop.door.arrive(f) }

// Enqueue is [Task.QueueFrame] for producers that can wait: it waits while the
// queue is full or a processor holds (see [Base.Hold]), except with system and
// uninterruptible frames and live audio. It must not be called on the session loop. It fails with
// [ErrClosed], [ErrOverflow] or ctx's error; the frame is dropped then.
func (t *Task) Enqueue(ctx context.Context, f frames.Frame) error {
	return t.loop.door.arriveWaiting(ctx, f, t.loop.head)
}

// Interrupt interrupts the bot from outside, without a frame that causes it: what
// was queued before it does not act after it.
func (t *Task) Interrupt(reason string) { t.loop.door.interrupt(reason) }

// End asks for a graceful end: what is queued is finished first.
func (t *Task) End(reason string) { t.QueueFrame(&frames.EndFrame{Reason: reason}) }

// Cancel ends the session now.
func (t *Task) Cancel(reason string) { t.QueueFrame(&frames.CancelFrame{Reason: reason}) }

// Done is closed when Run is about to return.
func (t *Task) Done() <-chan struct{} { return t.done }

// SessionID names the session.
func (t *Task) SessionID() string { return t.params.SessionID }

// DroppedAudio counts the microphone frames that were dropped because the loop was
// late.
func (t *Task) DroppedAudio() uint64 {
	t.loop.door.mu.Lock()
	defer t.loop.door.mu.Unlock()
	return t.loop.door.micDrops
}

// String prints the pipeline's chain.
func (t *Task) String() string { return t.pipe.String() }
