package run

import (
	"encoding/json"
	"time"

	"github.com/turnwise/turnwise/flows/expr"
	"github.com/turnwise/turnwise/internal/schema"
)

// Plan is a flow ready to be run: every expression compiled, every schema resolved. It
// never changes and may be used from any goroutine, for any number of runs.
type Plan struct {
	main  *flow
	flows map[string]*flow // by name, main among them
	hash  string
}

// Hash is the hash of the flow's text. A run is pinned to it.
func (p *Plan) Hash() string { return p.hash }

// Flow is the name of the flow that a run starts in.
func (p *Plan) Flow() string { return p.main.name }

// flow is one flow of a plan.
type flow struct {
	name, version string
	persona       *expr.Template
	greet         *expr.Template
	welcomeBack   *expr.Template
	key           *expr.Template
	start         string
	onError       string
	inputs        map[string]*field
	state         map[string]*field
	dependents    map[string][]string // by field: what depends on it, transitively
	askers        map[string][]*node  // by field: the nodes that collect it
	nodes         map[string]*node
	functions     []*function // offered at every node
	silence       []silence
	abandon       time.Duration
	corrections   corrections
	tools         map[string]*tool
	servers       []string        // MCP servers, whose tools are called server.tool
	allow         map[string]bool // nil: every tool
	outer         *flow           // of a body: the flow around it
	loops         bool            // it is the body of a loop
}

// corrections is how far a correction goes back.
type corrections string

const (
	correctDependency corrections = "dependency"
	correctHistory    corrections = "history"
	correctOff        corrections = "off"
)

// field is a variable, or an input.
type field struct {
	name        string
	raw         json.RawMessage
	schema      *schema.Schema
	description string
	initial     any
	hasInitial  bool
	sensitive   bool
	locked      bool // it cannot be corrected
}

// node is one node.
type node struct {
	name, kind, title string
	flow              *flow
	persona           *expr.Template
	say               *expr.Template
	task              *expr.Template
	next              []edge
	onError           string
	require           *requirement
	maxVisits         int
	onMaxVisits       string
	functions         []*function
	tools             []string // the model may use and stay
	collect           []string
	checks            []check
	attempts          int
	onAttempts        string
	closure           []string // normalised
	scope             *scopeOf
	silence           []silence
	call              *callOf
	save              []assignment
	wait              *waitOf
	meanwhile         string         // talk node while it waits
	hold              *expr.Template // line said when it begins to wait
	use               string
	input             []assignment
	bodies            *bodies // of a parallel node or a loop
	finish            *finish
	custom            Kind
	config            map[string]any
}

// quiet tells whether the node runs inside the edge that leads to it.
func (n *node) quiet() bool {
	return n.kind != kindTalk && n.kind != kindCollect && n.kind != kindFollowUp
}

// The kinds of nodes as the reducer tells them apart.
const (
	kindTalk     = "converse"
	kindCollect  = "collect"
	kindFollowUp = "follow_up"
	kindSay      = "say"
	kindCall     = "call"
	kindAgent    = "agent"
	kindSet      = "set"
	kindBranch   = "branch"
	kindHuman    = "human"
	kindUse      = "use"
	kindParallel = "parallel"
	kindLoop     = "loop"
	kindEnd      = "end"
	kindCustom   = "custom"
)

// edge is one case of a next.
type edge struct {
	when  *expr.Program // nil: always
	to    string
	clear []string
}

// assignment gives a field a value.
type assignment struct {
	name  string
	value tree
}

// requirement is what must hold before a node is entered.
type requirement struct {
	when *expr.Program
	to   string
}

// check is what a collected value must hold besides its schema.
type check struct {
	when *expr.Program
	say  *expr.Template
}

// silence is one step of what happens when the user says nothing.
type silence struct {
	after time.Duration
	say   *expr.Template
	to    string
}

// scopeOf is what a node is about.
type scopeOf struct{ about, to string }

// callOf is a call of a tool, or of a model when tool is empty.
type callOf struct {
	tool      string
	args      []assignment
	prompt    *expr.Template
	output    *schema.Schema // of a model's answer
	outputRaw json.RawMessage
	async     bool
	timeout   time.Duration
	retry     retry
	confirm   *confirm
	undo      *callOf
	effect    bool // repeating it with other arguments is not the same
}

// retry is how often a failed call is tried again, and when.
type retry struct {
	attempts       int // in all; 0 and 1: once
	delay, longest time.Duration
	backoff        float64
	on             []string // classes; empty: timeout, network, server, rate_limit
}

// confirm is who must allow a call.
type confirm struct {
	when     *expr.Program // nil: always
	by       Audience
	say      *expr.Template
	onRefuse string
}

// waitOf is what a node waits for.
type waitOf struct {
	kind       InterruptKind
	audience   Audience
	title      *expr.Template
	schema     *schema.Schema
	raw        json.RawMessage
	deadline   time.Duration
	onTimeout  string
	initial    any
	hasInitial bool
}

// function is what the model may call at a node.
type function struct {
	name, description string
	raw               json.RawMessage
	parameters        *schema.Schema // nil: no arguments are looked at
	examples          []string
	call              *callOf
	save              []assignment
	result            *tree
	next              []edge
	visit             string
	clear             []string
	correct           string // field this function corrects
	filler            *expr.Template
	quietReply        bool // respond: none
}

// tool is where work is done.
type tool struct {
	name        string
	description string
	parameters  json.RawMessage
	check       *schema.Schema
	permissions []string
	risk        string
	timeout     time.Duration
	retry       retry
	effect      bool
	idempotent  bool
}

// finish is how an end node ends.
type finish struct {
	outcome string
	success bool
	say     *expr.Template
	value   *tree
}
