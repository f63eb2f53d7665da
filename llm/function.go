package llm

import (
	"context"
	"encoding/json"
	"time"

	"github.com/turnwise/turnwise/frames"
)

// ToolHandler runs a function that the model called. args is a JSON object that
// matches the tool's schema; the text it returns is what the model is told, as it
// stands. It runs on a goroutine of its own; ctx is cancelled when the call times
// out, is cancelled or the session ends, and carries the call, see [CallFrom]. An
// error settles the call as failed and its text is told to the model, so it should
// say what the model can do about it and hold nothing private; a panic settles it
// as failed without details.
type ToolHandler func(ctx context.Context, args json.RawMessage) (string, error)

// Function says how the service runs a tool. It is either registered under a name
// or bound to a tool through [frames.Tool.Binding].
type Function struct {
	// Handler runs the call.
	Handler ToolHandler
	// Timeout bounds a call; 0 means the service's default, negative none.
	Timeout time.Duration
	// CancelOnInterruption cancels the call when the user barges in. The default
	// lets it finish.
	CancelOnInterruption bool
	// Async presents the call asynchronously: the model is told at once that it
	// is running, the conversation goes on, and the result is told when it is
	// there.
	Async bool
	// Filler is spoken when the call takes longer than FillerAfter; empty says
	// nothing.
	Filler string
	// FillerAfter is how long a call is silent; 0 means 800 ms.
	FillerAfter time.Duration
	// Remote tells that the function runs elsewhere, such as in the client: the
	// call waits for a FunctionResultFrame with its id. Handler is not used.
	Remote bool
	// Duplicates says what a call does that repeats one under way.
	Duplicates DuplicatePolicy
}

// DuplicatePolicy says what happens to a call of the same function with the same
// arguments as one that is still running.
type DuplicatePolicy uint8

// The policies.
const (
	// DuplicateShare gives both calls the result of the first.
	DuplicateShare DuplicatePolicy = iota
	// DuplicateRun runs it again.
	DuplicateRun
	// DuplicateReject answers the second with an error.
	DuplicateReject
)

// Call is a function call under way, as its handler can see it.
type Call struct {
	frames.ToolCall
	// Index is its place in the response, from 0.
	Index int
	// Response is the number of the response that made it.
	Response uint64
	// IdempotencyKey names the effect: it is the same when the call is made
	// again by a resumed run, and different for every other call.
	IdempotencyKey string
	// Tools are the tools that were on offer when the model made the call.
	Tools *frames.Toolset
}

type callKey struct{}

// CallFrom returns the call a handler's context belongs to.
func CallFrom(ctx context.Context) (*Call, bool) {
	c, ok := ctx.Value(callKey{}).(*Call)
	return c, ok
}

// WithCall returns a context that carries a call, for those who run handlers
// themselves, such as tests.
func WithCall(ctx context.Context, c *Call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// Settled is a call of a batch with its end.
type Settled struct {
	*Call
	Status frames.FunctionStatus
	// Result is what the model was told.
	Result string
}

// Batch is the calls of one response, in the order the model made them, when the
// last of them has settled and the results are in the conversation. Calls that
// are presented asynchronously are not part of it.
type Batch struct {
	Response uint64
	Calls    []Settled
}

// Decision is what follows a batch.
type Decision struct {
	// Silent keeps the service from generating a follow-up.
	Silent bool
}

// Director decides what follows a batch; a FlowManager is one. Its methods are
// called on the session loop and must not block.
type Director interface {
	// BatchSettled is called once for every batch, before any follow-up. In it
	// the director may change the conversation through the steering it was given
	// at [Service.Direct].
	BatchSettled(b *Batch) Decision
	// Interrupted is called in the walk of an interruption.
	Interrupted()
}

// Steering is what a director can do. Its methods may be called on the session
// loop only, unless they say otherwise.
type Steering interface {
	// Update applies one atomic change to the conversation at once. The
	// generation under way, if there is one, is discarded: nothing of it reaches
	// the user afterwards.
	Update(u frames.ContextUpdate)
	// Run asks for one generation. Requests merge.
	Run()
	// Block keeps the service from generating until the same number of Unblock
	// calls; requests are remembered.
	Block()
	// Unblock takes a Block back.
	Unblock()
	// Push sends a frame downstream from the service, in order.
	Push(f frames.Frame)
	// Go runs fn on a goroutine of its own; then, unless nil, done on the loop.
	// ctx ends with the session.
	Go(fn func(ctx context.Context), done func())
	// After calls fn on the loop after d; the function returned stops it.
	After(d time.Duration, fn func()) (stop func())
	// Busy reports whether a generation, or a batch that is not presented
	// asynchronously, is under way.
	Busy() bool
	// BatchOpen reports whether a batch that is not presented asynchronously is
	// under way. The conversation must not be reset until it has settled.
	BatchOpen() bool
	// Ending reports whether the session is ending or has ended: calls still
	// settle, but nothing follows them.
	Ending() bool
	// Do runs fn on the loop, at the service. It may be called from any
	// goroutine; before the session runs, fn waits for it. It reports false when
	// the session has ended, and fn will not run.
	Do(fn func()) bool
	// Context is the conversation.
	Context() *frames.LLMContext
	// Model is the service's model, for generations beside the conversation, such
	// as summaries.
	Model() Model
}
