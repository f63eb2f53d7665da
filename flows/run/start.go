package run

import (
	"fmt"

	"github.com/turnwise/turnwise/flows/expr"
)

// Start is what a run begins with.
type Start struct {
	// ID of the run. Callback addresses are made of it, so it must be hard to guess.
	ID string
	// Inputs the flow asks for.
	Inputs map[string]any
	// State are variables that are known already. Those that a collect node asks for and
	// that turn out not to fit are dropped there, and the first words say why.
	State map[string]any
	// At is the node to begin at; the flow's start when empty.
	At string
}

// Start begins a run: it goes as far as it can without anybody's answer.
func (p *Plan) Start(start Start, in Input) (*Run, []Event, error) {
	f := p.main
	if start.ID == "" {
		return nil, nil, fmt.Errorf("run: a run needs an ID")
	}
	inputs, err := f.accept(start.Inputs)
	if err != nil {
		return nil, nil, fmt.Errorf("run: %w", err)
	}
	at := start.At
	if at == "" {
		at = f.start
	}
	if f.nodes[at] == nil {
		return nil, nil, fmt.Errorf("run: flow %s has no node %q", f.name, at)
	}
	for name := range start.State {
		if f.state[name] == nil {
			return nil, nil, fmt.Errorf("run: flow %s has no field %q", f.name, name)
		}
	}
	given, err := expr.Plain(start.State)
	if err != nil {
		return nil, nil, fmt.Errorf("run: state: %w", err)
	}
	start.State, _ = given.(map[string]any)
	m := &machine{plan: p, run: &Run{}, in: in}
	m.emit(Event{Type: EventStarted, From: start.ID, Name: f.name, Hash: p.hash})
	m.emit(Event{Type: EventScope, Scope: "", Name: f.name, Set: inputs})
	s := m.run.Scopes[""]
	if f.key != nil {
		key, err := f.key.Text(m.view(s))
		if err != nil {
			return nil, nil, fmt.Errorf("run: key: %w", err)
		}
		m.emit(Event{Type: EventKey, Text: key})
	}
	m.initialise(s, f)
	if len(start.State) > 0 {
		m.emit(Event{Type: EventState, Set: start.State})
	}
	if f.greet != nil {
		text, err := f.greet.Text(m.view(s))
		if err != nil {
			return nil, nil, fmt.Errorf("run: greet: %w", err)
		}
		m.say(s, text)
	}
	m.enter(s, at, ReasonStart)
	m.settle()
	m.conclude()
	return m.run, m.events, nil
}
