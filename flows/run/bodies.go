package run

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/turnwise/turnwise/flows/expr"
)

// A parallel node and a loop have nodes within them, in bodies. A body is compiled as a
// flow of its own that shares the state, the tools and the functions of the flow around
// it; while it is at work it has a [Scope] with a Branch. A body ends with its end node,
// or with a quiet node behind which nothing is named.

// bodies are what a parallel node or a loop has within it.
type bodies struct {
	names    []string         // of the branches in order; of a loop "body"
	flows    map[string]*flow // by branch
	join     join
	carryOn  bool          // a failed branch leaves the others be
	while    *expr.Program // of a loop
	over     *tree         // of a loop: the list, nil when there is none
	max      int           // rounds of a loop; 0 is no limit
	repeated bool          // it is a loop
}

// join says when a parallel node is done.
type join string

const (
	joinAll     join = "all"
	joinSuccess join = "success"
	joinAny     join = "any"
)

// loopBody is the branch of a loop.
const loopBody = "body"

// docBody are the nodes of a branch or a loop.
type docBody map[string]docNode

type (
	docParallel struct {
		Branches  map[string]docBody `json:"branches"`
		Join      join               `json:"join"`
		OnFailure string             `json:"on_failure"`
	}
	docLoop struct {
		While string  `json:"while"`
		Over  any     `json:"over"`
		Max   int     `json:"max"`
		Body  docBody `json:"body"`
	}
)

// parallel compiles a parallel node.
func (c *compiler) parallel(f *flow, doc *docFlow, n *node, d *docParallel) {
	n.kind = kindParallel
	n.bodies = &bodies{flows: map[string]*flow{}, join: d.Join, carryOn: d.OnFailure == "continue"}
	if d.Join == "" {
		n.bodies.join = joinAll
	}
	if len(d.Branches) == 0 {
		c.errorf("a parallel node has no branches")
	}
	for _, name := range sorted(d.Branches) {
		c.body(f, doc, n, name, d.Branches[name], "parallel", "branches", name)
	}
}

// loop compiles a loop.
func (c *compiler) loop(f *flow, doc *docFlow, n *node, d *docLoop) {
	n.kind = kindLoop
	n.bodies = &bodies{flows: map[string]*flow{}, while: c.condition(d.While), over: c.tree(d.Over), max: d.Max, repeated: true}
	if d.While == "" && d.Over == nil && d.Max == 0 {
		c.errorf("a loop has no while, no over and no max: it would never end")
	}
	c.body(f, doc, n, loopBody, d.Body, "loop", "body")
}

// body compiles the nodes of a branch; path is where they stand in the node.
func (c *compiler) body(f *flow, doc *docFlow, n *node, branch string, nodes docBody, path ...string) {
	b := &flow{name: f.name + "/" + n.name + "/" + branch, version: f.version, persona: f.persona, silence: f.silence, corrections: f.corrections, inputs: f.inputs,
		state: f.state, dependents: f.dependents, askers: map[string][]*node{}, tools: f.tools, servers: f.servers, allow: f.allow, functions: f.functions, nodes: map[string]*node{}, outer: f, loops: n.bodies.repeated}
	b.start = bodyStart(nodes)
	if b.start == "" {
		c.errorf("branch %s of %s begins nowhere: of several nodes one is called start", branch, n.name)
	}
	c.plan.flows[b.name] = b
	raw, is := any(map[string]any(c.raw[f.name][n.name])), true
	for _, key := range path {
		var at map[string]any
		if at, is = raw.(map[string]any); is {
			raw = at[key]
		}
	}
	c.raw[b.name] = map[string]map[string]any{}
	if at, is := raw.(map[string]any); is {
		for name, one := range at {
			c.raw[b.name][name], _ = one.(map[string]any)
		}
	}
	n.bodies.names = append(n.bodies.names, branch)
	n.bodies.flows[branch] = b
	where := c.where
	for _, name := range sorted(nodes) {
		c.where = where + ", branch " + branch + ", node " + name
		d := nodes[name]
		b.nodes[name] = c.node(b, doc, name, &d)
	}
	c.where = where
}

// bodyStart is where a body begins: at its only node, or at the one called start.
func bodyStart(nodes docBody) string {
	if _, has := nodes["start"]; has {
		return "start"
	}
	if len(nodes) == 1 {
		for name := range nodes {
			return name
		}
	}
	return ""
}

// Gathered is what a body has come to.
type Gathered struct {
	Output  any      `json:"output,omitempty"`
	Failure *Failure `json:"failure,omitempty"`
}

// beginBodies opens the branches of a parallel node, or the first round of a loop.
func (m *machine) beginBodies(s *Scope, n *node) {
	if n.say != nil && !m.line(s, n.say, m.view(s)) {
		return
	}
	var items []any
	if n.bodies.over != nil {
		v, err := n.bodies.over.eval(m.view(s))
		if err == nil {
			var is bool
			if items, is = v.([]any); !is {
				err = fmt.Errorf("it is no list but %s", brief(v))
			}
		}
		if err != nil {
			m.fail(s, &Failure{Class: "expression", Message: fmt.Sprintf("over: %v", err)})
			return
		}
	}
	e := at(s, EventBodies)
	e.Items = items
	m.emit(e)
	m.phase(s, phaseChild)
	if n.bodies.repeated {
		m.round(s, n)
		return
	}
	visit, name := s.Visit, s.Node
	for _, branch := range n.bodies.names {
		if s.Phase != phaseChild || s.Node != name || s.Visit != visit {
			return // a branch has failed, and the node with it
		}
		m.openBody(s, n, branch, 0, nil)
	}
}

// openBody opens the scope of a branch or a round and enters it.
func (m *machine) openBody(s *Scope, n *node, branch string, round int, item any) {
	f := n.bodies.flows[branch]
	suffix := branch
	if round > 0 {
		suffix = strconv.Itoa(round)
	}
	path := child(s, "."+suffix)
	m.emit(Event{Type: EventScope, Scope: path, From: s.Path, Name: f.name, Shared: true, Text: branch, Count: round, Value: item})
	m.enter(m.run.Scopes[path], f.start, ReasonStart)
}

// round begins the next round of a loop, or ends it.
func (m *machine) round(s *Scope, n *node) {
	b, k := n.bodies, len(s.Rounds)
	more := (b.max == 0 || k < b.max) && (b.over == nil || k < len(s.Items))
	if more && b.while != nil {
		yes, err := b.while.Bool(m.view(s))
		if err != nil {
			m.fail(s, &Failure{Class: "expression", Message: fmt.Sprintf("while: %v", err)})
			return
		}
		more = yes
	}
	if !more {
		output := make([]any, k)
		for i := range output {
			output[i] = s.Rounds[i].Output
		}
		m.gathered(s, n, output, nil)
		return
	}
	var item any = int64(k)
	if b.over != nil {
		item = s.Items[k]
	}
	m.openBody(s, n, loopBody, k+1, item)
}

// endBody ends a branch or a round; its node goes on, ends or fails.
func (m *machine) endBody(s *Scope, output any, outcome *Outcome, f *Failure) {
	parent := m.run.Scopes[s.Parent]
	n := m.nodeOf(parent)
	branch := s.Branch
	if outcome != nil && !outcome.Success && f == nil {
		f = &Failure{Class: "outcome", Node: s.Node, Message: "it ended with the outcome " + outcome.Name}
	}
	m.release(s)
	m.shut(s, Event{Node: s.Node, Outcome: outcome, Value: output, Failure: f})
	switch {
	case n.bodies.repeated && f != nil:
		m.fail(parent, &Failure{Class: f.Class, Message: fmt.Sprintf("round %d: %s: %s", len(parent.Rounds), s.Node, f.Message)})
	case n.bodies.repeated && outcome != nil:
		outputs := make([]any, len(parent.Rounds))
		for i := range outputs {
			outputs[i] = parent.Rounds[i].Output
		}
		m.gathered(parent, n, outputs, nil)
	case n.bodies.repeated:
		m.round(parent, n)
	default:
		m.joinBranch(parent, n, branch, f)
	}
}

// joinBranch tells whether a parallel node is done now that a branch has ended.
func (m *machine) joinBranch(s *Scope, n *node, branch string, f *Failure) {
	b := n.bodies
	failedAll := true
	for _, g := range s.Branches {
		failedAll = failedAll && g.Failure != nil
	}
	all := len(s.Branches) == len(b.names)
	switch {
	case f != nil && !b.carryOn && b.join != joinSuccess, all && failedAll && b.join == joinSuccess && f != nil:
		m.fail(s, &Failure{Class: f.Class, Message: fmt.Sprintf("branch %s: %s", branch, f.Message)})
		return
	case all, b.join == joinAny, b.join == joinSuccess && f == nil:
	default:
		return
	}
	output, failed := map[string]any{}, map[string]any{}
	for _, name := range sorted(s.Branches) {
		if g := s.Branches[name]; g.Failure != nil {
			failed[name] = map[string]any{"class": g.Failure.Class, "message": g.Failure.Message, "node": g.Failure.Node}
		} else {
			output[name] = g.Output
		}
	}
	m.gathered(s, n, output, failed)
}

// gathered ends a parallel node or a loop with what its bodies have come to.
func (m *machine) gathered(s *Scope, n *node, output any, failed map[string]any) {
	m.release(s)
	v := m.view(s)
	v.result = output
	if err := m.saveAll(s, n.save, v); err != nil {
		m.fail(s, &Failure{Class: "schema", Message: fmt.Sprintf("save: %v", err)})
		return
	}
	kept := at(s, EventResultKept)
	kept.Value = output
	m.emit(kept)
	e := at(s, EventFinished)
	e.Value, e.Set = output, failed
	m.emit(e)
	m.phase(s, phaseLeave)
}

// leaveLoop goes from within a loop to a node of the flow around it; false when there is
// no such way.
func (m *machine) leaveLoop(s *Scope, to string) bool {
	f := m.flowOf(s)
	if f.outer == nil || !f.loops || to == "back" {
		return false
	}
	parent := m.run.Scopes[s.Parent]
	if !leads(f.outer, to) {
		return false
	}
	m.release(s)
	m.shut(s, Event{Node: s.Node, Reason: "left"})
	m.enter(parent, to, ReasonEdge)
	return true
}

// leads tells whether a node can be reached from a flow's own: it is one of them, or of the
// flow around, when the flow is a loop's body.
func leads(f *flow, to string) bool {
	return f.nodes[to] != nil || f.outer != nil && f.loops && leads(f.outer, to)
}

// beside tells whether a scope is in another branch of a parallel node than the scope a
// path names, which may have been closed.
func (m *machine) beside(s *Scope, path string) bool {
	for ; s.Path != ""; s = m.run.Scopes[s.Parent] {
		siblings, is := strings.CutSuffix(s.Path, "."+s.Branch)
		if is && s.Branch != "" && strings.HasPrefix(path, siblings+".") && path != s.Path && !strings.HasPrefix(path, s.Path+"/") {
			return true
		}
	}
	return false
}

// outputs are what the nodes have given that a scope sees: its own and, in a body, those
// of the scopes around.
func (m *machine) outputs(s *Scope) map[string]any {
	if !s.Shared {
		return s.Outputs
	}
	all := maps.Clone(m.outputs(m.run.Scopes[s.Parent]))
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, s.Outputs)
	return all
}

// item is what the round of the nearest loop is about.
func (m *machine) item(s *Scope) (any, bool) {
	for s.Shared {
		if s.Round > 0 {
			return s.Item, true
		}
		s = m.run.Scopes[s.Parent]
	}
	return nil, false
}

// gather notes what a body has come to.
func (s *Scope) gather(branch string, loops bool, g Gathered) {
	if loops {
		s.Rounds = append(s.Rounds, g)
		return
	}
	branches := maps.Clone(s.Branches)
	if branches == nil {
		branches = map[string]Gathered{}
	}
	branches[branch] = g
	s.Branches = branches
}
