package run

import (
	"fmt"
	"strconv"

	"github.com/turnwise/turnwise/flows/expr"
)

// begin does what a node does when it is entered.
func (m *machine) begin(s *Scope, n *node) {
	switch n.kind {
	case kindTalk, kindCollect, kindFollowUp:
		m.beginTalk(s, n)
	case kindSay:
		if m.line(s, n.say, m.view(s)) {
			m.done(s, nil)
		}
	case kindSet:
		m.transform(s, n)
	case kindBranch:
		m.done(s, nil)
	case kindCall, kindAgent:
		m.beginCall(s, n, n.call, nil)
	case kindHuman:
		m.wait(s, n, n.wait, "answer")
	case kindUse:
		m.beginUse(s, n)
	case kindParallel, kindLoop:
		m.beginBodies(s, n)
	case kindEnd:
		m.finish(s, n)
	case kindCustom:
		m.stepCustom(s, n, nil, false)
	default:
		m.stop(s, &Failure{Class: "flow", Node: n.name, Message: fmt.Sprintf("nodes of kind %s cannot be run", n.kind)})
	}
}

// done notes a node's output; its edge is next.
func (m *machine) done(s *Scope, output any) {
	e := at(s, EventFinished)
	e.Value = output
	m.emit(e)
	m.phase(s, phaseLeave)
}

// line says a template; false when it failed, and the node with it.
func (m *machine) line(s *Scope, t *expr.Template, v *view) bool {
	if t == nil {
		return true
	}
	text, err := t.Text(v)
	if err != nil {
		m.fail(s, &Failure{Class: "expression", Message: fmt.Sprintf("say: %v", err)})
		return false
	}
	m.say(s, text)
	return true
}

// transform computes fields. Each sees those above it.
func (m *machine) transform(s *Scope, n *node) {
	set := map[string]any{}
	for _, a := range n.save {
		v, err := a.value.eval(m.view(s))
		if err == nil {
			err = m.assign(s, a.name, v)
		}
		if err != nil {
			m.fail(s, &Failure{Class: "expression", Message: fmt.Sprintf("set %s: %v", a.name, err)})
			return
		}
		set[a.name] = v
	}
	m.done(s, set)
}

// assign sets one field to a value its schema allows.
func (m *machine) assign(s *Scope, name string, v any) error {
	o := m.owner(s)
	f := m.flowOf(o).state[name]
	if f == nil {
		return fmt.Errorf("the flow has no field %q", name)
	}
	v, err := f.accept(v)
	if err != nil {
		return err
	}
	m.emit(Event{Type: EventState, Scope: o.Path, Node: s.Node, Set: map[string]any{name: v}})
	return nil
}

// saveAll evaluates a save and sets its fields, all of them or none.
func (m *machine) saveAll(s *Scope, save []assignment, v *view) error {
	if len(save) == 0 {
		return nil
	}
	values, err := evalAll(save, v)
	if err != nil {
		return err
	}
	o := m.owner(s)
	for name, value := range values {
		f := m.flowOf(o).state[name]
		if f == nil {
			return fmt.Errorf("the flow has no field %q", name)
		}
		if values[name], err = f.accept(value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	m.emit(Event{Type: EventState, Scope: o.Path, Node: s.Node, Set: values})
	return nil
}

// child is the path of a scope that works for a visit of a node.
func child(s *Scope, suffix string) string {
	path := s.Node + "#" + strconv.Itoa(s.Visit) + suffix
	if s.Path != "" {
		path = s.Path + "/" + path
	}
	return path
}

// beginUse opens the scope of a subflow.
func (m *machine) beginUse(s *Scope, n *node) {
	given, err := evalAll(n.input, m.view(s))
	if err != nil {
		m.fail(s, &Failure{Class: "expression", Message: fmt.Sprintf("input: %v", err)})
		return
	}
	f := m.plan.flows[n.use]
	inputs, err := f.accept(given)
	if err != nil {
		m.fail(s, &Failure{Class: "schema", Message: fmt.Sprintf("input of %s: %v", n.use, err)})
		return
	}
	m.phase(s, phaseChild)
	path := child(s, "")
	m.emit(Event{Type: EventScope, Scope: path, From: s.Path, Name: f.name, Set: inputs})
	c := m.run.Scopes[path]
	m.initialise(c, f)
	m.enter(c, f.start, ReasonStart)
}

// initialise gives fields their defaults.
func (m *machine) initialise(s *Scope, f *flow) {
	set := map[string]any{}
	for name, field := range f.state {
		if field.hasInitial {
			set[name] = field.initial
		}
	}
	if len(set) > 0 {
		m.emit(Event{Type: EventState, Scope: s.Path, Set: set})
	}
}

// finish ends the scope: the run, a subflow, or the talk beside a waiting node.
func (m *machine) finish(s *Scope, n *node) {
	v := m.view(s)
	if !m.line(s, n.say, v) || !m.line(s, n.finish.say, v) {
		return
	}
	var value any
	if n.finish.value != nil {
		var err error
		if value, err = n.finish.value.eval(v); err != nil {
			m.fail(s, &Failure{Class: "expression", Message: fmt.Sprintf("value: %v", err)})
			return
		}
	}
	o := &Outcome{Name: n.finish.outcome, Success: n.finish.success, Node: n.name, Value: value}
	if s.Path == "" {
		m.end(s, o)
		return
	}
	if s.Branch != "" {
		m.endBody(s, value, o, nil)
		return
	}
	parent := m.run.Scopes[s.Parent]
	shared := s.Shared
	m.release(s)
	m.shut(s, Event{Node: n.name, Outcome: o, Shared: shared})
	if shared {
		return
	}
	pn := m.nodeOf(parent)
	pv := m.view(parent)
	pv.result = value
	if err := m.saveAll(parent, pn.save, pv); err != nil {
		m.fail(parent, &Failure{Class: "schema", Message: fmt.Sprintf("save: %v", err)})
		return
	}
	m.done(parent, value)
}

// floor is the scope that may talk: the innermost of those at work.
func (m *machine) floor() *Scope {
	return m.run.floor()
}

// floor is the innermost scope at work; of branches beside each other the first that
// talks, else the first.
func (r *Run) floor() *Scope {
	s, _ := r.floorIn(r.Scopes[""])
	return s
}

// floorIn is the floor of a scope and those within it, and whether it talks.
func (r *Run) floorIn(s *Scope) (floor *Scope, talks bool) {
	if len(r.Scopes) == 1 {
		return s, s.Phase == phaseTalk
	}
	floor = nil
	first := ""
	for path, c := range r.Scopes {
		if path == "" || c.Parent != s.Path || c == s {
			continue
		}
		at, talking := r.floorIn(c)
		if floor == nil || talking && !talks || talking == talks && path < first {
			floor, talks, first = at, talking, path
		}
	}
	if floor == nil {
		return s, s.Phase == phaseTalk
	}
	return floor, talks
}
