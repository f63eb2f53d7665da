package run

import (
	"maps"
	"slices"

	"github.com/turnwise/turnwise/flows/expr"
)

// sorted are the names of a map in order.
func sorted[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// view is what expressions see at one place of a run.
type view struct {
	m      *machine
	s      *Scope
	args   map[string]any // of a function, or of a call
	result any
	has    bool // there is a result
	answer any
	asked  bool // there is an answer
	url    string
}

// view is what a scope's node sees.
func (m *machine) view(s *Scope) *view {
	return &view{m: m, s: s, result: s.Result, has: true, answer: s.Answer, asked: true}
}

// Value is the value of a name.
func (v *view) Value(name string) (any, bool) {
	switch name {
	case "state":
		return m2any(v.m.owner(v.s).State), true
	case "inputs":
		return m2any(v.m.owner(v.s).Inputs), true
	case "nodes":
		return m2any(v.m.outputs(v.s)), true
	case "item":
		return v.m.item(v.s)
	case "visits":
		return int64(v.s.Visits[v.s.Node]), true
	case "args":
		return m2any(v.args), v.args != nil
	case "result":
		return v.result, v.has
	case "answer":
		return v.answer, v.asked
	case "outcome":
		if v.s.Outcome == nil {
			return nil, false
		}
		return map[string]any{"name": v.s.Outcome.Name, "success": v.s.Outcome.Success, "value": v.s.Outcome.Value}, true
	case "user":
		return map[string]any{"text": v.m.run.User}, true
	case "error":
		f := v.s.Failure
		if f == nil {
			return nil, false
		}
		return map[string]any{"class": f.Class, "message": f.Message, "node": f.Node}, true
	case "callback":
		return map[string]any{"url": v.url}, v.url != ""
	case "node":
		title := v.s.Node
		if n := v.m.nodeOf(v.s); n != nil && n.title != "" {
			title = n.title
		}
		return map[string]any{"name": v.s.Node, "title": title}, true
	case "now":
		return expr.Now(v.m.in.Now), true
	case "env":
		return v.env()
	}
	return nil, false
}

// m2any keeps a map that is nil from becoming null.
func m2any(m map[string]any) any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// env gives what the environment offers, and journals it.
func (v *view) env() (any, bool) {
	for _, name := range sorted(v.m.in.Env) {
		if _, read := v.m.run.Env[name]; !read {
			v.m.emit(Event{Type: EventEnv, Name: name, Value: v.m.in.Env[name]})
		}
	}
	return m2any(v.m.run.Env), true
}
