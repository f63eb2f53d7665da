// Package remote has what the clients of all services have in common when a request
// goes wrong.
package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"

	"github.com/turnwise/turnwise/frames"
)

// Bare is err without the wrapping that repeats the request's address, which may hold
// secrets.
func Bare(err error) error {
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

// Stopped is the kind of trouble that a request has whose context has ended, and the
// error that says why it has.
func Stopped(ctx context.Context) (frames.ErrorCategory, error) {
	category := frames.ErrorInternal
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		category = frames.ErrorTimeout
	}
	err := ctx.Err()
	if cause := context.Cause(ctx); !errors.Is(cause, err) {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	return category, err
}
