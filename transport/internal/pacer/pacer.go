// Package pacer calls many streams at a steady pace: each every 20 ms, on a grid of its
// own that is fixed when the stream is added, so that no stream drifts in however
// many hours. A few goroutines serve all streams; none has a timer of its own.
package pacer

import (
	"runtime"
	"sync"
	"time"
)

const (
	// Slot is the distance of two ticks of a stream.
	Slot = 20 * time.Millisecond
	// skipFrom is how late a tick may be before the slots that were missed are left
	// out.
	skipFrom = 200 * time.Millisecond
	// catchUp is the distance of the ticks of a stream that was late: twice the pace,
	// so that no burst goes out.
	catchUp = Slot / 2
)

// Tick is one call of a stream.
type Tick struct {
	// Number counts the slots since the stream's origin, the ones left out too. It
	// says where in time the tick belongs.
	Number uint64
	// Now is when the tick runs.
	Now time.Time
	// Skipped is how many slots were left out just before, as the machine was late.
	Skipped uint64
}

// Stream is what is called. Tick must not block: other streams wait for it. Ticks of
// one stream never overlap.
type Stream interface{ Tick(t Tick) }

// Pacer holds the streams. Its methods may be called from any goroutine.
type Pacer struct {
	epoch   time.Time
	workers []*worker
	jobs    sync.WaitGroup
}

// New starts a pacer with so many goroutines; 0 means one for each processor.
func New(workers int) *Pacer {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	p := &Pacer{epoch: time.Now()}
	for range workers {
		w := &worker{epoch: p.epoch, wake: make(chan struct{}, 1)}
		p.workers = append(p.workers, w)
		p.jobs.Go(w.run)
	}
	return p
}

// Close stops the ticks and waits for those under way.
func (p *Pacer) Close() {
	for _, w := range p.workers {
		w.mu.Lock()
		w.closed = true
		w.mu.Unlock()
		w.signal()
	}
	p.jobs.Wait()
}

// Add gives a stream its ticks. The first one is at once; the others are on a grid that
// is placed where the fewest other streams have theirs, so that they do not wait for
// each other.
func (p *Pacer) Add(s Stream) *Entry {
	w := p.idlest()
	e := &Entry{worker: w, stream: s}
	w.mu.Lock()
	e.due = time.Since(p.epoch)
	e.origin = w.place(e.due) - Slot
	w.streams.push(e)
	w.mu.Unlock()
	w.signal()
	return e
}

// idlest is the worker with the fewest streams.
func (p *Pacer) idlest() *worker {
	var best *worker
	least := 0
	for _, w := range p.workers {
		w.mu.Lock()
		n := len(w.streams)
		w.mu.Unlock()
		if best == nil || n < least {
			best, least = w, n
		}
	}
	return best
}

// Entry is a stream's place in the pacer.
type Entry struct {
	worker *worker
	stream Stream
	origin time.Duration // since the epoch, as due
	due    time.Duration // when the next tick is to run
	number uint64        // of the next tick
	index  int           // in the worker's heap; -1 when it is not there

	running bool
	removed bool
	idle    chan struct{} // closed when the tick under way is over; nil when nobody waits
}

// Remove ends the ticks. When it returns no tick runs any more, so it must not be
// called from one. Calling it again does nothing.
func (e *Entry) Remove() {
	w := e.worker
	w.mu.Lock()
	if !e.removed {
		e.removed = true
		if e.index >= 0 {
			w.streams.remove(e.index)
		}
	}
	if !e.running {
		w.mu.Unlock()
		return
	}
	if e.idle == nil {
		e.idle = make(chan struct{})
	}
	idle := e.idle
	w.mu.Unlock()
	<-idle
}

// advance takes the tick that is due at now, and says when the next one is.
func (e *Entry) advance(now time.Duration) Tick {
	var skipped uint64
	if late := now - e.grid(); late >= skipFrom {
		skipped = uint64(late / Slot)
		e.number += skipped
	}
	t := Tick{Number: e.number, Skipped: skipped}
	e.number++
	e.due = e.grid()
	if e.due <= now {
		e.due = now + catchUp
	}
	return t
}

// grid is where the next tick belongs.
func (e *Entry) grid() time.Duration { return e.origin + time.Duration(e.number)*Slot }
