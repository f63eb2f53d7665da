package openai

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/internal/secret"
	"github.com/turnwise/turnwise/llm"
)

// failures turns whatever went wrong into an [*llm.Error].
type failures struct {
	provider string
	host     string
	clean    secret.Cleaner
}

func newFailures(s Server) failures {
	f := failures{provider: s.provider(), clean: secret.NewCleaner(s.secrets())}
	if u, err := url.Parse(s.baseURL()); err == nil {
		f.host = u.Host
	}
	return f
}

// invalid is a request that cannot be sent.
func (f *failures) invalid(err error) *llm.Error { return f.make(frames.ErrorInvalid, 0, err) }

// request is a request without a good answer.
func (f *failures) request(ctx context.Context, err error, x *exchange) *llm.Error {
	switch {
	case ctx.Err() != nil:
		return f.stopped(ctx)
	case errors.Is(err, errStatus):
		return f.answered(x)
	case errors.Is(err, llm.ErrCut):
		return f.cut(ctx, err)
	case timedOut(err):
		return f.make(frames.ErrorTimeout, x.status, fmt.Errorf("%s did not answer in time: %w", f.host, bare(err)))
	case errors.Is(err, errMalformed):
		return f.make(frames.ErrorServer, x.status, err)
	case x.status != 0:
		return f.make(frames.ErrorServer, x.status, fmt.Errorf("%w: %w", errMalformed, err))
	}
	return f.make(frames.ErrorNetwork, 0, fmt.Errorf("cannot reach %s: %w", f.host, bare(err)))
}

// cut is an answer that ended too early.
func (f *failures) cut(ctx context.Context, err error) *llm.Error {
	if ctx.Err() != nil {
		return f.stopped(ctx)
	}
	category := frames.ErrorNetwork
	if timedOut(err) {
		category = frames.ErrorTimeout
	}
	if err = bare(err); !errors.Is(err, llm.ErrCut) {
		err = fmt.Errorf("%w: %w", llm.ErrCut, err)
	}
	return f.make(category, 0, err)
}

// malformed is an answer that is no sound.
func (f *failures) malformed(err error) *llm.Error {
	return f.make(frames.ErrorServer, 0, fmt.Errorf("%w: %w", errMalformed, err))
}

// stopped is a request whose context has ended.
func (f *failures) stopped(ctx context.Context) *llm.Error {
	category := frames.ErrorInternal
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		category = frames.ErrorTimeout
	}
	err := ctx.Err()
	if cause := context.Cause(ctx); !errors.Is(cause, err) {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	return f.make(category, 0, err)
}

// answered is an error that the server told.
func (f *failures) answered(x *exchange) *llm.Error {
	said := parseDetail(x.text)
	text := f.clean.Text(said.message)
	switch {
	case x.status >= 300 && x.status < 400:
		text = "the server redirects to another address; set BaseURL to that one"
	case text == "":
		text = "the server gave no reason: " + http.StatusText(x.status)
	}
	if code := f.clean.Text(said.code); code != "" {
		text += " (" + code + ")"
	}
	status := x.status
	if status < 300 {
		status = 0 // it said that all is well
	}
	e := f.make(said.category(status), status, errors.New(text))
	e.RetryAfter = retryAfter(x.header)
	return e
}

func (f *failures) make(category frames.ErrorCategory, status int, err error) *llm.Error {
	return &llm.Error{Category: category, Status: status, Provider: f.provider, Err: f.clean.Error(err)}
}

// bare is err without the wrapping that repeats the request's address.
func bare(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

func timedOut(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// retryAfter is how long the server asks to wait, in "Retry-After-Ms" or
// "Retry-After", at most a day; 0 means that it does not say.
func retryAfter(h http.Header) time.Duration {
	for name, unit := range map[string]time.Duration{"Retry-After-Ms": time.Millisecond, "Retry-After": time.Second} {
		if n, err := strconv.ParseFloat(h.Get(name), 64); err == nil && !math.IsNaN(n) {
			return time.Duration(min(max(n*float64(unit), 0), float64(24*time.Hour)))
		}
	}
	until, err := http.ParseTime(h.Get("Retry-After"))
	if err != nil {
		return 0
	}
	now := time.Now()
	if server, err := http.ParseTime(h.Get("Date")); err == nil {
		now = server
	}
	return min(max(until.Sub(now), 0), 24*time.Hour)
}
