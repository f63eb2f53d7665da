package flows

import (
	"time"

	"github.com/turnwise/turnwise/frames"
)

// EventKind says what an [Event] tells.
type EventKind string

// The kinds of event.
const (
	// EventNodeEntered: Node was entered from Previous.
	EventNodeEntered EventKind = "node_entered"
	// EventTransitionDropped: the way to Node was not taken; Detail says why.
	EventTransitionDropped EventKind = "transition_dropped"
	// EventTransitionFailed: Function led to an invalid node; Err says what is
	// wrong. The node stays.
	EventTransitionFailed EventKind = "transition_failed"
	// EventFunctionCalled: a handler of Function has begun.
	EventFunctionCalled EventKind = "function_called"
	// EventFunctionSettled: a call of Function has ended with Status; Detail is
	// what the model was told.
	EventFunctionSettled EventKind = "function_settled"
	// EventActionFailed: the action of the type Detail failed with Err.
	EventActionFailed EventKind = "action_failed"
	// EventActionSkipped: the action of the type Detail was skipped because the
	// user barged in.
	EventActionSkipped EventKind = "action_skipped"
	// EventSummaryFailed: the history was kept because the summary failed with
	// Err.
	EventSummaryFailed EventKind = "summary_failed"
	// EventStateChanged: the variable Detail has changed; State is all of them.
	EventStateChanged EventKind = "state_changed"
	// EventEnded: the flow has asked for the end of the session; Detail says why,
	// and Err is set when it is because an action failed.
	EventEnded EventKind = "ended"
)

// Event is something that happened in a flow. Fields that a kind does not mention
// may be empty.
type Event struct {
	Kind EventKind
	// Time is when it happened.
	Time time.Time
	// Node is the node concerned, by name.
	Node string
	// Previous is the node that was left; empty for the first.
	Previous string
	// Function and CallID name the function and the model's call.
	Function, CallID string
	// Status is how a call ended.
	Status frames.FunctionStatus
	// Detail is more about it, in a few words.
	Detail string
	// Err is the cause of a failure. It is for logs; it may hold private things.
	Err error
	// State is a copy of the flow's variables.
	State map[string]any
}

// emit tells the log and the observer.
func (fm *FlowManager) emit(e Event) {
	e.Time = time.Now()
	if e.Err != nil {
		fm.log.Warn("flow", "event", string(e.Kind), "node", e.Node, "function", e.Function, "detail", e.Detail, "err", e.Err)
	} else if e.Kind == EventNodeEntered || e.Kind == EventTransitionDropped || e.Kind == EventEnded {
		fm.log.Info("flow", "event", string(e.Kind), "node", e.Node, "previous", e.Previous, "detail", e.Detail)
	}
	if fm.cfg.OnEvent != nil {
		fm.cfg.OnEvent(e)
	}
}
