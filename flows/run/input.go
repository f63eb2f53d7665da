package run

import (
	"errors"
	"fmt"
	"time"
)

// Input is what an advance gets from outside: the journal of its time and environment,
// and what has happened.
type Input struct {
	// Now is the time of the advance; the reducer has no other clock.
	Now time.Time
	// Env is what flows may read of the environment. What a run has read once stays as
	// it was then.
	Env map[string]any
	// Callbacks is the address under which callbacks are answered; the id of the
	// interrupt is put behind it.
	Callbacks string
	// Permissions of whoever runs it, for tools that need some.
	Permissions []string
	// Responses are what has happened, in order.
	Responses []Response
}

// Response is something that has happened outside and that a run is told of. The types
// of this package are all there are.
type Response interface{ response() }

// UserTurn is what the user has said or typed. In a live conversation the model answers
// it; the run remembers it, looks for closure phrases and counts attempts.
type UserTurn struct {
	// Text is what was said.
	Text string
}

// BotTurn is what the user has heard of a reply that called nothing.
type BotTurn struct {
	// Text is what was heard.
	Text string
}

// FunctionCall is a call by the model of one of the functions that [Plan.Needs] offered.
type FunctionCall struct {
	// ID is the call's own; the result carries it.
	ID string
	// Name of the function.
	Name string
	// Args as the model gave them, plain (see expr.Decode).
	Args map[string]any
	// Visit is that of the offer the call was made from, and Node its node. When the
	// place has changed since, the call is ignored. An empty Node is not looked at.
	Node  string
	Visit int
}

// CallResult is how a tool call, or the question to a model, ended.
type CallResult struct {
	// Call is the id of the call.
	Call string
	// Value it gave, plain.
	Value any
	// Failure, when it gave none.
	Failure *Failure
	// Wait, when the tool asks for something before it can go on: it is called again
	// from its top when there is an answer, with the same idempotency key.
	Wait *Question

	flight string // which making of the call this is about
}

// Question is what a tool asks for.
type Question struct {
	// Name of what it asks, unique within the call.
	Name string
	// Reason is what whoever answers is told.
	Reason string
	// Audience; the user when empty.
	Audience Audience
	// Schema of the answer; any value but null when empty.
	Schema []byte
}

// Answer answers an interrupt.
type Answer struct {
	// Interrupt is its id.
	Interrupt string
	// Value of the answer, plain. False, 0 and "" are answers, nil is none.
	Value any
	// By tells who answered, for the history.
	By string
}

// Silence is that the user has said nothing for as long as the next step of the node's
// silence says.
type Silence struct{}

// Tick is time that has passed: what is due happens.
type Tick struct{}

// Correct is that the user changes what was given before.
type Correct struct{ Correction }

// Cancel ends the run.
type Cancel struct {
	// Reason becomes the message of the outcome.
	Reason string
}

func (UserTurn) response()     {}
func (BotTurn) response()      {}
func (FunctionCall) response() {}
func (CallResult) response()   {}
func (Answer) response()       {}
func (Silence) response()      {}
func (Tick) response()         {}
func (Correct) response()      {}
func (Cancel) response()       {}

// The refusals of an advance. Nothing has changed when one is returned.
var (
	// ErrEnded: the run has ended.
	ErrEnded = errors.New("run: the run has ended")
	// ErrNoInterrupt: there is no such interrupt, or it is not open any more.
	ErrNoInterrupt = errors.New("run: there is no open interrupt of that id")
	// ErrNoCall: there is no such call, or it has finished already.
	ErrNoCall = errors.New("run: there is no open call of that id")
	// ErrHash: the run belongs to another text of the flow.
	ErrHash = errors.New("run: the run is pinned to another text of the flow")
)

// InvalidAnswer tells why an answer was not taken; its interrupt stays open.
type InvalidAnswer struct {
	// Interrupt is its id.
	Interrupt string
	// Reason is what does not fit.
	Reason string
}

// Error is the reason.
func (e *InvalidAnswer) Error() string {
	return fmt.Sprintf("run: the answer does not fit interrupt %s: %s", e.Interrupt, e.Reason)
}
