package server

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"
)

// Why a client is not admitted.
var (
	// ErrFull tells that there are as many conversations as the server takes.
	ErrFull = errors.New("server: too many conversations at the moment")
	// ErrRate tells that conversations begin faster than the server takes them.
	ErrRate = errors.New("server: too many clients connect at once")
	// ErrDraining tells that the server is about to stop.
	ErrDraining = errors.New("server: shutting down")
)

// sessions knows the conversations under way.
type sessions struct {
	mu       sync.Mutex
	max      int
	taken    int // places, including those of clients that still connect
	live     map[*Session]func()
	draining bool
	empty    chan struct{} // closed when draining and none is left
}

func newSessions(limit int) *sessions {
	return &sessions{max: limit, live: map[*Session]func(){}, empty: make(chan struct{})}
}

// admit takes a place, which leave gives back.
func (s *sessions) admit() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.draining:
		return ErrDraining
	case s.taken >= s.max:
		return ErrFull
	}
	s.taken++
	return nil
}

// check says what admit would, and takes nothing.
func (s *sessions) check() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.draining:
		return ErrDraining
	case s.taken >= s.max:
		return ErrFull
	}
	return nil
}

// enter makes a conversation known; away, which may be nil, is called before the
// server ends it.
func (s *sessions) enter(session *Session, away func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live[session] = away
}

// exit forgets a conversation.
func (s *sessions) exit(session *Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.live, session)
}

// leave gives a place back.
func (s *sessions) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	if s.draining && s.taken == 0 {
		close(s.empty)
	}
}

// list is the conversations at this moment.
func (s *sessions) list() map[*Session]func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.live)
}

// count is the number of places taken.
func (s *sessions) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken
}

// close refuses new conversations from now on. It reports whether it was the first
// to.
func (s *sessions) close() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return false
	}
	s.draining = true
	if s.taken == 0 {
		close(s.empty)
	}
	return true
}

// endGrace is how long a conversation may take to end when its time is up, and
// cutGrace how long until it is given up after it was cut.
const (
	endGrace = 2 * time.Second
	cutGrace = 2 * time.Second
)

// drain lets conversations finish within the limit or until ctx ends, then ends
// them, then cuts them. It returns how many did not finish by themselves.
func (s *sessions) drain(ctx context.Context, limit time.Duration) int {
	s.close()
	if s.wait(ctx, limit) {
		return 0
	}
	left := s.list()
	for session, away := range left {
		if away != nil {
			away()
		}
		session.end("the server is shutting down")
	}
	if !s.wait(context.WithoutCancel(ctx), endGrace) {
		for session := range s.list() {
			session.cancel(ErrDraining)
		}
		s.wait(context.WithoutCancel(ctx), cutGrace)
	}
	return len(left)
}

// wait reports whether the last conversation ended in time.
func (s *sessions) wait(ctx context.Context, limit time.Duration) bool {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-s.empty:
		return true
	case <-t.C:
	case <-ctx.Done():
	}
	return false
}
