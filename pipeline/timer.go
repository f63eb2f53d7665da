package pipeline

import (
	"container/heap"
	"time"
)

// Timer calls a function on the session loop at a time. Its methods are for the
// loop.
type Timer struct {
	set   *timers
	fn    func()
	at    time.Time
	seq   uint64
	scope Scope
	index int // in the heap; -1 when not set
}

// Stop keeps the timer from firing. It reports whether it was set.
func (t *Timer) Stop() bool {
	if t == nil || t.index < 0 {
		return false
	}
	heap.Remove(t.set, t.index)
	return true
}

// Reset sets the timer again, d from now, also one that has fired or was stopped.
func (t *Timer) Reset(d time.Duration) {
	t.at = time.Now().Add(d)
	t.set.seq++
	t.seq = t.set.seq
	if t.index >= 0 {
		heap.Fix(t.set, t.index)
	} else {
		heap.Push(t.set, t)
	}
}

// postpone sets the timer again unless it is set for later already.
func (t *Timer) postpone(d time.Duration) {
	if !t.Active() || t.at.Before(time.Now().Add(d)) {
		t.Reset(d)
	}
}

// Active reports whether the timer is set.
func (t *Timer) Active() bool { return t != nil && t.index >= 0 }

// timers is a session's timers in a heap with one runtime timer.
type timers struct {
	heap    []*Timer
	seq     uint64
	runtime *time.Timer
	armed   time.Time // when the runtime timer fires; zero when it is stopped
}

func (s *timers) after(scope Scope, d time.Duration, fn func()) *Timer {
	s.seq++
	t := &Timer{set: s, fn: fn, at: time.Now().Add(d), seq: s.seq, scope: scope, index: -1}
	heap.Push(s, t)
	return t
}

// arm sets the runtime timer for the first of the timers and returns its channel,
// nil when none is set. A runtime timer that is early is left alone: waking once
// too often is cheaper than moving it each time.
func (s *timers) arm() <-chan time.Time {
	if len(s.heap) == 0 {
		return nil
	}
	at := s.heap[0].at
	if s.runtime == nil {
		s.runtime = time.NewTimer(time.Until(at))
		s.armed = at
	} else if s.armed.IsZero() || at.Before(s.armed) {
		s.runtime.Reset(time.Until(at))
		s.armed = at
	}
	return s.runtime.C
}

// fired notes that the runtime timer's channel was read.
func (s *timers) fired() { s.armed = time.Time{} }

// due takes out the first timer whose time has come, unless it was set after last:
// a timer that sets itself again has to wait for the others.
func (s *timers) due(now time.Time, last uint64) *Timer {
	if len(s.heap) == 0 || s.heap[0].at.After(now) || s.heap[0].seq > last {
		return nil
	}
	return heap.Pop(s).(*Timer)
}

// purge stops the timers of the turn that has ended.
func (s *timers) purge() {
	kept := s.heap[:0]
	for _, t := range s.heap {
		if t.scope == TurnScope {
			t.index = -1
			continue
		}
		t.index = len(kept)
		kept = append(kept, t)
	}
	if len(kept) == len(s.heap) {
		return
	}
	clear(s.heap[len(kept):])
	s.heap = kept
	heap.Init(s)
}

func (s *timers) stop() {
	if s.runtime != nil {
		s.runtime.Stop()
	}
	for _, t := range s.heap {
		t.index = -1
	}
	s.heap = nil
}

// The methods of heap.Interface.

// Len is the number of timers.
func (s *timers) Len() int { return len(s.heap) }

// Less orders by time, then by age.
func (s *timers) Less(i, j int) bool {
	a, b := s.heap[i], s.heap[j]
	if a.at.Equal(b.at) {
		return a.seq < b.seq
	}
	return a.at.Before(b.at)
}

// Swap exchanges two.
func (s *timers) Swap(i, j int) {
	s.heap[i], s.heap[j] = s.heap[j], s.heap[i]
	s.heap[i].index, s.heap[j].index = i, j
}

// Push adds one at the end.
func (s *timers) Push(x any) {
	t := x.(*Timer)
	t.index = len(s.heap)
	s.heap = append(s.heap, t)
}

// Pop removes the last.
func (s *timers) Pop() any {
	last := len(s.heap) - 1
	t := s.heap[last]
	s.heap[last] = nil
	s.heap = s.heap[:last]
	t.index = -1
	return t
}
