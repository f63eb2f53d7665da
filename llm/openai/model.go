package openai

import (
	"context"
	"iter"
	"net/http"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/turnwise/turnwise/llm"
)

// Model generates responses with one model of one server. It implements
// [llm.Model] and [llm.Named], and any number of sessions may use it at once.
type Model struct {
	name     string
	template *template
	client   *goopenai.Client
	failures *failures
	idle     func()
}

var (
	_ llm.Model = (*Model)(nil)
	_ llm.Named = (*Model)(nil)
)

// New makes a model. Nothing is sent before the first [Model.Stream]. Errors wrap
// [ErrConfig] and name the fields that are wrong.
func New(c Config) (*Model, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	t, err := newTemplate(&c)
	if err != nil {
		return nil, err
	}
	m := &Model{name: c.Model, template: t, failures: newFailures(&c), idle: func() {}}
	httpClient := c.HTTPClient
	if httpClient == nil {
		httpClient = defaultClient()
		m.idle = httpClient.CloseIdleConnections
	}
	cfg := goopenai.DefaultConfig(c.APIKey)
	cfg.BaseURL = c.baseURL()
	cfg.HTTPClient = &doer{client: httpClient, headers: requestHeaders(&c)}
	m.client = goopenai.NewClientWithConfig(cfg)
	return m, nil
}

func requestHeaders(c *Config) http.Header {
	h := http.Header{"User-Agent": {"turnwise"}}
	for name, value := range c.Headers {
		h.Set(name, value)
	}
	return h
}

// ModelName is the server's name of the model.
func (m *Model) ModelName() string { return m.name }

// String describes the model without its secrets.
func (m *Model) String() string { return "openai model " + m.name }

// Close closes the connections that are kept for further requests, unless the
// HTTP client was given. Responses under way go on, and the model may still be
// used.
func (m *Model) Close() { m.idle() }

// Stream generates one response, see [llm.Model]. It yields text as it comes, and
// at the end the calls, the token count if there is one, and the finish reason.
// In between, at most twice a second, an empty chunk tells that the model is busy
// with something else. A failure is yielded as an [*llm.Error]; when ctx was the
// reason, it wraps ctx's error and cause.
func (m *Model) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		b, err := m.template.body(req)
		if err != nil {
			yield(llm.Chunk{}, m.failures.invalid(err))
			return
		}
		// The request can end before its context does.
		inner, cancel := context.WithCancel(ctx)
		defer cancel()
		r := &response{outer: ctx, cancel: cancel, history: b.entries, yield: yield}
		x := &exchange{body: b}
		// What go-openai encodes is replaced by b and never sent.
		stream, err := m.client.CreateChatCompletionStream(withExchange(inner, x), goopenai.ChatCompletionRequest{})
		if err != nil {
			yield(llm.Chunk{}, m.failures.request(ctx, err, x))
			return
		}
		defer func() { _ = stream.Close() }()
		if err := r.run(stream, x.events); err != nil {
			yield(llm.Chunk{}, m.failures.stream(ctx, err))
		}
	}
}
