package run

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"
	"time"
)

// Memory is a store that keeps runs for as long as the process lives. The zero Memory is
// ready for use.
type Memory struct {
	mu    sync.Mutex
	runs  map[string]*kept
	flows map[string][]byte
}

// kept is a run in memory.
type kept struct {
	run      *Run
	revision int64
	events   []Event
	answers  []Answer       // not consumed
	accepted map[string]any // by interrupt, for good
	due      time.Time
	changed  chan struct{} // closed at the next commit
}

// Load gives a run.
func (m *Memory) Load(_ context.Context, id string) (*Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.runs[id]
	if k == nil {
		return nil, ErrNoRun
	}
	return &Record{Run: k.run, Revision: k.revision, Answers: slices.Clone(k.answers)}, nil
}

// Commit writes a record.
func (m *Memory) Commit(_ context.Context, c Commit) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.runs[c.Run.ID]
	switch {
	case k == nil && c.Expect != 0:
		return 0, ErrNoRun
	case k != nil && c.Expect == 0:
		return 0, ErrExists
	case k != nil && k.revision != c.Expect:
		return 0, ErrFenced
	case k == nil:
		k = &kept{accepted: map[string]any{}, changed: make(chan struct{})}
		if m.runs == nil {
			m.runs = map[string]*kept{}
		}
		m.runs[c.Run.ID] = k
	}
	k.run, k.due = c.Run, c.Due
	k.revision++
	k.events = append(k.events, c.Events...)
	k.answers = slices.DeleteFunc(k.answers, func(a Answer) bool { return slices.Contains(c.Consumed, a.Interrupt) })
	for i := range c.Events {
		if opened := c.Events[i].Interrupt; opened != nil && !slices.ContainsFunc(k.answers, func(a Answer) bool { return a.Interrupt == opened.ID }) {
			delete(k.accepted, opened.ID)
		}
	}
	close(k.changed)
	k.changed = make(chan struct{})
	return k.revision, nil
}

// Answer accepts the first valid answer.
func (m *Memory) Answer(_ context.Context, id string, a Answer) (any, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.runs[id]
	if k == nil {
		return nil, false, ErrNoRun
	}
	if v, was := k.accepted[a.Interrupt]; was {
		return v, false, nil
	}
	i := k.run.Interrupts[a.Interrupt]
	if i == nil {
		return nil, false, ErrNoInterrupt
	}
	if err := i.Check(a.Value); err != nil {
		return nil, false, err
	}
	k.accepted[a.Interrupt] = a.Value
	k.answers = append(k.answers, a)
	return a.Value, true, nil
}

// Watch gives events as they are committed.
func (m *Memory) Watch(ctx context.Context, id string, after int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for {
			m.mu.Lock()
			k := m.runs[id]
			if k == nil {
				m.mu.Unlock()
				yield(Event{}, ErrNoRun)
				return
			}
			events, changed, ended := k.events, k.changed, k.run.Status == StatusEnded
			m.mu.Unlock()
			for _, e := range events[min(int(after), len(events)):] {
				after = e.Seq
				if !yield(e, nil) {
					return
				}
			}
			if ended {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-changed:
			}
		}
	}
}

// Find lists runs.
func (m *Memory) Find(_ context.Context, q Query) ([]Summary, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []Summary
	for _, k := range m.runs {
		s := Summarize(k.run, k.revision, k.due)
		if q.Key != "" && s.Key != q.Key || q.Flow != "" && s.Flow != q.Flow || q.Status != "" && s.Status != q.Status ||
			!q.Due.IsZero() && (s.Due.IsZero() || s.Due.After(q.Due)) {
			continue
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Summary) int {
		first := b.Touched.Compare(a.Touched)
		if !q.Due.IsZero() {
			first = a.Due.Compare(b.Due)
		}
		return cmp.Or(first, cmp.Compare(a.ID, b.ID))
	})
	limit := q.Limit
	if limit == 0 {
		limit = 100
	}
	return all[:min(limit, len(all))], nil
}

// Flow is the document of a flow.
func (m *Memory) Flow(_ context.Context, hash string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	doc, has := m.flows[hash]
	if !has {
		return nil, ErrNoFlow
	}
	return doc, nil
}

// PutFlow keeps a document.
func (m *Memory) PutFlow(_ context.Context, hash string, document []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.flows == nil {
		m.flows = map[string][]byte{}
	}
	m.flows[hash] = document
	return nil
}
