package graph

import "slices"

// Kind is what a node does.
type Kind string

// The kinds. The quiet ones run inside the edge that leads to them.
const (
	KindConverse Kind = "converse" // the model talks
	KindCollect  Kind = "collect"  // fields are asked for
	KindFollowUp Kind = "follow_up"
	KindSay      Kind = "say"
	KindCall     Kind = "call"
	KindAgent    Kind = "agent"
	KindSet      Kind = "set"
	KindBranch   Kind = "branch"
	KindHuman    Kind = "human"
	KindParallel Kind = "parallel"
	KindUse      Kind = "use"
	KindLoop     Kind = "loop"
	KindEnd      Kind = "end"
	KindCustom   Kind = "custom" // one a program adds
	KindNone     Kind = ""       // nothing says what it does
)

// Talks tells whether a node of the kind holds a conversation: the user's words are
// answered there.
func (k Kind) Talks() bool { return k == KindConverse || k == KindCollect || k == KindFollowUp }

// Node is one state of the conversation, or one step of the work between two of them. One
// of its keys makes its kind, see [Node.Kind].
type Node struct {
	// Title is its name for people.
	Title string `json:"title,omitempty"`
	// Persona replaces the flow's here.
	Persona Text `json:"persona,omitempty"`
	// Say is a fixed line: on the first visit before the model speaks, after a call.
	Say Text `json:"say,omitempty"`
	// Task is what the model is to do here: a text, or messages with roles.
	Task Task `json:"task,omitempty"`

	// Collect lists the fields to fill, in any order the user gives them.
	Collect []string `json:"collect,omitempty"`
	// Check are conditions on what was given, and what is said when one is not met.
	Check []Check `json:"check,omitempty"`
	// Keypad takes digits from a telephone's keys.
	Keypad *Keypad `json:"keypad,omitempty"`
	// Attempts is how often a field is asked for in vain; 0 means without end.
	Attempts int `json:"attempts,omitempty"`
	// OnAttempts is the node to go to then.
	OnAttempts string `json:"on_attempts,omitempty"`
	// OutOfScope says what the node is about, and where everything else goes.
	OutOfScope *OutOfScope `json:"out_of_scope,omitempty"`

	// FollowUp is what the model is to do while the user leads.
	FollowUp Text `json:"follow_up,omitempty"`
	// Closure are whole utterances that end it: "that's all".
	Closure []string `json:"closure,omitempty"`

	// Functions are offered to the model here.
	Functions map[string]*Function `json:"functions,omitempty"`
	// Tools are tools the model may use here and stay.
	Tools []string `json:"tools,omitempty"`

	// Call is the tool to call.
	Call string `json:"call,omitempty"`
	// Args are the call's arguments.
	Args map[string]any `json:"args,omitempty"`
	// Async waits for the tool's answer, which comes to callback.url.
	Async bool `json:"async,omitempty"`
	// Answer is the JSON Schema of the awaited answer.
	Answer Schema `json:"answer,omitempty"`
	// Confirm says who agrees before the call is made.
	Confirm *Confirm `json:"confirm,omitempty"`
	// OnRefuse is the node to go to when they do not.
	OnRefuse string `json:"on_refuse,omitempty"`
	// Undo is the call that takes this one back, for a later correction.
	Undo *Undo `json:"undo,omitempty"`

	// Agent is one model call that is not spoken.
	Agent *Agent `json:"agent,omitempty"`
	// Set computes fields.
	Set map[string]any `json:"set,omitempty"`
	// Branch is a list of cases; the first that holds is taken.
	Branch []Case `json:"branch,omitempty"`
	// Human waits for a person.
	Human *Human `json:"human,omitempty"`
	// Parallel runs branches beside each other.
	Parallel *Parallel `json:"parallel,omitempty"`
	// Use is another flow to run.
	Use string `json:"use,omitempty"`
	// Input is what the other flow is started with.
	Input map[string]any `json:"input,omitempty"`
	// Loop repeats a body.
	Loop *Loop `json:"loop,omitempty"`
	// End ends the run, or the flow in use.
	End *End `json:"end,omitempty"`

	// Save gives fields a value out of the result or the answer.
	Save map[string]any `json:"save,omitempty"`
	// Next is where it goes on: a node, or cases tried in order.
	Next Next `json:"next,omitempty"`
	// OnError is the node a failure leads to.
	OnError string `json:"on_error,omitempty"`
	// Deadline is how long an answer is waited for.
	Deadline Duration `json:"deadline,omitempty"`
	// OnTimeout is the node to go to when none has come.
	OnTimeout string `json:"on_timeout,omitempty"`
	// Default is the answer when none has come.
	Default any `json:"default,omitempty"`
	// WhileWaiting is what happens in the conversation while an answer is awaited.
	WhileWaiting *WhileWaiting `json:"while_waiting,omitempty"`

	// OnEnter are actions done on entering.
	OnEnter []Action `json:"on_enter,omitempty"`
	// OnExit are actions done on leaving.
	OnExit []Action `json:"on_exit,omitempty"`
	// AfterReply are actions done once, after the first reply has been heard.
	AfterReply []Action `json:"after_reply,omitempty"`
	// Timeout bounds a visit of a quiet node.
	Timeout Duration `json:"timeout,omitempty"`
	// Retry says how often a failed call is tried again.
	Retry *Retry `json:"retry,omitempty"`
	// MaxVisits bounds how often the node is entered; 0 means 25 for a quiet node and
	// without end for one that talks.
	MaxVisits int `json:"max_visits,omitempty"`
	// OnMaxVisits is the node to go to instead.
	OnMaxVisits string `json:"on_max_visits,omitempty"`
	// Require is what must hold on entering.
	Require *Require `json:"require,omitempty"`
	// Context is what entering does with the history.
	Context ContextStrategy `json:"context,omitempty"`
	// Respond says whether the model speaks on entering.
	Respond Respond `json:"respond,omitempty"`
	// Turn are how turns are taken here.
	Turn *Turn `json:"turn,omitempty"`
	// Model is another model, or other settings of it, for this node.
	Model *Model `json:"model,omitempty"`
	// Silence replaces the flow's steps here.
	Silence []Silence `json:"silence,omitempty"`

	// Custom is what stands under the keys of kinds that a program adds.
	Custom map[string]any `json:",inline"`
}

// Kinds are the kinds the node's keys make; a node that is right has exactly one. A task
// or a line alone makes a kind only where no other key does.
func (n *Node) Kinds() []Kind {
	var all []Kind
	for _, k := range []struct {
		kind Kind
		is   bool
	}{
		{KindCollect, n.Collect != nil}, {KindFollowUp, n.FollowUp != ""}, {KindCall, n.Call != ""}, {KindAgent, n.Agent != nil},
		{KindSet, n.Set != nil}, {KindBranch, n.Branch != nil}, {KindHuman, n.Human != nil}, {KindParallel, n.Parallel != nil},
		{KindUse, n.Use != ""}, {KindLoop, n.Loop != nil}, {KindEnd, n.End != nil},
	} {
		if k.is {
			all = append(all, k.kind)
		}
	}
	if len(n.Custom) > 0 {
		all = append(all, KindCustom)
	}
	switch {
	case len(all) > 0:
		return all
	case len(n.Task) > 0 || len(n.Functions) > 0:
		return []Kind{KindConverse}
	case n.Say != "":
		return []Kind{KindSay}
	}
	return nil
}

// Kind is what the node does; [KindNone] when no key or more than one says so.
func (n *Node) Kind() Kind {
	if all := n.Kinds(); len(all) == 1 {
		return all[0]
	}
	return KindNone
}

// Waits tells whether the node may wait for an answer from outside the conversation.
func (n *Node) Waits() bool {
	return n.Human != nil || n.Call != "" && (n.Async || n.Confirm != nil && n.Confirm.When != ConfirmNever)
}

// Bodies are the nodes within the node, by the name of the branch; a loop's body is named
// "body".
func (n *Node) Bodies() map[string]map[string]*Node {
	switch {
	case n.Parallel != nil:
		all := make(map[string]map[string]*Node, len(n.Parallel.Branches))
		for name, b := range n.Parallel.Branches {
			all[name] = b
		}
		return all
	case n.Loop != nil:
		return map[string]map[string]*Node{"body": n.Loop.Body}
	}
	return nil
}

// BodyStart is where a branch or a loop's body begins: at its only node, or at the one
// called start. It is "" when neither holds.
func BodyStart(body map[string]*Node) string {
	if len(body) == 1 {
		for name := range body {
			return name
		}
	}
	if body["start"] != nil {
		return "start"
	}
	return ""
}

// keysOfAll are the keys that any node may have.
var keysOfAll = []string{"title", "persona", "next", "on_error", "on_enter", "on_exit", "timeout", "retry", "max_visits", "on_max_visits", "require", "save", "say"}

// keysOf are the keys that a node of the kind may have besides those of all nodes.
func keysOf(k Kind) []string {
	talk := []string{"task", "functions", "tools", "context", "respond", "turn", "model", "silence", "after_reply", "out_of_scope", "keypad"}
	wait := []string{"deadline", "on_timeout", "default", "while_waiting"}
	switch k {
	case KindConverse:
		return talk
	case KindCollect:
		return append(talk, "collect", "check", "attempts", "on_attempts")
	case KindFollowUp:
		return slices.DeleteFunc(append(talk, "follow_up", "closure"), func(k string) bool { return k == "task" })
	case KindCall:
		return append(wait, "call", "args", "async", "answer", "confirm", "on_refuse", "undo")
	case KindAgent:
		return []string{"agent", "model"}
	case KindHuman:
		return append(wait, "human")
	case KindUse:
		return []string{"use", "input"}
	case KindNone, KindSay, KindCustom:
		return nil
	}
	return []string{string(k)}
}
