package deepgram

import (
	"context"
	"encoding/json"
	"time"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/speech/internal/failure"
	"github.com/turnwise/turnwise/speech/internal/listen"
	"github.com/turnwise/turnwise/speech/internal/socket"
)

// Recognizer listens with one model. It implements [speech.Recognizer]; any number of
// sessions may use it at once.
type Recognizer struct {
	cfg     Config
	connect socket.Config
}

var _ speech.Recognizer = (*Recognizer)(nil)

// New makes a recognizer. Nothing is sent before the first [Recognizer.Recognize].
// Errors wrap [ErrConfig] and name the field.
func New(cfg Config) (*Recognizer, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return &Recognizer{cfg: cfg, connect: cfg.connect()}, nil
}

// Rate is the configured sample rate in Hz.
func (r *Recognizer) Rate() int { return r.cfg.Rate }

// Latency is the configured one.
func (r *Recognizer) Latency() time.Duration { return r.cfg.Latency }

// Recognize listens, see [speech.Recognizer]. Failures are an [*llm.Error]; an error of
// emit is returned as it is.
func (r *Recognizer) Recognize(ctx context.Context, in *speech.Audio, emit func(speech.Transcript) error) error {
	s := session{cfg: &r.cfg, failures: &r.connect.Failures, emit: emit}
	var p listen.Protocol = &nova{session: s}
	if r.cfg.flux() {
		p = &flux{session: s}
	}
	return listen.Run(ctx, &r.connect, r.cfg.KeepAlive, in, p)
}

// session is what both protocols have in common.
type session struct {
	cfg      *Config
	failures *failure.Reporter
	emit     func(speech.Transcript) error
	bytes    []byte // of the message that is being sent
}

// command is a message without audio.
type command struct {
	Type string `json:"type"`
}

// Start sends nothing: the address says it all.
func (*session) Start(context.Context, *socket.Conn) error { return nil }

// send sends samples.
func (s *session) send(ctx context.Context, c *socket.Conn, samples []int16) error {
	s.bytes = audio.AppendBytes(s.bytes[:0], samples)
	return c.WriteBinary(ctx, s.bytes)
}

// Finish asks for the last words; the server closes the connection behind them.
func (*session) Finish(ctx context.Context, c *socket.Conn) error {
	return c.WriteJSON(ctx, command{"CloseStream"})
}

// Finished never is before the connection's end.
func (*session) Finished() <-chan struct{} { return nil }

// kind is a message's type, from which its form follows.
func (s *session) kind(data []byte) (string, error) {
	var m command
	if err := json.Unmarshal(data, &m); err != nil {
		return "", s.failures.Malformed(0, err)
	}
	return m.Type, nil
}

// decode reads a message of a known type.
func (s *session) decode(data []byte, m any) error {
	if err := json.Unmarshal(data, m); err != nil {
		return s.failures.Malformed(0, err)
	}
	return nil
}

// told is an error that the server sent.
func (s *session) told(data []byte) error { return s.failures.Told(0, failure.Parse(data)) }
