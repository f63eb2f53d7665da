package failure_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/internal/secret"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/speech/internal/failure"
)

const key = "sk-very-secret-key"

func TestWhatServersSayOfErrors(t *testing.T) {
	for name, c := range map[string]struct {
		status   int
		body     string
		category frames.ErrorCategory
		text     string
	}{
		"OpenAI":                    {401, `{"error":{"message":"wrong key ` + key + `","type":"invalid_request_error","code":"invalid_api_key"}}`, frames.ErrorAuth, "wrong key [redacted] (invalid_api_key)"},
		"ElevenLabs over HTTP":      {401, `{"detail":{"status":"quota_exceeded","message":"no credits"}}`, frames.ErrorQuota, "no credits (quota_exceeded)"},
		"ElevenLabs on the socket":  {0, `{"message":"no credits","error":"quota_exceeded","code":1008}`, frames.ErrorQuota, "no credits (quota_exceeded)"},
		"Cartesia":                  {429, `{"error_code":"concurrency_limited","title":"Too many","message":"Your plan's limit."}`, frames.ErrorRateLimit, "Your plan's limit. (concurrency_limited)"},
		"Cartesia without a code":   {400, `{"error_code":null,"title":"Invalid model","message":""}`, frames.ErrorInvalid, "Invalid model"},
		"Deepgram":                  {401, `{"err_code":"INVALID_AUTH","err_msg":"Invalid credentials.","request_id":"1"}`, frames.ErrorAuth, "Invalid credentials. (INVALID_AUTH)"},
		"Deepgram's Flux":           {0, `{"type":"Error","code":"INTERNAL","description":"broken"}`, frames.ErrorServer, "broken (INTERNAL)"},
		"FastAPI":                   {422, `{"detail":[{"msg":"field required"}]}`, frames.ErrorInvalid, `[{"msg":"field required"}]`},
		"a text for an error":       {500, `{"error":"out of order"}`, frames.ErrorServer, "out of order"},
		"plain text":                {503, "come back later\n", frames.ErrorServer, "come back later"},
		"nothing":                   {502, "", frames.ErrorServer, "the server gave no reason: Bad Gateway"},
		"nothing that can be read":  {400, `null`, frames.ErrorInvalid, "the server gave no reason: Bad Request"},
		"a redirect to who knows":   {302, "moved", frames.ErrorInvalid, "the server redirects to another address; set BaseURL to that one"},
		"more than anybody can use": {500, strings.Repeat("x", 10000), frames.ErrorServer, "xxx"},
	} {
		t.Run(name, func(t *testing.T) {
			r := failure.New("someone", "https://host.test/", secret.Of(key, nil))
			e := r.Refused(c.status, http.Header{"Retry-After": {"3"}}, []byte(c.body))
			if e.Category != c.category || !strings.HasPrefix(e.Err.Error(), c.text) || len(e.Error()) > 600 {
				t.Errorf("%q of category %q", e.Err, e.Category)
			}
			if e.Provider != "someone" || e.RetryAfter != 3*time.Second || e.Status != c.status {
				t.Errorf("provider %q, status %d, retry after %s", e.Provider, e.Status, e.RetryAfter)
			}
		})
	}
}

func TestWhatHappensToRequests(t *testing.T) {
	r := failure.New("someone", "https://host.test/", secret.Of("", map[string]string{"X": "Bearer abcdefgh"}))
	over, cancel := context.WithTimeoutCause(t.Context(), 0, errors.New("enough"))
	defer cancel()
	for name, c := range map[string]struct {
		err      *llm.Error
		category frames.ErrorCategory
		wraps    error
	}{
		"the server is not there":   {r.Unreachable(io.ErrClosedPipe), frames.ErrorNetwork, io.ErrClosedPipe},
		"the server is silent":      {r.Unreachable(context.DeadlineExceeded), frames.ErrorTimeout, context.DeadlineExceeded},
		"the answer breaks off":     {r.Cut(t.Context(), io.ErrUnexpectedEOF), frames.ErrorNetwork, llm.ErrCut},
		"the answer stops":          {r.Cut(t.Context(), context.DeadlineExceeded), frames.ErrorTimeout, llm.ErrCut},
		"the answer is nonsense":    {r.Malformed(0, io.EOF), frames.ErrorServer, failure.ErrMalformed},
		"the deadline passes":       {r.Cut(over, io.EOF), frames.ErrorTimeout, context.DeadlineExceeded},
		"the request cannot be":     {r.Invalid(io.EOF), frames.ErrorInvalid, io.EOF},
		"a header shows in a cause": {r.Invalid(fmt.Errorf("abcdefgh: %w", io.EOF)), frames.ErrorInvalid, io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			if c.err.Category != c.category || !errors.Is(c.err, c.wraps) || strings.Contains(c.err.Error(), "abcdefgh") {
				t.Errorf("%v of category %q", c.err, c.err.Category)
			}
		})
	}
}
