package cartesia

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"time"

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
// they come in. Failures are an [*llm.Error]; one that came in the middle wraps
// [llm.ErrCut]. An error of emit is returned as it is.
func (s *Synthesizer) Synthesize(ctx context.Context, u speech.Utterance, emit func(speech.Speech) error) error {
	r := reception{failures: &s.failures, emit: emit}
	return s.pool.Run(ctx, socket.Script[message]{
		Open:   func(id string) []any { return []any{s.request(id, u)} },
		Cancel: func(id string) any { return cancel{Context: id, Cancel: true} },
		Take:   r.take,
	})
}

// request asks for speech.
type request struct {
	Context    string   `json:"context_id"`
	Model      string   `json:"model_id"`
	Transcript string   `json:"transcript"`
	Voice      voice    `json:"voice"`
	Language   string   `json:"language,omitempty"`
	Format     format   `json:"output_format"`
	Timestamps bool     `json:"add_timestamps"`
	Continue   bool     `json:"continue"`
	Generation *howToBe `json:"generation_config,omitempty"`
}

type voice struct {
	Mode string `json:"mode"`
	ID   string `json:"id"`
}

type format struct {
	Container string `json:"container"`
	Encoding  string `json:"encoding"`
	Rate      int    `json:"sample_rate"`
}

// howToBe says how to speak.
type howToBe struct {
	Speed  float64 `json:"speed,omitempty"`
	Volume float64 `json:"volume,omitempty"`
}

// cancel gives a context up.
type cancel struct {
	Context string `json:"context_id"`
	Cancel  bool   `json:"cancel"`
}

func (s *Synthesizer) request(id string, u speech.Utterance) request {
	language, _, _ := strings.Cut(cmp.Or(u.Language, s.cfg.Language), "-")
	r := request{
		Context: id, Model: s.cfg.Model, Transcript: u.Text, Voice: voice{"id", s.cfg.Voice}, Language: strings.ToLower(language),
		Format: format{"raw", "pcm_s16le", s.cfg.Rate}, Timestamps: true,
	}
	if h := (howToBe{s.cfg.Speed, s.cfg.Volume}); h != (howToBe{}) {
		r.Generation = &h
	}
	return r
}

// message is what the server sends.
type message struct {
	Type   string `json:"type"`
	ID     string `json:"context_id"`
	Data   string `json:"data"`
	Status int    `json:"status_code"`
	Times  struct {
		Words  []string  `json:"words"`
		Starts []float64 `json:"start"`
		Ends   []float64 `json:"end"`
	} `json:"word_timestamps"`
	Title string  `json:"title"`
	Text  string  `json:"message"`
	Code  *string `json:"error_code"`
	Error string  `json:"error"` // of older versions
}

// Context implements [socket.Message].
func (m message) Context() string { return m.ID }

// Over implements [socket.Message].
func (m message) Over() bool { return m.Type == "done" || m.Type == "error" }

// reception is an utterance on its way.
type reception struct {
	failures *failure.Reporter
	emit     func(speech.Speech) error
	decoder  audio.ByteDecoder
}

// take takes a message; those of other types mean nothing.
func (r *reception) take(m message) (complete bool, err error) {
	var p speech.Speech
	switch m.Type {
	case "chunk":
		raw, err := base64.StdEncoding.DecodeString(m.Data)
		if err != nil {
			return false, r.failures.Malformed(0, err)
		}
		p.Samples = r.decoder.Append(nil, raw)
	case "timestamps":
		if p.Words, err = m.words(); err != nil {
			return false, r.failures.Malformed(0, err)
		}
	case "done":
		return true, nil
	case "error":
		return false, r.told(m)
	}
	if len(p.Samples) == 0 && len(p.Words) == 0 {
		return false, nil
	}
	return false, r.emit(p)
}

// told is an error that the server sent.
func (r *reception) told(m message) error {
	said := failure.Detail{Message: cmp.Or(m.Text, m.Title, m.Error)}
	if m.Code != nil {
		said.Code = *m.Code
	}
	return r.failures.Told(m.Status, said)
}

// words are those of a message; their times count from the beginning of the context.
func (m *message) words() ([]speech.Word, error) {
	t := &m.Times
	if len(t.Starts) != len(t.Words) || len(t.Ends) != len(t.Words) {
		return nil, errors.New("words and their times differ in number")
	}
	out := make([]speech.Word, len(t.Words))
	for i, w := range t.Words {
		out[i] = speech.Word{Text: w, Start: seconds(t.Starts[i]), End: seconds(t.Ends[i])}
	}
	return out, nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
