package server

import "github.com/turnwise/turnwise/flows"

// The values of [FlowMessage.Event].
const (
	// FlowNode: Node was entered from Previous.
	FlowNode = "node"
	// FlowState: State is what the flow knows, after a change.
	FlowState = "state"
	// FlowDropped: the way to Node was not taken; Detail says why.
	FlowDropped = "dropped"
	// FlowFailed: an action, a summary or a transition failed; Detail says which.
	FlowFailed = "failed"
	// FlowEnded: the flow has come to its end; Detail says why.
	FlowEnded = "ended"
)

// FlowMessage tells a client what happens in a flow, as the data of an RTVI
// server-message. It holds nothing private: causes of failures are in the log.
type FlowMessage struct {
	// Kind is "flow".
	Kind string `json:"kind"`
	// Event is one of the names above.
	Event string `json:"event"`
	// Node and Previous are names of nodes.
	Node     string `json:"node,omitempty"`
	Previous string `json:"previous,omitempty"`
	// Detail says more, as told there; may be empty.
	Detail string `json:"detail,omitempty"`
	// State is all variables, after a change of one.
	State map[string]any `json:"state,omitempty"`
}

// NewFlowMessage says what a client is told of an event; it reports false when it
// is nothing.
func NewFlowMessage(e flows.Event) (FlowMessage, bool) {
	m := FlowMessage{Kind: "flow", Node: e.Node, Detail: e.Detail}
	switch e.Kind {
	case flows.EventNodeEntered:
		m.Event, m.Previous = FlowNode, e.Previous
	case flows.EventStateChanged:
		m.Event, m.State = FlowState, e.State
	case flows.EventTransitionDropped:
		m.Event = FlowDropped
	case flows.EventTransitionFailed, flows.EventActionFailed, flows.EventSummaryFailed:
		m.Event = FlowFailed
	case flows.EventEnded:
		m.Event = FlowEnded
	default:
		return FlowMessage{}, false
	}
	return m, true
}
