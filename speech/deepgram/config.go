package deepgram

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/speech/internal/socket"
)

// DefaultBaseURL is Deepgram's own address.
const DefaultBaseURL = "https://api.deepgram.com"

// DefaultModel is the model that listens when none is named.
const DefaultModel = "nova-3"

// ErrConfig is wrapped by every error about a configuration.
var ErrConfig = errors.New("deepgram: invalid configuration")

// Config is the settings of a [Recognizer]. APIKey is required. Printing a Config does
// not show its secrets.
type Config struct {
	// APIKey is Deepgram's key.
	APIKey string `json:"-"`
	// BaseURL is the server's address; the default is [DefaultBaseURL].
	BaseURL string
	// Headers are sent with the handshake and replace the package's own. Their values
	// are treated as secrets.
	Headers map[string]string `json:"-"`
	// Dial makes network connections, for a proxy or a test; nil means the usual way.
	Dial func(ctx context.Context, network, address string) (net.Conn, error) `json:"-"`

	// Model is Deepgram's name of the model; the default is [DefaultModel].
	Model string
	// Language is what is spoken, as a BCP 47 tag, or "multi"; empty leaves it to the
	// model. Flux takes it as a hint and only with its multilingual model.
	Language string
	// Keyterms are words that are likely to be heard, such as names.
	Keyterms []string
	// SmartFormat has dates, amounts and the like written as one writes them. It may
	// hold words back for a moment. Not for Flux, which does so anyway.
	SmartFormat bool
	// Endpointing is the silence after which Deepgram finishes what it has heard. The
	// default is 300 ms, negative turns it off. Not for Flux.
	Endpointing time.Duration
	// EndOfTurn has the end that Deepgram finds after that silence taken for the end
	// of the user's turn. Without it, turn taking decides by itself. Flux tells ends
	// of turns in any case.
	EndOfTurn bool
	// EndOfTurnThreshold is how sure Flux must be that a turn is over, from 0.5 to 1,
	// which it never is; 0 leaves it to the server.
	EndOfTurnThreshold float64
	// EndOfTurnTimeout is the silence after which Flux ends a turn although it is not
	// sure, from 500 ms to a minute; 0 leaves it to the server.
	EndOfTurnTimeout time.Duration

	// Rate is the sample rate in Hz that audio is sent with; the default is 16000.
	Rate int
	// Latency is how long a final transcript takes in 99 of 100 cases, see
	// [speech.Recognizer]; the default is 350 ms.
	Latency time.Duration
	// KeepAlive is how long nothing may be sent before the connection is kept alive;
	// the default is 4 s, and 1 s for Flux, which is sent silence then.
	KeepAlive time.Duration
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
		c.Rate = 16000
	}
	setDefault(&c.Endpointing, 300*time.Millisecond)
	setDefault(&c.Latency, 350*time.Millisecond)
	if c.flux() {
		setDefault(&c.KeepAlive, time.Second)
	}
	setDefault(&c.KeepAlive, 4*time.Second)
	return c
}

func setDefault(d *time.Duration, v time.Duration) {
	if *d == 0 {
		*d = v
	}
}

// validate checks a configuration with its defaults.
func (c Config) validate() error {
	if err := c.server().Validate(ErrConfig, "Config"); err != nil {
		return err
	}
	if err := audio.Mono(c.Rate).Validate(); err != nil {
		return fmt.Errorf("%w: Config.Rate: %w", ErrConfig, err)
	}
	switch {
	case c.EndOfTurnThreshold != 0 && !(c.EndOfTurnThreshold >= 0.5 && c.EndOfTurnThreshold <= 1):
		return fmt.Errorf("%w: Config.EndOfTurnThreshold must be from 0.5 to 1", ErrConfig)
	case c.EndOfTurnTimeout != 0 && (c.EndOfTurnTimeout < 500*time.Millisecond || c.EndOfTurnTimeout > time.Minute):
		return fmt.Errorf("%w: Config.EndOfTurnTimeout must be from 500 ms to a minute", ErrConfig)
	case c.Latency < 0:
		return fmt.Errorf("%w: Config.Latency must not be negative", ErrConfig)
	case c.KeepAlive < 0 || c.KeepAlive > 9*time.Second:
		return fmt.Errorf("%w: Config.KeepAlive must be at most 9 s, because Deepgram hangs up after 10", ErrConfig)
	case !c.flux() && (c.EndOfTurnThreshold != 0 || c.EndOfTurnTimeout != 0):
		return fmt.Errorf("%w: Config.EndOfTurnThreshold and EndOfTurnTimeout are for Flux models", ErrConfig)
	}
	return nil
}

// flux reports whether the model is one that finds the ends of turns.
func (c Config) flux() bool { return strings.HasPrefix(c.Model, "flux-") }

func (c Config) server() socket.Server {
	return socket.Server{Provider: "deepgram", APIKey: c.APIKey, BaseURL: c.BaseURL, Headers: c.Headers, Dial: c.Dial}
}

// connect is how to connect for a listening.
func (c Config) connect() socket.Config {
	path := "/v1/listen"
	q := url.Values{"model": {c.Model}, "encoding": {"linear16"}, "sample_rate": {strconv.Itoa(c.Rate)}}
	if len(c.Keyterms) > 0 {
		q["keyterm"] = c.Keyterms
	}
	if c.flux() {
		path = "/v2/listen"
		c.fluxQuery(q)
	} else {
		c.novaQuery(q)
	}
	return c.server().Config(path, q, map[string]string{"Authorization": "Token " + c.APIKey})
}

func (c Config) novaQuery(q url.Values) {
	q.Set("channels", "1")
	q.Set("interim_results", "true")
	q.Set("punctuate", "true")
	if c.Language != "" {
		q.Set("language", c.Language)
	}
	if c.SmartFormat {
		q.Set("smart_format", "true")
	}
	q.Set("endpointing", "false")
	if c.Endpointing > 0 {
		q.Set("endpointing", strconv.FormatInt(c.Endpointing.Milliseconds(), 10))
	}
}

func (c Config) fluxQuery(q url.Values) {
	if c.Language != "" && c.Language != "multi" && strings.HasSuffix(c.Model, "-multi") {
		language, _, _ := strings.Cut(c.Language, "-")
		q.Set("language_hint", language)
	}
	if c.EndOfTurnThreshold != 0 {
		q.Set("eot_threshold", strconv.FormatFloat(c.EndOfTurnThreshold, 'g', -1, 64))
	}
	if c.EndOfTurnTimeout != 0 {
		q.Set("eot_timeout_ms", strconv.FormatInt(c.EndOfTurnTimeout.Milliseconds(), 10))
	}
}

// String describes the configuration without its secrets.
func (c Config) String() string {
	return fmt.Sprintf("deepgram.Config{BaseURL: %q, Model: %q}", c.BaseURL, c.Model)
}

// GoString is the same as String, so that %#v shows no secrets either.
func (c Config) GoString() string { return c.String() }

// LogValue is the same as String for structured logs.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }
