package elevenlabs

import (
	"context"
	"encoding/base64"
	"strings"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/speech/internal/failure"
	"github.com/turnwise/turnwise/speech/internal/socket"
)

// Synthesizer speaks with one voice. It implements [speech.Synthesizer]; any number of
// sessions may use it at once.
type Synthesizer struct {
	cfg      Config
	failures failure.Reporter
	pool     *socket.Pool[message]
}

var _ speech.Synthesizer = (*Synthesizer)(nil)

// New makes a synthesizer. Nothing is sent before the first [Synthesizer.Synthesize].
// Errors wrap [ErrConfig] and name the field.
func New(cfg Config) (*Synthesizer, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	connect := cfg.connect()
	return &Synthesizer{cfg: cfg, failures: connect.Failures, pool: socket.NewPool[message](socket.PoolConfig{
		Config: connect, KeepIdle: cfg.KeepIdle, MaxIdle: maxIdle, MaxContexts: maxContexts,
	})}, nil
}

// Rate is the configured sample rate in Hz.
func (s *Synthesizer) Rate() int { return s.cfg.Rate }

// Close closes the connections that are kept for further utterances. The synthesizer
// may still be used.
func (s *Synthesizer) Close() { s.pool.Close() }

// Synthesize speaks an utterance, see [speech.Synthesizer], and emits audio and words as
// they come in. The utterance's own language is not used: a connection speaks one.
// Failures are an [*llm.Error]; one that came in the middle wraps [llm.ErrCut]. An error
// of emit is returned as it is.
func (s *Synthesizer) Synthesize(ctx context.Context, u speech.Utterance, emit func(speech.Speech) error) error {
	r := reception{s: s, emit: emit}
	return s.pool.Run(ctx, socket.Script[message]{
		Open: func(id string) []any { return s.open(id, u.Text) },
		Take: r.take,
	})
}

// request is what the client sends. A context that is closed must not be mentioned
// again, so there is no way to cancel one; what still comes of it is dropped.
type request struct {
	Context  string    `json:"context_id"`
	Text     *string   `json:"text,omitempty"`
	Settings *settings `json:"voice_settings,omitempty"`
	Flush    bool      `json:"flush,omitempty"`
	Close    bool      `json:"close_context,omitempty"`
}

// settings are a voice's.
type settings struct {
	Stability  *float64 `json:"stability,omitempty"`
	Similarity *float64 `json:"similarity_boost,omitempty"`
	Speed      float64  `json:"speed,omitempty"`
}

// open is what has a text spoken in a context.
func (s *Synthesizer) open(id, text string) []any {
	begin := request{Context: id, Text: new(" ")}
	if v := (settings{s.cfg.Stability, s.cfg.Similarity, s.cfg.Speed}); v != (settings{}) {
		begin.Settings = &v
	}
	return []any{
		begin,
		request{Context: id, Text: new(strings.TrimSpace(text) + " "), Flush: true},
		request{Context: id, Close: true},
	}
}

// message is what the server sends: audio, the end of a context, or an error.
type message struct {
	ID        string     `json:"contextId"`
	Audio     string     `json:"audio"`
	Alignment *alignment `json:"alignment"`
	Final     bool       `json:"isFinal"`
	Code      string     `json:"error"`
	Text      string     `json:"message"`
}

// Context implements [socket.Message].
func (m message) Context() string { return m.ID }

// Over implements [socket.Message].
func (m message) Over() bool { return m.Final || m.Code != "" }

// reception is an utterance on its way.
type reception struct {
	s       *Synthesizer
	emit    func(speech.Speech) error
	decoder audio.ByteDecoder
	words   words
	samples int
}

func (r *reception) take(m message) (complete bool, err error) {
	if m.Code != "" {
		return false, r.s.failures.Told(0, failure.Detail{Message: m.Text, Code: m.Code})
	}
	raw, err := base64.StdEncoding.DecodeString(m.Audio)
	if err != nil {
		return false, r.s.failures.Malformed(0, err)
	}
	// The times of a message are those within its audio.
	if m.Alignment != nil {
		r.words.add(m.Alignment, audio.Mono(r.s.cfg.Rate).Duration(r.samples))
	}
	if m.Final {
		r.words.finish()
	}
	p := speech.Speech{Samples: r.decoder.Append(nil, raw), Words: r.words.take()}
	r.samples += len(p.Samples)
	if len(p.Samples) == 0 && len(p.Words) == 0 {
		return m.Final, nil
	}
	return m.Final, r.emit(p)
}
