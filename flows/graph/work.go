package graph

// Tool is where work is done: exactly one of HTTP, MCP and Go.
type Tool struct {
	// Description says what it does.
	Description string `json:"description,omitempty"`
	// Parameters are its arguments by name, each a JSON Schema; all are required but those
	// that say optional: true. Without them anything may be given.
	Parameters map[string]Schema `json:"parameters,omitempty"`
	// Output is the JSON Schema of its result.
	Output Schema `json:"output,omitempty"`
	// HTTP is a request.
	HTTP *HTTP `json:"http,omitempty"`
	// MCP is a server whose tools are called as name.tool.
	MCP *MCP `json:"mcp,omitempty"`
	// Go is a function of the program, by name.
	Go string `json:"go,omitempty"`
	// Timeout bounds a call.
	Timeout Duration `json:"timeout,omitempty"`
	// Retry says how often a failed call is tried again.
	Retry *Retry `json:"retry,omitempty"`
	// Risk is how much harm a call may do.
	Risk Risk `json:"risk,omitempty"`
	// Permissions are what a run must have been given.
	Permissions []string `json:"permissions,omitempty"`
	// Idempotent tells that a call with the same key is done once.
	Idempotent bool `json:"idempotent,omitempty"`
	// ReadOnly tells that a call changes nothing; an HTTP GET does not, either.
	ReadOnly bool `json:"read_only,omitempty"`
}

// Risk is how much harm a call may do.
type Risk string

// The risks; the default is low.
const (
	RiskLow    Risk = "low"
	RiskMedium Risk = "medium"
	RiskHigh   Risk = "high"
)

func (Risk) values() []string { return []string{"low", "medium", "high"} }

// HTTP is a tool's request. Its templates see args, env, state, inputs and callback.
type HTTP struct {
	// Method is GET when empty.
	Method Method `json:"method,omitempty"`
	// URL is the address.
	URL Text `json:"url"`
	// Headers by name.
	Headers map[string]Text `json:"headers,omitempty"`
	// Query are parameters of the address.
	Query map[string]any `json:"query,omitempty"`
	// Body is sent as JSON; a text as it is.
	Body any `json:"body,omitempty"`
	// MaxBytes bounds the response.
	MaxBytes int64 `json:"max_bytes,omitempty"`
}

// Method is an HTTP method.
type Method string

func (Method) values() []string { return []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"} }

// MCP is a server of tools: exactly one of Command and URL.
type MCP struct {
	// Command starts it; it speaks over its standard input and output.
	Command []string `json:"command,omitempty"`
	// URL is where it is served.
	URL Text `json:"url,omitempty"`
	// Headers are sent to it.
	Headers map[string]Text `json:"headers,omitempty"`
	// Env are variables the command is started with.
	Env map[string]Text `json:"env,omitempty"`
	// Allow lists the tools of it that may be used.
	Allow []string `json:"allow,omitempty"`
}

// Retry says how often a failed call is tried again.
type Retry struct {
	// MaxAttempts counts the first one, too.
	MaxAttempts int `json:"max_attempts"`
	// Delay is the pause before the second.
	Delay Duration `json:"delay,omitempty"`
	// MaxDelay is the longest pause.
	MaxDelay Duration `json:"max_delay,omitempty"`
	// Backoff multiplies the pause each time; 1 when it is 0.
	Backoff float64 `json:"backoff,omitempty"`
	// On lists the classes of failure that are tried again; all when empty.
	On []FailureClass `json:"on,omitempty"`
}

// FailureClass is a class of failure of a call.
type FailureClass string

func (FailureClass) values() []string {
	return []string{"timeout", "network", "server", "rate_limit", "tool", "unknown"}
}

// Confirm says who agrees before a call is made.
type Confirm struct {
	// When says whether to ask.
	When ConfirmWhen `json:"when,omitempty"`
	// By is who is asked; empty means the user.
	By Audience `json:"by,omitempty"`
	// Say is the question.
	Say Text `json:"say,omitempty"`
}

// ConfirmWhen says whether a call is confirmed.
type ConfirmWhen string

// The ways; the default is always.
const (
	ConfirmNever  ConfirmWhen = "never"
	ConfirmAlways ConfirmWhen = "always"
	ConfirmRisk   ConfirmWhen = "risk" // when the tool's risk is high
)

func (ConfirmWhen) values() []string { return []string{"never", "always", "risk"} }

// Audience is whom a wait asks.
type Audience string

// The audiences.
const (
	AudienceUser     Audience = "user"
	AudienceOperator Audience = "operator"
	AudienceHost     Audience = "host"
)

func (Audience) values() []string { return []string{"user", "operator", "host"} }

// Undo is the call that takes an effect back. It sees the result of the call, too.
type Undo struct {
	// Call is the tool.
	Call string `json:"call"`
	// Args are its arguments.
	Args map[string]any `json:"args,omitempty"`
	// Timeout bounds it.
	Timeout Duration `json:"timeout,omitempty"`
}

// Agent is one model call that is not spoken.
type Agent struct {
	// Prompt is what the model is to do.
	Prompt Text `json:"prompt"`
	// Input is what it works on.
	Input map[string]any `json:"input,omitempty"`
	// Tools are tools it may use.
	Tools []string `json:"tools,omitempty"`
	// Output is the JSON Schema of its answer; text without one.
	Output Schema `json:"output,omitempty"`
}

// Human is a wait for a person: a form, options, or any text.
type Human struct {
	// Ask is who is asked; empty means an operator.
	Ask Audience `json:"ask,omitempty"`
	// Title is the question.
	Title Text `json:"title,omitempty"`
	// Form is the JSON Schema of the answer.
	Form Schema `json:"form,omitempty"`
	// Options are the answers to choose from.
	Options []string `json:"options,omitempty"`
	// Deadline is how long the answer is waited for.
	Deadline Duration `json:"deadline,omitempty"`
	// Default is the answer when none has come.
	Default any `json:"default,omitempty"`
}

// WhileWaiting is what happens in the conversation while an answer is awaited.
type WhileWaiting struct {
	// Talk is a node that talks meanwhile.
	Talk string `json:"talk,omitempty"`
	// Say is a line.
	Say Text `json:"say,omitempty"`
	// Every repeats the line.
	Every Duration `json:"every,omitempty"`
	// HangUp is said before the call is ended, when it is not to be held.
	HangUp Text `json:"hang_up,omitempty"`
}

// Body are the nodes of a branch or a loop. Their names are unique in the flow; they see
// each other, and a node of a loop's may also leave to one outside. See [BodyStart].
type Body = map[string]*Node

// Parallel runs branches beside each other; what they give is read as
// nodes.<name>.output.<branch>.
type Parallel struct {
	// Branches by name.
	Branches map[string]Body `json:"branches"`
	// Join says when it is done.
	Join Join `json:"join,omitempty"`
	// OnFailure says what a failed branch means for the others.
	OnFailure OnFailure `json:"on_failure,omitempty"`
}

// Join says when a parallel node is done.
type Join string

// The ways; the default is all.
const (
	JoinAll     Join = "all"     // every branch has ended
	JoinSuccess Join = "success" // one has succeeded
	JoinAny     Join = "any"     // one has ended
)

func (Join) values() []string { return []string{"all", "success", "any"} }

// OnFailure says what a failed branch means for the others.
type OnFailure string

// The ways; the default is fail.
const (
	FailAll      OnFailure = "fail"     // they are cancelled and the node fails
	FailContinue OnFailure = "continue" // they go on
)

func (OnFailure) values() []string { return []string{"fail", "continue"} }

// Loop repeats a body: while a condition holds, or over a list, of which item is the
// current element.
type Loop struct {
	// While is what must hold before each round.
	While Condition `json:"while,omitempty"`
	// Over is a list: a template, or the list itself.
	Over any `json:"over,omitempty"`
	// Max bounds the rounds.
	Max int `json:"max,omitempty"`
	// Body is what is repeated.
	Body Body `json:"body"`
}
