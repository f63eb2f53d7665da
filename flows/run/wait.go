package run

import (
	"encoding/json"
	"fmt"

	"github.com/turnwise/turnwise/flows/expr"
	"github.com/turnwise/turnwise/internal/schema"
)

// wait opens a node's interrupt.
func (m *machine) wait(s *Scope, n *node, w *waitOf, name string) {
	m.openWait(s, n, w, name, interruptID(m.run.ID, s.Path, s.Node, s.Visit, name), "")
	m.talkMeanwhile(s, n)
}

// openWait opens the interrupt a node describes.
func (m *machine) openWait(s *Scope, n *node, w *waitOf, name, id, url string) {
	if s.Phase == phaseStopped || s.Node != n.name {
		return
	}
	i := &Interrupt{ID: id, Kind: w.kind, Name: name, Scope: s.Path, Node: s.Node, Visit: s.Visit, Audience: w.audience,
		Schema: w.raw, URL: url, Default: w.initial, HasDef: w.hasInitial}
	if w.title != nil {
		title, err := w.title.Text(m.view(s))
		if err != nil {
			m.fail(s, &Failure{Class: "expression", Message: fmt.Sprintf("title: %v", err)})
			return
		}
		i.Title = title
	}
	if w.deadline > 0 {
		i.Deadline = m.in.Now.Add(w.deadline)
	}
	e := at(s, EventInterrupt)
	e.Interrupt = i
	m.emit(e)
	if s.Phase != phaseCall {
		m.phase(s, phaseWait)
	}
}

// talkMeanwhile opens the talk beside a node that waits.
func (m *machine) talkMeanwhile(s *Scope, n *node) {
	if (s.Phase != phaseWait && s.Phase != phaseCall) || s.Node != n.name || s.Shared {
		return
	}
	if n.hold != nil && !m.line(s, n.hold, m.view(s)) {
		return
	}
	if n.meanwhile == "" {
		return
	}
	path := child(s, "~talk")
	m.emit(Event{Type: EventScope, Scope: path, From: s.Path, Name: s.Flow, Shared: true})
	m.enter(m.run.Scopes[path], n.meanwhile, ReasonStart)
}

// ask opens the interrupt of a tool that asks for something.
func (m *machine) ask(s *Scope, c *Call, q *Question) error {
	if c.Waiting != "" {
		return fmt.Errorf("run: call %s waits already", c.ID)
	}
	if len(q.Schema) > 0 {
		if _, err := schema.Compile(q.Schema); err != nil {
			return fmt.Errorf("run: the question %q of %s: %w", q.Name, c.Tool, err)
		}
	}
	audience := q.Audience
	if audience == "" {
		audience = AudienceUser
	}
	e := Event{Type: EventInterrupt, Scope: s.Path, Node: c.Node, Visit: c.Visit}
	e.Interrupt = &Interrupt{ID: interruptID(m.run.ID, s.Path, c.Node, c.Visit, c.Key+"/"+q.Name), Kind: InterruptTool, Name: q.Name, Scope: s.Path,
		Node: c.Node, Visit: c.Visit, Audience: audience, Reason: q.Reason, Schema: json.RawMessage(q.Schema), Tool: c.Tool, Call: c.ID}
	m.emit(e)
	return nil
}

// answer handles an answer: an invalid one leaves the interrupt open.
func (m *machine) answer(a Answer) error {
	i := m.run.Interrupts[a.Interrupt]
	if i == nil {
		return fmt.Errorf("%w: %s", ErrNoInterrupt, a.Interrupt)
	}
	value, err := expr.Plain(a.Value)
	if err != nil {
		return &InvalidAnswer{i.ID, err.Error()}
	}
	if err := i.Check(value); err != nil {
		return err
	}
	m.close(i, value, "answered", a.By)
	return nil
}

// Check tells whether a value would be an answer; the error is an *[InvalidAnswer].
func (i *Interrupt) Check(value any) error {
	if len(i.Schema) == 0 {
		if value == nil {
			return &InvalidAnswer{i.ID, "null is no answer"}
		}
		return nil
	}
	s, err := schema.Compile(i.Schema)
	if err != nil {
		return &InvalidAnswer{i.ID, err.Error()}
	}
	if err := s.CheckValue(value); err != nil {
		return &InvalidAnswer{i.ID, err.Error()}
	}
	return nil
}

// close takes a valid answer and goes on with it.
func (m *machine) close(i *Interrupt, value any, reason, by string) {
	s := m.run.Scopes[i.Scope]
	held := *i
	e := Event{Type: EventAnswered, Scope: i.Scope, Node: i.Node, Visit: i.Visit, Name: i.ID, Value: value, Reason: reason, From: by}
	if i.Kind == InterruptConfirm && value == true {
		e.Text = fingerprint(i.Tool, i.Args)
	}
	m.emit(e)
	n := m.flowOf(s).nodes[i.Node]
	switch held.Kind {
	case InterruptTool:
	case InterruptEscalate:
		m.phase(s, phaseTalk)
	case InterruptConfirm:
		m.decided(s, n, value == true, by)
	default:
		if n.kind == kindCustom {
			m.closeChildren(s)
			m.stepCustom(s, n, value, true)
			return
		}
		if m.working(s) {
			return // the call has yet to return
		}
		m.closeChildren(s)
		m.callDone(s, n, value) // the answer is what the node gives
	}
}

// working tells whether a call of the scope is under way.
func (m *machine) working(s *Scope) bool {
	for _, c := range m.run.Calls {
		if c.Scope == s.Path && c.Function == "" {
			return true
		}
	}
	return false
}

// decided goes on after a confirm.
func (m *machine) decided(s *Scope, n *node, approved bool, by string) {
	e := at(s, EventDecision)
	e.Name, e.Reason, e.From = n.call.tool, "refused", by
	if approved {
		e.Reason = "approved"
	}
	m.emit(e)
	m.closeChildren(s)
	if approved {
		m.phase(s, phaseEnter)
		return
	}
	e = at(s, EventFinished)
	e.Value = map[string]any{"refused_by": by}
	m.emit(e)
	if n.call.confirm.onRefuse == "" {
		m.fail(s, &Failure{Class: "refused", Message: n.call.tool + " was refused"})
		return
	}
	m.enter(s, n.call.confirm.onRefuse, ReasonEdge)
}

// due does what is due at the time of the advance.
func (m *machine) due() error {
	now := m.in.Now
	for _, id := range sorted(m.run.Calls) {
		c := m.run.Calls[id]
		if c != nil && c.Waiting == "" && !c.Deadline.IsZero() && !now.Before(c.Deadline) {
			if err := m.returned(CallResult{Call: id, Failure: &Failure{Class: "timeout", Message: "it took too long"}}); err != nil {
				return err
			}
		}
	}
	for _, id := range sorted(m.run.Interrupts) {
		if i := m.run.Interrupts[id]; i != nil && !i.Deadline.IsZero() && !now.Before(i.Deadline) {
			m.expire(i)
		}
	}
	abandon := m.plan.main.abandon
	if m.run.Status != StatusEnded && abandon > 0 && !now.Before(m.run.Touched.Add(abandon)) && len(m.run.Calls)+len(m.run.Interrupts) == 0 {
		m.end(m.run.Scopes[""], &Outcome{Name: "abandoned"})
	}
	return nil
}

// expire closes an interrupt whose deadline has passed.
func (m *machine) expire(i *Interrupt) {
	if i.HasDef {
		m.close(i, i.Default, "timeout", "deadline")
		return
	}
	s := m.run.Scopes[i.Scope]
	held := *i
	m.emit(Event{Type: EventAnswered, Scope: i.Scope, Node: i.Node, Visit: i.Visit, Name: i.ID, Reason: "timeout"})
	n := m.flowOf(s).nodes[held.Node]
	if n.wait != nil && n.wait.onTimeout != "" {
		m.enter(s, n.wait.onTimeout, ReasonEdge)
		return
	}
	m.fail(s, &Failure{Class: "timeout", Message: "nobody answered " + held.Name})
}
