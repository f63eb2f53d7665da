package cartesia

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"time"

	"github.com/turnwise/turnwise/speech/internal/socket"
)

const (
	// DefaultBaseURL is Cartesia's own address.
	DefaultBaseURL = "https://api.cartesia.ai"
	// DefaultModel is the model that speaks when none is named.
	DefaultModel = "sonic-3.5"
	// Version is the version of the interface that this package speaks.
	Version = "2026-03-01"
)

const (
	// maxContexts is how many contexts are opened on a connection at most, those that
	// were cancelled included until the server has ended them.
	maxContexts = 16
	// serverKeeps is after how long without a message the server hangs up.
	serverKeeps = 5 * time.Minute
	// maxIdle is how many unused connections are kept.
	maxIdle = 32
)

// ErrConfig is wrapped by every error about a configuration.
var ErrConfig = errors.New("cartesia: invalid configuration")

// Config is the settings of a [Synthesizer]. APIKey and Voice are required. Printing a
// Config does not show its secrets.
type Config struct {
	// APIKey is Cartesia's key.
	APIKey string `json:"-"`
	// BaseURL is the server's address; the default is [DefaultBaseURL].
	BaseURL string
	// Headers are sent with the handshake and replace the package's own. Their values
	// are treated as secrets.
	Headers map[string]string `json:"-"`
	// Dial makes network connections, for a proxy or a test; nil means the usual way.
	Dial func(ctx context.Context, network, address string) (net.Conn, error) `json:"-"`

	// Voice is the id of the voice.
	Voice string
	// Model is Cartesia's name of the model; the default is [DefaultModel].
	Model string
	// Language is what is spoken, as a BCP 47 tag, of which the language itself is
	// sent. An utterance's own goes first. Empty leaves it to the server.
	Language string
	// Speed is from 0.6 to 1.5 and Volume from 0.5 to 2; 0 leaves them to the voice.
	Speed, Volume float64

	// Rate is the sample rate in Hz of the audio: 8000, 16000, 22050, 24000, 44100 or
	// 48000. The default is 24000.
	Rate int
	// KeepIdle is how long an unused connection is kept, less than 5 minutes; the
	// default is 4.
	KeepIdle time.Duration
}

// withDefaults fills in what is not set.
func (c Config) withDefaults() Config {
	if c.BaseURL == "" {
		c.BaseURL = DefaultBaseURL
	}
	if c.Model == "" {
		c.Model = DefaultModel
	}
	if c.Rate == 0 {
		c.Rate = 24000
	}
	if c.KeepIdle == 0 {
		c.KeepIdle = 4 * time.Minute
	}
	return c
}

// validate checks a configuration with its defaults.
func (c Config) validate() error {
	if err := c.server().Validate(ErrConfig, "Config"); err != nil {
		return err
	}
	switch {
	case c.Voice == "":
		return fmt.Errorf("%w: Config.Voice is required", ErrConfig)
	case c.Speed != 0 && !(c.Speed >= 0.6 && c.Speed <= 1.5):
		return fmt.Errorf("%w: Config.Speed must be from 0.6 to 1.5", ErrConfig)
	case c.Volume != 0 && !(c.Volume >= 0.5 && c.Volume <= 2):
		return fmt.Errorf("%w: Config.Volume must be from 0.5 to 2", ErrConfig)
	case !slices.Contains([]int{8000, 16000, 22050, 24000, 44100, 48000}, c.Rate):
		return fmt.Errorf("%w: Config.Rate is %d Hz; it must be 8000, 16000, 22050, 24000, 44100 or 48000", ErrConfig, c.Rate)
	case c.KeepIdle < 0 || c.KeepIdle >= serverKeeps:
		return fmt.Errorf("%w: Config.KeepIdle must be less than %s", ErrConfig, serverKeeps)
	}
	return nil
}

func (c Config) server() socket.Server {
	return socket.Server{Provider: "cartesia", APIKey: c.APIKey, BaseURL: c.BaseURL, Headers: c.Headers, Dial: c.Dial}
}

// connect is how to connect.
func (c Config) connect() socket.Config {
	return c.server().Config("/tts/websocket", nil, map[string]string{
		"Authorization": "Bearer " + c.APIKey, "Cartesia-Version": Version,
	})
}

// String describes the configuration without its secrets.
func (c Config) String() string {
	return fmt.Sprintf("cartesia.Config{BaseURL: %q, Model: %q, Voice: %q}", c.BaseURL, c.Model, c.Voice)
}

// GoString is the same as String, so that %#v shows no secrets either.
func (c Config) GoString() string { return c.String() }

// LogValue is the same as String for structured logs.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }
