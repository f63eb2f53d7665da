package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"syscall"
	"time"
)

const (
	// maxErrorBody is how much of an error's body is read, and errorBodyWait how
	// long.
	maxErrorBody  = 64 << 10
	errorBodyWait = 2 * time.Second
)

// exchange is one request with its response, as go-openai's HTTP client sees it.
// It travels in the request's context.
type exchange struct {
	body *body
	// events is the response's stream, once there is one.
	events *eventStream
	// status, header and text are those of a response that is an error.
	status int
	header http.Header
	text   []byte
}

type exchangeKey struct{}

// doer is the HTTP client that go-openai uses. It puts the body in the place of
// the one go-openai made, and gives go-openai a response that it reads right and
// that leaves the connection fit for the next request.
type doer struct {
	client  *http.Client
	headers http.Header
}

// Do sends the request.
func (d *doer) Do(req *http.Request) (*http.Response, error) {
	x, ok := req.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return nil, errors.New("openai: request without its exchange")
	}
	for name, values := range d.headers {
		req.Header[name] = values
	}
	x.fill(req)
	resp, err := d.client.Do(req)
	if lostWhileIdle(err) && req.Context().Err() == nil {
		d.client.CloseIdleConnections() // the others are no better
		x.fill(req)
		resp, err = d.client.Do(req)
	}
	if err != nil {
		return nil, err
	}
	return x.take(resp)
}

// fill gives the request its body. Asking twice does no harm, so the transport
// may replace a connection that the server closed while it was idle; an empty
// idempotency key tells it that, and is not sent.
func (x *exchange) fill(req *http.Request) {
	req.Body = x.body.reader()
	req.ContentLength = x.body.size
	req.GetBody = func() (io.ReadCloser, error) { return x.body.reader(), nil }
	req.Header["Idempotency-Key"] = []string{}
}

// lostWhileIdle reports whether the request met a connection that was closed just
// before. The transport replaces such a connection when it learns of it by
// reading, not when by writing.
func lostWhileIdle(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, net.ErrClosed)
}

// take keeps what go-openai does not and passes the rest on.
func (x *exchange) take(resp *http.Response) (*http.Response, error) {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		x.fail(resp)
		return nil, fmt.Errorf("HTTP status %d", resp.StatusCode)
	case kind == "application/json" || kind == "text/html":
		x.fail(resp)
		return nil, &notStream{kind: kind}
	}
	x.events = newEventStream(resp.Body)
	resp.Body = x.events
	return resp, nil
}

// fail reads the response as an error.
func (x *exchange) fail(resp *http.Response) {
	x.status, x.header = resp.StatusCode, resp.Header
	x.text = readBounded(resp.Body, maxErrorBody, errorBodyWait)
}

// readBounded reads and closes r; at most limit bytes and for at most wait. It
// reads to the end if it can, so that the connection can be used again.
func readBounded(r io.ReadCloser, limit int64, wait time.Duration) []byte {
	stop := time.AfterFunc(wait, func() { _ = r.Close() })
	defer stop.Stop()
	defer func() { _ = r.Close() }()
	text, _ := io.ReadAll(io.LimitReader(r, limit)) // what could be read is told
	_, _ = io.CopyN(io.Discard, r, 1)
	return text
}

// notStream tells that a response is something else than a stream of events.
type notStream struct{ kind string }

func (e *notStream) Error() string {
	return fmt.Sprintf("the server answered with %s instead of a stream of events; check that BaseURL is the address "+
		"of an OpenAI-compatible API and that the server can stream", e.kind)
}

func withExchange(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}
