package pipeline

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/turnwise/turnwise/frames"
)

// ErrJobsLeft tells that jobs ignored the end of their context.
var ErrJobsLeft = errors.New("pipeline: jobs still run after the session's end; they must return when their context is cancelled")

// errLeft ends a session whose loop was left with runtime.Goexit.
var errLeft = errors.New("pipeline: a processor ended the session loop's goroutine")

// crew counts the jobs that run.
type crew struct{ all sync.WaitGroup }

func (c *crew) begin(n *node) {
	n.jobs.Add(1)
	c.all.Add(1)
}

func (c *crew) end(n *node) {
	n.jobs.Add(-1)
	c.all.Done()
}

// shutdown stops everything after the last dispatch.
func (l *loop) shutdown() error {
	l.finish(errLeft)
	l.walk = walkClosed
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
	l.dropAll(l.door.close())
	errs := []error{l.err}
	for _, n := range l.nodes {
		if s, ok := n.proc.(Stopper); ok {
			errs = append(errs, l.guard(n.name, s.Stop))
		}
	}
	errs = append(errs, l.awaitJobs())
	for late := l.door.leave(); len(late) > 0; late = l.door.leave() {
		l.dropFrames(late)
	}
	l.counts.Ended++
	if l.err != nil && !errors.As(l.err, new(*CancelError)) {
		l.counts.Failed++
	}
	l.counts.AudioDropped += l.task.DroppedAudio()
	l.tally()
	return errors.Join(errs...)
}

// dropAll drops every frame that is still somewhere in the session, given those
// that waited at the door.
func (l *loop) dropAll(waiting []envelope) {
	// Those in the hands of processors were there when one of them panicked. No
	// other branch will have them any more.
	for _, f := range l.hands {
		f.Header().Trail().Copies = 0
	}
	l.dropFrames(l.hands)
	l.dropEnvelopes(l.caught.system)
	for ; l.turned.len() > 0; l.drop(l.turned.pop().frame) {
	}
	for _, c := range l.causes {
		l.drop(c.frame)
	}
	for _, n := range l.nodes {
		for n.held.len() > 0 {
			l.drop(n.held.pop().frame)
		}
		for n.lane.queue.len() > 0 {
			l.drop(n.lane.queue.pop().frame)
		}
	}
	l.dropEnvelopes(l.caught.order)
	l.dropEnvelopes(waiting)
	l.dropFrames(l.caught.refused)
	l.hands, l.causes, l.backlog, l.caught = nil, nil, nil, catch{}
}

func (l *loop) dropEnvelopes(s []envelope) {
	for i := range s {
		l.drop(s[i].frame)
	}
}

func (l *loop) dropFrames(s []frames.Frame) {
	for _, f := range s {
		l.drop(f)
	}
}

// drop drops a frame, if there is one, after the last dispatch, where nothing else
// catches a panic.
func (l *loop) drop(f frames.Frame) {
	if f == nil || !isDroppable(f) {
		return
	}
	if err := l.guard("", func() { Drop(f) }); err != nil {
		l.log.Error("panic after the session's end", "err", err)
	}
}

// guard calls fn and turns a panic into an error.
func (l *loop) guard(name string, fn func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &PanicError{Processor: name, Value: r, Stack: debug.Stack()}
		}
	}()
	fn()
	return nil
}

// awaitJobs waits until the session's jobs have returned, but not for ever.
func (l *loop) awaitJobs() error {
	if len(l.busy()) == 0 {
		return nil
	}
	gone := make(chan struct{})
	go func() {
		l.jobs.all.Wait()
		close(gone)
	}()
	limit := time.NewTimer(l.task.params.CloseTimeout)
	defer limit.Stop()
	select {
	case <-gone:
		return nil
	case <-limit.C:
		return fmt.Errorf("%w; after %s there are some of %s", ErrJobsLeft, l.task.params.CloseTimeout, strings.Join(l.busy(), ", "))
	}
}

// busy names the processors whose jobs run.
func (l *loop) busy() []string {
	var names []string
	for _, n := range l.nodes {
		if n.jobs.Load() > 0 {
			names = append(names, n.name)
		}
	}
	return names
}
