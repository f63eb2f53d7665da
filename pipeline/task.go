package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/turnwise/turnwise/frames"
)

// ErrClosed is returned for frames that come after the session's end.
var ErrClosed = errors.New("pipeline: the session has ended")

// ErrAlreadyRun is returned by [Task.Run] for a task that has run.
var ErrAlreadyRun = errors.New("pipeline: the task has run already")

// Params are a session's settings. The zero value is usable.
type Params struct {
	// SessionID names the session in logs, metrics and frames.
	SessionID string
	// Logger takes the session's log; nil discards it.
	Logger *slog.Logger
	// Observers see every frame at every hop.
	Observers []Observer
	// AudioInRate and AudioOutRate are the session's sample rates in Hz.
	AudioInRate, AudioOutRate int

	// IdleTimeout ends a session in which nothing came in and nothing went out
	// for so long; 0 never does.
	IdleTimeout time.Duration
	// OnIdle is asked before an idle session ends; true keeps it. It runs on the
	// loop and must not block.
	OnIdle func() bool
	// Heartbeat is the interval of heartbeat frames; 0 sends none.
	Heartbeat time.Duration
	// OnHeartbeat is told how long a heartbeat took through the pipeline. It runs
	// on the loop and must not block.
	OnHeartbeat func(took time.Duration)
	// StuckAfter is how long one dispatch may hold the loop before OnStuck is
	// told; the default is one second, a negative value turns the watchdog off.
	StuckAfter time.Duration
	// OnStuck is told when a processor holds the loop. It runs on a goroutine of
	// its own; the default logs it.
	OnStuck func(Stuck)
	// OnError is told of every error frame that reaches the head. It runs on the
	// loop and must not block.
	OnError func(*frames.ErrorFrame)

	// EndTimeout is how long a graceful end may go on without anything arriving
	// at the end of the pipeline; the default is 5 s. EndLimit bounds it in all;
	// the default is two minutes.
	EndTimeout, EndLimit time.Duration
	// CloseTimeout is how long jobs may take to return when the session has
	// ended; the default is one second.
	CloseTimeout time.Duration
}

// Task is a running pipeline: one session. Its methods may be called from any
// goroutine.
type Task struct {
	params  Params
	pipe    *Pipeline
	loop    loop
	ctx     context.Context // of Run
	ctxDone <-chan struct{}
	done    chan struct{}

	mu   sync.Mutex
	used bool
}

// NewTask binds a pipeline to a session. A pipeline serves one task. Frames may be
// queued before Run is called; they wait.
func NewTask(p *Pipeline, params Params) (*Task, error) {
	if p.used {
		return nil, fmt.Errorf("%w: the pipeline %s belongs to a task already; build one for each session", ErrWiring, p)
	}
	p.used = true
	def(&params.EndTimeout, 5*time.Second)
	def(&params.EndLimit, 2*time.Minute)
	def(&params.CloseTimeout, time.Second)
	def(&params.StuckAfter, time.Second)
	if params.Logger == nil {
		params.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if params.SessionID != "" {
		params.Logger = params.Logger.With("session", params.SessionID)
	}
	t := &Task{params: params, pipe: p, done: make(chan struct{})}
	t.loop.bind(t)
	return t, nil
}

func def(d *time.Duration, value time.Duration) {
	if *d == 0 {
		*d = value
	}
}

// bind makes the loop's nodes.
func (l *loop) bind(t *Task) {
	l.task, l.log = t, t.params.Logger
	l.observers = t.params.Observers
	l.plain = len(l.observers) == 0
	l.turn = 1
	l.door.init()
	procs := make([]Processor, 0, len(t.pipe.procs)+2)
	procs = append(procs, &source{})
	procs = append(procs, t.pipe.procs...)
	procs = append(procs, &sink{})
	nodes := make([]node, len(procs))
	l.nodes = make([]*node, len(procs))
	for i, proc := range procs {
		n := &nodes[i]
		n.proc, n.index, n.loop = proc, i, l
		switch i {
		case 0:
			n.name = "source"
		case len(procs) - 1:
			n.name = "sink"
		default:
			n.name = t.pipe.names[i-1]
		}
		n.receiver, _ = proc.(Receiver)
		n.interrupted, _ = proc.(Interrupted)
		n.settler, _ = proc.(Settler)
		if i > 0 {
			n.prev = l.nodes[i-1]
			n.prev.next = n
		}
		proc.base().node = n
		l.nodes[i] = n
	}
	l.head, l.sink = l.nodes[0], l.nodes[len(l.nodes)-1]
}

// Run runs the session on the calling goroutine, which becomes its loop, until it
// ends. It returns nil after a graceful end, a [*CancelError] or the context's
// cause after a cancellation, and otherwise the error that ended it. When it has
// returned, every goroutine that the session started has too, except jobs that
// ignored their context for longer than [Params.CloseTimeout]; these are named in
// the error.
func (t *Task) Run(ctx context.Context) error {
	t.mu.Lock()
	if t.used {
		t.mu.Unlock()
		return ErrAlreadyRun
	}
	t.used = true
	t.mu.Unlock()
	l := &t.loop
	t.ctx, t.ctxDone = ctx, ctx.Done()
	// The session's own context outlives ctx until the loop has said goodbye.
	l.ctx, l.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	l.watchdog.start(l, t.params.StuckAfter, t.stuck)
	l.run()
	err := l.shutdown()
	close(t.done)
	return err
}

func (t *Task) stuck(s Stuck) {
	if t.params.OnStuck != nil {
		t.params.OnStuck(s)
		return
	}
	t.params.Logger.Error("the session loop is held", "processor", s.Processor, "for", s.Limit, "stack", s.Stack)
}

// shutdown stops everything after the last dispatch.
func (l *loop) shutdown() error {
	l.finished, l.plain = true, false
	cause := l.err
	if cause == nil {
		cause = ErrClosed
	}
	l.cancel(cause)
	if l.turnStop != nil {
		l.turnStop()
	}
	l.watchdog.stop()
	l.timers.stop()
	for _, e := range l.door.close() {
		if e.frame != nil {
			drop(e.frame)
		}
	}
	for _, t := range l.turned {
		drop(t.frame)
	}
	for _, n := range l.nodes {
		for _, h := range n.held {
			drop(h.frame)
		}
		n.held, n.lane = nil, nil
	}
	err := l.err
	for _, n := range l.nodes {
		if s, ok := n.proc.(Stopper); ok {
			if e := l.stopOne(n, s); e != nil && err == nil {
				err = e
			}
		}
	}
	return errors.Join(err, l.awaitJobs())
}

func (l *loop) stopOne(n *node, s Stopper) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &PanicError{Processor: n.name, Value: r}
		}
	}()
	s.Stop()
	return nil
}

// awaitJobs waits until the session's jobs have returned, but not for ever.
func (l *loop) awaitJobs() error {
	gone := make(chan struct{})
	go func() {
		l.jobs.Wait()
		close(gone)
	}()
	limit := time.NewTimer(l.task.params.CloseTimeout)
	defer limit.Stop()
	select {
	case <-gone:
		return nil
	case <-limit.C:
		return fmt.Errorf("pipeline: jobs still run %s after the session's end; they must return when their context is cancelled", l.task.params.CloseTimeout)
	}
}

// QueueFrame hands a frame to the session: it enters at the head and travels
// downstream. It never blocks. After the end of the session frames are dropped; a
// control queue that is full fails the session.
func (t *Task) QueueFrame(f frames.Frame) { _ = t.loop.door.arrive(f) }

// Enqueue is [Task.QueueFrame] for producers that can wait: it waits while the
// queue is full. It must not be called on the session loop.
func (t *Task) Enqueue(ctx context.Context, f frames.Frame) error {
	return t.loop.door.arriveWaiting(ctx, f)
}

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
	return t.loop.door.mic.dropped
}

// String prints the pipeline's chain.
func (t *Task) String() string { return t.pipe.String() }
