package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnwise/turnwise/flows/expr"
)

// The names of generated functions.
const (
	FunctionRecord     = "record"       // of a collect node: what the user gave
	FunctionContinue   = "continue"     // of a node with a next and no functions
	FunctionOutOfScope = "out_of_scope" // the user wants what the node is not about
	FunctionCorrect    = "correct"      // the user changes what was given before
	FunctionConfirm    = "confirm"      // the user allows a call, or does not
)

// maxDigression bounds how deep visits are nested.
const maxDigression = 3

// readsField tells whether paths look at a field of the state.
func readsField(reads []expr.Read, name string) bool {
	return slices.ContainsFunc(reads, func(r expr.Read) bool {
		return len(r.Path) > 1 && r.Path[0] == "state" && r.Path[1] == name || len(r.Path) == 1 && r.Path[0] == "state"
	})
}

// called handles a call of the model's.
func (m *machine) called(c FunctionCall) {
	s := m.floor()
	args, err := expr.Plain(c.Args)
	if c.Args, _ = args.(map[string]any); c.Args == nil {
		c.Args = map[string]any{}
	}
	fn := &Function{ID: c.ID, Scope: s.Path, Owner: s.Path, Node: s.Node, Visit: s.Visit, Name: c.Name, Args: c.Args}
	moved := c.Node != "" && (c.Node != s.Node || c.Visit != s.Visit)
	if moved || s.Phase == phaseCall && !m.asynchronous(s) {
		m.refuse(s, fn, "the conversation has moved on; this call came too late")
		return
	}
	if err != nil {
		m.refuse(s, fn, fmt.Sprintf("the arguments cannot be used: %v", err))
		return
	}
	found := m.offered(s, c.Name)
	if len(found) == 0 {
		all := m.offered(s, "")
		names := make([]string, len(all))
		for k := range all {
			names[k] = all[k].Name
		}
		m.refuse(s, fn, fmt.Sprintf("there is no function %s here; there are %s", c.Name, strings.Join(names, ", ")))
		return
	}
	o := &found[0]
	if o.check != nil {
		if err := o.check.CheckValue(fn.Args); err != nil {
			m.refuse(s, fn, fmt.Sprintf("the arguments do not fit: %v", err))
			return
		}
	}
	if o.def != nil {
		fn.Print, fn.Silent = fingerprint(fn.Name, fn.Args), o.def.quietReply
		if first, again := s.Seen[fn.Print]; again {
			m.refuse(s, fn, "")
			m.events[len(m.events)-1].Value = first
			return
		}
	}
	fn.Owner = o.owner
	e := at(s, EventFunction)
	e.Function = fn
	m.emit(e)
	m.invoke(s, o, fn)
}

// refuse gives a call of the model's a result that tells why nothing was done.
func (m *machine) refuse(s *Scope, fn *Function, why string) {
	e := at(s, EventResult)
	e.Name, e.Function, e.Value = fn.ID, fn, map[string]any{"error": why}
	m.emit(e)
}

// invoke does what an offered function does.
func (m *machine) invoke(s *Scope, o *Offered, fn *Function) {
	n := m.nodeOf(s)
	switch {
	case o.def != nil:
		m.emit(at(s, EventUseful))
		m.begun(s, n, o.def, fn)
	case o.tool != "":
		m.emit(at(s, EventUseful))
		m.beginCall(s, n, &callOf{tool: o.tool, args: literal(fn.Args), timeout: m.flowOf(s).tools[o.tool].timeout}, fn)
	case fn.Name == FunctionRecord:
		m.told(fn, m.record(s, n, fn.Args))
	case fn.Name == FunctionContinue && len(n.next) == 0: // it ends its branch
		m.done(s, nil)
	case fn.Name == FunctionContinue:
		m.take(s, n.next, m.view(s))
	case fn.Name == FunctionOutOfScope:
		m.outOfScope(s, n, fn)
	case fn.Name == FunctionCorrect:
		field, _ := fn.Args["field"].(string)
		value, given := fn.Args["value"]
		m.correct(s, Correction{Field: field, Words: m.run.User, Value: value, Given: given}, fn)
	case fn.Name == FunctionConfirm:
		for _, id := range sorted(m.run.Interrupts) {
			if i := m.run.Interrupts[id]; i.Kind == InterruptConfirm && i.Audience == AudienceUser {
				m.close(i, fn.Args["approved"] == true, "answered", "user")
				return
			}
		}
	}
}

// literal makes assignments of plain values.
func literal(values map[string]any) []assignment {
	var all []assignment
	for _, name := range sorted(values) {
		all = append(all, assignment{name, tree{value: values[name]}})
	}
	return all
}

// told adds to what a call of the model's will be told.
func (m *machine) told(fn *Function, report map[string]any) {
	s := m.run.Scopes[fn.Scope]
	if s == nil {
		s = m.run.Scopes[""]
	}
	m.emit(Event{Type: EventReport, Scope: s.Path, Node: fn.Node, Name: fn.ID, Set: report})
}

// begun starts a declared function: its call, if it has one, then its edge.
func (m *machine) begun(s *Scope, n *node, def *function, fn *Function) {
	if def.correct != "" {
		value, given := fn.Args["value"]
		if !given {
			value, given = fn.Args[def.correct]
		}
		m.correct(s, Correction{Field: def.correct, Words: m.run.User, Value: value, Given: given}, fn)
		return
	}
	if def.call != nil {
		m.beginCall(s, n, def.call, fn)
		return
	}
	m.functionDone(s, fn, nil, false)
}

// definition is the declaration of a function that was called, nil for a generated one.
func (m *machine) definition(fn *Function) *function {
	owner := m.run.Scopes[fn.Owner]
	if owner == nil {
		return nil
	}
	f := m.flowOf(owner)
	find := func(all []*function) *function {
		for _, d := range all {
			if d.name == fn.Name {
				return d
			}
		}
		return nil
	}
	if fn.Owner == fn.Scope {
		if n := f.nodes[fn.Node]; n != nil {
			if d := find(n.functions); d != nil {
				return d
			}
		}
	}
	return find(f.functions)
}

// functionDone saves what a function gave and takes its edge; where none holds it stays.
func (m *machine) functionDone(s *Scope, fn *Function, value any, called bool) {
	def := m.definition(fn)
	owner := m.run.Scopes[fn.Owner]
	v := m.view(owner)
	v.args, v.result, v.has = fn.Args, value, called
	if def == nil { // a tool the model uses while it stays
		m.told(fn, map[string]any{"result": value})
		m.phase(s, phaseTalk)
		return
	}
	if err := m.saveAll(owner, def.save, v); err != nil {
		m.told(fn, map[string]any{"error": "nothing was saved: " + err.Error()})
		m.phase(s, phaseTalk)
		return
	}
	if len(def.clear) > 0 {
		m.emit(Event{Type: EventState, Scope: m.owner(owner).Path, Node: owner.Node, Cleared: def.clear})
	}
	if !m.reportResult(owner, def, fn, v) {
		return
	}
	switch {
	case def.visit != "":
		m.phase(s, phaseTalk)
		m.visit(owner, s, def.visit)
	case m.takes(owner, def.next, v):
		m.phase(s, phaseTalk)
		m.unwind(owner, s)
		if len(owner.Places) > 0 && slices.Contains(m.flowOf(owner).functions, def) {
			m.emit(at(owner, EventForgotten)) // an edge that is offered everywhere ends a digression
		}
		m.take(owner, def.next, v)
	default:
		m.phase(s, phaseTalk)
	}
}

// takes tells whether an edge would be taken, so that nothing is unwound for none.
func (m *machine) takes(s *Scope, edges []edge, v *view) bool {
	return slices.ContainsFunc(edges, func(e edge) bool {
		if e.when == nil {
			return true
		}
		yes, err := e.when.Bool(v)
		return err != nil || yes
	})
}

// unwind ends the scopes between the one that owns an edge and the one that talks.
func (m *machine) unwind(owner, s *Scope) {
	if owner != s {
		m.release(owner)
	}
}

// reportResult evaluates what the model is told of a function; false when that failed.
func (m *machine) reportResult(s *Scope, def *function, fn *Function, v *view) bool {
	report := map[string]any{}
	switch {
	case def.result != nil:
		r, err := def.result.eval(v)
		if err != nil {
			m.fail(s, &Failure{Class: "expression", Message: fmt.Sprintf("function %s: result: %v", fn.Name, err)})
			return false
		}
		report["result"] = r
	case v.has && len(def.next) == 0 && def.visit == "":
		report["result"] = v.result
	case len(def.save) > 0:
		saved := map[string]any{}
		for _, a := range def.save {
			saved[a.name] = m.owner(s).State[a.name]
		}
		report["saved"] = m.seen(s, saved)
	}
	m.told(fn, report)
	return true
}

// visit begins a digression; one to the place itself, or too deep, does nothing.
func (m *machine) visit(owner, s *Scope, to string) {
	if owner.Node == to || len(owner.Places) >= maxDigression {
		e := at(owner, EventIgnored)
		e.Name, e.Reason = to, "a digression to itself, or too deep"
		m.emit(e)
		return
	}
	m.unwind(owner, s)
	n := m.flowOf(owner).nodes[to]
	if n == nil {
		return
	}
	m.emit(at(owner, EventPlace))
	m.arrive(owner, n, ReasonVisit, "")
}

// outOfScope leads on with the user's words, or asks a person.
func (m *machine) outOfScope(s *Scope, n *node, fn *Function) {
	reason, _ := fn.Args["reason"].(string)
	words := m.run.User
	if n.scope.to != "" {
		if target := m.flowOf(s).nodes[n.scope.to]; target != nil {
			m.release(s)
			m.arrive(s, target, ReasonEdge, words)
		}
		return
	}
	e := at(s, EventInterrupt)
	e.Interrupt = &Interrupt{ID: interruptID(m.run.ID, s.Path, s.Node, s.Visit, "escalate/"+fn.ID), Kind: InterruptEscalate, Name: "escalate", Scope: s.Path,
		Node: s.Node, Visit: s.Visit, Audience: AudienceOperator, Title: words, Reason: reason}
	m.emit(e)
	m.phase(s, phaseWait)
}

// report gives the model's calls their results: all of them when the run ends, else those
// whose chain has stopped.
func (m *machine) report(all bool) {
	for _, fn := range append([]Function(nil), m.run.Functions...) {
		if !all && m.chained(&fn) {
			continue
		}
		here := m.floor()
		result := map[string]any{"node": here.Node}
		for name, v := range fn.Report {
			result[name] = v
		}
		if here.Phase == phaseWait {
			result["waiting"] = m.waitsFor()
		}
		e := Event{Type: EventResult, Name: fn.ID, Value: result, Function: &fn}
		if s := m.run.Scopes[fn.Scope]; s != nil && s.Node == fn.Node && s.Visit == fn.Visit {
			e.Scope, e.Node, e.Visit, e.Hash = fn.Scope, fn.Node, fn.Visit, fn.Print
		}
		m.emit(e)
	}
}

// chained tells whether the quiet chain behind a call of the model's is still at work: a
// call that is not an async one is under way.
func (m *machine) chained(fn *Function) bool {
	for _, c := range m.run.Calls {
		if c.Function == fn.ID && c.Waiting == "" || c.Function == "" && !c.Async && c.Waiting == "" && !m.beside(m.run.Scopes[c.Scope], fn.Scope) {
			return true
		}
	}
	return false
}
