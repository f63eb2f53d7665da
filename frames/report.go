package frames

import "time"

// ErrorCategory says what kind of trouble an [ErrorFrame] reports and so who can
// do something about it.
type ErrorCategory string

// The categories.
const (
	ErrorAuth      ErrorCategory = "auth"
	ErrorQuota     ErrorCategory = "quota"
	ErrorRateLimit ErrorCategory = "rate_limit"
	ErrorInvalid   ErrorCategory = "invalid_request"
	ErrorNetwork   ErrorCategory = "network"
	ErrorServer    ErrorCategory = "server"
	ErrorContent   ErrorCategory = "content"
	ErrorTimeout   ErrorCategory = "timeout"
	ErrorInternal  ErrorCategory = "internal"
)

// ErrorFrame reports trouble inside the session. It travels upstream to the
// pipeline's head and from there to the client and the log.
type ErrorFrame struct {
	SystemFrame
	Category ErrorCategory
	// Public is what the client may be shown; it holds no secrets and no
	// addresses.
	Public string
	// Err is the cause, for logs.
	Err error
	// Source names the processor that reports.
	Source string
	// Fatal tells that the session ends because of it.
	Fatal bool
}

// MetricsFrame carries measurements of one processor. Fields that were not
// measured are zero.
type MetricsFrame struct {
	SystemFrame
	// Processor and Model name what was measured.
	Processor, Model string
	// TTFB is the time to the first byte or token.
	TTFB time.Duration
	// Processing is the time the whole piece of work took.
	Processing time.Duration
	// Usage is the model's token count, nil when it gave none.
	Usage *TokenUsage
	// Characters counts characters sent to a synthesizer.
	Characters int
}

// TokenUsage is a model's own count of what a response cost.
type TokenUsage struct {
	Prompt, Completion, Total int
	// CachedPrompt is the part of Prompt that was read from the provider's cache.
	CachedPrompt int
	// Reasoning is the part of Completion that was not shown.
	Reasoning int
}
