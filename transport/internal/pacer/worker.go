package pacer

import (
	"slices"
	"sync"
	"time"
)

// worker serves some of the streams with one goroutine.
type worker struct {
	epoch time.Time
	wake  chan struct{}

	mu      sync.Mutex
	streams heap
	phases  []time.Duration // where place looks; kept for the next time
	closed  bool
}

// signal has the worker look again at what is due first.
func (w *worker) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run is the worker's goroutine.
func (w *worker) run() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		e, t, wait, over := w.next()
		switch {
		case over:
			return
		case e != nil:
			w.tick(e, t)
		case wait < 0:
			<-w.wake
		default:
			timer.Reset(wait)
			select {
			case <-timer.C:
			case <-w.wake:
			}
		}
	}
}

// next takes the tick that is due, if one is. Else it says how long to wait; a
// negative time means until there is a stream.
func (w *worker) next() (e *Entry, t Tick, wait time.Duration, over bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, Tick{}, 0, true
	}
	if len(w.streams) == 0 {
		return nil, Tick{}, -1, false
	}
	e = w.streams[0]
	at := time.Now()
	now := at.Sub(w.epoch)
	if e.due > now {
		return nil, Tick{}, e.due - now, false
	}
	t = e.advance(now)
	t.Now = at
	w.streams.down(0)
	e.running = true
	return e, t, 0, false
}

// tick runs one tick.
func (w *worker) tick(e *Entry, t Tick) {
	e.stream.Tick(t)
	w.mu.Lock()
	e.running = false
	if e.idle != nil {
		close(e.idle)
		e.idle = nil
	}
	w.mu.Unlock()
}

// place finds a place on the grid for a new stream, within one slot behind now: in the
// middle of the widest gap between the streams there are. w.mu is held.
func (w *worker) place(now time.Duration) time.Duration {
	w.phases = w.phases[:0]
	for _, e := range w.streams {
		w.phases = append(w.phases, (e.origin%Slot+Slot)%Slot)
	}
	if len(w.phases) == 0 {
		return now + Slot
	}
	slices.Sort(w.phases)
	last := w.phases[len(w.phases)-1] - Slot // the gap around the end of the slot
	widest, phase := time.Duration(-1), time.Duration(0)
	for _, p := range w.phases {
		if p-last > widest {
			widest, phase = p-last, last+(p-last)/2
		}
		last = p
	}
	return now + (phase-now%Slot+2*Slot)%Slot
}

// heap is the streams with the one that is due first in front.
type heap []*Entry

func (h *heap) push(e *Entry) {
	e.index = len(*h)
	*h = append(*h, e)
	h.up(e.index)
}

func (h *heap) remove(i int) {
	last := len(*h) - 1
	h.swap(i, last)
	(*h)[last].index = -1
	(*h)[last] = nil
	*h = (*h)[:last]
	if i < last {
		h.down(i)
		h.up(i)
	}
}

func (h heap) swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h heap) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if h[parent].due <= h[i].due {
			return
		}
		h.swap(i, parent)
		i = parent
	}
}

func (h heap) down(i int) {
	for {
		first := i
		for _, child := range [...]int{2*i + 1, 2*i + 2} {
			if child < len(h) && h[child].due < h[first].due {
				first = child
			}
		}
		if first == i {
			return
		}
		h.swap(i, first)
		i = first
	}
}
