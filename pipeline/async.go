package pipeline

import (
	"sync"
	"sync/atomic"
)

// AsyncObserver is an [Observer] that hands what it has seen to a goroutine of its
// own through a bounded queue, for work that may block. Many sessions may share
// one.
type AsyncObserver[T any] struct {
	pick    func(Hop) (T, bool)
	queue   chan T
	stop    chan struct{}
	once    sync.Once
	gone    chan struct{}
	dropped atomic.Uint64
}

// NewAsyncObserver makes an observer with a queue for size things. On the session
// loop, pick copies from a hop what is of interest, and reports whether anything
// is; it must not keep the frame. On the observer's goroutine, handle is called
// with it, one call at a time, in order. [AsyncObserver.Close] ends the goroutine.
func NewAsyncObserver[T any](size int, pick func(Hop) (T, bool), handle func(T)) *AsyncObserver[T] {
	o := &AsyncObserver[T]{
		pick: pick, queue: make(chan T, size), stop: make(chan struct{}), gone: make(chan struct{}),
	}
	go o.run(handle)
	return o
}

// Observe never waits: what finds the queue full is dropped and counted.
func (o *AsyncObserver[T]) Observe(h Hop) {
	v, ok := o.pick(h)
	if !ok {
		return
	}
	select {
	case <-o.stop:
		o.dropped.Add(1)
		return
	default:
	}
	select {
	case o.queue <- v:
	default:
		o.dropped.Add(1)
	}
}

// Dropped counts what found the queue full or the observer closed.
func (o *AsyncObserver[T]) Dropped() uint64 { return o.dropped.Load() }

// Close ends the observer's goroutine when it has handled what is queued, and waits
// for that.
func (o *AsyncObserver[T]) Close() {
	o.once.Do(func() { close(o.stop) })
	<-o.gone
}

func (o *AsyncObserver[T]) run(handle func(T)) {
	defer close(o.gone)
	for {
		select {
		case v := <-o.queue:
			handle(v)
		case <-o.stop:
			for {
				select {
				case v := <-o.queue:
					handle(v)
				default:
					return
				}
			}
		}
	}
}
