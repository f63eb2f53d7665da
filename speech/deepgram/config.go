// Package deepgram has speech recognised by Deepgram while it is being spoken, over
// its streaming interface for the Nova models. Source: Deepgram's reference of
// /v1/listen and its guides on keep-alive, endpointing and finalize.
package deepgram

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/gorilla/websocket"
)

// DefaultURL is Deepgram's own address.
const DefaultURL = "wss://api.deepgram.com/v1/listen"

// Rate is the sample rate in Hz of the audio that is sent.
const Rate = 16000

// Config is the settings of a [Recognizer]. APIKey is required. Printing a Config does
// not show it.
type Config struct {
	// APIKey is the account's key.
	APIKey string `json:"-"`
	// URL is the address of the interface, wss or ws; the default is [DefaultURL].
	URL string
	// Model is the model's name; the default is "nova-3".
	Model string
	// Language is what is spoken, as a BCP 47 tag, or "multi"; the default is "en".
	Language string
	// Keyterms are words that are likely to be heard, such as names.
	Keyterms []string
	// Endpointing is how much silence makes Deepgram finish what it has heard, in
	// milliseconds' resolution; the default is 300 ms.
	Endpointing time.Duration
	// EndOfTurn has the end that Deepgram finds after that silence taken for the end
	// of the user's turn. Without it, turn taking decides by itself.
	EndOfTurn bool
	// Latency is how long after the end of speech the final words have come in 99 of
	// 100 cases; the default is 1 s.
	Latency time.Duration
	// Header is sent with the handshake and replaces the package's own fields. Its
	// values are treated as secrets.
	Header http.Header `json:"-"`
	// Dialer connects; the default waits 5 s for the handshake.
	Dialer *websocket.Dialer `json:"-"`
}

// ErrConfig is wrapped by every error about a configuration.
var ErrConfig = errors.New("deepgram: invalid configuration")

// Validate names the first field that is missing or wrong.
func (c Config) Validate() error {
	switch {
	case c.APIKey == "" && len(c.Header.Values("Authorization")) == 0:
		return fmt.Errorf("%w: APIKey is required", ErrConfig)
	case c.Endpointing < 0 || c.Endpointing > 10*time.Second:
		return fmt.Errorf("%w: Endpointing is %s; it must be from 10ms to 10s", ErrConfig, c.Endpointing)
	case c.Latency < 0:
		return fmt.Errorf("%w: Latency is %s; it must be positive", ErrConfig, c.Latency)
	}
	u, err := url.Parse(c.address())
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "wss" && u.Scheme != "ws" {
		return fmt.Errorf("%w: URL must be an address of wss or ws without a user", ErrConfig)
	}
	return nil
}

// String describes the configuration without its secrets.
func (c Config) String() string {
	return fmt.Sprintf("deepgram.Config{URL: %q, Model: %q, Language: %q}", c.address(), c.Model, c.Language)
}

// GoString is the same as String, so that %#v shows no secrets either.
func (c Config) GoString() string { return c.String() }

// LogValue is the same as String for structured logs.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

func (c Config) address() string {
	if c.URL == "" {
		return DefaultURL
	}
	return c.URL
}

// withDefaults fills in what was left open.
func (c Config) withDefaults() Config {
	c.URL = c.address()
	if c.Model == "" {
		c.Model = "nova-3"
	}
	if c.Language == "" {
		c.Language = "en"
	}
	if c.Endpointing == 0 {
		c.Endpointing = 300 * time.Millisecond
	}
	if c.Latency == 0 {
		c.Latency = time.Second
	}
	if c.Dialer == nil {
		c.Dialer = &websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: 5 * time.Second}
	}
	return c
}

// listenURL is the address with what is asked for.
func (c Config) listenURL() (string, error) {
	u, err := url.Parse(c.URL)
	if err != nil {
		return "", err
	}
	q := u.Query()
	for name, value := range map[string]string{
		"model": c.Model, "language": c.Language, "encoding": "linear16", "sample_rate": strconv.Itoa(Rate), "channels": "1",
		"interim_results": "true", "smart_format": "true", "endpointing": strconv.FormatInt(max(10, c.Endpointing.Milliseconds()), 10),
	} {
		q.Set(name, value)
	}
	for _, term := range c.Keyterms {
		q.Add("keyterm", term)
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// header is what goes with the handshake.
func (c Config) header() http.Header {
	h := http.Header{"Authorization": {"Token " + c.APIKey}}
	for name, values := range c.Header {
		h[http.CanonicalHeaderKey(name)] = values
	}
	return h
}

// secrets are the texts that no error may hold.
func (c Config) secrets() []string {
	out := []string{c.APIKey}
	for _, values := range c.Header {
		out = append(out, values...)
	}
	return out
}
