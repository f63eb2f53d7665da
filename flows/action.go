package flows

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// ActionType says what an [Action] does. Types of one's own are given handlers in
// [Config.Actions].
type ActionType string

// The types that every flow knows.
const (
	// ActionSay says Text.
	ActionSay ActionType = "say"
	// ActionFunction runs Handler, when everything said before has been heard.
	ActionFunction ActionType = "function"
	// ActionEndConversation says Text, if there is one, and ends the session when
	// it has been heard to its end. Actions behind it are not done.
	ActionEndConversation ActionType = "end_conversation"
)

// ActionHandler runs an action of the types function and custom. It runs on a
// goroutine of its own; ctx is cancelled when the action's time is up, when it is
// skipped, and when the session ends.
type ActionHandler func(ctx context.Context, a Action, fm *FlowManager) error

// Action is something done on entering or leaving a node. Actions of a list are
// done in order.
type Action struct {
	Type ActionType
	// Text is what is said.
	Text string
	// Handler runs an action of the type function. For a custom type it takes the
	// place of the one in [Config.Actions].
	Handler ActionHandler
	// Data is for the handler.
	Data map[string]any
	// Timeout bounds the handler; 0 means the FlowManager's.
	Timeout time.Duration
	// OnInterruption says what happens when the user barges in while the action
	// waits or runs.
	OnInterruption InterruptionPolicy
	// OnError says what happens when the handler fails.
	OnError ErrorPolicy
}

// InterruptionPolicy says what becomes of an action when the user barges in before
// it is done. In either case the list holds up nothing from then on.
type InterruptionPolicy uint8

// The policies.
const (
	// InterruptionDefault skips an action that says something and finishes any
	// other.
	InterruptionDefault InterruptionPolicy = iota
	// InterruptionSkip leaves the action out, or cancels it.
	InterruptionSkip
	// InterruptionFinish does it all the same: a handler runs on, beside the
	// conversation, and a line is said again.
	InterruptionFinish
)

// ErrorPolicy says what a failed action leads to. An event reports it in either
// case.
type ErrorPolicy uint8

// The policies.
const (
	// ErrorContinue goes on with the next action.
	ErrorContinue ErrorPolicy = iota
	// ErrorFail leaves out the actions behind it and ends the session, after what
	// has been said so far.
	ErrorFail
)

// Say is an action that says a fixed line.
func Say(text string) Action { return Action{Type: ActionSay, Text: text} }

// Run is an action that runs a handler when everything said before has been heard.
func Run(h ActionHandler) Action { return Action{Type: ActionFunction, Handler: h} }

// EndConversation is an action that says a farewell, which may be empty, and ends
// the session when it has been heard.
func EndConversation(farewell string) Action {
	return Action{Type: ActionEndConversation, Text: farewell}
}

func builtin(kind string) bool {
	switch ActionType(kind) {
	case ActionSay, ActionFunction, ActionEndConversation:
		return true
	}
	return false
}

// problem says what is wrong with an action.
func (a *Action) problem(custom map[string]ActionHandler) string {
	switch {
	case a.Timeout < 0:
		return "has a negative timeout"
	case a.OnInterruption > InterruptionFinish, a.OnError > ErrorFail:
		return "has an unknown policy"
	}
	switch a.Type {
	case ActionSay:
		if a.Text == "" {
			return "says nothing; give it a text"
		}
	case ActionFunction:
		if a.Handler == nil {
			return "has no handler"
		}
	case ActionEndConversation:
	default:
		if a.Handler == nil && custom[string(a.Type)] == nil {
			return fmt.Sprintf("is of the unknown type %q; use say, function or end_conversation, or give the type a handler in Config.Actions", a.Type)
		}
	}
	return ""
}

// finishes reports whether the action is done in spite of an interruption.
func (a *Action) finishes() bool {
	if a.OnInterruption == InterruptionDefault {
		return a.Type != ActionSay
	}
	return a.OnInterruption == InterruptionFinish
}

// handler is what runs the action.
func (fm *FlowManager) handler(a *Action) ActionHandler {
	if a.Handler != nil {
		return a.Handler
	}
	return fm.cfg.Actions[string(a.Type)]
}

// runAction runs an action's handler; a panic is an error.
func (fm *FlowManager) runAction(ctx context.Context, a Action) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("flows: the handler of an action panicked: %v", r)
			fm.log.Error("an action panicked", "action", string(a.Type), "panic", r, "stack", string(debug.Stack()))
		}
	}()
	return fm.handler(&a)(ctx, a, fm)
}
