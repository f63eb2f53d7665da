// Package failure turns what goes wrong with a speech service into an [*llm.Error]
// that says by its category what kind of trouble it is, and holds no secrets.
package failure

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
	if remote.TimedOut(err) {
		return r.Late(0, err)
	}
	return r.Make(frames.ErrorNetwork, 0, fmt.Errorf("cannot reach %s: %w", r.host, remote.Bare(err)))
}

// Late is a server that did not answer in time.
func (r *Reporter) Late(status int, err error) *llm.Error {
	return r.Make(frames.ErrorTimeout, status, fmt.Errorf("%s did not answer in time: %w", r.host, remote.Bare(err)))
}

// Cut is an answer that ended too early.
func (r *Reporter) Cut(ctx context.Context, err error) *llm.Error {
	if ctx.Err() != nil {
		return r.Stopped(ctx)
	}
	category := frames.ErrorNetwork
	if remote.TimedOut(err) {
		category = frames.ErrorTimeout
	}
	if err = remote.Bare(err); !errors.Is(err, llm.ErrCut) {
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
	category, err := remote.Stopped(ctx)
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
	e.RetryAfter = remote.RetryAfter(header)
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
