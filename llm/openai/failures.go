package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/internal/remote"
	"github.com/turnwise/turnwise/internal/secret"
	"github.com/turnwise/turnwise/llm"
)

// failures turns whatever went wrong into an [*llm.Error].
type failures struct {
	provider string
	host     string
	clean    secret.Cleaner
}

func newFailures(c *Config) *failures {
	f := &failures{provider: c.provider(), clean: secret.NewCleaner(secret.Of(c.APIKey, c.Headers))}
	if u, err := url.Parse(c.baseURL()); err == nil {
		f.host = u.Host
	}
	return f
}

// invalid is a request that cannot be sent.
func (f *failures) invalid(err error) *llm.Error {
	return f.make(frames.ErrorInvalid, 0, err)
}

// request is a request that got no stream.
func (f *failures) request(ctx context.Context, err error, x *exchange) *llm.Error {
	var other *notStream
	switch {
	case ctx.Err() != nil:
		return f.stopped(ctx)
	case x.status >= 300:
		return f.status(x)
	case errors.As(err, &other):
		return f.notStream(other, x)
	case remote.TimedOut(err):
		return f.make(frames.ErrorTimeout, 0, fmt.Errorf("%s did not answer in time: %w", f.host, remote.Bare(err)))
	}
	return f.make(frames.ErrorNetwork, 0, fmt.Errorf("cannot reach %s: %w", f.host, remote.Bare(err)))
}

// stream is a stream that ended before its response did.
func (f *failures) stream(ctx context.Context, err error) *llm.Error {
	var reported *serverFailure
	var short *tooShort
	switch {
	case ctx.Err() != nil:
		return f.stopped(ctx)
	case errors.As(err, &reported):
		return f.reported(0, parseDetail(reported.object))
	case errors.As(err, &short):
		return f.make(frames.ErrorInvalid, 0, short)
	case errors.Is(err, errMalformed), errors.Is(err, errEventTooLarge):
		return f.make(frames.ErrorServer, 0, err)
	case errors.Is(err, llm.ErrCut):
		return f.make(frames.ErrorNetwork, 0, err)
	case remote.TimedOut(err):
		return f.make(frames.ErrorTimeout, 0, fmt.Errorf("%w: %w", llm.ErrCut, remote.Bare(err)))
	}
	return f.make(frames.ErrorNetwork, 0, fmt.Errorf("%w: %w", llm.ErrCut, remote.Bare(err)))
}

// stopped is a request whose context has ended.
func (f *failures) stopped(ctx context.Context) *llm.Error {
	category, err := remote.Stopped(ctx)
	return f.make(category, 0, err)
}

// status is a response with an HTTP status that is not success.
func (f *failures) status(x *exchange) *llm.Error {
	d := parseDetail(x.text)
	e := f.reported(x.status, d)
	switch {
	case x.status < 400:
		e.Err = f.clean.Error(errors.New("the server redirects to another address; set BaseURL to that one"))
	case d.empty():
		e.Err = f.clean.Error(errors.New("the server gave no reason: " + http.StatusText(x.status)))
	}
	e.RetryAfter = remote.RetryAfter(x.header)
	return e
}

// notStream is a successful response that is something else than a stream.
func (f *failures) notStream(err *notStream, x *exchange) *llm.Error {
	if d := parseDetail(x.text); d.reported {
		return f.reported(0, d)
	}
	return f.make(frames.ErrorInvalid, x.status, err)
}

// reported is what a server said.
func (f *failures) reported(status int, d *detail) *llm.Error {
	said := &APIError{
		Message: f.clean.Text(d.Message), Type: f.clean.Text(d.Type),
		Code: f.clean.Text(d.Code), Param: f.clean.Text(d.Param),
	}
	return f.make(d.category(status), status, said)
}

func (f *failures) make(category frames.ErrorCategory, status int, err error) *llm.Error {
	return &llm.Error{Category: category, Status: status, Provider: f.provider, Err: f.clean.Error(err)}
}
