package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// SessionConfig is what a conversation needs of the place it runs in. Output is
// required.
type SessionConfig struct {
	// ID names the session; empty makes one up.
	ID string
	// Output is the processor that brings the bot's words to the user.
	Output pipeline.Processor
	// Listen and Speak are what a spoken conversation has besides: the processors
	// that hear the user, for the head of the pipeline, and those that speak to
	// them, for in front of Output. Both are empty for one that is typed.
	Listen, Speak []pipeline.Processor
	// Logger takes the session's log, with its id; nil discards it.
	Logger *slog.Logger
	// IdleTimeout ends a conversation in which nothing is said for so long; 0
	// never does.
	IdleTimeout time.Duration
	// OnError is told of every trouble that is reported in the session. It runs on
	// the session loop and must not block. May be nil.
	OnError func(*frames.ErrorFrame)
	// OnFailure is told why the conversation could not begin, before it ends. It
	// runs on the session loop and must not block. May be nil.
	OnFailure func(error)
	// Observers see every frame at every hop.
	Observers []pipeline.Observer
	// release, when not nil, lets go what the session was given, behind its end.
	release func()
}

// Session is one conversation, as the [Bot] sees it that builds its pipeline. The
// server makes one for each client; [NewSession] makes one for conversations that
// happen elsewhere, such as in a terminal.
type Session struct {
	cfg   SessionConfig
	log   *slog.Logger
	ready func() error
	task  atomic.Pointer[pipeline.Task]
	// ctx and cancel are of the task's run.
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// NewSession makes a session.
func NewSession(cfg SessionConfig) *Session {
	if cfg.ID == "" {
		cfg.ID = newSessionID()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Session{cfg: cfg, log: cfg.Logger.With("session", cfg.ID)}
}

// newSessionID makes an id that cannot be guessed and is short enough for logs.
func newSessionID() string { return rand.Text()[:16] }

// ID names the session in logs, metrics and frames.
func (s *Session) ID() string { return s.cfg.ID }

// Logger is the session's log; every line has the session's id.
func (s *Session) Logger() *slog.Logger { return s.log }

// Output is the processor that brings the bot's words to the user. It stands behind
// the model service and before the assistant aggregator.
func (s *Session) Output() pipeline.Processor { return s.cfg.Output }

// Listen is the processors that hear the user, for the head of the pipeline. It is
// empty for a session that is typed, so that a bot can put it there in any case.
func (s *Session) Listen() []pipeline.Processor { return s.cfg.Listen }

// Speak is the processors that speak to the user. They stand behind the model
// service, right in front of [Session.Output]. It is empty for a session that is
// typed.
func (s *Session) Speak() []pipeline.Processor { return s.cfg.Speak }

// Spoken tells that the user calls and does not type.
func (s *Session) Spoken() bool { return len(s.cfg.Speak) > 0 }

// Params are the settings for the session's task. A bot may change what it gets
// before it makes the task; observers it appends to.
func (s *Session) Params() pipeline.Params {
	return pipeline.Params{
		SessionID:   s.cfg.ID,
		Logger:      s.cfg.Logger,
		IdleTimeout: s.cfg.IdleTimeout,
		OnError:     s.cfg.OnError,
		Observers:   append([]pipeline.Observer{readiness{s}, narrator{s}}, s.cfg.Observers...),
	}
}

// OnReady says what begins the conversation: fn is called once, when the client is
// there and hears the bot, before anything the client says is acted on. It runs on
// the session loop and must not block: what takes time, such as looking up who the
// user is, is done while the session is built. An error ends the session. A bot
// calls OnReady while it builds the session.
func (s *Session) OnReady(fn func() error) { s.ready = fn }

// Context ends with the session. It is there from [Session.Build] on, so also while
// the bot builds the session.
func (s *Session) Context() context.Context { return s.ctx }

// Send sends the client a message of the application; data becomes JSON and must
// not be changed afterwards. It may be called from any goroutine once the session
// runs; before, and after the end, it does nothing.
func (s *Session) Send(data any) {
	s.QueueFrame(&frames.ServerMessageFrame{Data: data})
}

// QueueFrame hands a frame to the session, as [pipeline.Task.QueueFrame] does.
func (s *Session) QueueFrame(f frames.Frame) {
	if t := s.task.Load(); t != nil {
		t.QueueFrame(f)
	}
}

// Enqueue is [Session.QueueFrame] for producers that can wait, as
// [pipeline.Task.Enqueue].
func (s *Session) Enqueue(ctx context.Context, f frames.Frame) error {
	t := s.task.Load()
	if t == nil {
		return pipeline.ErrClosed
	}
	return t.Enqueue(ctx, f)
}

// ErrBot is wrapped by the errors of sessions whose bot could not be built.
var ErrBot = errors.New("server: the bot could not be started")

// Build has the bot build the session's pipeline and returns the task, which the
// caller runs with the session's context. ctx bounds the session; [Session.Close]
// is called when the task has returned.
func (s *Session) Build(ctx context.Context, b Bot) (task *pipeline.Task, err error) {
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: panic: %v\n%s", ErrBot, r, debug.Stack())
		}
		if err != nil {
			task = nil
			s.cancel(err)
		}
	}()
	task, err = b.Session(s)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBot, err)
	}
	if task == nil {
		return nil, fmt.Errorf("%w: it returned no task", ErrBot)
	}
	s.task.Store(task)
	return task, nil
}

// Close ends the session's context.
func (s *Session) Close() { s.cancel(nil) }

// begin calls what the bot wants to begin with. It runs on the session loop.
func (s *Session) begin() {
	fn := s.ready
	s.ready = nil
	if fn == nil {
		return
	}
	defer func() {
		if r := recover(); r != nil {
			s.fail(fmt.Errorf("%w: panic: %v\n%s", ErrBot, r, debug.Stack()))
		}
	}()
	if err := fn(); err != nil {
		s.fail(fmt.Errorf("%w: %w", ErrBot, err))
	}
}

// fail ends a session that could not begin.
func (s *Session) fail(err error) {
	if s.cfg.OnFailure != nil && s.ctx.Err() == nil {
		s.cfg.OnFailure(err)
	}
	s.cancel(err)
}

// readiness begins the conversation when the client is there.
type readiness struct{ *Session }

// Observe waits for the client to be announced at the end of the pipeline: by then
// the output has answered it.
func (r readiness) Observe(h pipeline.Hop) {
	if _, ok := h.Frame.(*frames.ClientConnectedFrame); ok && h.To == "sink" {
		r.begin()
	}
}

// end asks for a graceful end.
func (s *Session) end(reason string) {
	if t := s.task.Load(); t != nil {
		t.End(reason)
	}
}
