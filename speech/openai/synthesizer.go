package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/speech"
)

// maxSpeech is the longest audio of an utterance.
const maxSpeech = 10 * time.Minute

// Format is how a server sends speech.
type Format string

// The formats.
const (
	// PCM is raw 16-bit samples: the least delay, and the default.
	PCM Format = "pcm"
	// WAV is for servers that do not send raw samples.
	WAV Format = "wav"
	// MP3 needs the least bandwidth.
	MP3 Format = "mp3"
)

// SynthesizerConfig is the settings of a [Synthesizer]. Model and Voice are required.
type SynthesizerConfig struct {
	// Server says where the model is.
	Server Server
	// Model is the server's name of the model, e.g. "gpt-4o-mini-tts".
	Model string
	// Voice is the server's name of the voice, e.g. "coral".
	Voice string
	// Instructions say how to speak, for models that follow some; may be empty.
	Instructions string
	// Speed is from 0.25 to 4; 0 leaves it to the server.
	Speed float64
	// Format is what the server is asked for; the default is [PCM]. An answer that
	// says that it is something else is taken for that.
	Format Format
	// PCMRate is the sample rate in Hz of the server's raw samples, which do not
	// tell it; the default is OpenAI's, 24000.
	PCMRate int
	// Rate is the sample rate in Hz of the audio that is given, converted where the
	// server's is another; the default is PCMRate.
	Rate int
}

// Synthesizer speaks with one voice of one server. It implements
// [speech.Synthesizer]; any number of sessions may use it at once.
type Synthesizer struct {
	cfg        SynthesizerConfig
	connection *connection
}

var _ speech.Synthesizer = (*Synthesizer)(nil)

// NewSynthesizer makes a synthesizer. Nothing is sent before the first
// [Synthesizer.Synthesize]. Errors wrap [ErrConfig] and name the field.
func NewSynthesizer(cfg SynthesizerConfig) (*Synthesizer, error) {
	if err := cfg.Server.validate(cfg.Model); err != nil {
		return nil, err
	}
	if cfg.Format == "" {
		cfg.Format = PCM
	}
	if cfg.PCMRate == 0 {
		cfg.PCMRate = 24000
	}
	if cfg.Rate == 0 {
		cfg.Rate = cfg.PCMRate
	}
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return &Synthesizer{cfg: cfg, connection: newConnection(cfg.Server)}, nil
}

func (c SynthesizerConfig) validate() error {
	if c.Voice == "" {
		return fmt.Errorf("%w: SynthesizerConfig.Voice is required", ErrConfig)
	}
	if c.Speed != 0 && !(c.Speed >= 0.25 && c.Speed <= 4) {
		return fmt.Errorf("%w: SynthesizerConfig.Speed must be from 0.25 to 4", ErrConfig)
	}
	if c.Format != PCM && c.Format != WAV && c.Format != MP3 {
		return fmt.Errorf("%w: SynthesizerConfig.Format is %q; use PCM, WAV or MP3", ErrConfig, c.Format)
	}
	if err := audio.Mono(c.PCMRate).Validate(); err != nil {
		return fmt.Errorf("%w: SynthesizerConfig.PCMRate: %w", ErrConfig, err)
	}
	if err := audio.Mono(c.Rate).Validate(); err != nil {
		return fmt.Errorf("%w: SynthesizerConfig.Rate: %w", ErrConfig, err)
	}
	return nil
}

// Rate is the configured sample rate in Hz.
func (s *Synthesizer) Rate() int { return s.cfg.Rate }

// Close closes the connections that are kept for further requests, unless the HTTP
// client was given. The synthesizer may still be used.
func (s *Synthesizer) Close() { s.connection.idle() }

// Synthesize speaks an utterance, see [speech.Synthesizer], and emits audio as it
// comes in. The models find the language out by themselves. Failures are an
// [*llm.Error]; an answer that was cut wraps [llm.ErrCut], after the audio before
// the cut. An error of emit is returned as it is.
func (s *Synthesizer) Synthesize(ctx context.Context, u speech.Utterance, emit func(speech.Speech) error) error {
	// The answer can be given up before its context ends.
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	inner, x := withExchange(inner)
	answer, err := s.connection.client.CreateSpeech(inner, goopenai.CreateSpeechRequest{
		Model:          goopenai.SpeechModel(s.cfg.Model),
		Input:          u.Text,
		Voice:          goopenai.SpeechVoice(s.cfg.Voice),
		Instructions:   s.cfg.Instructions,
		ResponseFormat: goopenai.SpeechResponseFormat(s.cfg.Format),
		Speed:          s.cfg.Speed,
	})
	if err != nil {
		return s.connection.failures.request(ctx, err, x)
	}
	defer func() { _ = answer.Close() }()
	if x.kind == kindJSON {
		return s.connection.failures.Malformed(0, errors.New("it is JSON instead of sound"))
	}
	body := &received{r: answer}
	source, err := s.cfg.decode(body, x.kind)
	if err != nil {
		return s.ended(ctx, body, err)
	}
	heard, err := give(source, emit)
	var gone *listenerError
	if errors.As(err, &gone) {
		return gone.err
	}
	if err == nil && heard == 0 {
		return s.ended(ctx, body, errors.New("there is no sound in it"))
	}
	return s.ended(ctx, body, err)
}

// ended says how an answer ended, whatever its decoder makes of that.
func (s *Synthesizer) ended(ctx context.Context, body *received, err error) error {
	switch {
	case ctx.Err() != nil && (err != nil || body.err != nil):
		return s.connection.failures.Stopped(ctx)
	case body.err != nil:
		return s.connection.failures.Cut(ctx, body.err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return s.connection.failures.Cut(ctx, err)
	case err != nil:
		return s.connection.failures.Malformed(0, err)
	}
	return nil
}

// received is an answer's body, which remembers why it ended if not by its end:
// decoders take some failures for the end.
type received struct {
	r   io.Reader
	err error
}

func (b *received) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if err != nil && err != io.EOF {
		b.err = err
	}
	return n, err
}
