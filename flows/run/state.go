package run

import (
	"encoding/json"
	"maps"
	"time"
)

// Schema is the version of the records this package writes: of [Run] and of [Event].
const Schema = 1

// Status tells what a run is up to.
type Status string

// A run is ready while something can be done for it without anybody's answer: a tool to
// call, a model to ask. It waits when there is nothing but people, callbacks, clocks and
// the user to wait for.
const (
	StatusReady   Status = "ready"
	StatusWaiting Status = "waiting"
	StatusEnded   Status = "ended"
)

// Phase tells how far a scope has come with its node.
type Phase string

// The phases of a node.
const (
	phaseEnter   Phase = "enter"   // entered, nothing done yet
	phaseTalk    Phase = "talk"    // the user and the model talk; an open input interrupt
	phaseCall    Phase = "call"    // a tool or a model is at work
	phaseWait    Phase = "wait"    // an interrupt is open
	phaseChild   Phase = "child"   // another scope works for it
	phaseLeave   Phase = "leave"   // done; the edge has yet to be taken
	phaseStopped Phase = "stopped" // the scope has ended
)

// Run is one execution of a flow: what all its events together come to. It is plain data
// that survives JSON. [Plan.Advance] never changes the Run it is given.
type Run struct {
	Schema     int                   `json:"v"`          // version of this record
	ID         string                `json:"id"`         // chosen by whoever starts it; hard to guess where callbacks are used
	Flow       string                `json:"flow"`       // name of the flow
	Hash       string                `json:"hash"`       // of the flow's text, to which the run is pinned
	Key        string                `json:"key"`        // who it belongs to; may be empty
	Status     Status                `json:"status"`     // derived when an advance ends
	Seq        int64                 `json:"seq"`        // number of the last event
	Started    time.Time             `json:"started"`    // time of the first event
	Touched    time.Time             `json:"touched"`    // when the user was last there
	Scopes     map[string]*Scope     `json:"scopes"`     // by path; the flow's own is ""
	Calls      map[string]*Call      `json:"calls"`      // open tool and model calls, by id
	Interrupts map[string]*Interrupt `json:"interrupts"` // open ones, by id
	Functions  []Function            `json:"functions"`  // the model's calls that have no result yet
	Turns      []Turn                `json:"turns"`      // what was said; kept to maxTurns
	Turn       int                   `json:"turn"`       // number of the last turn
	User       string                `json:"user"`       // the user's last words
	Outcome    *Outcome              `json:"outcome"`    // how it ended
	Env        map[string]any        `json:"env"`        // journal: what was read of the environment
}

// maxTurns bounds the turns a run remembers; older ones are in its events.
const maxTurns = 200

// Scope is a place where a flow is executed: the flow's own, a subflow's, or the talk
// beside a waiting node.
type Scope struct {
	Path    string         `json:"path"`             // "" or path of the parent / node # visit
	Parent  string         `json:"parent"`           // path of the scope that opened it
	Flow    string         `json:"flow"`             // name of the flow it executes
	Shared  bool           `json:"shared,omitempty"` // it has no state of its own but its parent's
	Node    string         `json:"node"`             // where it is
	Visit   int            `json:"visit"`            // of that node, counted from 1
	Phase   Phase          `json:"phase"`
	Fresh   bool           `json:"fresh"`             // entered by an edge: greeting lines are due
	State   map[string]any `json:"state"`             // the flow's variables
	Inputs  map[string]any `json:"inputs"`            // what a start or a parent gave
	Outputs map[string]any `json:"outputs"`           // by node: {"output": …}
	Visits  map[string]int `json:"visits"`            // edge entries by node
	Places  []Place        `json:"places,omitempty"`  // where digressions return to
	Returns []string       `json:"returns,omitempty"` // where a require goes on to, when it holds
	Steps   []Visited      `json:"steps"`             // the nodes entered, oldest first
	Writes  map[string]int `json:"writes"`            // by field: index of the step that wrote it last
	Done    []Finished     `json:"done"`              // calls that took effect, oldest first

	Attempts map[string]int `json:"attempts,omitempty"` // failed attempts by field, at this node
	Counted  int            `json:"counted,omitempty"`  // turn whose attempt is counted
	Useful   int            `json:"useful,omitempty"`   // turn in which something was saved or called
	Silences int            `json:"silences,omitempty"` // steps of silence since the user's last words
	Seen     map[string]any `json:"seen,omitempty"`     // results by call, in this visit
	Stage    int            `json:"stage,omitempty"`    // steps of a custom node done in this visit
	Replay   string         `json:"replay,omitempty"`   // words that led here and are to be used here
	Result   any            `json:"result,omitempty"`   // of the node's call
	Answer   any            `json:"answer,omitempty"`   // to the node's interrupt
	Approved string         `json:"approved,omitempty"` // fingerprint of the call that was confirmed
	Failure  *Failure       `json:"failure,omitempty"`  // of the node that led to on_error
	Outcome  *Outcome       `json:"outcome,omitempty"`  // of the last subflow

	Branch   string              `json:"branch,omitempty"`   // of a body: its name
	Round    int                 `json:"round,omitempty"`    // of a loop's body: counted from 1
	Item     any                 `json:"item,omitempty"`     // of a loop's body: what the round is about
	Items    []any               `json:"items,omitempty"`    // of a loop at work: what it goes over
	Branches map[string]Gathered `json:"branches,omitempty"` // of a parallel node at work: the branches that have ended
	Rounds   []Gathered          `json:"rounds,omitempty"`   // of a loop at work: the rounds that have ended
}

// Place is where a digression returns to.
type Place struct {
	Node     string         `json:"node"`
	Visit    int            `json:"visit"`
	Attempts map[string]int `json:"attempts,omitempty"`
}

// Visited is one node a scope has entered.
type Visited struct {
	Node   string `json:"node"`
	Visit  int    `json:"visit"`
	Turn   int    `json:"turn"`             // the turn in which it was entered
	Undone bool   `json:"undone,omitempty"` // a correction has gone back past it
}

// Finished is a call that was made.
type Finished struct {
	Key      string         `json:"key"`  // idempotency key
	Step     int            `json:"step"` // index of the scope's step
	Node     string         `json:"node"`
	Tool     string         `json:"tool"`
	Args     map[string]any `json:"args"`
	Result   any            `json:"result"`
	Undone   bool           `json:"undone,omitempty"`   // a correction went back past it
	Reverted bool           `json:"reverted,omitempty"` // its undo was called
}

// Turn is one exchange as the run remembers it.
type Turn struct {
	Number     int    `json:"n"`
	Scope      string `json:"scope"`
	Node       string `json:"node"`
	Visit      int    `json:"visit"`
	User       string `json:"user,omitempty"`
	Bot        string `json:"bot,omitempty"`
	Superseded bool   `json:"superseded,omitempty"` // a correction took it out of later requests
}

// Call is a tool or model call that has been started and has not finished.
type Call struct {
	ID       string          `json:"id"`
	Scope    string          `json:"scope"`
	Node     string          `json:"node"`
	Visit    int             `json:"visit"`
	Tool     string          `json:"tool,omitempty"`     // empty when a model is asked
	Args     map[string]any  `json:"args"`               // or the model's input
	Prompt   string          `json:"prompt,omitempty"`   // of an agent node
	Key      string          `json:"key"`                // idempotency key: the same for retries and resumes
	Function string          `json:"function,omitempty"` // id of the model's call it belongs to
	Async    bool            `json:"async,omitempty"`    // its answer comes to a callback
	Undo     *Correction     `json:"undo,omitempty"`     // what is to be done when this undo has succeeded
	Undoes   string          `json:"undoes,omitempty"`   // key of the call that this one undoes
	Attempt  int             `json:"attempt"`            // counted from 1
	Deadline time.Time       `json:"deadline,omitzero"`
	After    time.Time       `json:"after,omitzero"`    // not before; a retry waits
	Schema   json.RawMessage `json:"schema,omitempty"`  // of a model's answer
	Answers  map[string]any  `json:"answers"`           // to what the tool has asked, by name
	Waiting  string          `json:"waiting,omitempty"` // id of the interrupt the tool waits for
}

// Function is a call of the model's whose result is not given yet: the quiet chain
// behind it is still running.
type Function struct {
	ID     string         `json:"id"`
	Scope  string         `json:"scope"`
	Node   string         `json:"node"`
	Visit  int            `json:"visit"`
	Name   string         `json:"name"`
	Args   map[string]any `json:"args"`
	Owner  string         `json:"owner"`            // path of the scope whose flow has the function
	Print  string         `json:"print,omitempty"`  // of name and arguments: the same call twice has one result
	Silent bool           `json:"silent,omitempty"` // the model is not asked to reply to its result
	Report map[string]any `json:"report"`           // the result so far: saved, rejected, missing, …
}

// Failure tells why a node failed.
type Failure struct {
	Class   string `json:"class"`   // timeout, network, server, tool, attempts, max_visits, policy, expression, …
	Message string `json:"message"` // for the author of the flow and the log, not for the user
	Node    string `json:"node,omitempty"`
}

// Error is the failure as text.
func (f *Failure) Error() string { return f.Class + ": " + f.Message }

// Outcome is how a run or a subflow ended.
type Outcome struct {
	Name    string   `json:"name"`
	Success bool     `json:"success"`
	Node    string   `json:"node,omitempty"` // the end node
	Value   any      `json:"value,omitempty"`
	Failure *Failure `json:"failure,omitempty"` // why, when nothing handled a failure
}

// Correction is a change of a field that was given before.
type Correction struct {
	Field string `json:"field"`
	Words string `json:"words"` // replayed into the node that asks for it
	Value any    `json:"value,omitempty"`
	Given bool   `json:"given,omitempty"` // Value was given with it
}

// clone copies all that an advance may change.
func (r *Run) clone() *Run {
	c := *r
	c.Scopes = make(map[string]*Scope, len(r.Scopes))
	for path, s := range r.Scopes {
		c.Scopes[path] = s.clone()
	}
	c.Calls = cloneAll(r.Calls)
	c.Interrupts = cloneAll(r.Interrupts)
	c.Functions = append([]Function(nil), r.Functions...)
	c.Turns = r.Turns[:len(r.Turns):len(r.Turns)]
	c.Env = maps.Clone(r.Env)
	return &c
}

// cloneAll copies a map of records.
func cloneAll[T any](m map[string]*T) map[string]*T {
	c := make(map[string]*T, len(m))
	for id, v := range m {
		one := *v
		c[id] = &one
	}
	return c
}

// clone copies a scope. Lists that only grow are shared and cut so that growing copies.
func (s *Scope) clone() *Scope {
	c := *s
	c.State = maps.Clone(s.State)
	c.Outputs = maps.Clone(s.Outputs)
	c.Visits = maps.Clone(s.Visits)
	c.Writes = maps.Clone(s.Writes)
	c.Attempts = maps.Clone(s.Attempts)
	c.Seen = maps.Clone(s.Seen)
	c.Steps = s.Steps[:len(s.Steps):len(s.Steps)]
	c.Done = s.Done[:len(s.Done):len(s.Done)]
	c.Places = s.Places[:len(s.Places):len(s.Places)]
	c.Returns = s.Returns[:len(s.Returns):len(s.Returns)]
	c.Rounds = s.Rounds[:len(s.Rounds):len(s.Rounds)]
	return &c
}
