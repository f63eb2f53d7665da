package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/turnwise/turnwise/flows/run"
)

// watchPage is how many records a watcher reads at a time.
const watchPage = 64

// Watch gives the events after a number as they are committed. It holds no transaction
// while it gives one, so who takes them may be slow. It ends with an error that wraps
// ErrClosed when the store is closed.
func (s *Store) Watch(ctx context.Context, id string, after int64) iter.Seq2[run.Event, error] {
	return func(yield func(run.Event, error) bool) {
		wake, done := s.news.follow(id)
		defer done()
		poll := time.NewTicker(s.cfg.Poll)
		defer poll.Stop()
		for {
			events, ended, err := s.page(ctx, id, after)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				yield(run.Event{}, wrapped(err, "watching run "+id))
				return
			}
			for _, e := range events {
				after = e.Seq
				if !yield(e, nil) {
					return
				}
			}
			if len(events) > 0 {
				continue
			}
			if ended {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-s.closed:
				yield(run.Event{}, ErrClosed)
				return
			case <-wake:
			case <-poll.C:
			}
		}
	}
}

// page reads some events after a number. ended tells that no others will come.
func (s *Store) page(ctx context.Context, id string, after int64) (events []run.Event, ended bool, err error) {
	if err := s.open(); err != nil {
		return nil, false, err
	}
	var status run.Status
	if err := s.read.QueryRowContext(ctx, "SELECT status FROM runs WHERE id = ?", id).Scan(&status); errors.Is(err, sql.ErrNoRows) {
		return nil, false, run.ErrNoRun
	} else if err != nil {
		return nil, false, err
	}
	rows, err := s.read.QueryContext(ctx, "SELECT revision, last, events, snapshot, sum FROM records WHERE run = ? AND last > ? ORDER BY revision LIMIT ?", id, after, watchPage)
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()
	for rows.Next() {
		var one record
		if err := rows.Scan(&one.revision, &one.last, &one.events, &one.snapshot, &one.sum); err != nil {
			return nil, false, err
		}
		if err := one.check(id); err != nil {
			return nil, false, fmt.Errorf("%w: record %d", ErrDamaged, one.revision)
		}
		some, err := run.DecodeEvents(one.events)
		if err != nil {
			return nil, false, err
		}
		for i := range some {
			if some[i].Seq > after {
				events = append(events, some[i])
			}
		}
	}
	return events, status == run.StatusEnded, rows.Err()
}

// news tells watchers of commits of this process. The zero news is ready for use.
type news struct {
	mu        sync.Mutex
	followers map[string]map[chan struct{}]bool
}

// follow gives a channel on which there is something after a run has changed, and what
// ends that.
func (n *news) follow(id string) (wake <-chan struct{}, done func()) {
	c := make(chan struct{}, 1)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.followers == nil {
		n.followers = map[string]map[chan struct{}]bool{}
	}
	if n.followers[id] == nil {
		n.followers[id] = map[chan struct{}]bool{}
	}
	n.followers[id][c] = true
	return c, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		if delete(n.followers[id], c); len(n.followers[id]) == 0 {
			delete(n.followers, id)
		}
	}
}

// tell says that a run has changed.
func (n *news) tell(id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.followers[id] {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}
