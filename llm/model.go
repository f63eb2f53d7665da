// Package llm runs language models in a pipeline: the service with its tool loop,
// the aggregators that write the conversation, and the small interface that model
// providers implement.
package llm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/turnwise/turnwise/frames"
)

// Model generates responses. Implementations must be safe for use by many sessions
// at once.
type Model interface {
	// Stream generates one response to the request. The sequence yields pieces
	// as they come and ends after the piece with Finish set, or after an error,
	// which should be an [*Error]. A stream that ends without either was cut and
	// is an error to its reader. The sequence returns soon after ctx is
	// cancelled, and it is consumed once.
	Stream(ctx context.Context, req *Request) iter.Seq2[Chunk, error]
}

// Named is implemented by models that know what they are called, for metrics and
// logs.
type Named interface {
	// ModelName is the provider's name of the model, e.g. "gpt-4.1-mini".
	ModelName() string
}

// Request asks for one response.
type Request struct {
	// Context is the conversation to respond to.
	Context frames.Snapshot
	// SessionID names the session that asks, for logs and providers' caches; may
	// be empty.
	SessionID string
	// Temperature is the sampling temperature; nil leaves it to the provider.
	Temperature *float64
	// MaxTokens bounds the response; 0 leaves it to the provider.
	MaxTokens int
}

// Chunk is one piece of a response. Any of its fields may be set.
type Chunk struct {
	// Text is a piece of text to be spoken or shown.
	Text string
	// Call is a complete function call. Providers assemble fragments; what the
	// model wrote as arguments is passed on unchecked.
	Call *frames.ToolCall
	// Usage is the provider's token count.
	Usage *frames.TokenUsage
	// Finish ends the response: one of the Finish constants.
	Finish string
}

// Why a model stopped.
const (
	FinishStop    = "stop"
	FinishCalls   = "tool_calls"
	FinishLength  = "length"
	FinishContent = "content_filter"
)

// Error is a model's failure, with what is needed to decide what to do about it.
type Error struct {
	// Category says what kind of trouble it is.
	Category frames.ErrorCategory
	// Status is the HTTP status, 0 without one.
	Status int
	// RetryAfter is how long the provider asks to wait; 0 when it does not say.
	RetryAfter time.Duration
	// Provider names who failed, e.g. "openai".
	Provider string
	// Err is the cause. It must not hold credentials.
	Err error
}

// Error describes the failure for logs.
func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s: %s (HTTP %d): %v", e.Provider, e.Category, e.Status, e.Err)
	}
	return fmt.Sprintf("%s: %s: %v", e.Provider, e.Category, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same request may work a little later.
func (e *Error) Retryable() bool {
	switch e.Category {
	case frames.ErrorNetwork, frames.ErrorServer, frames.ErrorRateLimit, frames.ErrorTimeout:
		return true
	}
	return false
}

// ErrCut tells that a stream ended in the middle of a response.
var ErrCut = errors.New("llm: the stream ended in the middle of the response")
