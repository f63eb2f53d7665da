package run

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/turnwise/turnwise/flows/expr"
)

// handle handles one response.
func (m *machine) handle(r Response) error {
	switch r := r.(type) {
	case UserTurn:
		m.userTurn(r.Text)
	case BotTurn:
		m.botTurn(r.Text)
	case FunctionCall:
		m.called(r)
	case CallResult:
		return m.returned(r)
	case Answer:
		return m.answer(r)
	case Silence:
		m.silent()
	case Tick:
		return m.due()
	case Correct:
		return m.correctNow(r.Correction)
	case Cancel:
		m.end(m.run.Scopes[""], &Outcome{Name: "cancelled", Failure: &Failure{Class: "cancelled", Message: r.Reason}})
	default:
		return fmt.Errorf("run: there is no response of type %T", r)
	}
	return nil
}

// beginTalk opens a talking node: its line on the first visit, then user and model talk.
// A collect node that has all it asks for is passed without a word.
func (m *machine) beginTalk(s *Scope, n *node) {
	if n.kind == kindCollect {
		if reason := m.dropInvalid(s, n); reason != "" {
			m.say(s, reason)
		}
		if len(m.missing(s, n)) == 0 {
			m.done(s, nil)
			return
		}
	}
	if s.Fresh && s.Visit == 1 && s.Replay == "" && !m.line(s, n.say, m.view(s)) {
		return
	}
	e := at(s, EventPhase)
	e.Text, e.Reason = string(phaseTalk), "told"
	m.emit(e)
}

// dropInvalid clears given values that do not pass, and tells why for the first words.
func (m *machine) dropInvalid(s *Scope, n *node) string {
	var why []string
	for _, name := range n.collect {
		v, has := m.owner(s).State[name]
		if !has {
			continue
		}
		if _, reason := m.valid(s, n, name, v); reason != "" {
			m.emit(Event{Type: EventState, Scope: m.owner(s).Path, Node: s.Node, Cleared: []string{name}})
			why = append(why, reason)
		}
	}
	return strings.Join(why, " ")
}

// missing are the fields a collect node has yet to get.
func (m *machine) missing(s *Scope, n *node) []string {
	var open []string
	for _, name := range n.collect {
		if _, has := m.owner(s).State[name]; !has {
			open = append(open, name)
		}
	}
	return open
}

// valid holds a value against its field's schema and the node's checks; the reason of a
// refusal is fit for the user.
func (m *machine) valid(s *Scope, n *node, name string, v any) (any, string) {
	f := m.flowOf(s).state[name]
	if f == nil {
		return nil, fmt.Sprintf("There is no field %s.", name)
	}
	v, err := f.accept(v)
	if err != nil {
		return nil, fmt.Sprintf("The value for %s does not fit: %v.", name, err)
	}
	for _, c := range n.checks {
		if c.when == nil || !readsField(c.when.Reads(), name) {
			continue
		}
		w := m.view(s)
		over := overlay{view: w, field: name, value: v}
		holds, err := c.when.Bool(over)
		if err != nil || holds {
			continue // a check of values that are not there yet says nothing
		}
		if c.say != nil {
			if text, err := c.say.Text(over); err == nil {
				return nil, text
			}
		}
		return nil, fmt.Sprintf("The value for %s is not accepted.", name)
	}
	return v, ""
}

// overlay is a view in which one field has a value it has not yet.
type overlay struct {
	*view
	field string
	value any
}

// Value is the value of a name.
func (o overlay) Value(name string) (any, bool) {
	if name != "state" {
		return o.view.Value(name)
	}
	state := map[string]any{}
	for k, v := range o.m.owner(o.s).State {
		state[k] = v
	}
	state[o.field] = o.value
	return state, true
}

// userTurn notes the user's words; a closure phrase ends a follow-up.
func (m *machine) userTurn(text string) {
	s := m.floor()
	e := at(s, EventUser)
	e.Text = text
	m.emit(e)
	if s.Phase != phaseTalk {
		return
	}
	n := m.nodeOf(s)
	for _, phrase := range n.closure {
		if normalise(text) == phrase {
			m.done(s, nil)
			return
		}
	}
}

// normalise is an utterance without case, punctuation and needless space.
func normalise(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '’'
	})
	return strings.ReplaceAll(strings.Join(words, " "), "’", "'")
}

// botTurn notes what was heard. A collect node counts an attempt when the user's turn
// brought nothing.
func (m *machine) botTurn(text string) {
	s := m.floor()
	e := at(s, EventBot)
	e.Text = text
	m.emit(e)
	n := m.nodeOf(s)
	if s.Phase != phaseTalk || n.kind != kindCollect || len(s.Steps) == 0 {
		return
	}
	if turn := m.run.Turn; turn > s.Steps[len(s.Steps)-1].Turn && s.Counted != turn && s.Useful != turn {
		m.attempt(s, n, m.missing(s, n))
	}
}

// attempt counts a failed attempt; the one that exhausts them leads on.
func (m *machine) attempt(s *Scope, n *node, fields []string) {
	if s.Counted == m.run.Turn && m.run.Turn > 0 {
		return
	}
	e := at(s, EventAttempt)
	e.Fields = fields
	m.emit(e)
	if n.attempts == 0 {
		return
	}
	for _, f := range fields {
		if s.Attempts[f] < n.attempts {
			continue
		}
		if n.onAttempts == "" {
			m.fail(s, &Failure{Class: "attempts", Message: fmt.Sprintf("%s was not given in %d attempts", f, n.attempts)})
			return
		}
		m.enter(s, n.onAttempts, ReasonEdge)
		return
	}
}

// silent takes the next step of the silence.
func (m *machine) silent() {
	s := m.floor()
	if s.Phase != phaseTalk {
		return
	}
	steps := m.silenceOf(s)
	if s.Silences >= len(steps) {
		return
	}
	step := steps[s.Silences]
	e := at(s, EventSilence)
	e.Count = s.Silences + 1
	m.emit(e)
	if !m.line(s, step.say, m.view(s)) || step.to == "" {
		return
	}
	m.enter(s, step.to, ReasonEdge)
}

// silenceOf are the steps of silence at a scope's node.
func (m *machine) silenceOf(s *Scope) []silence {
	if own := m.nodeOf(s).silence; len(own) > 0 {
		return own
	}
	return m.flowOf(s).silence
}

// record takes what a collect node's generated function was given: what is valid is
// saved even when the rest is not, and when nothing is missing the call is the edge.
func (m *machine) record(s *Scope, n *node, args map[string]any) map[string]any {
	saved, rejected := map[string]any{}, map[string]any{}
	var refused []string
	for _, name := range n.collect {
		v, given := args[name]
		if !given {
			continue
		}
		value, reason := m.valid(s, n, name, v)
		if reason != "" {
			rejected[name] = reason
			refused = append(refused, name)
			continue
		}
		saved[name] = value
	}
	if len(saved) > 0 {
		m.emit(Event{Type: EventState, Scope: m.owner(s).Path, Node: s.Node, Set: saved})
		m.emit(at(s, EventUseful))
	}
	report := map[string]any{"saved": m.seen(s, saved), "missing": m.missing(s, n)}
	if len(rejected) > 0 {
		report["rejected"] = rejected
	}
	switch {
	case len(m.missing(s, n)) == 0:
		m.done(s, saved)
	case len(refused) > 0:
		m.attempt(s, n, refused)
	case len(saved) == 0:
		m.attempt(s, n, m.missing(s, n))
	}
	return report
}

// seen is what the model is told was saved: the names of sensitive fields only.
func (m *machine) seen(s *Scope, saved map[string]any) map[string]any {
	shown := map[string]any{}
	for name, v := range saved {
		if f := m.flowOf(s).state[name]; f != nil && f.sensitive {
			v = "saved"
		}
		shown[name] = v
	}
	return shown
}

// accept holds a value against the field's schema.
func (f *field) accept(v any) (any, error) {
	if f.schema == nil {
		return v, nil
	}
	return v, f.schema.CheckValue(v)
}

// accept holds inputs against what the flow says a start must give.
func (f *flow) accept(given map[string]any) (map[string]any, error) {
	inputs := map[string]any{}
	for name, v := range given {
		field := f.inputs[name]
		if field == nil {
			return nil, fmt.Errorf("flow %s has no input %q", f.name, name)
		}
		v, err := expr.Plain(v)
		if err == nil {
			v, err = field.accept(v)
		}
		if err != nil {
			return nil, fmt.Errorf("input %s: %w", name, err)
		}
		inputs[name] = v
	}
	for name, field := range f.inputs {
		if _, has := inputs[name]; has {
			continue
		}
		if !field.hasInitial {
			return nil, fmt.Errorf("flow %s needs the input %q", f.name, name)
		}
		inputs[name] = field.initial
	}
	return inputs, nil
}
