package webrtc

import (
	"slices"
	"sync"
	"time"

	"github.com/turnwise/turnwise/transport/rtvi"
)

// highWater is how much may wait in the data channel, not yet received by the client;
// what is more waits here, where it can still be dropped.
const highWater = 64 << 10

// channel is the side of a data channel that messages are written to.
type channel interface {
	// Write hands over one message. It does not wait for the client.
	Write(msg []byte) error
	// Waiting is how many bytes the client has not received yet.
	Waiting() int
	// NotifyBelow has the outbox's emptied called when no more than n bytes wait.
	NotifyBelow(n int)
	// Limit is the largest message the client takes, in bytes.
	Limit() int
}

// outbox is the bounded queue of messages to the client. A goroutine writes it out
// while there is something in it and the client takes it. Without a channel, before it
// is open and while a lost client may come back, messages wait.
type outbox struct {
	limit   int
	timeout time.Duration
	// fail is told why nothing can be written any more, once, with mu held and on a
	// goroutine that may be the session loop's: it must neither block nor call the
	// outbox.
	fail func(error)
	// oversize is told of a message that the client cannot take.
	oversize func(size, limit int)

	mu      sync.Mutex
	to      channel
	buf     []byte // the messages that wait
	ends    []int
	spare   []byte
	opened  bool // there has been a channel
	writing bool
	sealed  bool
	failed  bool
	dropped uint64
	change  chan struct{} // closed when the channel or what waits changes; nil when nobody waits
	jobs    sync.WaitGroup
}

// push takes one message.
func (o *outbox) push(p rtvi.Priority, msg []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.room(p) {
		return
	}
	if p == rtvi.Final {
		o.sealed = true
	}
	o.append(msg)
}

// last takes a message behind the final one; nothing is taken after it.
func (o *outbox) last(msg []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sealed = true
	if !o.failed {
		o.append(msg)
	}
}

func (o *outbox) append(msg []byte) {
	o.buf = append(o.buf, msg...)
	o.ends = append(o.ends, len(o.buf))
	o.start()
}

// room reports whether another message may be taken; o.mu is held.
func (o *outbox) room(p rtvi.Priority) bool {
	switch {
	case o.sealed || o.failed:
		return false
	case p == rtvi.Final:
		return true
	case p == rtvi.Droppable && len(o.buf) > o.limit/2:
		o.dropped++
		return false
	case len(o.buf) > o.limit:
		o.failLocked(ErrSlowReader)
		return false
	}
	return true
}

// start starts the writer unless it runs; o.mu is held.
func (o *outbox) start() {
	if !o.writing && !o.failed && o.to != nil && len(o.ends) > 0 {
		o.writing = true
		o.jobs.Add(1)
		go o.write()
	}
}

// attach has messages written to a channel.
func (o *outbox) attach(to channel) {
	to.NotifyBelow(highWater / 2)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.to, o.opened = to, true
	o.changed()
	o.start()
}

// detach has messages wait if they were written to that channel.
func (o *outbox) detach(from channel) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.to == from {
		o.to = nil
		o.changed()
	}
}

// emptied tells that the channel has little left.
func (o *outbox) emptied() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.changed()
}

// changed wakes those that wait; o.mu is held.
func (o *outbox) changed() {
	if o.change != nil {
		close(o.change)
		o.change = nil
	}
}

// changes is closed at the next change; o.mu is held.
func (o *outbox) changes() <-chan struct{} {
	if o.change == nil {
		o.change = make(chan struct{})
	}
	return o.change
}

// write is the writer's goroutine.
func (o *outbox) write() {
	defer o.jobs.Done()
	o.mu.Lock()
	defer o.mu.Unlock()
	defer func() {
		o.writing = false
		o.changed()
	}()
	for !o.failed && o.to != nil && len(o.ends) > 0 {
		to, buf, ends := o.to, o.buf, o.ends
		o.buf, o.ends = o.spare[:0], nil
		o.spare = nil
		o.mu.Unlock()
		written, err := o.batch(to, buf, ends)
		o.mu.Lock()
		if err != nil {
			o.failLocked(err)
		}
		o.restore(buf, ends, written)
	}
}

// restore puts back what of a batch was not written; o.mu is held.
func (o *outbox) restore(buf []byte, ends []int, written int) {
	const keep = 2 << 10
	if written == len(ends) {
		if cap(buf) <= keep && o.spare == nil {
			o.spare = buf[:0]
		}
		return
	}
	from := 0
	if written > 0 {
		from = ends[written-1]
	}
	rest := slices.Concat(buf[from:], o.buf)
	left := make([]int, 0, len(ends)-written+len(o.ends))
	for _, end := range ends[written:] {
		left = append(left, end-from)
	}
	for _, end := range o.ends {
		left = append(left, end+len(buf)-from)
	}
	o.buf, o.ends = rest, left
}

// batch writes messages until one cannot be written, and returns how many were.
func (o *outbox) batch(to channel, buf []byte, ends []int) (int, error) {
	from := 0
	for i, end := range ends {
		if err := o.await(to, highWater); err != nil {
			return i, err
		}
		msg := buf[from:end]
		from = end
		switch {
		case len(msg) > to.Limit():
			o.oversize(len(msg), to.Limit())
		case to.Write(msg) != nil:
			o.detach(to)
			return i, nil
		}
		if !o.attached(to) {
			return i + 1, nil
		}
	}
	return len(ends), nil
}

func (o *outbox) attached(to channel) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.to == to
}

// await waits while more than n bytes wait in the channel and it is the one in use.
func (o *outbox) await(to channel, n int) error {
	if to.Waiting() <= n {
		return nil
	}
	timer := time.NewTimer(o.timeout)
	defer timer.Stop()
	for {
		o.mu.Lock()
		changes, inUse := o.changes(), o.to == to
		o.mu.Unlock()
		if !inUse || to.Waiting() <= n {
			return nil
		}
		select {
		case <-changes:
		case <-timer.C:
			return ErrSlowReader
		}
	}
}

func (o *outbox) failLocked(err error) {
	if !o.failed {
		o.failed = true
		o.fail(err)
	}
}

// close has nothing more written.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.to, o.failed = nil, true
	o.changed()
}

// flush takes nothing more and waits until the client has received all, up to the
// deadline. It also waits for a client that has yet to open its first channel, but not
// for one that is lost.
func (o *outbox) flush(deadline time.Time) {
	o.mu.Lock()
	o.sealed = true
	o.mu.Unlock()
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	to := o.opening(timer.C)
	if to == nil {
		return
	}
	to.NotifyBelow(0)
	for {
		o.mu.Lock()
		changes := o.changes()
		unwritten := o.writing || len(o.ends) > 0
		lost := o.failed || o.to != to
		o.mu.Unlock()
		if lost || !unwritten && to.Waiting() == 0 {
			return
		}
		select {
		case <-changes:
		case <-timer.C:
			return
		}
	}
}

// opening is the channel, after it has been waited for if there has been none yet; nil
// when there is none.
func (o *outbox) opening(late <-chan time.Time) channel {
	for {
		o.mu.Lock()
		to, changes := o.to, o.changes()
		coming := !o.opened && !o.failed
		o.mu.Unlock()
		if to != nil || !coming {
			return to
		}
		select {
		case <-changes:
		case <-late:
			return nil
		}
	}
}
