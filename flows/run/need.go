package run

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/turnwise/turnwise/internal/schema"
)

// NeedKind is what a run needs from outside.
type NeedKind string

// The kinds of needs.
const (
	NeedCall   NeedKind = "call"   // a tool is to be called
	NeedModel  NeedKind = "model"  // a model is to be asked, not spoken
	NeedTalk   NeedKind = "talk"   // the model and the user talk at a node
	NeedAnswer NeedKind = "answer" // an interrupt is open
)

// Need is something a run needs from outside. Needs are computed from the run and are not
// stored; asking for them changes nothing.
type Need struct {
	Kind      NeedKind
	Call      *Call      // of NeedCall and NeedModel
	Talk      *Talk      // of NeedTalk
	Interrupt *Interrupt // of NeedAnswer
}

// Talk is what a conversation needs to know of the node where it is.
type Talk struct {
	Scope, Flow, Node, Title string
	Visit                    int
	// Persona is the system prompt, empty when the flow has none.
	Persona string
	// Task is what the model is to do here.
	Task string
	// Functions are what the model may call.
	Functions []Offered
	// Replay are words of the user's that led here and are to be used here, so that
	// nothing is asked again; empty otherwise.
	Replay string
	// Holding: the run waits for something else, and the talk promises nothing.
	Holding bool
	// Missing are the fields a collect node has yet to get.
	Missing []string
	// Silence are the steps for when the user says nothing; Silences of them were taken.
	Silence  []SilenceStep
	Silences int
	// Turns that later requests carry: those that no correction has superseded.
	Turns []Turn
}

// SilenceStep is one step of what happens when the user says nothing.
type SilenceStep struct {
	// After is how long after the last words, or the step before.
	After time.Duration
}

// Offered is a function the model may call at a node.
type Offered struct {
	Name, Description string
	// Parameters is the JSON Schema of its arguments.
	Parameters json.RawMessage
	// Examples are things the user might say to have it called.
	Examples []string
	// Generated: the engine made it; it is not in the flow.
	Generated bool

	owner string
	tool  string
	def   *function
	check *schema.Schema
}

// Needs tells what a run needs now: calls to make, a model to ask, a talk to hold,
// answers to get. A call that waits for its retry is not among them before its time.
func (p *Plan) Needs(r *Run, in Input) ([]Need, error) {
	if r.Status == StatusEnded {
		return nil, nil
	}
	if err := p.check(r); err != nil {
		return nil, err
	}
	m := &machine{plan: p, run: r.clone(), in: in}
	var all []Need
	for _, id := range sorted(r.Calls) {
		c := r.Calls[id]
		if c.Waiting != "" || in.Now.Before(c.After) {
			continue
		}
		kind := NeedCall
		if c.Tool == "" {
			kind = NeedModel
		}
		all = append(all, Need{Kind: kind, Call: c})
	}
	for _, id := range sorted(r.Interrupts) {
		all = append(all, Need{Kind: NeedAnswer, Interrupt: r.Interrupts[id]})
	}
	s := m.floor()
	if s.Phase == phaseTalk || s.Phase == phaseWait || s.Phase == phaseCall && m.asynchronous(s) {
		talk, err := m.talk(s)
		if err != nil {
			return nil, err
		}
		all = append(all, Need{Kind: NeedTalk, Talk: talk})
	}
	return all, nil
}

// asynchronous tells whether the call under way is answered elsewhere.
func (m *machine) asynchronous(s *Scope) bool {
	for _, c := range m.run.Calls {
		if c.Scope == s.Path && !c.Async {
			return false
		}
	}
	return true
}

// Due is when a run must be advanced with a [Tick] at the latest: the next retry, timeout,
// deadline, or abandonment; zero when there is none.
func (p *Plan) Due(r *Run) time.Time {
	var next time.Time
	consider := func(t time.Time) {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	if r.Status == StatusEnded {
		return next
	}
	for _, c := range r.Calls {
		if c.Waiting == "" {
			consider(c.Deadline)
			consider(c.After)
		}
	}
	for _, i := range r.Interrupts {
		consider(i.Deadline)
	}
	if p.main.abandon > 0 && len(r.Calls)+len(r.Interrupts) == 0 {
		consider(r.Touched.Add(p.main.abandon))
	}
	return next
}

// talk tells what the talk at a scope's node is about.
func (m *machine) talk(s *Scope) (*Talk, error) {
	n, v := m.nodeOf(s), m.view(s)
	t := &Talk{Scope: s.Path, Flow: s.Flow, Node: s.Node, Title: n.title, Visit: s.Visit, Holding: s.Phase != phaseTalk, Replay: s.Replay,
		Silences: s.Silences, Functions: m.offered(s, "")}
	var err error
	if t.Persona, err = m.persona(s); err != nil {
		return nil, err
	}
	if n.task != nil && !t.Holding {
		if t.Task, err = n.task.Text(v); err != nil {
			return nil, err
		}
	}
	if n.kind == kindCollect {
		t.Missing = m.missing(s, n)
	}
	for _, step := range m.silenceOf(s) {
		t.Silence = append(t.Silence, SilenceStep{step.after})
	}
	for _, turn := range m.run.Turns {
		if !turn.Superseded {
			t.Turns = append(t.Turns, turn)
		}
	}
	return t, nil
}

// persona is the nearest one: of the node, the flow, or the flows around.
func (m *machine) persona(s *Scope) (string, error) {
	if n := m.nodeOf(s); n.persona != nil {
		return n.persona.Text(m.view(s))
	}
	for {
		if p := m.flowOf(s).persona; p != nil {
			return p.Text(m.view(s))
		}
		if s.Path == "" {
			return "", nil
		}
		s = m.run.Scopes[s.Parent]
	}
}

// offered are the functions the model may call at a scope's node: its own, generated
// ones, and those of the flows around that nothing nearer shadows. With a name it is that
// function only.
func (m *machine) offered(s *Scope, only string) []Offered {
	var all []Offered
	add := func(o Offered) {
		if only != "" && o.Name != only {
			return
		}
		for i := range all {
			if all[i].Name == o.Name {
				return
			}
		}
		all = append(all, o)
	}
	n, f := m.nodeOf(s), m.flowOf(s)
	if s.Phase == phaseTalk {
		for _, d := range n.functions {
			add(offer(d, s.Path))
		}
		m.offerGenerated(s, n, only, add)
		for _, tool := range n.tools {
			if t := f.tools[tool]; t != nil {
				add(Offered{Name: strings.ReplaceAll(tool, ".", "_"), Description: t.description, Parameters: t.parameters, check: t.check, owner: s.Path, tool: tool})
			}
		}
	}
	m.offerConfirm(s, add)
	for at := s; ; at = m.run.Scopes[at.Parent] {
		if !at.Shared {
			for _, d := range m.flowOf(at).functions {
				add(offer(d, at.Path))
			}
		}
		if at.Path == "" {
			return all
		}
	}
}

// offer is a declared function as the model sees it.
func offer(d *function, owner string) Offered {
	return Offered{Name: d.name, Description: d.description, Parameters: d.raw, Examples: d.examples, owner: owner, def: d, check: d.parameters}
}

// offerGenerated offers what the engine makes for a node.
func (m *machine) offerGenerated(s *Scope, n *node, only string, add func(Offered)) {
	one := func(name, description, parameters string) {
		add(Offered{Name: name, Description: description, Parameters: json.RawMessage(parameters), Generated: true, owner: s.Path})
	}
	if n.kind == kindCollect && (only == "" || only == FunctionRecord) {
		add(Offered{Name: FunctionRecord, Description: "Record what the user has given: " + strings.Join(m.missing(s, n), ", ") + ".",
			Parameters: m.recordSchema(s, n), Generated: true, owner: s.Path})
	}
	if n.kind != kindCollect && len(n.functions) == 0 && (len(n.next) > 0 || s.Branch != "") {
		description := "The user is done with this."
		if n.task != nil {
			description = n.task.Source()
		}
		one(FunctionContinue, description, `{"type":"object","properties":{}}`)
	}
	if n.scope != nil {
		one(FunctionOutOfScope, "The user wants something that is not about "+n.scope.about+".", `{"type":"object","properties":{"reason":{"type":"string"}}}`)
	}
	if only != "" && only != FunctionCorrect {
		return
	}
	if fields := m.correctable(s); len(fields) > 0 {
		raw, err := json.Marshal(map[string]any{"type": "object", "required": []string{"field"}, "properties": map[string]any{
			"field": map[string]any{"enum": fields}, "value": map[string]any{"description": "the new value, when the user said it"}}})
		if err == nil {
			one(FunctionCorrect, "The user says that something given before is wrong.", string(raw))
		}
	}
}

// correctable are the fields a correction may name here.
func (m *machine) correctable(s *Scope) []string {
	o := m.owner(s)
	f := m.flowOf(o)
	if f.corrections == correctOff {
		return nil
	}
	var names []string
	for _, name := range sorted(o.State) {
		field := f.state[name]
		if _, n := m.target(o, name); field != nil && !field.locked && n != nil && (n.name != o.Node || n.kind == kindCollect) {
			names = append(names, name)
		}
	}
	return names
}

// recordSchema is the schema of a collect node's function: every field is optional.
func (m *machine) recordSchema(s *Scope, n *node) json.RawMessage {
	properties := map[string]json.RawMessage{}
	for _, name := range n.collect {
		if f := m.flowOf(s).state[name]; f != nil {
			properties[name] = f.raw
		}
	}
	raw, err := json.Marshal(map[string]any{"type": "object", "properties": properties})
	if err != nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	return raw
}

// offerConfirm offers the user's answer to a confirm that asks them.
func (m *machine) offerConfirm(s *Scope, add func(Offered)) {
	for _, id := range sorted(m.run.Interrupts) {
		if i := m.run.Interrupts[id]; i.Kind == InterruptConfirm && i.Audience == AudienceUser {
			add(Offered{Name: FunctionConfirm, Description: "The user has answered: " + i.Title, Generated: true, owner: s.Path,
				Parameters: json.RawMessage(`{"type":"object","required":["approved"],"properties":{"approved":{"type":"boolean"}}}`)})
			return
		}
	}
}
