package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/turnwise/turnwise/llm"
	llmopenai "github.com/turnwise/turnwise/llm/openai"
	"github.com/turnwise/turnwise/speech/internal/failure"
)

const (
	// maxText is the longest answer that is text, and textWait how long an error's
	// may take.
	maxText  = 1 << 20
	textWait = 2 * time.Second
)

// connection is go-openai on a server.
type connection struct {
	client   *goopenai.Client
	failures failures
	idle     func()
}

func newConnection(s Server) *connection {
	c := &connection{failures: newFailures(s), idle: func() {}}
	httpClient := s.HTTPClient
	if httpClient == nil {
		httpClient = &http.Client{
			Transport:     llmopenai.NewTransport(),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
		c.idle = httpClient.CloseIdleConnections
	}
	headers := http.Header{"User-Agent": {"turnwise"}}
	for name, value := range s.Headers {
		headers.Set(name, value)
	}
	cfg := goopenai.DefaultConfig(s.APIKey)
	cfg.BaseURL = s.baseURL()
	cfg.HTTPClient = &doer{client: httpClient, headers: headers}
	c.client = goopenai.NewClientWithConfig(cfg)
	return c
}

// exchange is one request's answer, as far as go-openai does not keep it. It travels
// in the request's context.
type exchange struct {
	status int
	header http.Header
	// text is the answer where it is an error.
	text []byte
	// kind is the media type of a successful answer.
	kind string
	// short tells that a successful answer is text too, whatever it calls itself.
	short bool
}

type exchangeKey struct{}

func withExchange(ctx context.Context) (context.Context, *exchange) {
	x := &exchange{}
	return context.WithValue(ctx, exchangeKey{}, x), x
}

// doer is the HTTP client that go-openai uses.
type doer struct {
	client  *http.Client
	headers http.Header
}

// Do sends the request and keeps what go-openai does not.
func (d *doer) Do(req *http.Request) (*http.Response, error) {
	x, ok := req.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return nil, errors.New("request without its exchange")
	}
	for name, values := range d.headers {
		req.Header[name] = values
	}
	// Asking twice does no harm. This tells the transport that it may replace a
	// connection that the server closed while it was idle; it is not sent.
	req.Header["Idempotency-Key"] = []string{}
	resp, err := d.client.Do(req)
	if err != nil {
		return nil, err
	}
	x.status, x.header = resp.StatusCode, resp.Header
	x.kind, _, _ = mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if x.status < 200 || x.status > 299 {
		x.text = readBounded(resp.Body)
		return nil, errStatus
	}
	return resp, x.check(resp)
}

// errStatus stands for an answer that is kept in the exchange.
var errStatus = errors.New("the server answered with an error")

// kindJSON is the media type of JSON.
const kindJSON = "application/json"

// check replaces an answer that is text by what has been read of it, unless it is an
// error with a status that says otherwise.
func (x *exchange) check(resp *http.Response) error {
	switch {
	case x.kind == "text/html":
		_ = resp.Body.Close()
		return fmt.Errorf("%w: it is a web page; check that BaseURL is the address of an OpenAI-compatible API", failure.ErrMalformed)
	case x.kind != kindJSON && !x.short:
		return nil
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxText+1))
	if err != nil {
		return fmt.Errorf("%w: %w", llm.ErrCut, err)
	}
	if len(text) > maxText {
		return fmt.Errorf("%w: more than %d bytes of text", failure.ErrMalformed, maxText)
	}
	var object struct{ Error json.RawMessage }
	if json.Unmarshal(text, &object) == nil && len(object.Error) > 0 && string(object.Error) != "null" {
		x.text = text
		return errStatus
	}
	resp.Body = io.NopCloser(bytes.NewReader(text))
	return nil
}

// readBounded reads and closes r, to its end if that is near, so that the connection
// can be used again.
func readBounded(r io.ReadCloser) []byte {
	stop := time.AfterFunc(textWait, func() { _ = r.Close() })
	defer stop.Stop()
	defer func() { _ = r.Close() }()
	text, _ := io.ReadAll(io.LimitReader(r, 64<<10)) // what could be read is told
	_, _ = io.CopyN(io.Discard, r, 1)
	return text
}
