package run

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/turnwise/turnwise/flows/expr"
)

// beginCall starts a node's call, or that of a function, unless it may not be made, was
// made before, or must be confirmed first.
func (m *machine) beginCall(s *Scope, n *node, c *callOf, fn *Function) {
	v := m.view(s)
	if fn != nil {
		v.args = fn.Args
	}
	interrupt := ""
	if c.async {
		interrupt = interruptID(m.run.ID, s.Path, s.Node, s.Visit, "callback")
		v.url = m.in.Callbacks + interrupt
	}
	args, err := evalAll(c.args, v)
	if err != nil {
		m.callFailed(s, fn, &Failure{Class: "expression", Message: fmt.Sprintf("args: %v", err)})
		return
	}
	if c.tool != "" {
		if why := m.denied(s, c.tool); why != "" {
			m.emit(Event{Type: EventDecision, Scope: s.Path, Node: s.Node, Visit: s.Visit, Name: c.tool, Reason: why})
			m.callFailed(s, fn, &Failure{Class: "policy", Message: c.tool + ": " + why})
			return
		}
		if old := m.reusable(s, c, args); old != nil && !c.async {
			m.emit(Event{Type: EventDecision, Scope: s.Path, Node: s.Node, Visit: s.Visit, Name: c.tool, Reason: "its result is known: the arguments are the same"})
			m.callSucceeded(s, n, fn, old.Result)
			return
		}
		if c.confirm != nil && fn == nil && m.confirmFirst(s, c, args, v) {
			return
		}
	}
	m.startCall(s, c, args, fn, v)
	if c.async {
		m.openWait(s, n, n.wait, "callback", interrupt, v.url)
	}
	if fn == nil {
		m.talkMeanwhile(s, n)
	}
}

// denied tells why a tool must not be called, "" when it may.
func (m *machine) denied(s *Scope, tool string) string {
	f := m.flowOf(s)
	t := f.tools[tool]
	switch {
	case t == nil:
		return "there is no such tool"
	case f.allow != nil && !f.allow[tool]:
		return "it is not in the policy's allow list"
	}
	for _, p := range t.permissions {
		if !slices.Contains(m.in.Permissions, p) {
			return "the permission " + p + " is missing"
		}
	}
	return ""
}

// reusable is a call with these arguments that a correction went back past without
// undoing it.
func (m *machine) reusable(s *Scope, c *callOf, args map[string]any) *Finished {
	for i := len(s.Done) - 1; i >= 0; i-- {
		d := &s.Done[i]
		if d.Undone && !d.Reverted && d.Node == s.Node && d.Tool == c.tool && reflect.DeepEqual(d.Args, args) {
			return d
		}
	}
	return nil
}

// confirmFirst asks for leave when that is needed and not given yet. Leave is pinned to
// the tool, the arguments and the node.
func (m *machine) confirmFirst(s *Scope, c *callOf, args map[string]any, v *view) bool {
	v.args = args
	if c.confirm.when != nil {
		if needed, err := c.confirm.when.Bool(v); err == nil && !needed {
			return false
		}
	}
	if s.Approved == fingerprint(c.tool, args) {
		return false
	}
	title := c.tool
	if c.confirm.say != nil {
		text, err := c.confirm.say.Text(v)
		if err != nil {
			m.fail(s, &Failure{Class: "expression", Message: fmt.Sprintf("confirm: %v", err)})
			return true
		}
		title = text
	}
	e := at(s, EventInterrupt)
	e.Interrupt = &Interrupt{ID: interruptID(m.run.ID, s.Path, s.Node, s.Visit, "confirm/"+fingerprint(c.tool, args)), Kind: InterruptConfirm, Name: "confirm", Scope: s.Path, Node: s.Node, Visit: s.Visit,
		Audience: c.confirm.by, Title: title, Tool: c.tool, Args: args, Schema: json.RawMessage(`{"type":"boolean"}`)}
	m.emit(e)
	if c.confirm.by == AudienceUser {
		m.say(s, title)
	}
	m.phase(s, phaseWait)
	return true
}

// fingerprint names a call with its arguments.
func fingerprint(tool string, args map[string]any) string {
	raw, err := json.Marshal(args)
	if err != nil {
		return ""
	}
	return digest(tool, string(raw))
}

// startCall records that a call is made. Whoever runs it does so once this is durable.
func (m *machine) startCall(s *Scope, c *callOf, args map[string]any, fn *Function, v *view) {
	name := c.tool
	if name == "" {
		name = "model"
	}
	call := &Call{Scope: s.Path, Node: s.Node, Visit: s.Visit, Tool: c.tool, Args: args, Async: c.async, Attempt: 1}
	if fn != nil {
		call.Function, name = fn.ID, name+"/"+fn.ID
	}
	if c.prompt != nil {
		text, err := c.prompt.Text(v)
		if err != nil {
			m.callFailed(s, fn, &Failure{Class: "expression", Message: fmt.Sprintf("prompt: %v", err)})
			return
		}
		call.Prompt, call.Schema = text, c.outputRaw
	}
	call.Key = idempotencyKey(m.run.ID, s.Path, s.Node, s.Visit, name)
	m.issue(s, call, c.timeout)
	if fn == nil {
		m.phase(s, phaseCall) // a function's call leaves its node talking: others may be called beside it
	}
}

// issue notes that a call is made, which may take as long as timeout; 0 is no limit.
func (m *machine) issue(s *Scope, call *Call, timeout time.Duration) {
	call.ID = callID(call)
	if timeout > 0 {
		call.Deadline = m.in.Now.Add(timeout)
	}
	e := at(s, EventCall)
	e.Call = call
	m.emit(e)
}

// callID is the id of one attempt.
func callID(c *Call) string { return c.Key + "." + strconv.Itoa(c.Attempt) }

// returned handles the end of a call.
func (m *machine) returned(r CallResult) error {
	c := m.run.Calls[r.Call]
	if c == nil {
		return fmt.Errorf("%w: %s", ErrNoCall, r.Call)
	}
	s := m.run.Scopes[c.Scope]
	if r.Wait != nil {
		return m.ask(s, c, r.Wait)
	}
	if value, err := expr.Plain(r.Value); err == nil {
		r.Value = value
	} else if r.Failure == nil {
		r.Failure = &Failure{Class: "output", Message: err.Error()}
	}
	n, def := m.defOf(s, c)
	if r.Failure == nil && def != nil && def.output != nil {
		if def.output.CheckValue(r.Value) != nil {
			r.Failure = &Failure{Class: "output", Message: "the answer does not fit its schema"}
		}
	}
	if r.Failure != nil && def != nil && m.again(s, c, def, r.Failure) {
		return nil
	}
	fn := m.function(c.Function)
	done := *c
	m.emit(Event{Type: EventCallEnd, Scope: s.Path, Node: c.Node, Visit: c.Visit, Name: c.ID, Value: r.Value, Failure: r.Failure})
	switch {
	case done.Undo != nil:
		m.undone(s, &done, r.Failure)
	case r.Failure != nil:
		m.callFailed(s, fn, r.Failure)
	case done.Async && s.Answer == nil:
		m.phase(s, phaseWait)
	default:
		m.callSucceeded(s, n, fn, r.Value)
	}
	return nil
}

// defOf is the definition a call was made by.
func (m *machine) defOf(s *Scope, c *Call) (*node, *callOf) {
	n := m.flowOf(s).nodes[c.Node]
	if c.Function == "" {
		if c.Undo != nil {
			return n, nil
		}
		return n, n.call
	}
	fn := m.function(c.Function)
	if fn == nil {
		return n, nil
	}
	if f := m.definition(fn); f != nil {
		return n, f.call
	}
	return n, nil
}

// function is the model's open call of that id.
func (m *machine) function(id string) *Function {
	for i := range m.run.Functions {
		if m.run.Functions[i].ID == id {
			f := m.run.Functions[i]
			return &f
		}
	}
	return nil
}

// again has a failed call made once more when its retry allows that.
func (m *machine) again(s *Scope, c *Call, def *callOf, f *Failure) bool {
	r := def.retry
	on := r.on
	if len(on) == 0 {
		on = []string{"timeout", "network", "server", "rate_limit"}
	}
	if c.Attempt >= r.attempts || !slices.Contains(on, f.Class) {
		return false
	}
	wait := float64(r.delay)
	for range c.Attempt - 1 {
		wait *= max(r.backoff, 1)
	}
	if r.longest > 0 {
		wait = min(wait, float64(r.longest))
	}
	next := *c
	next.Attempt++
	next.ID = callID(&next)
	next.After = m.in.Now.Add(time.Duration(wait))
	if def.timeout > 0 {
		next.Deadline = next.After.Add(def.timeout)
	}
	m.emit(Event{Type: EventRetrying, Scope: s.Path, Node: c.Node, Visit: c.Visit, Name: c.ID, Count: next.Attempt, Due: next.After, Failure: f, Call: &next})
	return true
}

// callFailed handles a call that gave nothing: its node has failed.
func (m *machine) callFailed(s *Scope, fn *Function, f *Failure) {
	if fn != nil {
		f = &Failure{Class: f.Class, Message: "function " + fn.Name + ": " + f.Message}
	}
	m.fail(s, f)
}

// callSucceeded goes on with what a call gave.
func (m *machine) callSucceeded(s *Scope, n *node, fn *Function, value any) {
	if fn != nil {
		m.functionDone(s, fn, value, true)
		return
	}
	if n.kind == kindCustom {
		m.stepCustom(s, n, value, true)
		return
	}
	m.callDone(s, n, value)
}

// callDone saves what a node's call, or the answer it waited for, gave.
func (m *machine) callDone(s *Scope, n *node, value any) {
	v := m.view(s)
	v.result = value
	if err := m.saveAll(s, n.save, v); err != nil {
		m.fail(s, &Failure{Class: "schema", Message: fmt.Sprintf("save: %v", err)})
		return
	}
	if n.say != nil && !m.line(s, n.say, v) {
		return
	}
	e := at(s, EventResultKept)
	e.Value = value
	m.emit(e)
	m.done(s, value)
}
