package frames

import "encoding/json"

// FunctionStatus is how a function call ended.
type FunctionStatus string

// The terminal states of a call. Each call reaches exactly one.
const (
	FunctionOK        FunctionStatus = "ok"
	FunctionError     FunctionStatus = "error"
	FunctionTimeout   FunctionStatus = "timeout"
	FunctionCancelled FunctionStatus = "cancelled"
)

// FunctionCallsStartedFrame tells that the calls of one response have begun.
type FunctionCallsStartedFrame struct {
	SystemFrame
	Calls []ToolCall
}

// FunctionCallInProgressFrame tells that one call's handler runs.
type FunctionCallInProgressFrame struct {
	SystemFrame
	Call ToolCall
}

// FunctionCallResultFrame tells how one call ended.
type FunctionCallResultFrame struct {
	SystemFrame
	Call   ToolCall
	Status FunctionStatus
	// Result is what the model is told: the handler's result, or an error text.
	Result string
}

// FunctionResultFrame brings the result of a call that runs elsewhere, such as a
// tool in the client, to the model service.
type FunctionResultFrame struct {
	UninterruptibleFrame
	CallID string
	Name   string
	Result json.RawMessage
	// Err, when not empty, settles the call as failed.
	Err string
}
