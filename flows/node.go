package flows

import (
	"context"
	"encoding/json"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/speech"
)

// UnnamedNode is what [FlowManager.CurrentNode] reports at a node without a name.
const UnnamedNode = "(unnamed)"

// NoResponse is returned by a [Handler] in the place of a next node to say that
// nothing is to be said about the result: the node stays, and the model is not
// asked for a reply unless another call of the same response wants one. It is a
// sentinel, compared by identity, and cannot be entered.
var NoResponse = &NodeConfig{Name: "no response"}

// Handler runs a function that the model called. args is a JSON object that fits
// the function's schema. The text is what the model is told, as it stands; a next
// node moves the conversation there. An error is told to the model too, so it
// should say what can be done about it and hold nothing private; the node stays.
// ctx is cancelled when the call times out, is cancelled or the session ends.
type Handler func(ctx context.Context, args json.RawMessage, fm *FlowManager) (string, *NodeConfig, error)

// NodeConfig is one state of a conversation. It may be shared by sessions and must
// not be changed once it has been handed to a FlowManager.
type NodeConfig struct {
	// Name identifies the node in events, logs and drawings.
	Name string
	// RoleMessage replaces the persona; empty keeps the one there is. The persona
	// stands outside the history, so a reset keeps it.
	RoleMessage string
	// TaskMessages are appended to the conversation on entry, with their roles.
	TaskMessages []frames.Message
	// Functions are offered to the model here, beside the global ones.
	Functions []NodeFunction
	// RespondImmediately says whether the model speaks on entry; nil means that it
	// does. False waits for the user.
	RespondImmediately *bool

	// Title is the name to show people; empty means Name.
	Title string
	// ContextStrategy is what entry does with the history; the zero value is the
	// FlowManager's default.
	ContextStrategy ContextStrategy
	// SummaryPrompt tells the model how to write the summary of
	// [ContextSummarize]; empty means a general one.
	SummaryPrompt string
	// ToolChoice restricts the model's calls at this node; empty means auto.
	ToolChoice frames.ToolChoice
	// Turns are how turns are taken here when the user calls: when a turn of theirs
	// is over, whether they can talk over the bot, how long they may say nothing.
	// What is not set is the session's; nil is the session's settings as they are.
	Turns *speech.TurnSettings
	// PreActions are done on entry, before the reply.
	PreActions []Action
	// PostActions are done once, when the bot's first turn at the node has been
	// heard to its end. They are dropped when the node is left before.
	PostActions []Action
}

// NodeFunction is a function that the model may call.
type NodeFunction struct {
	// Name and Description tell the model what it is. The name is unique in its
	// node.
	Name, Description string
	// Parameters is the JSON Schema of the argument object; empty means no
	// arguments.
	Parameters json.RawMessage
	// Handler runs a call.
	Handler Handler

	// To names the nodes that the handler may lead to. It is for drawing only, see
	// [Outline].
	To []string
	// Examples are things a user may say that call for the function, for models
	// that have use for them.
	Examples []string
	// Timeout bounds a call; 0 means the FlowManager's, negative none.
	Timeout time.Duration
	// CancelOnInterruption cancels the call when the user barges in. The default
	// lets it finish, and a transition it leads to is then made.
	CancelOnInterruption bool
	// Async lets the conversation go on while the call runs: the model is told at
	// once that it is running, and the result when it is there.
	Async bool
	// Filler is spoken when the call takes longer than FillerAfter; empty says
	// nothing.
	Filler string
	// FillerAfter is how long a call is silent; 0 means the service's default.
	FillerAfter time.Duration
	// Duplicates says what a call does that repeats one under way.
	Duplicates llm.DuplicatePolicy
	// Respond says whether a successful call is followed by a reply.
	Respond RespondPolicy

	// err is what was wrong with a function made by a helper of this package.
	err error
}

// RespondPolicy says whether the model speaks after a call.
type RespondPolicy uint8

// The policies. A call that fails is always followed by a reply, and so is a
// transition to a node that responds immediately.
const (
	// RespondAfter asks for a reply.
	RespondAfter RespondPolicy = iota
	// RespondNever does not, as [NoResponse] does for a single call.
	RespondNever
)

// ContextStrategy says what entering a node does with the history.
type ContextStrategy uint8

// The strategies.
const (
	// ContextDefault is the FlowManager's default, and [ContextAppend] there.
	ContextDefault ContextStrategy = iota
	// ContextAppend keeps the history.
	ContextAppend
	// ContextReset drops it. What the user said and nothing has answered yet is
	// kept, behind the new task.
	ContextReset
	// ContextSummarize puts a summary in its place. When that fails or takes too
	// long, the history is kept for this entry and an event tells why.
	ContextSummarize
)

// String names the strategy.
func (s ContextStrategy) String() string {
	switch s {
	case ContextAppend:
		return "append"
	case ContextReset:
		return "reset"
	case ContextSummarize:
		return "summarize"
	}
	return "default"
}

// name is the node's name as it is reported.
func (n *NodeConfig) name() string {
	if n.Name == "" {
		return UnnamedNode
	}
	return n.Name
}

// responds reports whether the model speaks on entry.
func (n *NodeConfig) responds() bool {
	return n.RespondImmediately == nil || *n.RespondImmediately
}
