package run

import "encoding/json"

// Kind is a kind of node that a program adds. A kind is a pure function of what it is
// given: it may be asked the same again when a run is resumed or replayed, and reaches
// the outside through the tools it calls and the answers it waits for.
type Kind interface {
	// Step tells what a node does: when it is entered, when the tool it called has
	// returned, and when what it waited for was answered.
	Step(in StepInput) (Step, error)
}

// StepInput is what a node of a custom kind sees. Nothing in it may be changed.
type StepInput struct {
	// Config is what the flow says under the kind's key.
	Config map[string]any
	// State are the flow's variables, Inputs what it was started with.
	State, Inputs map[string]any
	// Visit counts the visits of the node, from 1.
	Visit int
	// Step counts the steps of this visit, from 0.
	Step int
	// Value is what the tool gave or somebody answered; Answered tells that it is one.
	Value    any
	Answered bool
}

// Step is what a node of a custom kind does next: exactly one of Call and Wait, or
// neither when it is done.
type Step struct {
	// Say is a line for the user, before anything else.
	Say string
	// Output is the node's output when it is done; also the result its edges see.
	Output any
	// Save gives fields a value when it is done.
	Save map[string]any
	// Call calls a tool.
	Call *StepCall
	// Wait waits for an answer.
	Wait *StepWait
}

// StepCall is a call of a tool by a custom node.
type StepCall struct {
	// Tool is its name in the flow.
	Tool string
	// Args are its arguments, plain.
	Args map[string]any
}

// StepWait is a wait of a custom node.
type StepWait struct {
	// Name of the wait, unique within the node.
	Name string
	// Title is for whom it asks; Audience is operator when empty.
	Title    string
	Audience Audience
	// Schema of the answer; anything but null when empty.
	Schema json.RawMessage
}

// stepCustom has a custom node do its next step.
func (m *machine) stepCustom(s *Scope, n *node, value any, answered bool) {
	o := m.owner(s)
	step, err := n.custom.Step(StepInput{Config: n.config, State: o.State, Inputs: o.Inputs, Visit: s.Visit, Step: s.Stage, Value: value, Answered: answered})
	if err != nil {
		m.fail(s, &Failure{Class: "node", Message: err.Error()})
		return
	}
	m.say(s, step.Say)
	e := at(s, EventStage)
	e.Count = s.Stage + 1
	m.emit(e)
	switch {
	case step.Call != nil:
		m.beginCall(s, n, &callOf{tool: step.Call.Tool, args: literal(step.Call.Args)}, nil)
	case step.Wait != nil:
		w := &waitOf{kind: InterruptForm, audience: step.Wait.Audience, raw: step.Wait.Schema}
		if w.audience == "" {
			w.audience = AudienceOperator
		}
		m.wait(s, n, w, step.Wait.Name)
	default:
		if err := m.saveAll(s, literal(step.Save), m.view(s)); err != nil {
			m.fail(s, &Failure{Class: "schema", Message: "save: " + err.Error()})
			return
		}
		kept := at(s, EventResultKept)
		kept.Value = step.Output
		m.emit(kept)
		m.done(s, step.Output)
	}
}
