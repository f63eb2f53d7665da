package openai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/wav"
	"github.com/turnwise/turnwise/speech"
)

// maxUpload is the largest piece of speech in bytes; OpenAI takes 25 MB.
const maxUpload = 24 << 20

// TranscriberConfig is the settings of a [Transcriber]. Model is required.
type TranscriberConfig struct {
	// Server says where the model is.
	Server Server
	// Model is the server's name of the model, e.g. "gpt-4o-mini-transcribe".
	Model string
	// Language is what is spoken, as a BCP 47 tag, of which the language itself is
	// sent; empty lets the model find out.
	Language string
	// Prompt is words that are likely to be heard, such as names; may be empty.
	Prompt string
	// Temperature is from 0 to 1; 0 leaves it to the server.
	Temperature float64
}

// Transcriber turns speech into text with one model of one server. It implements
// [speech.Transcriber]; any number of sessions may use it at once.
type Transcriber struct {
	cfg        TranscriberConfig
	connection *connection
}

var _ speech.Transcriber = (*Transcriber)(nil)

// NewTranscriber makes a transcriber. Nothing is sent before the first
// [Transcriber.Transcribe]. Errors wrap [ErrConfig] and name the field.
func NewTranscriber(cfg TranscriberConfig) (*Transcriber, error) {
	if err := cfg.Server.validate(cfg.Model); err != nil {
		return nil, err
	}
	if !(cfg.Temperature >= 0 && cfg.Temperature <= 1) {
		return nil, fmt.Errorf("%w: TranscriberConfig.Temperature must be from 0 to 1", ErrConfig)
	}
	cfg.Language, _, _ = strings.Cut(strings.ToLower(cfg.Language), "-")
	return &Transcriber{cfg: cfg, connection: newConnection(cfg.Server)}, nil
}

// Close closes the connections that are kept for further requests, unless the HTTP
// client was given. The transcriber may still be used.
func (t *Transcriber) Close() { t.connection.idle() }

// Transcribe sends mono samples at rate Hz as a WAV file and returns the words,
// without space around them; empty where none were heard. Failures are an
// [*llm.Error].
func (t *Transcriber) Transcribe(ctx context.Context, samples []int16, rate int) (string, error) {
	failures := &t.connection.failures
	if len(samples) == 0 {
		return "", nil
	}
	format := audio.Mono(rate)
	if err := format.Validate(); err != nil {
		return "", failures.Invalid(err)
	}
	if 2*len(samples) > maxUpload {
		return "", failures.Invalid(errors.New("the speech is too long: give it in pieces of a few minutes at most"))
	}
	ctx, x := withExchange(ctx)
	x.short = true
	answer, err := t.connection.client.CreateTranscription(ctx, goopenai.AudioRequest{
		Model:       t.cfg.Model,
		FilePath:    "speech.wav",
		Reader:      bytes.NewReader(wav.Append(nil, format, samples)),
		Prompt:      t.cfg.Prompt,
		Temperature: float32(t.cfg.Temperature),
		Language:    t.cfg.Language,
		Format:      goopenai.AudioResponseFormatJSON,
	})
	if err != nil {
		return "", failures.request(ctx, err, x)
	}
	return strings.TrimSpace(answer.Text), nil
}
