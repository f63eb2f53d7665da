package graph

// Task is what the model is to do: messages in order. A flow file may give a text alone.
type Task []Message

// NewTask is a task of one text.
func NewTask(text Text) Task { return Task{{Content: text}} }

// Message is one message of a task.
type Message struct {
	// Role is whose message it is; empty means developer.
	Role Role `json:"role,omitempty"`
	// Content is the text.
	Content Text `json:"content"`
}

// Role is whose a message is.
type Role string

// The roles.
const (
	RoleDeveloper Role = "developer"
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

func (Role) values() []string { return []string{"developer", "system", "user", "assistant"} }

// Next is where to go on: cases tried in order. A flow file may give a node alone.
type Next []Case

// To goes on at a node, whatever holds.
func To(node string) Next { return Next{{To: node}} }

// Back is the target that returns from a visit.
const Back = "back"

// Case is one way on.
type Case struct {
	// When is what must hold; without it the case always does.
	When Condition `json:"when,omitempty"`
	// To is the node; back returns from a visit.
	To string `json:"to"`
	// Clear are fields that lose their value on the way.
	Clear []string `json:"clear,omitempty"`
}

// Check is a condition on collected values.
type Check struct {
	// When is what must hold.
	When Condition `json:"when"`
	// Say is why the value is refused.
	Say Text `json:"say,omitempty"`
}

// Keypad takes digits from a telephone's keys.
type Keypad struct {
	// Digits is how many end the entry; 0 means any number.
	Digits int `json:"digits,omitempty"`
	// End is the key that ends it, such as "#".
	End string `json:"end,omitempty"`
	// Timeout ends it after a pause.
	Timeout Duration `json:"timeout,omitempty"`
}

// OutOfScope says what a node is about, so that the rest can be told apart.
type OutOfScope struct {
	// About is what belongs here.
	About string `json:"about"`
	// To is the node where the rest goes; without one a person is asked.
	To string `json:"to,omitempty"`
}

// Function is a tool offered to the model; an edge when it leads to another node.
type Function struct {
	// Description tells the model when to call it.
	Description string `json:"description,omitempty"`
	// Parameters are its arguments by name, each a JSON Schema; all are required but those
	// that say optional: true. {$ref: "#/state/name"} takes a field's schema.
	Parameters map[string]Schema `json:"parameters,omitempty"`
	// Examples are things a user may say that call for it.
	Examples []string `json:"examples,omitempty"`
	// Call is a tool to call when the model calls the function.
	Call string `json:"call,omitempty"`
	// Args are the tool's arguments.
	Args map[string]any `json:"args,omitempty"`
	// Save gives fields a value.
	Save map[string]any `json:"save,omitempty"`
	// Result is what the model is told; without it, what was saved and where it went.
	Result any `json:"result,omitempty"`
	// Filler is said when it takes long.
	Filler Text `json:"filler,omitempty"`
	// Timeout bounds it.
	Timeout Duration `json:"timeout,omitempty"`
	// Survive tells whether it goes on when the user barges in; nil means yes.
	Survive *bool `json:"survive,omitempty"`
	// Async lets the conversation go on while it runs.
	Async bool `json:"async,omitempty"`
	// Clear are fields that lose their value.
	Clear []string `json:"clear,omitempty"`
	// Respond says whether the model speaks afterwards; none is allowed here only.
	Respond Respond `json:"respond,omitempty"`
	// Correct is the field that a call corrects.
	Correct string `json:"correct,omitempty"`
	// Next is where it leads; without it, and without visit, the node stays.
	Next Next `json:"next,omitempty"`
	// Visit is a node for a side question, which returns by itself.
	Visit string `json:"visit,omitempty"`
}

// Respond says whether the model speaks.
type Respond string

// The ways; the default is now.
const (
	RespondNow  Respond = "now"
	RespondWait Respond = "wait" // for the user
	RespondNone Respond = "none" // nothing is said about a function's result
)

func (Respond) values() []string { return []string{"now", "wait", "none"} }

// ContextStrategy is what entering a node does with the history.
type ContextStrategy string

// The strategies; the default is append.
const (
	ContextAppend    ContextStrategy = "append"
	ContextReset     ContextStrategy = "reset"
	ContextSummarize ContextStrategy = "summarize"
)

func (ContextStrategy) values() []string { return []string{"append", "reset", "summarize"} }

// Action is something done on entering or leaving a node: exactly one of Say, Call, Go and
// End.
type Action struct {
	// Say is a line.
	Say Text `json:"say,omitempty"`
	// Call is a tool whose result nobody waits for.
	Call string `json:"call,omitempty"`
	// Args are its arguments.
	Args map[string]any `json:"args,omitempty"`
	// Go is a function of the program, by name.
	Go string `json:"go,omitempty"`
	// End ends the session after a line, which may be empty.
	End *Text `json:"end,omitempty"`
	// Timeout bounds a call.
	Timeout Duration `json:"timeout,omitempty"`
}

// Turn are how turns are taken at a node when the user calls. What is not set is the
// session's.
type Turn struct {
	// StopAfter is the silence after which the user's turn is over.
	StopAfter Duration `json:"stop_after,omitempty"`
	// MinWords is how many words interrupt the bot.
	MinWords int `json:"min_words,omitempty"`
	// Interrupt tells whether the user can talk over the bot; nil means yes.
	Interrupt *bool `json:"interrupt,omitempty"`
}

// Model is another model, or other settings of it.
type Model struct {
	// Name of the model at its server.
	Name string `json:"name,omitempty"`
	// Temperature is how freely it chooses words.
	Temperature *float64 `json:"temperature,omitempty"`
	// MaxTokens bounds a reply.
	MaxTokens int `json:"max_tokens,omitempty"`
}

// Require is what must hold on entering a node.
type Require struct {
	// When is what must hold.
	When Condition `json:"when"`
	// Else is the node to go to first; afterwards it goes on where it was going.
	Else string `json:"else"`
}

// End is how a run ends.
type End struct {
	// Outcome names it.
	Outcome string `json:"outcome"`
	// Success tells whether it is one; nil means yes.
	Success *bool `json:"success,omitempty"`
	// Say is the last line.
	Say Text `json:"say,omitempty"`
	// Value is what a flow that uses this one gets as the result.
	Value any `json:"value,omitempty"`
}
