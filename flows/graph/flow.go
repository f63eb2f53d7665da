package graph

// Version is the version of the format that this package reads.
const Version = 1

// Text is a template: text with {{ expressions }} in it.
type Text string

// Condition is an expression that is true or false.
type Condition string

// Flow is a conversation: the nodes, and what holds at all of them.
type Flow struct {
	// Name of the flow, by which other flows use it.
	Name string `json:"flow,omitempty"`
	// Version of the flow's own, for people.
	Version string `json:"version,omitempty"`
	// Persona says who the assistant is; a node may say otherwise.
	Persona Text `json:"persona,omitempty"`
	// Greet is spoken first, once per run.
	Greet Text `json:"greet,omitempty"`
	// WelcomeBack is spoken when the user comes back after a break.
	WelcomeBack Text `json:"welcome_back,omitempty"`
	// Key says whom a run belongs to.
	Key Text `json:"key,omitempty"`
	// IfOpen says what a start does when a run of the same key is open.
	IfOpen IfOpen `json:"if_open,omitempty"`
	// Inputs are what a start must give; one with a default may be left out.
	Inputs map[string]*Variable `json:"inputs,omitempty"`
	// State are the flow's typed variables.
	State map[string]*Variable `json:"state,omitempty"`
	// Output is the JSON Schema of the value the flow's ends give to a flow that uses it.
	Output Schema `json:"output,omitempty"`
	// Corrections says what a correction clears.
	Corrections Corrections `json:"corrections,omitempty"`
	// Tools are where work is done, by name.
	Tools map[string]*Tool `json:"tools,omitempty"`
	// Policy says what may be called at all; without one every tool of the flow may be.
	Policy *Policy `json:"policy,omitempty"`
	// Functions are offered at every node that talks; a node's own of the same name is
	// offered in its place.
	Functions map[string]*Function `json:"functions,omitempty"`
	// Silence is what is done when the user says nothing, step by step.
	Silence []Silence `json:"silence,omitempty"`
	// Abandon ends a run nobody comes back to, with the outcome abandoned.
	Abandon Duration `json:"abandon,omitempty"`
	// OnError is the node a failure leads to that no node handles.
	OnError string `json:"on_error,omitempty"`
	// Start is the first node.
	Start string `json:"start,omitempty"`
	// Nodes by name.
	Nodes map[string]*Node `json:"nodes,omitempty"`
}

// IfOpen says what a start does when a run of the same key is open.
type IfOpen string

// The ways; the default is resume.
const (
	IfOpenResume IfOpen = "resume"
	IfOpenRefuse IfOpen = "refuse"
	IfOpenNew    IfOpen = "new"
)

func (IfOpen) values() []string { return []string{"resume", "refuse", "new"} }

// Corrections says which fields a correction clears.
type Corrections string

// The ways; the default is dependency.
const (
	CorrectDependency Corrections = "dependency" // what depends on the corrected field
	CorrectHistory    Corrections = "history"    // what was written since
	CorrectOff        Corrections = "off"
)

func (Corrections) values() []string { return []string{"dependency", "history", "off"} }

// Variable is a field of the state or an input: a JSON Schema, and what flows say about
// fields besides.
type Variable struct {
	// Schema is the JSON Schema of its value, without the keys of the other fields here.
	Schema Schema `json:",inline"`
	// Description says what it is; the model reads it.
	Description string `json:"description,omitempty"`
	// Default is its value from the start.
	Default any `json:"default,omitempty"`
	// Sensitive keeps its value out of logs, events, traces and pages.
	Sensitive bool `json:"sensitive,omitempty"`
	// DependsOn names the fields without which it means nothing: when one of them is
	// corrected, this one is cleared.
	DependsOn []string `json:"depends_on,omitempty"`
	// Correct tells whether the user may correct it; nil means yes.
	Correct *bool `json:"correct,omitempty"`
}

// Policy says what a flow may call.
type Policy struct {
	// Allow lists the tools, an MCP server's as server.tool, all of them as server.*.
	Allow []string `json:"allow,omitempty"`
}

// Silence is a step of what is done when the user says nothing.
type Silence struct {
	// After is how long the user has said nothing since the step before.
	After Duration `json:"after,omitempty"`
	// Say is a line.
	Say Text `json:"say,omitempty"`
	// To is a node to go to.
	To string `json:"to,omitempty"`
}
