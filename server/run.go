package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// The time limits of requests. A WebSocket has its own.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 15 * time.Second
	writeTimeout  = 30 * time.Second
	idleTimeout   = 5 * time.Second
	maxHeader     = 16 << 10
)

// Run listens at [Config.Addr] and serves until ctx ends; then it drains, and
// returns nil when every conversation could finish. It may be called once.
func (s *Server) Run(ctx context.Context) error {
	l, err := net.Listen("tcp", s.cfg.Addr)
	if err != nil {
		return fmt.Errorf("server: cannot listen at %s: %w", s.cfg.Addr, err)
	}
	return s.Serve(ctx, l)
}

// Serve is [Server.Run] with a listener of the caller's, which it closes.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	s.guardHosts(l)
	bounded := newBoundedListener(l, s.cfg.MaxSessions+spareConnections)
	hs := &http.Server{
		ConnState:         bounded.follow,
		Handler:           s.handler,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          quietLog(s.log),
	}
	failed := make(chan error, 1)
	go func() { failed <- hs.Serve(bounded) }()
	s.log.Info("serving", "addr", l.Addr().String(), "max_sessions", s.cfg.MaxSessions)
	select {
	case err := <-failed:
		s.Drain(context.WithoutCancel(ctx), 0)
		return fmt.Errorf("server: %w", err)
	case <-ctx.Done():
	}
	// Requests go on being answered while conversations finish, so that /readyz
	// tells what is going on.
	left := s.Drain(context.WithoutCancel(ctx), s.cfg.Drain)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := hs.Shutdown(closing); err != nil {
		_ = hs.Close() // nothing more can be done
	}
	<-failed
	if left > 0 {
		return fmt.Errorf("%w: %d", ErrUnfinished, left)
	}
	return nil
}

// ErrUnfinished tells that conversations did not finish in the time there was and
// were ended.
var ErrUnfinished = errors.New("server: conversations were ended before they had finished")

// Drain refuses new conversations from now on, lets those under way go on until
// they finish, but no longer than limit or until ctx ends, and then ends them. It
// returns how many it had to end.
func (s *Server) Drain(ctx context.Context, limit time.Duration) int {
	if s.sessions.close() {
		s.log.Info("draining", "sessions", s.sessions.count(), "limit", limit)
		for session := range s.sessions.list() {
			session.Send(map[string]any{"kind": "server", "event": "draining", "seconds": limit.Seconds()})
		}
	}
	left := s.sessions.drain(ctx, limit)
	s.calls.close()
	if s.phones != nil {
		s.phones.close()
	}
	s.log.Info("drained", "ended", left)
	return left
}
