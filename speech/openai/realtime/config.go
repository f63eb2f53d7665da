package realtime

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"time"

	"github.com/turnwise/turnwise/speech/internal/socket"
)

const (
	// DefaultBaseURL is OpenAI's own address.
	DefaultBaseURL = "https://api.openai.com/v1"
	// DefaultModel is the model that listens when none is named.
	DefaultModel = "gpt-live-transcribe"
)

// Rate is the sample rate in Hz that OpenAI takes.
const Rate = 24000

// ErrConfig is wrapped by every error about a configuration.
var ErrConfig = errors.New("openai realtime: invalid configuration")

// TurnDetection says who finds the ends of turns.
type TurnDetection string

// The kinds of turn detection.
const (
	// Local has voice activity in the pipeline say what speech is.
	Local TurnDetection = ""
	// ServerVAD has the server look for silence.
	ServerVAD TurnDetection = "server_vad"
	// SemanticVAD has the server look for the end of what is meant.
	SemanticVAD TurnDetection = "semantic_vad"
)

// Config is the settings of a [Recognizer]. APIKey is required. Printing a Config does
// not show its secrets.
type Config struct {
	// APIKey is sent as a bearer token.
	APIKey string `json:"-"`
	// BaseURL is the server's address up to and including its version; the default is
	// [DefaultBaseURL].
	BaseURL string
	// Headers are sent with the handshake and replace the package's own. Their values
	// are treated as secrets.
	Headers map[string]string `json:"-"`
	// Dial makes network connections, for a proxy or a test; nil means the usual way.
	Dial func(ctx context.Context, network, address string) (net.Conn, error) `json:"-"`

	// Model is the server's name of the model; the default is [DefaultModel].
	Model string
	// Language is what is spoken, as a BCP 47 tag, of which the language itself is
	// sent; empty lets the model find out.
	Language string
	// Prompt is words that are likely to be heard, such as names, for models that take
	// some; may be empty.
	Prompt string
	// NoiseReduction is "near_field", "far_field", or empty for none.
	NoiseReduction string
	// TurnDetection says who finds the ends of turns; the default is [Local], which
	// needs voice activity in the pipeline. What the server finds counts as an end of
	// turn, which [speech.RecognizerEnd] goes by.
	TurnDetection TurnDetection

	// Before is how much audio before speech is sent with it, with local turn
	// detection; the default is 500 ms.
	Before time.Duration
	// Latency is how long a final transcript takes in 99 of 100 cases, see
	// [speech.Recognizer]; the default is 1.7 s.
	Latency time.Duration
}

// withDefaults fills in what is not set.
func (c Config) withDefaults() Config {
	if c.BaseURL == "" {
		c.BaseURL = DefaultBaseURL
	}
	if c.Model == "" {
		c.Model = DefaultModel
	}
	if c.Before == 0 {
		c.Before = 500 * time.Millisecond
	}
	if c.Latency == 0 {
		c.Latency = 1700 * time.Millisecond
	}
	return c
}

// validate checks a configuration with its defaults.
func (c Config) validate() error {
	if err := c.server().Validate(ErrConfig, "Config"); err != nil {
		return err
	}
	switch {
	case c.NoiseReduction != "" && c.NoiseReduction != "near_field" && c.NoiseReduction != "far_field":
		return fmt.Errorf("%w: Config.NoiseReduction must be near_field, far_field or empty", ErrConfig)
	case c.TurnDetection != Local && c.TurnDetection != ServerVAD && c.TurnDetection != SemanticVAD:
		return fmt.Errorf("%w: Config.TurnDetection is %q; use Local, ServerVAD or SemanticVAD", ErrConfig, c.TurnDetection)
	case c.Before < 0 || c.Before > 5*time.Second:
		return fmt.Errorf("%w: Config.Before must be at most 5 s", ErrConfig)
	case c.Latency < 0:
		return fmt.Errorf("%w: Config.Latency must not be negative", ErrConfig)
	}
	return nil
}

func (c Config) server() socket.Server {
	return socket.Server{Provider: "openai", APIKey: c.APIKey, BaseURL: c.BaseURL, Headers: c.Headers, Dial: c.Dial}
}

// connect is how to connect for a listening. The model is not named here: with one, the
// server would hold a conversation.
func (c Config) connect() socket.Config {
	return c.server().Config("/realtime", url.Values{"intent": {"transcription"}}, map[string]string{"Authorization": "Bearer " + c.APIKey})
}

// String describes the configuration without its secrets.
func (c Config) String() string {
	return fmt.Sprintf("realtime.Config{BaseURL: %q, Model: %q}", c.BaseURL, c.Model)
}

// GoString is the same as String, so that %#v shows no secrets either.
func (c Config) GoString() string { return c.String() }

// LogValue is the same as String for structured logs.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }
