package openai

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	llmopenai "github.com/turnwise/turnwise/llm/openai"
)

// ErrConfig is wrapped by every error about a configuration.
var ErrConfig = errors.New("openai speech: invalid configuration")

// Server says how to reach a server. APIKey is required when BaseURL is empty.
// Printing a Server does not show its secrets.
type Server struct {
	// APIKey is sent as a bearer token. Servers without keys need none.
	APIKey string `json:"-"`
	// BaseURL is the server's address up to and including its version, e.g.
	// "http://localhost:8000/v1". The default is OpenAI's own.
	BaseURL string
	// Headers are sent with every request and replace the package's own. Their
	// values are treated as secrets.
	Headers map[string]string `json:"-"`
	// Provider names the server in errors; the default is "openai".
	Provider string
	// HTTPClient sends the requests; the default is one that keeps connections
	// and follows no redirects. It should have no Timeout, which would end long
	// answers.
	HTTPClient *http.Client `json:"-"`
}

// validate checks the fields that all configurations have in common, by the rules
// of the language models' configuration.
func (s Server) validate(model string) error {
	err := llmopenai.Config{Model: model, APIKey: s.APIKey, BaseURL: s.BaseURL, Headers: s.Headers}.Validate()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return nil
}

// String describes the server without its secrets.
func (s Server) String() string {
	return fmt.Sprintf("openai.Server{BaseURL: %q}", s.baseURL())
}

// GoString is the same as String, so that %#v shows no secrets either.
func (s Server) GoString() string { return s.String() }

// LogValue is the same as String for structured logs.
func (s Server) LogValue() slog.Value { return slog.StringValue(s.String()) }

func (s Server) baseURL() string {
	if s.BaseURL == "" {
		return llmopenai.DefaultBaseURL
	}
	return strings.TrimRight(s.BaseURL, "/")
}

func (s Server) provider() string {
	if s.Provider == "" {
		return "openai"
	}
	return s.Provider
}
