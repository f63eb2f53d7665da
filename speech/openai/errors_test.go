package openai_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/speech/openai"
)

func TestWhatServersRefuse(t *testing.T) {
	for name, c := range map[string]struct {
		status   int
		header   string
		body     string
		category frames.ErrorCategory
		want     string
		wait     time.Duration
	}{
		"a wrong key":           {401, "", `{"error":{"message":"Incorrect API key provided: ` + key + `.","code":"invalid_api_key"}}`, frames.ErrorAuth, "[redacted]", 0},
		"forbidden":             {403, "", `{"error":{"message":"no"}}`, frames.ErrorAuth, "HTTP 403", 0},
		"too many requests":     {429, "3", `{"error":{"message":"slow down","type":"requests"}}`, frames.ErrorRateLimit, "slow down (requests)", 3 * time.Second},
		"too many, for ages":    {429, "1e99", ``, frames.ErrorRateLimit, "Too Many Requests", 24 * time.Hour},
		"no money":              {429, "", `{"error":{"message":"no credit","code":"insufficient_quota"}}`, frames.ErrorQuota, "no credit", 0},
		"unpaid":                {402, "", ``, frames.ErrorQuota, "Payment Required", 0},
		"a wrong voice":         {400, "", `{"error":{"message":["bad","voice"]}}`, frames.ErrorInvalid, "bad", 0},
		"FastAPI":               {422, "", `{"detail":[{"msg":"field required"}]}`, frames.ErrorInvalid, "field required", 0},
		"unspeakable":           {400, "", `{"error":{"message":"no","code":"content_policy_violation"}}`, frames.ErrorContent, "no", 0},
		"out of order":          {500, "", `oh no`, frames.ErrorServer, "oh no", 0},
		"not ready":             {503, "0.5", `null`, frames.ErrorServer, "Service Unavailable", 500 * time.Millisecond},
		"late":                  {408, "", ``, frames.ErrorTimeout, "Request Timeout", 0},
		"moved":                 {307, "", ``, frames.ErrorInvalid, "set BaseURL", 0},
		"a very long complaint": {500, "", strings.Repeat(key+" ", 100000), frames.ErrorServer, "…", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := fake(t, func(w http.ResponseWriter, _ *http.Request) {
				if c.header != "" {
					w.Header().Set("Retry-After", c.header)
				}
				w.Header().Set("Location", "http://127.0.0.1:1/")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			_, speak := say(t.Context(), newSynthesizer(t, s.URL+"/v1"))
			_, listen := newTranscriber(t, s.URL+"/v1").Transcribe(t.Context(), ramp(10), 16000)
			for _, err := range []error{speak, listen} {
				if e := wantError(t, err, c.category, c.want); e.Status != c.status || e.RetryAfter != c.wait {
					t.Errorf("status %d, retry after %s", e.Status, e.RetryAfter)
				}
			}
		})
	}
}

func TestAServerThatIsNotThere(t *testing.T) {
	s := httptest.NewServer(nil)
	s.Close()
	_, err := say(t.Context(), newSynthesizer(t, s.URL+"/v1"))
	if e := wantError(t, err, frames.ErrorNetwork, "cannot reach 127.0.0.1"); !e.Retryable() {
		t.Error("it is not worth another try")
	}
}

func TestConfigErrorsNameTheField(t *testing.T) {
	for want, change := range map[string]func(*openai.SynthesizerConfig){
		"Model":   func(c *openai.SynthesizerConfig) { c.Model = "" },
		"APIKey":  func(c *openai.SynthesizerConfig) { c.Server.APIKey, c.Server.BaseURL = "", "" },
		"BaseURL": func(c *openai.SynthesizerConfig) { c.Server.BaseURL = "localhost:80" },
		"Headers": func(c *openai.SynthesizerConfig) { c.Server.Headers = map[string]string{"a b": "secret"} },
		"Voice":   func(c *openai.SynthesizerConfig) { c.Voice = "" },
		"Speed":   func(c *openai.SynthesizerConfig) { c.Speed = 5 },
		"Format":  func(c *openai.SynthesizerConfig) { c.Format = "opus" },
		"PCMRate": func(c *openai.SynthesizerConfig) { c.PCMRate = -1 },
		"Rate":    func(c *openai.SynthesizerConfig) { c.Rate = 7 },
	} {
		cfg := openai.SynthesizerConfig{Server: openai.Server{BaseURL: "http://host.test/v1", APIKey: key}, Model: "m", Voice: "v"}
		change(&cfg)
		_, err := openai.NewSynthesizer(cfg)
		if !errors.Is(err, openai.ErrConfig) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error is %v", want, err)
		}
	}
	for want, cfg := range map[string]openai.TranscriberConfig{
		"Model":       {Server: openai.Server{APIKey: key}},
		"Temperature": {Server: openai.Server{APIKey: key}, Model: "m", Temperature: 2},
	} {
		if _, err := openai.NewTranscriber(cfg); !errors.Is(err, openai.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v", want, err)
		}
	}
}

func TestPrintingShowsNoSecrets(t *testing.T) {
	cfg := openai.SynthesizerConfig{Server: openai.Server{APIKey: key, Headers: map[string]string{"X": key}}, Model: "m"}
	b, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(b), fmt.Sprint(cfg), fmt.Sprintf("%+v %#v", cfg, cfg), cfg.Server.LogValue().String()} {
		if strings.Contains(text, key) {
			t.Errorf("%s shows the key", text)
		}
	}
}
