package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/llm/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// result is all that a stream yielded.
type result struct {
	Text   string
	Calls  []frames.ToolCall
	Usage  *frames.TokenUsage
	Finish string
	Err    error `json:"-"`
}

func collect(ctx context.Context, m *openai.Model, req *llm.Request) result {
	var r result
	for c, err := range m.Stream(ctx, req) {
		if err != nil {
			r.Err = err
			continue // a piece after an error would show
		}
		r.Text += c.Text
		if c.Call != nil {
			r.Calls = append(r.Calls, *c.Call)
		}
		if c.Usage != nil {
			r.Usage = c.Usage
		}
		if c.Finish != "" {
			r.Finish += c.Finish
		}
	}
	return r
}

func (r result) String() string {
	b, err := json.Marshal(r)
	if err != nil {
		return "broken arguments: " + err.Error()
	}
	return string(b)
}

// newModel makes a model of a server and closes its connections when the test
// ends.
func newModel(t testing.TB, baseURL string, change ...func(*openai.Config)) *openai.Model {
	t.Helper()
	cfg := openai.Config{Model: "test-model", APIKey: "sk-very-secret-key", BaseURL: baseURL}
	for _, f := range change {
		f(&cfg)
	}
	m, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

func newServer(t testing.TB, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// sse answers with the stream.
func sse(stream string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, stream)
	}
}

func ask(text string) *llm.Request {
	convo := frames.NewLLMContext("You help.")
	convo.AddUserMessage(text)
	return &llm.Request{Context: convo.Snapshot()}
}

// wireFake answers without a network: the response's body comes in the given
// pieces and ends with err.
type wireFake struct {
	pieces []string
	err    error
	closed atomic.Bool
}

func (f *wireFake) RoundTrip(req *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, req.Body)
	_ = req.Body.Close()
	return &http.Response{
		Status: "200 OK", StatusCode: 200, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body:   &fakeBody{fake: f, pieces: slices.Clone(f.pieces)},
	}, nil
}

type fakeBody struct {
	fake   *wireFake
	pieces []string
}

func (b *fakeBody) Read(p []byte) (int, error) {
	for len(b.pieces) > 0 && b.pieces[0] == "" {
		b.pieces = b.pieces[1:]
	}
	if len(b.pieces) == 0 {
		return 0, b.fake.err
	}
	n := copy(p, b.pieces[0])
	b.pieces[0] = b.pieces[0][n:]
	return n, nil
}

func (b *fakeBody) Close() error {
	b.fake.closed.Store(true)
	return nil
}

// play runs a response that comes in the given pieces and then ends with err.
func play(t testing.TB, err error, pieces ...string) result {
	t.Helper()
	f := &wireFake{pieces: pieces, err: err}
	m := newModel(t, "http://fake.test/v1", withTransport(f))
	r := collect(t.Context(), m, ask("hello"))
	if !f.closed.Load() {
		t.Error("the response's body was not closed")
	}
	return r
}

func withTransport(rt http.RoundTripper) func(*openai.Config) {
	return func(c *openai.Config) { c.HTTPClient = &http.Client{Transport: rt} }
}

// withBody answers every request with the body; it breaks when the request ends.
func withBody(body *io.PipeReader) func(*openai.Config) {
	return withTransport(&pipeFake{body})
}

type pipeFake struct{ body *io.PipeReader }

func (f *pipeFake) RoundTrip(req *http.Request) (*http.Response, error) {
	context.AfterFunc(req.Context(), func() { _ = f.body.CloseWithError(req.Context().Err()) })
	return &http.Response{
		StatusCode: 200, Request: req, Body: f.body, Header: http.Header{"Content-Type": {"text/event-stream"}},
	}, nil
}

// longConversation has n messages and five tools.
func longConversation(n int) *frames.LLMContext {
	convo := frames.NewLLMContext("You book tables. " + strings.Repeat("Be kind. ", 20))
	for i := range n {
		m := frames.Message{Role: frames.RoleUser, Text: "I would like a table for four people tomorrow at eight, please."}
		if i%2 == 1 {
			m = frames.Message{Role: frames.RoleAssistant, Text: "Certainly. And under which name may I book the table for you?"}
		}
		convo.Append(m)
	}
	schema := json.RawMessage(`{"type":"object","properties":{"size":{"type":"integer","minimum":1,"maximum":12}},"required":["size"]}`)
	var tools []frames.Tool
	for _, name := range []string{"party_size", "time", "name", "confirm", "leave"} {
		tools = append(tools, frames.Tool{Name: name, Description: "Records what the guest said.", Parameters: schema})
	}
	convo.SetTools(tools)
	return convo
}

// event is one server-sent event of a chunk with these choices.
func event(choices string) string { return `data: {"id":"c","choices":[` + choices + `]}` + "\n\n" }

func delta(fields string) string { return event(`{"index":0,"delta":{` + fields + `}}`) }

func finish(reason string) string {
	return event(`{"index":0,"delta":{},"finish_reason":"` + reason + `"}`)
}

const (
	usageEvent = `data: {"id":"c","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":5,"total_tokens":17,` +
		`"prompt_tokens_details":{"cached_tokens":8},"completion_tokens_details":{"reasoning_tokens":2}}}` + "\n\n"
	doneEvent = "data: [DONE]\n\n"
)

func wantError(t *testing.T, err error, category frames.ErrorCategory) *llm.Error {
	t.Helper()
	var e *llm.Error
	if !errors.As(err, &e) {
		t.Fatalf("error is %v (%T), want an *llm.Error", err, err)
	}
	if e.Category != category {
		t.Errorf("category is %q, want %q (%v)", e.Category, category, e)
	}
	if len(e.Error()) > 600 {
		t.Errorf("the error's text has %d bytes", len(e.Error()))
	}
	for inner := error(e); inner != nil; inner = errors.Unwrap(inner) {
		if strings.Contains(inner.Error(), "secret") {
			t.Errorf("the error holds a secret: %v", inner)
		}
	}
	return e
}

// playStatus runs an error response.
func playStatus(t testing.TB, status int, body []byte) result {
	t.Helper()
	m := newModel(t, "http://fake.test", withTransport(statusFake{status, body}))
	return collect(t.Context(), m, ask("hello"))
}

type statusFake struct {
	status int
	body   []byte
}

func (f statusFake) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: f.status, Request: req, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(f.body)),
	}, nil
}
