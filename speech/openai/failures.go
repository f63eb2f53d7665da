package openai

import (
	"context"
	"errors"

	"github.com/turnwise/turnwise/internal/remote"
	"github.com/turnwise/turnwise/internal/secret"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/speech/internal/failure"
)

// failures turns whatever went wrong into an [*llm.Error].
type failures struct{ failure.Reporter }

func newFailures(s Server) failures {
	return failures{failure.New(s.provider(), s.baseURL(), secret.Of(s.APIKey, s.Headers))}
}

// request is a request without a good answer.
func (f *failures) request(ctx context.Context, err error, x *exchange) *llm.Error {
	switch {
	case ctx.Err() != nil:
		return f.Stopped(ctx)
	case errors.Is(err, errStatus):
		return f.Refused(x.status, x.header, x.text)
	case errors.Is(err, llm.ErrCut):
		return f.Cut(ctx, err)
	case remote.TimedOut(err):
		return f.Late(x.status, err)
	case errors.Is(err, failure.ErrMalformed) || x.status != 0:
		return f.Malformed(x.status, err)
	}
	return f.Unreachable(err)
}
