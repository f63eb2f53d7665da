package run

import (
	"fmt"
	"slices"
	"strings"
)

// The bounds of what one advance may do without anybody's answer.
const (
	maxSteps    = 2000 // nodes entered and left
	maxFailures = 20   // nodes that fail one after another
	quietVisits = 25   // visits of a quiet node without a max_visits of its own
)

// apology is said when a failure is not handled by the flow.
const apology = "I am sorry, something went wrong on our side."

// machine is one advance: a run that may be changed, and the events that changed it.
type machine struct {
	plan     *Plan
	run      *Run
	in       Input
	events   []Event
	steps    int
	failures int
}

// Advance tells a run what has happened and carries it on as far as it goes without
// anybody's answer. It gives the run as it is then and the events that led there; the run
// given is not changed. It does nothing else: what is to be done outside is in
// [Plan.Needs]. When a response is refused nothing has happened and the error says why.
func (p *Plan) Advance(r *Run, in Input) (*Run, []Event, error) {
	if err := p.check(r); err != nil {
		return r, nil, err
	}
	m := &machine{plan: p, run: r.clone(), in: in, events: make([]Event, 0, 12)}
	for _, response := range in.Responses {
		if m.run.Status == StatusEnded {
			if _, tick := response.(Tick); tick {
				continue // time passes for what has ended, too
			}
			return r, nil, ErrEnded
		}
		if err := m.handle(response); err != nil {
			return r, nil, err
		}
		m.settle()
	}
	m.conclude()
	return m.run, m.events, nil
}

// check refuses a run that this plan cannot carry on.
func (p *Plan) check(r *Run) error {
	switch {
	case r.Schema != Schema:
		return fmt.Errorf("run: the record of run %q is of schema %d; this program knows %d", r.ID, r.Schema, Schema)
	case r.Status == StatusEnded:
		return ErrEnded
	case r.Hash != p.hash:
		return fmt.Errorf("%w: it has %s, this is %s", ErrHash, r.Hash, p.hash)
	}
	for path, s := range r.Scopes {
		f := p.flows[s.Flow]
		if f == nil {
			return fmt.Errorf("run: scope %q is in flow %q, which does not exist", path, s.Flow)
		}
		if f.nodes[s.Node] == nil {
			return fmt.Errorf("run: scope %q is at node %q, which flow %q does not have", path, s.Node, s.Flow)
		}
	}
	if r.Scopes[""] == nil {
		return fmt.Errorf("run: run %q has no scope of its own", r.ID)
	}
	return nil
}

// emit records an event and makes its change.
func (m *machine) emit(e Event) {
	e.Schema, e.Seq, e.Time = Schema, m.run.Seq+1, m.in.Now
	m.run.apply(&e)
	m.events = append(m.events, e)
}

// at is an event about a scope's node.
func at(s *Scope, t Type) Event {
	return Event{Type: t, Scope: s.Path, Node: s.Node, Visit: s.Visit}
}

// phase moves a scope on within its node.
func (m *machine) phase(s *Scope, p Phase) {
	if s.Phase != p {
		e := at(s, EventPhase)
		e.Text = string(p)
		m.emit(e)
	}
}

// owner is the scope whose state a scope uses.
func (m *machine) owner(s *Scope) *Scope {
	for s.Shared {
		s = m.run.Scopes[s.Parent]
	}
	return s
}

// flowOf is the flow a scope executes.
func (m *machine) flowOf(s *Scope) *flow { return m.plan.flows[s.Flow] }

// nodeOf is the node a scope is at.
func (m *machine) nodeOf(s *Scope) *node { return m.flowOf(s).nodes[s.Node] }

// settle carries on whatever can be: until every scope waits for something.
func (m *machine) settle() {
	for m.run.Status != StatusEnded {
		s := m.runnable()
		if s == nil {
			return
		}
		if m.steps++; m.steps > maxSteps {
			m.stop(s, &Failure{Class: "limit", Node: s.Node, Message: fmt.Sprintf("more than %d steps in one advance: the flow turns in a circle", maxSteps)})
			return
		}
		n := m.nodeOf(s)
		if s.Phase == phaseEnter {
			m.begin(s, n)
		} else {
			m.leave(s, n)
		}
	}
}

// runnable is a scope that can be carried on, always the same one of several.
func (m *machine) runnable() *Scope {
	var found *Scope
	for _, s := range m.run.Scopes {
		if (s.Phase == phaseEnter || s.Phase == phaseLeave) && (found == nil || s.Path < found.Path) {
			found = s
		}
	}
	return found
}

// leave takes the edge behind a node that is done.
func (m *machine) leave(s *Scope, n *node) {
	if s.Branch != "" && len(n.next) == 0 && len(s.Places) == 0 {
		var output any
		if o, is := s.Outputs[n.name].(map[string]any); is {
			output = o["output"]
		}
		m.endBody(s, output, nil, nil)
		return
	}
	m.take(s, n.next, m.view(s))
}

// take takes the first edge that holds. Where none does a quiet node fails; elsewhere the
// scope stays and false is returned.
func (m *machine) take(s *Scope, edges []edge, v *view) bool {
	for i := range edges {
		e := &edges[i]
		if e.when != nil {
			yes, err := e.when.Bool(v)
			if err != nil {
				m.fail(s, &Failure{Class: "expression", Message: fmt.Sprintf("the condition %s: %v", e.when.Source(), err)})
				return true
			}
			if !yes {
				continue
			}
		}
		if len(e.clear) > 0 {
			m.emit(Event{Type: EventState, Scope: m.owner(s).Path, Node: s.Node, Cleared: e.clear})
		}
		m.enter(s, e.to, ReasonEdge)
		return true
	}
	if n := m.nodeOf(s); n.quiet() {
		m.fail(s, &Failure{Class: "no_edge", Message: fmt.Sprintf("no case of its next holds; the result is %s", brief(s.Result))})
		return true
	}
	return false
}

// enter goes along an edge: to the node it names, or where a require or a limit of visits
// leads instead.
func (m *machine) enter(s *Scope, to, reason string) {
	m.release(s)
	if to == "back" {
		m.back(s)
		return
	}
	f := m.flowOf(s)
	// A require that holds now goes on to where it was going.
	if k := len(s.Returns); k > 0 && reason == ReasonEdge {
		if waiting := f.nodes[s.Returns[k-1]]; waiting != nil && m.holds(s, waiting.require) {
			to = waiting.name
		}
	}
	n := f.nodes[to]
	if n == nil && m.leaveLoop(s, to) {
		return
	}
	if n == nil {
		m.stop(s, &Failure{Class: "flow", Node: s.Node, Message: fmt.Sprintf("there is no node %q", to)})
		return
	}
	if n.require != nil && !m.holds(s, n.require) && !slices.Contains(s.Returns, n.name) && n.require.to != to {
		e := at(s, EventRequire)
		e.Text = n.name
		m.emit(e)
		m.enter(s, n.require.to, ReasonRequire)
		return
	}
	m.arrive(s, n, reason, "")
}

// holds tells whether a requirement is met; one that cannot be evaluated is not.
func (m *machine) holds(s *Scope, r *requirement) bool {
	if r == nil {
		return true
	}
	yes, err := r.when.Bool(m.view(s))
	return err == nil && yes
}

// arrive counts the visit and enters the node; words are replayed there.
func (m *machine) arrive(s *Scope, n *node, reason, words string) {
	visit, limit := s.Visits[n.name]+1, n.maxVisits
	if limit == 0 && n.quiet() {
		limit = quietVisits
	}
	if limit > 0 && visit > limit {
		if n.onMaxVisits != "" && n.onMaxVisits != n.name {
			m.enter(s, n.onMaxVisits, ReasonEdge)
			return
		}
		m.failAt(s, n, &Failure{Class: "max_visits", Message: fmt.Sprintf("entered more than %d times", limit)})
		return
	}
	m.emit(Event{Type: EventEntered, Scope: s.Path, Node: n.name, Visit: visit, From: s.Node, Reason: reason, Text: words})
}

// back returns from a digression, to the place as it was.
func (m *machine) back(s *Scope) {
	if len(s.Places) == 0 {
		m.fail(s, &Failure{Class: "flow", Message: "back, but nothing was visited"})
		return
	}
	p := s.Places[len(s.Places)-1]
	m.emit(Event{Type: EventEntered, Scope: s.Path, Node: p.Node, Visit: p.Visit, From: s.Node, Reason: ReasonBack})
}

// release closes what is open for the node a scope is about to leave.
func (m *machine) release(s *Scope) {
	for _, id := range sorted(m.run.Calls) {
		if c := m.run.Calls[id]; c.Scope == s.Path && c.Undo == nil {
			m.emit(Event{Type: EventCallEnd, Scope: s.Path, Node: c.Node, Visit: c.Visit, Name: id, Failure: &Failure{Class: "cancelled", Message: "the conversation went on without it"}})
		}
	}
	for _, id := range sorted(m.run.Interrupts) {
		if i := m.run.Interrupts[id]; i.Scope == s.Path {
			m.emit(Event{Type: EventAnswered, Scope: s.Path, Node: i.Node, Visit: i.Visit, Name: id, Reason: "cancelled"})
		}
	}
	m.closeChildren(s)
}

// shut ends a scope. An undo that is under way there is not waited for any more.
func (m *machine) shut(s *Scope, e Event) {
	for _, id := range sorted(m.run.Calls) {
		if c := m.run.Calls[id]; c.Scope == s.Path {
			m.emit(Event{Type: EventCallEnd, Scope: s.Path, Node: c.Node, Visit: c.Visit, Name: id, Failure: &Failure{Class: "cancelled", Message: "its scope has ended"}})
		}
	}
	e.Type, e.Scope = EventScopeEnd, s.Path
	m.emit(e)
}

// closeChildren ends the scopes that work for a scope.
func (m *machine) closeChildren(s *Scope) {
	for _, path := range sorted(m.run.Scopes) {
		if c := m.run.Scopes[path]; c != nil && path != "" && c.Parent == s.Path {
			m.release(c)
			m.shut(c, Event{Node: c.Node, Reason: "cancelled"})
		}
	}
}

// fail fails the node a scope is at.
func (m *machine) fail(s *Scope, f *Failure) { m.failAt(s, m.nodeOf(s), f) }

// failAt fails a node: the flow goes on at its on_error, else at the flow's, else it ends.
func (m *machine) failAt(s *Scope, n *node, f *Failure) {
	f.Node = n.name
	e := Event{Type: EventFailed, Scope: s.Path, Node: n.name, Visit: s.Visit, Failure: f}
	m.emit(e)
	m.release(s)
	to := n.onError
	if to == "" {
		to = m.flowOf(s).onError
	}
	m.failures++
	target := m.flowOf(s).nodes[to]
	if target == nil && to != "" && m.failures <= maxFailures && m.leaveLoop(s, to) {
		return
	}
	if target == nil || target == n || m.failures > maxFailures {
		m.stop(s, f)
		return
	}
	m.arrive(s, target, ReasonError, "")
}

// stop ends a scope because of a failure nothing handles.
func (m *machine) stop(s *Scope, f *Failure) {
	switch {
	case s.Branch != "":
		m.endBody(s, nil, nil, f)
	case s.Shared:
		m.shut(s, Event{Node: s.Node, Reason: "failed"})
	case s.Path != "":
		parent := m.run.Scopes[s.Parent]
		m.shut(s, Event{Node: s.Node, Reason: "failed"})
		m.fail(parent, &Failure{Class: f.Class, Message: s.Flow + "/" + f.Node + ": " + f.Message})
	default:
		m.say(s, apology)
		m.end(s, &Outcome{Name: "failed", Node: s.Node, Failure: f})
	}
}

// end ends the run.
func (m *machine) end(s *Scope, o *Outcome) {
	m.report(true)
	m.emit(Event{Type: EventEnded, Scope: "", Node: s.Node, Outcome: o})
}

// say records a fixed line.
func (m *machine) say(s *Scope, text string) {
	if text = strings.TrimSpace(text); text != "" {
		e := at(s, EventSaid)
		e.Text = text
		m.emit(e)
	}
}

// conclude gives results to the model's calls whose chains have stopped, and derives
// whether the run waits.
func (m *machine) conclude() {
	if m.run.Status == StatusEnded {
		return
	}
	m.report(false)
	ready := false
	for _, c := range m.run.Calls {
		ready = ready || c.Waiting == ""
	}
	switch {
	case !ready && m.run.Status != StatusWaiting:
		m.emit(Event{Type: EventWaiting, Text: m.waitsFor()})
	case ready && m.run.Status == StatusWaiting:
		m.emit(Event{Type: EventReady})
	}
}

// waitsFor tells what a run waits for that has nothing to do.
func (m *machine) waitsFor() string {
	var all []string
	if s := m.floor(); s.Phase == phaseTalk {
		all = append(all, "user")
	}
	for _, id := range sorted(m.run.Interrupts) {
		i := m.run.Interrupts[id]
		all = append(all, string(i.Kind)+" "+i.Name)
	}
	return strings.Join(all, ", ")
}

// brief is a value for an error message.
func brief(v any) string {
	text := fmt.Sprint(v)
	if len(text) > 120 {
		text = strings.ToValidUTF8(text[:120], "") + "…"
	}
	return text
}
