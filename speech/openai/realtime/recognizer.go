package realtime

import (
	"context"
	"encoding/base64"
	"strings"
	"time"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/speech/internal/listen"
	"github.com/turnwise/turnwise/speech/internal/socket"
)

const (
	// never is how often a connection over which nothing is sent needs attention here:
	// its own pings are enough.
	never = 24 * time.Hour
	// least is the least audio, in samples, that the server transcribes: 100 ms.
	least = Rate / 10
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

// Rate is [Rate].
func (*Recognizer) Rate() int { return Rate }

// Latency is the configured one.
func (r *Recognizer) Latency() time.Duration { return r.cfg.Latency }

// Recognize listens, see [speech.Recognizer]. Failures are an [*llm.Error]; an error of
// emit is returned as it is.
func (r *Recognizer) Recognize(ctx context.Context, in *speech.Audio, emit func(speech.Transcript) error) error {
	s := &session{cfg: &r.cfg}
	s.words = newWords(&r.connect.Failures, emit, r.cfg.TurnDetection != Local)
	return listen.Run(ctx, &r.connect, never, in, s)
}

// session is one listening.
type session struct {
	*words
	cfg      *Config
	before   []int16 // the last moments, while nobody speaks
	speaking bool
	sent     int // samples since the last commit
	bytes    []byte
}

// event is a message without content.
type event struct {
	Type string `json:"type"`
}

// appended is audio.
type appended struct {
	Type  string `json:"type"`
	Audio string `json:"audio"`
}

// Start says what is wanted.
func (s *session) Start(ctx context.Context, c *socket.Conn) error {
	language, _, _ := strings.Cut(s.cfg.Language, "-")
	transcription := map[string]any{"model": s.cfg.Model}
	for name, value := range map[string]string{"language": strings.ToLower(language), "prompt": s.cfg.Prompt} {
		if value != "" {
			transcription[name] = value
		}
	}
	input := map[string]any{
		"format":         map[string]any{"type": "audio/pcm", "rate": Rate},
		"transcription":  transcription,
		"turn_detection": nil,
	}
	if s.cfg.TurnDetection != Local {
		input["turn_detection"] = event{string(s.cfg.TurnDetection)}
	}
	if s.cfg.NoiseReduction != "" {
		input["noise_reduction"] = event{s.cfg.NoiseReduction}
	}
	return c.WriteJSON(ctx, map[string]any{
		"type":    "session.update",
		"session": map[string]any{"type": "transcription", "audio": map[string]any{"input": input}},
	})
}

// Audio sends samples, or keeps the last of them while nobody speaks.
func (s *session) Audio(ctx context.Context, c *socket.Conn, samples []int16) error {
	if s.cfg.TurnDetection != Local || s.speaking {
		return s.send(ctx, c, samples)
	}
	s.before = append(s.before, samples...)
	if surplus := len(s.before) - audio.Mono(Rate).Samples(s.cfg.Before); surplus > 0 {
		s.before = s.before[:copy(s.before, s.before[surplus:])]
	}
	return nil
}

func (s *session) send(ctx context.Context, c *socket.Conn, samples []int16) error {
	if len(samples) == 0 {
		return nil
	}
	s.sent += len(samples)
	s.bytes = audio.AppendBytes(s.bytes[:0], samples)
	return c.WriteJSON(ctx, appended{"input_audio_buffer.append", base64.StdEncoding.EncodeToString(s.bytes)})
}

// Mark begins to send speech, and asks for its words at the end.
func (s *session) Mark(ctx context.Context, c *socket.Conn, m speech.AudioMark) error {
	switch {
	case s.cfg.TurnDetection != Local:
		return nil
	case m == speech.SpeechStarted && !s.speaking:
		s.speaking = true
		err := s.send(ctx, c, s.before)
		s.before = s.before[:0]
		return err
	case m == speech.SpeechStopped && s.speaking:
		s.speaking = false
		return s.commit(ctx, c)
	}
	return nil
}

// commit asks for the words of what was sent.
func (s *session) commit(ctx context.Context, c *socket.Conn) error {
	if s.sent < least {
		if err := s.send(ctx, c, make([]int16, least-s.sent)); err != nil {
			return err
		}
	}
	s.sent = 0
	s.expect()
	return c.WriteJSON(ctx, event{"input_audio_buffer.commit"})
}

// Idle has nothing to do.
func (*session) Idle(context.Context, *socket.Conn) error { return nil }

// Finish asks for the words of what is still being said.
func (s *session) Finish(ctx context.Context, c *socket.Conn) error {
	if s.sent > 0 && (s.speaking || s.cfg.TurnDetection != Local) {
		if err := s.commit(ctx, c); err != nil {
			return err
		}
	}
	s.finish()
	return nil
}
