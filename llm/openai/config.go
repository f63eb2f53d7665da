package openai

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"strings"

	"github.com/go-playground/validator/v10"
)

// DefaultBaseURL is where requests go when [Config.BaseURL] is empty.
const DefaultBaseURL = "https://api.openai.com/v1"

// The body fields that can bound a response, see [Config.MaxTokensField].
const (
	FieldMaxTokens           = "max_tokens"
	FieldMaxCompletionTokens = "max_completion_tokens"
)

// Config says which model to use and how to reach it. Only Model is required,
// and APIKey when BaseURL is empty. Printing a Config does not show its secrets.
type Config struct {
	// Model is the server's name of the model, e.g. "gpt-4.1-mini".
	Model string `validate:"required"`
	// APIKey is sent as a bearer token. Servers without keys need none.
	APIKey string `json:"-" validate:"required_without=BaseURL,omitempty,printascii"`
	// BaseURL is the server's address up to and including its version, e.g.
	// "http://localhost:11434/v1". The default is [DefaultBaseURL].
	BaseURL string `validate:"omitempty,baseurl"`
	// Headers are sent with every request and replace the package's own, e.g.
	// "OpenAI-Project" or, for servers with another way to log in,
	// "Authorization". Their values are treated as secrets.
	Headers map[string]string `json:"-" validate:"dive,keys,headername,endkeys,headervalue"`
	// Extra fields are merged into the JSON body of every request, e.g.
	// "reasoning_effort" or "top_p". A "stream_options" here replaces the
	// package's own. What other fields of Config or the conversation decide
	// cannot be set here.
	Extra map[string]any `validate:"dive,keys,extrafield,endkeys"`
	// Temperature is used when a request has none; nil leaves it to the server.
	Temperature *float64 `validate:"omitempty,gte=0,lte=2"`
	// MaxTokens bounds a response when a request does not; 0 leaves it to the
	// server.
	MaxTokens int `validate:"gte=0"`
	// MaxTokensField is how the server calls that bound: [FieldMaxTokens] or
	// [FieldMaxCompletionTokens]. The default is the second for OpenAI's own server,
	// whose reasoning models know no other, and the first everywhere else.
	MaxTokensField string `validate:"omitempty,oneof=max_tokens max_completion_tokens"`
	// DeveloperAsSystem sends developer messages as system messages, for servers
	// that do not know the developer role.
	DeveloperAsSystem bool
	// ParallelToolCalls allows or forbids several calls in one response; nil
	// leaves it to the server.
	ParallelToolCalls *bool
	// NoUsage does not ask for token counts, for servers that refuse
	// "stream_options".
	NoUsage bool
	// SessionField is the body field that carries the session's id, e.g.
	// "prompt_cache_key" or "user"; by default the id is not sent.
	SessionField string `validate:"omitempty,extrafield"`
	// Provider names the server in errors; the default is "openai".
	Provider string
	// HTTPClient sends the requests; the default is a client on [NewTransport]
	// that follows no redirects. It should have no Timeout, which would end long
	// responses: deadlines belong into the context of [Model.Stream].
	HTTPClient *http.Client `json:"-" validate:"-"`
}

// ErrConfig is wrapped by every error of [Config.Validate] and [New].
var ErrConfig = errors.New("openai: invalid configuration")

// Validate checks the configuration. The error names every field that is wrong
// and holds no value of one.
func (c Config) Validate() error {
	v, err := newValidator()
	if err != nil {
		return err
	}
	err = v.Struct(c)
	var fields validator.ValidationErrors
	if !errors.As(err, &fields) {
		return err
	}
	problems := make([]error, 0, len(fields))
	for _, f := range fields {
		problems = append(problems, fmt.Errorf("%w: %s %s", ErrConfig, f.StructField(), advice(f)))
	}
	return errors.Join(problems...)
}

// String describes the configuration without its secrets.
func (c Config) String() string {
	return fmt.Sprintf("openai.Config{Model: %q, BaseURL: %q}", c.Model, c.baseURL())
}

// GoString is the same as String, so that %#v shows no secrets either.
func (c Config) GoString() string { return c.String() }

// LogValue is the same as String for structured logs.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

func (c Config) baseURL() string {
	if c.BaseURL == "" {
		return DefaultBaseURL
	}
	return strings.TrimRight(c.BaseURL, "/")
}

func (c Config) provider() string {
	if c.Provider == "" {
		return "openai"
	}
	return c.Provider
}

func (c Config) maxTokensField() string {
	switch {
	case c.MaxTokensField != "":
		return c.MaxTokensField
	case c.baseURL() == DefaultBaseURL:
		return FieldMaxCompletionTokens
	}
	return FieldMaxTokens
}

func newValidator() (*validator.Validate, error) {
	v := validator.New()
	for tag, ok := range map[string]func(string) bool{
		"baseurl":     validBaseURL,
		"headername":  validHeaderName,
		"headervalue": validHeaderValue,
		"extrafield":  validExtraField,
	} {
		check := func(fl validator.FieldLevel) bool {
			return fl.Field().Kind() == reflect.String && ok(fl.Field().String())
		}
		if err := v.RegisterValidation(tag, check); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// advice says what a field must be.
func advice(f validator.FieldError) string {
	switch f.Tag() {
	case "required":
		return "is required"
	case "required_without":
		return "is required when BaseURL is empty"
	case "printascii":
		return "must be printable ASCII; look for a line break or a quotation mark that was copied along"
	case "baseurl":
		return "must be an http or https address without user, query and fragment, such as http://localhost:11434/v1"
	case "headername":
		return "must be the name of an HTTP header"
	case "headervalue":
		return "must be printable text without line breaks"
	case "extrafield":
		return "must not be empty or name a field that is set otherwise (" + strings.Join(ownFields(), ", ") + ")"
	case "gte":
		return "must be at least " + f.Param()
	case "lte":
		return "must be at most " + f.Param()
	case "oneof":
		return "must be one of: " + f.Param()
	}
	return "is not valid (" + f.Tag() + ")"
}
