// Package failure turns what goes wrong with a speech service into an [*llm.Error]
// that says by its category what kind of trouble it is, and holds no secrets.
package failure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/internal/secret"
	"github.com/turnwise/turnwise/llm"
)

// ErrMalformed is wrapped when an answer is not what the protocol says.
var ErrMalformed = errors.New("the server's answer is malformed")

// Reporter makes errors about one server. It is safe for concurrent use.
type Reporter struct {
	provider string
	host     string
	clean    secret.Cleaner
}

// New makes a reporter for a provider's server at an address. Secrets never show in
// an error.
func New(provider, address string, secrets []string) Reporter {
	r := Reporter{provider: provider, clean: secret.NewCleaner(secrets)}
	if u, err := url.Parse(address); err == nil {
		r.host = u.Host
	}
	return r
}

// Secrets are the texts that no error about requests with a key and these headers may
// hold.
func Secrets(key string, headers map[string]string) []string {
	var out []string
	if len(key) >= 4 {
		out = append(out, key)
	}
	for _, value := range headers {
		for _, word := range append(strings.Fields(value), value) {
			if len(word) >= 8 {
				out = append(out, word)
			}
		}
	}
	return out
}

// Host is the server's, with its port.
func (r *Reporter) Host() string { return r.host }

// Text is s fit for logs.
func (r *Reporter) Text(s string) string { return r.clean.Text(s) }

// Make makes an error. Status is the HTTP status, 0 without one.
func (r *Reporter) Make(category frames.ErrorCategory, status int, err error) *llm.Error {
	return &llm.Error{Category: category, Status: status, Provider: r.provider, Err: r.clean.Error(err)}
}

// Invalid is a request that cannot be sent.
func (r *Reporter) Invalid(err error) *llm.Error { return r.Make(frames.ErrorInvalid, 0, err) }

// Unreachable is a server that no connection came about with.
func (r *Reporter) Unreachable(err error) *llm.Error {
	if TimedOut(err) {
		return r.Late(0, err)
	}
	return r.Make(frames.ErrorNetwork, 0, fmt.Errorf("cannot reach %s: %w", r.host, bare(err)))
}

// Late is a server that did not answer in time.
func (r *Reporter) Late(status int, err error) *llm.Error {
	return r.Make(frames.ErrorTimeout, status, fmt.Errorf("%s did not answer in time: %w", r.host, bare(err)))
}

// Cut is an answer that ended too early.
func (r *Reporter) Cut(ctx context.Context, err error) *llm.Error {
	if ctx.Err() != nil {
		return r.Stopped(ctx)
	}
	category := frames.ErrorNetwork
	if TimedOut(err) {
		category = frames.ErrorTimeout
	}
	if err = bare(err); !errors.Is(err, llm.ErrCut) {
		err = fmt.Errorf("%w: %w", llm.ErrCut, err)
	}
	return r.Make(category, 0, err)
}

// Malformed is an answer that cannot be understood. Status is 0 without one.
func (r *Reporter) Malformed(status int, err error) *llm.Error {
	if !errors.Is(err, ErrMalformed) {
		err = fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return r.Make(frames.ErrorServer, status, err)
}

// Stopped is a request whose context has ended.
func (r *Reporter) Stopped(ctx context.Context) *llm.Error {
	category := frames.ErrorInternal
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		category = frames.ErrorTimeout
	}
	err := ctx.Err()
	if cause := context.Cause(ctx); !errors.Is(cause, err) {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	return r.Make(category, 0, err)
}

// Refused is a request that the server answered with an HTTP status and a text.
func (r *Reporter) Refused(status int, header http.Header, body []byte) *llm.Error {
	said := Parse(body)
	switch {
	case status >= 300 && status < 400:
		said.Message = "the server redirects to another address; set BaseURL to that one"
	case r.clean.Text(said.Message) == "":
		said.Message = "the server gave no reason: " + http.StatusText(status)
	}
	if status < 300 {
		status = 0 // it said that all is well
	}
	e := r.Told(status, said)
	e.RetryAfter = retryAfter(header)
	return e
}

// Told is an error that the server told, with a status if it has one.
func (r *Reporter) Told(status int, said Detail) *llm.Error {
	text := r.clean.Text(said.Message)
	switch code := r.clean.Text(said.Code); {
	case text == "" && code == "":
		text = "the server gave no reason"
	case text == "":
		text = code
	case code != "":
		text += " (" + code + ")"
	}
	return r.Make(said.Category(status), status, errors.New(text))
}

// bare is err without the wrapping that repeats the request's address.
func bare(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// TimedOut reports whether err is that something took too long.
func TimedOut(err error) bool {
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
