package run_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/turnwise/turnwise/flows/expr"
	"github.com/turnwise/turnwise/flows/run"
)

// compile makes a plan of a flow written as YAML.
func compile(t testing.TB, source string) *run.Plan {
	t.Helper()
	return compileWith(t, source, run.Options{})
}

func compileWith(t testing.TB, source string, o run.Options) *run.Plan {
	t.Helper()
	p, err := tryCompile(t, source, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// tryCompile is compileWith with the error of the compiler.
func tryCompile(t testing.TB, source string, o run.Options) (*run.Plan, error) {
	t.Helper()
	var doc map[string]any
	if err := yaml.Unmarshal([]byte(source), &doc); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return run.Compile(raw, o)
}

// tools are scripted tools by name; several results are given one after the other.
type tools map[string]func(c run.ToolCall) (any, error)

// host drives a run by hand in virtual time: it makes each call at once.
type host struct {
	t      testing.TB
	plan   *run.Plan
	run    *run.Run
	now    time.Time
	tools  tools
	models []any // answers of the model, in order
	events []run.Event
	calls  []run.ToolCall // made, in order
	hold   bool           // calls are not made
	number int
}

// start begins a run.
func start(t testing.TB, source string, s run.Start, tl tools) *host {
	t.Helper()
	return begin(t, compile(t, source), s, tl)
}

func begin(t testing.TB, p *run.Plan, s run.Start, tl tools) *host {
	t.Helper()
	h := &host{t: t, plan: p, now: time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC), tools: tl}
	if s.ID == "" {
		s.ID = "run-1"
	}
	r, events, err := p.Start(s, h.input())
	if err != nil {
		t.Fatal(err)
	}
	h.keep(r, events)
	h.carry()
	return h
}

func (h *host) input(rs ...run.Response) run.Input {
	return run.Input{Now: h.now, Callbacks: "https://example.test/callbacks/", Responses: rs, Permissions: []string{"pay"}}
}

// keep takes the outcome of an advance, and holds it to the promises of every advance.
func (h *host) keep(r *run.Run, events []run.Event) {
	h.t.Helper()
	h.events = append(h.events, events...)
	h.run = r
	again, err := run.Replay(h.events)
	if err != nil {
		h.t.Fatalf("replay: %v", err)
	}
	if !reflect.DeepEqual(again, r) {
		h.t.Fatalf("the events come to another run:\n%s\n%s", dump(again), dump(r))
	}
	needs, err := h.plan.Needs(r, h.input())
	if err != nil {
		h.t.Fatal(err)
	}
	if r.Status != run.StatusEnded && len(needs) == 0 && h.plan.Due(r).IsZero() {
		h.t.Fatalf("the run is stuck: %s", dump(r))
	}
}

// do tells the run of something and makes the calls that follow.
func (h *host) do(rs ...run.Response) {
	h.t.Helper()
	if err := h.try(rs...); err != nil {
		h.t.Fatalf("%T: %v", rs[0], err)
	}
}

// try is do with the error of the first advance.
func (h *host) try(rs ...run.Response) error {
	h.t.Helper()
	before := dump(h.run)
	r, events, err := h.plan.Advance(h.run, h.input(rs...))
	if after := dump(h.run); after != before {
		h.t.Fatalf("the run given was changed:\n%s\n%s", before, after)
	}
	if err != nil {
		return err
	}
	h.keep(r, events)
	h.carry()
	return nil
}

// carry makes the calls the run needs until there are none.
func (h *host) carry() {
	h.t.Helper()
	for !h.hold {
		call := h.openCall()
		if call == nil {
			return
		}
		result := run.CallResult{Call: call.ID}
		if call.Tool == "" {
			if len(h.models) == 0 {
				h.t.Fatalf("the model is asked %q and no answer is scripted", call.Prompt)
			}
			result.Value, h.models = h.models[0], h.models[1:]
			if f, is := result.Value.(*run.Failure); is {
				result.Value, result.Failure = nil, f
			}
		} else {
			tc := run.ToolCall{Tool: call.Tool, Args: call.Args, Key: call.Key, Attempt: call.Attempt, Node: call.Node, Answers: call.Answers}
			h.calls = append(h.calls, tc)
			f := h.tools[call.Tool]
			if f == nil {
				h.t.Fatalf("no tool %s is scripted", call.Tool)
			}
			v, err := f(tc)
			var asks *run.Question
			var fails *run.Failure
			switch {
			case errors.As(err, &asks):
				result.Wait = asks
			case errors.As(err, &fails):
				result.Failure = fails
			case err != nil:
				result.Failure = &run.Failure{Class: "tool", Message: err.Error()}
			default:
				if result.Value, err = expr.Plain(v); err != nil {
					h.t.Fatal(err)
				}
			}
		}
		r, events, err := h.plan.Advance(h.run, h.input(result))
		if err != nil {
			h.t.Fatal(err)
		}
		h.keep(r, events)
	}
}

// openCall is a call to make now.
func (h *host) openCall() *run.Call {
	h.t.Helper()
	needs, err := h.plan.Needs(h.run, h.input())
	if err != nil {
		h.t.Fatal(err)
	}
	for _, n := range needs {
		if n.Call != nil {
			return n.Call
		}
	}
	return nil
}

// call is a call of the model's; it gives the result the model is told.
func (h *host) call(name string, args map[string]any) map[string]any {
	h.t.Helper()
	h.number++
	id := fmt.Sprintf("call-%d", h.number)
	h.do(run.FunctionCall{ID: id, Name: name, Args: args})
	return h.result(id)
}

// result is what a call of the model's was told, nil when there is none yet.
func (h *host) result(id string) map[string]any {
	var found []map[string]any
	for _, e := range h.events {
		if e.Type == run.EventResult && e.Name == id {
			v, _ := e.Value.(map[string]any)
			found = append(found, v)
		}
	}
	if len(found) > 1 {
		h.t.Fatalf("%s has %d results", id, len(found))
	}
	if len(found) == 0 {
		return nil
	}
	return found[0]
}

// say is a turn of the user's.
func (h *host) say(text string) {
	h.t.Helper()
	h.do(run.UserTurn{Text: text})
}

// pass lets time pass.
func (h *host) pass(d time.Duration) {
	h.t.Helper()
	h.now = h.now.Add(d)
	h.do(run.Tick{})
}

// at expects the flow's own scope to be at a node.
func (h *host) at(node string) {
	h.t.Helper()
	if got := h.run.Scopes[""].Node; got != node {
		h.t.Fatalf("at %s, want %s; %s", got, node, dump(h.run.Outcome))
	}
}

// state expects fields to have values.
func (h *host) state(want map[string]any) {
	h.t.Helper()
	if got := h.run.Scopes[""].State; !reflect.DeepEqual(got, want) {
		h.t.Fatalf("state %v, want %v", got, want)
	}
}

// outcome expects the run to have ended.
func (h *host) outcome(name string) *run.Outcome {
	h.t.Helper()
	if h.run.Outcome == nil || h.run.Outcome.Name != name {
		h.t.Fatalf("outcome %s, want %s; at %s", dump(h.run.Outcome), name, h.run.Scopes[""].Node)
	}
	return h.run.Outcome
}

// talk is what the conversation is about now.
func (h *host) talk() *run.Talk {
	h.t.Helper()
	needs, err := h.plan.Needs(h.run, h.input())
	if err != nil {
		h.t.Fatal(err)
	}
	for _, n := range needs {
		if n.Talk != nil {
			return n.Talk
		}
	}
	h.t.Fatalf("nobody talks: %s", dump(h.run))
	return nil
}

// offers tells whether a function is offered.
func (h *host) offers(name string) bool {
	h.t.Helper()
	return slices.ContainsFunc(h.talk().Functions, func(o run.Offered) bool { return o.Name == name })
}

// interrupt is the open interrupt of a name.
func (h *host) interrupt(name string) *run.Interrupt {
	h.t.Helper()
	for _, i := range h.run.Interrupts {
		if i.Name == name {
			return i
		}
	}
	h.t.Fatalf("no interrupt %s is open: %s", name, dump(h.run.Interrupts))
	return nil
}

// said are the fixed lines so far.
func (h *host) said() string {
	var all []string
	for _, e := range h.events {
		if e.Type == run.EventSaid {
			all = append(all, e.Text)
		}
	}
	return strings.Join(all, " | ")
}

// count counts events of a type.
func (h *host) count(t run.Type) int {
	n := 0
	for _, e := range h.events {
		if e.Type == t {
			n++
		}
	}
	return n
}

// tally counts the calls of a tool.
func (h *host) tally(tool string) int {
	n := 0
	for _, c := range h.calls {
		if c.Tool == tool {
			n++
		}
	}
	return n
}

func dump(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// gives scripts a tool with one result.
func gives(v any) func(run.ToolCall) (any, error) {
	return func(run.ToolCall) (any, error) { return v, nil }
}

// inTurn scripts a tool with results one after the other; an error is one, too.
func inTurn(results ...any) func(run.ToolCall) (any, error) {
	return func(run.ToolCall) (any, error) {
		if len(results) == 0 {
			return nil, errors.New("called too often")
		}
		v := results[0]
		results = results[1:]
		if err, is := v.(error); is {
			return nil, err
		}
		return v, nil
	}
}
