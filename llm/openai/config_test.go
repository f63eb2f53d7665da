package openai_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/turnwise/turnwise/llm/openai"
)

func TestConfigErrorsNameTheField(t *testing.T) {
	hot := 2.5
	for name, c := range map[string]struct {
		change func(*openai.Config)
		want   []string
	}{
		"no model":                  {func(c *openai.Config) { c.Model = "" }, []string{"Model is required"}},
		"no key for OpenAI":         {func(c *openai.Config) { c.APIKey, c.BaseURL = "", "" }, []string{"APIKey is required when BaseURL is empty"}},
		"line break in the key":     {func(c *openai.Config) { c.APIKey = "sk-secret\n" }, []string{"APIKey must be printable"}},
		"no scheme":                 {func(c *openai.Config) { c.BaseURL = "localhost:11434/v1" }, []string{"BaseURL must be an http"}},
		"no host":                   {func(c *openai.Config) { c.BaseURL = "http:///v1" }, []string{"BaseURL"}},
		"password in the address":   {func(c *openai.Config) { c.BaseURL = "http://me:secret@host.test/v1" }, []string{"BaseURL"}},
		"query in the address":      {func(c *openai.Config) { c.BaseURL = "http://host.test/v1?key=secret" }, []string{"BaseURL"}},
		"broken header name":        {func(c *openai.Config) { c.Headers = map[string]string{"X Y": "z"} }, []string{"Headers[X Y]", "name of an HTTP header"}},
		"line break in a header":    {func(c *openai.Config) { c.Headers = map[string]string{"X": "secret\r\nY: z"} }, []string{"Headers[X]", "line breaks"}},
		"extra field set otherwise": {func(c *openai.Config) { c.Extra = map[string]any{"messages": 1} }, []string{"Extra[messages]", "set otherwise"}},
		"extra field without JSON":  {func(c *openai.Config) { c.Extra = map[string]any{"x": math.Inf(1)} }, []string{`Extra["x"]`, "JSON"}},
		"temperature":               {func(c *openai.Config) { c.Temperature = &hot }, []string{"Temperature must be at most 2"}},
		"negative bound":            {func(c *openai.Config) { c.MaxTokens = -1 }, []string{"MaxTokens must be at least 0"}},
		"unknown bound":             {func(c *openai.Config) { c.MaxTokensField = "limit" }, []string{"MaxTokensField must be one of"}},
		"session field":             {func(c *openai.Config) { c.SessionField = "model" }, []string{"SessionField"}},
		"several":                   {func(c *openai.Config) { c.Model, c.MaxTokens = "", -1 }, []string{"Model", "MaxTokens"}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := openai.Config{Model: "m", APIKey: "sk-secret", BaseURL: "http://host.test/v1"}
			c.change(&cfg)
			_, err := openai.New(cfg)
			if !errors.Is(err, openai.ErrConfig) {
				t.Fatalf("error is %v", err)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not contain %q", err, w)
				}
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("%q holds a secret", err)
			}
		})
	}
}

func TestConfigIsAccepted(t *testing.T) {
	for _, cfg := range []openai.Config{
		{Model: "m", APIKey: "k"},
		{Model: "m", BaseURL: "http://localhost:11434/v1/"},
		{Model: "hf.co/a/b:Q4", BaseURL: "https://[::1]:8000", Headers: map[string]string{"X-A": "Bearer é"}, Extra: map[string]any{"n": nil}},
	} {
		m, err := openai.New(cfg)
		if err != nil {
			t.Error(err)
			continue
		}
		if m.ModelName() != cfg.Model {
			t.Errorf("the model is called %q", m.ModelName())
		}
	}
}

func TestPrintingShowsNoSecrets(t *testing.T) {
	cfg := openai.Config{Model: "m", APIKey: "sk-secret", Headers: map[string]string{"X-Key": "another-secret"}}
	m, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	logger := slog.New(slog.NewJSONHandler(&log, nil))
	logger.Info("x", "config", cfg, "model", m)
	asJSON, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		fmt.Sprint(cfg), fmt.Sprintf("%+v %#v %+v", cfg, cfg, &cfg), fmt.Sprintf("%v %+v %s", m, m, m), log.String(), string(asJSON),
	} {
		if strings.Contains(text, "secret") {
			t.Errorf("%s", text)
		}
	}
}
