package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	gorilla "github.com/gorilla/websocket"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/transport/rtvi"
	"github.com/turnwise/turnwise/transport/telephony"
	"github.com/turnwise/turnwise/transport/webrtc"
	"github.com/turnwise/turnwise/transport/websocket"
)

// serveSocket admits a client and holds a conversation with it. Whoever cannot be
// admitted is refused before the connection costs more than a request.
func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	if !gorilla.IsWebSocketUpgrade(r) {
		// Answered with what is missing. It costs no place among those who connect.
		_, _ = s.upgrader.Upgrade(w, r)
		return
	}
	if !s.allowOrigin(w, r) {
		return
	}
	if err := s.admit(); err != nil {
		s.refuseClient(w, err)
		return
	}
	conn, err := s.upgrader.Upgrade(w, r)
	if err != nil { // it has been answered
		s.sessions.leave()
		return
	}
	// The conversation has a goroutine of its own, so that the request with its
	// buffers is let go; that is a quarter of what an idle session takes. Nothing
	// of the request lives on: its context would be over.
	l := &line{
		sender: conn, remote: conn.RemoteAddr().String(), reject: conn.Reject, dropped: conn.Dropped, away: conn.GoingAway,
		run: func(s *Session) error { return conn.Run(s.ctx, s.task.Load()) },
	}
	if wantsAudio(r) {
		l.equip = s.calls.equipSocket(conn)
	}
	go s.hold(l)
}

// line is the way to a client, whatever it is made of.
type line struct {
	sender rtvi.Sender
	// output, where there is no sender, is the processor that brings the bot's words
	// to the client.
	output pipeline.Processor
	remote string
	// run serves a session that has been built, and reject is called instead.
	run    func(*Session) error
	reject func(reason string)
	// dropped counts the messages that the client was too slow for.
	dropped func() uint64
	// equip adds what the session hears and speaks with; nil for one that is typed.
	equip func(*SessionConfig) error
	// away tells that it is the server that ends the session, which may go on
	// elsewhere; may be nil.
	away func()
	// stats are fields for the log when the session is over; may be nil.
	stats func() []any
}

// hold holds a conversation and gives its place back, whatever happens.
func (s *Server) hold(conn *line) {
	defer s.sessions.leave()
	defer func() {
		if r := recover(); r != nil {
			s.metrics.errors.Add(string(frames.ErrorInternal), 1)
			s.log.Error("panic in a conversation", "panic", r, "stack", string(debug.Stack()))
			conn.reject("Something went wrong on the server.")
		}
	}()
	s.converse(context.Background(), conn)
}

// admit takes a place for a conversation.
func (s *Server) admit() error {
	if !s.limiter.allow() {
		return ErrRate
	}
	return s.sessions.admit()
}

// converse holds one conversation.
func (s *Server) converse(ctx context.Context, conn *line) {
	session, err := s.newSession(conn)
	if err != nil {
		s.log.Error("no session", "err", err)
		conn.reject("The bot could not be started.")
		return
	}
	if session.cfg.release != nil {
		defer session.cfg.release()
	}
	task, err := session.Build(ctx, s.cfg.Bot)
	if err != nil {
		s.metrics.refused.Add(refusedBot, 1)
		session.log.Error("the bot could not be started", "err", err)
		conn.reject("The bot could not be started.")
		return
	}
	defer session.Close()
	s.sessions.enter(session, conn.away)
	defer s.sessions.exit(session)
	begun := time.Now()
	session.log.Info("session begins", "client", conn.remote, "pipeline", task.String())
	err = conn.run(session)
	s.ended(session, conn, task, time.Since(begun), err)
}

// newSession makes the session of a connection.
func (s *Server) newSession(conn *line) (*Session, error) {
	cfg, err := s.sessionConfig(conn)
	if err != nil {
		return nil, err
	}
	if conn.equip != nil {
		if err := conn.equip(&cfg); err != nil {
			return nil, err
		}
	}
	return NewSession(cfg), nil
}

// sessionConfig is what a session is like before it hears and speaks.
func (s *Server) sessionConfig(conn *line) (SessionConfig, error) {
	if conn.sender == nil {
		return s.plain(conn), nil
	}
	out, err := rtvi.NewOutput(conn.sender, rtvi.OutputConfig{
		About:     rtvi.Library{Library: "turnwise", LibraryVersion: s.cfg.Version},
		Functions: *s.cfg.Functions,
	})
	if err != nil {
		return SessionConfig{}, err
	}
	return SessionConfig{
		Output: out, Logger: s.log, IdleTimeout: max(0, s.cfg.IdleTimeout),
		OnError:   out.Report,
		Observers: []pipeline.Observer{s.metrics},
		OnFailure: func(error) {
			conn.sender.Send(rtvi.AppendError(nil, "The conversation could not begin.", true), rtvi.Final)
		},
	}, nil
}

// ended logs and counts how a conversation ended.
func (s *Server) ended(session *Session, conn *line, task *pipeline.Task, took time.Duration, err error) {
	end, level := ending(err)
	s.metrics.sessions.Add(end, 1)
	s.metrics.length.Observe(took.Seconds())
	if end == endFailed {
		s.metrics.errors.Add(string(frames.ErrorInternal), 1)
	}
	s.metrics.dropped.Add("messages", conn.dropped())
	s.metrics.dropped.Add("microphone", uint64(task.DroppedAudio()))
	fields := []any{"end", end, "took", took.Round(time.Millisecond), "err", err}
	if conn.stats != nil {
		fields = append(fields, conn.stats()...)
	}
	session.log.Log(context.Background(), level, "session over", fields...)
}

// How conversations end.
const (
	endDone   = "done"   // the bot, or the client's request
	endLeft   = "left"   // the client went
	endLost   = "lost"   // the client was disconnected for what it did, or did not
	endCut    = "cut"    // the server stopped
	endFailed = "failed" // something went wrong here
)

// ending names how a conversation ended, and how loud that is.
func ending(err error) (string, slog.Level) {
	var cancelled *pipeline.CancelError
	var panicked *pipeline.PanicError
	switch {
	case err == nil:
		return endDone, slog.LevelInfo
	case errors.As(err, &panicked), errors.Is(err, ErrBot),
		errors.Is(err, websocket.ErrStuck), errors.Is(err, webrtc.ErrStuck), errors.Is(err, telephony.ErrStuck):
		return endFailed, slog.LevelError
	case errors.Is(err, websocket.ErrPeerGone), errors.Is(err, webrtc.ErrPeerGone), errors.Is(err, telephony.ErrPeerGone):
		return endLeft, slog.LevelInfo
	case errors.Is(err, ErrDraining), errors.Is(err, webrtc.ErrClosed), errors.Is(err, context.Canceled), errors.As(err, &cancelled):
		return endCut, slog.LevelInfo
	}
	for _, fault := range []error{
		websocket.ErrPeerDead, websocket.ErrSlowReader, websocket.ErrFlood, websocket.ErrTooLarge,
		websocket.ErrProtocol, websocket.ErrNotReady,
		webrtc.ErrPeerDead, webrtc.ErrNotConnected, webrtc.ErrSlowReader, webrtc.ErrFlood, webrtc.ErrTooLarge, webrtc.ErrNotReady,
		telephony.ErrCarrierGone, telephony.ErrPeerDead, telephony.ErrFlood, telephony.ErrProtocol,
	} {
		if errors.Is(err, fault) {
			return endLost, slog.LevelWarn
		}
	}
	return endFailed, slog.LevelError
}
