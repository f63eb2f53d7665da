package elevenlabs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/turnwise/turnwise/speech/internal/socket"
)

// DefaultBaseURL is ElevenLabs' own address.
const DefaultBaseURL = "https://api.elevenlabs.io"

// DefaultModel is the model that speaks when none is named: the one with the least
// delay.
const DefaultModel = "eleven_flash_v2_5"

const (
	// maxContexts is how many contexts ElevenLabs allows on a connection.
	maxContexts = 5
	// serverKeeps is after how long without a message the server is asked to hang up.
	serverKeeps = 3 * time.Minute
	// maxIdle is how many unused connections are kept.
	maxIdle = 32
)

// ErrConfig is wrapped by every error about a configuration.
var ErrConfig = errors.New("elevenlabs: invalid configuration")

// Config is the settings of a [Synthesizer]. APIKey and Voice are required. Printing a
// Config does not show its secrets.
type Config struct {
	// APIKey is ElevenLabs' key.
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
	// Model is ElevenLabs' name of the model; the default is [DefaultModel]. Models of
	// the third generation have no multi-context WebSocket.
	Model string
	// Language is what is spoken, as a BCP 47 tag, of which the language itself is
	// sent; empty lets the model find out. Not all models take one.
	Language string
	// Stability and Similarity are from 0 to 1; nil leaves them to the voice.
	Stability, Similarity *float64
	// Speed is from 0.7 to 1.2; 0 leaves it to the voice.
	Speed float64

	// Rate is the sample rate in Hz of the audio: 8000, 16000, 22050, 24000 or 44100.
	// The default is 24000.
	Rate int
	// KeepIdle is how long an unused connection is kept, less than 3 minutes; the
	// default is 2.
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
		c.KeepIdle = 2 * time.Minute
	}
	return c
}

// validate checks a configuration with its defaults.
func (c Config) validate() error {
	if err := c.server().Validate(ErrConfig, "Config"); err != nil {
		return err
	}
	portion := func(p *float64) bool { return p == nil || *p >= 0 && *p <= 1 }
	switch {
	case c.Voice == "" || strings.ContainsAny(c.Voice, "/?#% "):
		return fmt.Errorf("%w: Config.Voice must be the id of a voice", ErrConfig)
	case !portion(c.Stability):
		return fmt.Errorf("%w: Config.Stability must be from 0 to 1", ErrConfig)
	case !portion(c.Similarity):
		return fmt.Errorf("%w: Config.Similarity must be from 0 to 1", ErrConfig)
	case c.Speed != 0 && !(c.Speed >= 0.7 && c.Speed <= 1.2):
		return fmt.Errorf("%w: Config.Speed must be from 0.7 to 1.2", ErrConfig)
	case !slices.Contains([]int{8000, 16000, 22050, 24000, 44100}, c.Rate):
		return fmt.Errorf("%w: Config.Rate is %d Hz; it must be 8000, 16000, 22050, 24000 or 44100", ErrConfig, c.Rate)
	case c.KeepIdle < 0 || c.KeepIdle >= serverKeeps:
		return fmt.Errorf("%w: Config.KeepIdle must be less than %s", ErrConfig, serverKeeps)
	}
	return nil
}

func (c Config) server() socket.Server {
	return socket.Server{Provider: "elevenlabs", APIKey: c.APIKey, BaseURL: c.BaseURL, Headers: c.Headers, Dial: c.Dial}
}

// connect is how to connect.
func (c Config) connect() socket.Config {
	q := url.Values{
		"model_id":           {c.Model},
		"output_format":      {"pcm_" + strconv.Itoa(c.Rate)},
		"inactivity_timeout": {strconv.Itoa(int(serverKeeps.Seconds()))},
		"auto_mode":          {"true"}, // whole sentences are sent
		"sync_alignment":     {"true"},
	}
	if language, _, _ := strings.Cut(c.Language, "-"); language != "" {
		q.Set("language_code", strings.ToLower(language))
	}
	path := "/v1/text-to-speech/" + c.Voice + "/multi-stream-input"
	return c.server().Config(path, q, map[string]string{"xi-api-key": c.APIKey})
}

// String describes the configuration without its secrets.
func (c Config) String() string {
	return fmt.Sprintf("elevenlabs.Config{BaseURL: %q, Model: %q, Voice: %q}", c.BaseURL, c.Model, c.Voice)
}

// GoString is the same as String, so that %#v shows no secrets either.
func (c Config) GoString() string { return c.String() }

// LogValue is the same as String for structured logs.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }
