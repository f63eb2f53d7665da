package run

import (
	"fmt"
	"slices"
)

// Refused tells why a correction was not made. Nothing has changed.
type Refused struct {
	Field  string // that was to be corrected
	Reason string // fit for the model
}

// Error is the reason.
func (e *Refused) Error() string {
	return fmt.Sprintf("run: %s is not corrected: %s", e.Field, e.Reason)
}

// correctNow is a correction that comes from outside and not from a function.
func (m *machine) correctNow(c Correction) error {
	if why := m.correct(m.floor(), c, nil); why != "" {
		return &Refused{c.Field, why}
	}
	return nil
}

// correct goes back to where a field was given: it clears what followed from it, undoes
// the effects that did, and has the user's words used again at that place. It gives the
// reason when it refuses.
func (m *machine) correct(s *Scope, c Correction, fn *Function) string {
	why := m.correctIn(m.owner(s), c, true)
	if why != "" {
		e := at(s, EventRefused)
		e.Name, e.Reason = c.Field, why
		m.emit(e)
		if fn != nil {
			m.told(fn, map[string]any{"error": why})
		}
	}
	return why
}

// correctIn corrects a field of the scope that owns it.
func (m *machine) correctIn(s *Scope, c Correction, undo bool) string {
	f := m.flowOf(s)
	field := f.state[c.Field]
	switch {
	case f.corrections == correctOff:
		return "this conversation takes no corrections"
	case field == nil:
		return "there is no such field"
	case field.locked:
		return "it cannot be changed"
	}
	if _, has := s.State[c.Field]; !has {
		return "it has not been given yet"
	}
	if c.Given {
		v, err := field.accept(c.Value)
		if err != nil {
			return "the new value does not fit: " + err.Error()
		}
		c.Value = v
	}
	step, target := m.target(s, c.Field)
	if target == nil {
		return "no node asks for it"
	}
	cleared := m.cleared(s, c.Field, step)
	for i := len(s.Done) - 1; undo && i >= 0; i-- {
		d := &s.Done[i]
		if d.Undone || d.Reverted || d.Step < step || !m.affected(s, d, cleared) {
			continue
		}
		n := f.nodes[d.Node]
		if n.call == nil || n.call.undo == nil {
			return fmt.Sprintf("%s has been done already and cannot be undone", d.Tool)
		}
		return m.startUndo(s, n, d, c)
	}
	m.rewind(s, target, step, cleared, c)
	return ""
}

// target is the step that wrote a field, and the node that asks for it. Step 0 is that of
// the start, when the field was given with it.
func (m *machine) target(s *Scope, name string) (int, *node) {
	f := m.flowOf(s)
	step, written := s.Writes[name]
	if written && step >= 0 && step < len(s.Steps) {
		if n := f.nodes[s.Steps[step].Node]; !n.quiet() {
			return step, n
		}
	}
	for _, n := range f.askers[name] {
		for i, st := range s.Steps {
			if st.Node == n.name && !st.Undone {
				return i, n
			}
		}
	}
	if askers := f.askers[name]; len(askers) > 0 {
		return max(step, 0), askers[0]
	}
	return 0, nil
}

// cleared are the fields that a correction takes back, the corrected one among them.
func (m *machine) cleared(s *Scope, name string, step int) []string {
	f := m.flowOf(s)
	gone := []string{name}
	for _, other := range sorted(s.State) {
		if other == name {
			continue
		}
		at, written := s.Writes[other]
		switch {
		case slices.Contains(f.dependents[name], other):
			gone = append(gone, other)
		case f.corrections == correctHistory && written && at > step:
			gone = append(gone, other)
		}
	}
	return gone
}

// affected tells whether a call that took effect was made with what is taken back.
func (m *machine) affected(s *Scope, d *Finished, cleared []string) bool {
	n := m.flowOf(s).nodes[d.Node]
	if n == nil || n.call == nil || n.call.tool != d.Tool || !n.call.effect {
		return false
	}
	hit := false
	for i := range n.call.args {
		n.call.args[i].value.reads(func(path []string) {
			if path[0] == "state" && (len(path) == 1 || slices.Contains(cleared, path[1])) {
				hit = true
			}
		})
	}
	return hit
}

// startUndo calls what undoes an effect; the correction goes on when it has succeeded.
func (m *machine) startUndo(s *Scope, n *node, d *Finished, c Correction) string {
	u := n.call.undo
	v := m.view(s)
	v.args, v.result = d.Args, d.Result
	args, err := evalAll(u.args, v)
	if err != nil {
		return "what would undo " + d.Tool + " cannot be worked out: " + err.Error()
	}
	if why := m.denied(s, u.tool); why != "" {
		return u.tool + ": " + why
	}
	call := &Call{Scope: s.Path, Node: d.Node, Visit: s.Visit, Tool: u.tool, Args: args, Attempt: 1, Undo: &c, Undoes: d.Key, Key: digest("undo", d.Key)}
	m.issue(s, call, u.timeout)
	return ""
}

// undone goes on with a correction when an undo has returned.
func (m *machine) undone(s *Scope, c *Call, f *Failure) {
	why := ""
	if f != nil {
		why = c.Tool + " failed: " + f.Message
	} else {
		e := at(s, EventReverted)
		e.Name = c.Undoes
		m.emit(e)
		why = m.correctIn(s, *c.Undo, true)
	}
	if why != "" {
		e := at(s, EventRefused)
		e.Name, e.Reason = c.Undo.Field, why
		m.emit(e)
		for i := range m.run.Functions {
			if fn := m.run.Functions[i]; fn.Name == FunctionCorrect {
				m.told(&fn, map[string]any{"error": why})
			}
		}
	}
}

// rewind goes back to a step.
func (m *machine) rewind(s *Scope, target *node, step int, cleared []string, c Correction) {
	m.release(s)
	m.supersede(s, step, cleared)
	m.emit(Event{Type: EventState, Scope: s.Path, Node: s.Node, Cleared: cleared})
	e := at(s, EventCorrected)
	e.Name, e.Count, e.Cleared, e.Text = c.Field, step, cleared, c.Words
	m.emit(e)
	m.arrive(s, target, ReasonCorrection, c.Words)
	if c.Given && s.Node == target.name {
		m.emit(Event{Type: EventState, Scope: s.Path, Node: s.Node, Set: map[string]any{c.Field: c.Value}})
	}
}

// supersede takes the turns that led to what is taken back out of later requests. The
// turn that causes the correction stays: its words are used again.
func (m *machine) supersede(s *Scope, step int, cleared []string) {
	all := m.flowOf(s).corrections == correctHistory
	for i := step; i < len(s.Steps); i++ {
		from, to := s.Steps[i].Turn+1, m.run.Turn
		if i+1 < len(s.Steps) {
			to = min(to, s.Steps[i+1].Turn+1)
		}
		wrote := i == step || slices.ContainsFunc(cleared, func(name string) bool {
			at, written := s.Writes[name]
			return written && at == i
		})
		if from < to && (all || wrote) {
			m.emit(Event{Type: EventSuperseded, Scope: s.Path, Count: from, To: to})
		}
	}
}
