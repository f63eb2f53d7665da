package run_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/turnwise/turnwise/flows/run"
)

func TestSubflowsReturnTheirOutcomeAndOutput(t *testing.T) {
	h := start(t, `
turnwise: 1
flow: outer
state: {n: {type: integer, default: 1}}
start: inner
nodes:
  inner: {use: child, input: {n: "{{ state.n }}"}, save: {n: "{{ result }}"}, next: [{when: outcome.name == "more", to: inner}, {to: done}]}
  done: {end: {outcome: "done", value: "{{ state.n }}"}}
flows:
  child:
    inputs: {n: {type: integer}}
    state: {m: {type: integer}}
    start: add
    nodes:
      add: {set: {m: "{{ inputs.n + 1 }}"}, next: [{when: state.m < 5, to: more}, {to: enough}]}
      more: {end: {outcome: more, value: "{{ state.m }}"}}
      enough: {end: {outcome: enough, value: "{{ state.m }}"}}
`, run.Start{}, nil)
	if o := h.outcome("done"); o.Value != int64(5) || len(h.run.Scopes) != 1 {
		t.Errorf("%+v, %d scopes", o, len(h.run.Scopes))
	}
}

func TestI9ACycleEndsAtMaxVisits(t *testing.T) {
	h := start(t, `
turnwise: 1
flow: cycle
state: {n: {type: integer, default: 0}}
start: a
nodes:
  a: {set: {n: "{{ state.n + 1 }}"}, max_visits: 3, next: b}
  b: {branch: [{to: a}]}
`, run.Start{}, nil)
	if o := h.outcome("failed"); o.Failure.Class != "max_visits" || o.Failure.Node != "a" {
		t.Errorf("%+v", o.Failure)
	}
	h.state(map[string]any{"n": int64(3)})
}

func TestARequireGoesThereFirstAndThenOn(t *testing.T) {
	h := start(t, `
turnwise: 1
flow: require
state: {who: {type: string}}
start: menu
nodes:
  menu: {task: Ask., functions: {pay: {description: Pay., next: pay}, look: {description: Look., next: done}}}
  identify: {collect: [who], next: menu}
  pay: {say: "Paying for {{ state.who }}.", require: {when: "(state.who ?? '') != ''", else: identify}, next: done}
  done: {end: {outcome: done}}
`, run.Start{}, nil)
	h.call("pay", nil)
	h.at("identify")
	h.call("record", map[string]any{"who": "Ada"})
	h.outcome("done")
	if h.said() != "Paying for Ada." {
		t.Errorf("said %q", h.said())
	}
}

func TestSilenceAndAbandonment(t *testing.T) {
	h := start(t, `
turnwise: 1
flow: quiet
silence: [{after: 6s, say: "Still there?"}, {after: 8s, to: bye}]
abandon: 24h
start: ask
nodes:
  ask: {task: Ask., next: bye}
  bye: {end: {outcome: hung_up}}
`, run.Start{}, nil)
	h.do(run.Silence{})
	if h.said() != "Still there?" || len(h.talk().Silence) != 2 || h.talk().Silences != 1 {
		t.Fatalf("said %q", h.said())
	}
	h.say("yes") // words begin the steps again
	h.do(run.Silence{})
	h.do(run.Silence{})
	h.outcome("hung_up")
	h = begin(t, h.plan, run.Start{}, nil)
	h.pass(23 * time.Hour)
	h.at("ask")
	if due := h.plan.Due(h.run); due.Sub(h.now) != time.Hour {
		t.Errorf("due in %s", due.Sub(h.now))
	}
	h.pass(time.Hour)
	h.outcome("abandoned")
	if err := h.try(run.Tick{}); !errors.Is(err, run.ErrEnded) {
		t.Errorf("%v", err)
	}
}

func TestFunctionCallsAlwaysGetOneResult(t *testing.T) {
	h := start(t, codes, run.Start{}, tools{"look": gives(map[string]any{"state": map[string]any{"code": "lost"}})})
	for _, c := range []run.FunctionCall{{Name: "fly"}, {Name: "check", Args: map[string]any{"x": 1}}, {Name: "check", Node: "quiet", Visit: 1}} {
		c.ID = "bad-" + c.Name + c.Node
		if c.Args != nil {
			c.ID += "-args"
		}
		h.do(c)
		if text, _ := h.result(c.ID)["error"].(string); text == "" {
			t.Errorf("%+v: the model is told %v", c, h.result(c.ID))
		}
	}
	first := h.call("check", nil)
	if second := h.call("check", nil); !reflect.DeepEqual(first, second) || h.tally("look") != 1 {
		t.Errorf("the same call gave %v and %v, after %d calls", first, second, h.tally("look"))
	}
}

func TestCallsOfOneBatchRunBesideEachOtherAndTheFirstEdgeWins(t *testing.T) {
	h := start(t, `
turnwise: 1
flow: batch
state: {x: {}}
tools: {a: {http: {method: GET}}, b: {http: {method: GET}}}
start: ask
nodes:
  ask:
    task: Ask.
    functions:
      stay: {description: Stay., call: a}
      go: {description: Go., call: b, next: next}
      leave: {description: Leave., call: b, next: ask}
  next: {task: Talk.}
`, run.Start{}, tools{"a": gives("A"), "b": gives("B")})
	h.hold = true
	offered := h.talk()
	for _, name := range []string{"stay", "go", "leave"} {
		h.do(run.FunctionCall{ID: name, Name: name, Node: offered.Node, Visit: offered.Visit})
	}
	if len(h.run.Calls) != 3 || h.result("stay") != nil {
		t.Fatalf("%d calls are open", len(h.run.Calls))
	}
	h.hold = false
	h.carry()
	if at := h.run.Scopes[""]; h.result("stay")["result"] != "A" && h.result("stay")["node"] == nil || len(h.run.Functions) != 0 || at.Node == "" {
		t.Errorf("stay %v, go %v, leave %v", h.result("stay"), h.result("go"), h.result("leave"))
	}
	if h.count(run.EventEntered) != 2 {
		t.Errorf("%d nodes were entered, want the start and one more", h.count(run.EventEntered))
	}
}

// double is a custom kind that calls a tool, asks, and is done.
type double struct{}

func (double) Step(in run.StepInput) (run.Step, error) {
	switch in.Step {
	case 0:
		return run.Step{Say: "One moment.", Call: &run.StepCall{Tool: "look", Args: in.Config}}, nil
	case 1:
		return run.Step{Wait: &run.StepWait{Name: "more", Title: "More?", Schema: json.RawMessage(`{"type":"integer"}`)}}, nil
	}
	n, is := in.Value.(int64)
	if !is || !in.Answered {
		return run.Step{}, errors.New("not a number")
	}
	return run.Step{Output: 2 * n, Save: map[string]any{"sky": 2 * n}}, nil
}

func TestCustomKinds(t *testing.T) {
	p := compileWith(t, calling(`{double: {of: 3}, next: [{when: result == 8, to: done}]}`), run.Options{Kinds: map[string]run.Kind{"double": double{}}})
	h := begin(t, p, run.Start{}, tools{"look": gives(1)})
	h.call("look", nil)
	if h.said() != "One moment." || !reflect.DeepEqual(h.calls[0].Args, map[string]any{"of": int64(3)}) {
		t.Errorf("said %q, called %+v", h.said(), h.calls)
	}
	h.do(run.Answer{Interrupt: h.interrupt("more").ID, Value: int64(4)})
	h.outcome("done")
	h.state(map[string]any{"sky": int64(8)})
}

func TestAStoredRunIsReadAsItWas(t *testing.T) {
	h := start(t, weather, run.Start{State: map[string]any{"sky": map[string]any{"n": int64(9007199254740993), "f": 0.5, "s": "1"}}}, tools{"look": asks})
	h.call("look", nil)
	raw, err := json.Marshal(h.run)
	if err != nil {
		t.Fatal(err)
	}
	again, err := run.DecodeRun(raw)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again.Scopes[""].State, h.run.Scopes[""].State) || dump(again) != dump(h.run) {
		t.Errorf("%s\n%s", dump(again), dump(h.run))
	}
	h.run = again
	h.do(run.Answer{Interrupt: h.interrupt("weather").ID, Value: "sunny"})
	h.outcome("done")
	var events []run.Event
	for _, e := range h.events {
		raw, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		read, err := run.DecodeEvent(raw)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, read)
	}
	if replayed, err := run.Replay(events); err != nil || dump(replayed) != dump(h.run) {
		t.Errorf("%v: %s", err, dump(replayed))
	}
	if _, err := run.DecodeRun([]byte(`{"v":1,"turn":"x"}`)); err == nil || !strings.Contains(err.Error(), "turn") {
		t.Errorf("%v does not name the field", err)
	}
	broken := *h.run
	broken.Status, broken.Scopes = run.StatusReady, map[string]*run.Scope{"": {Flow: "weather", Node: "gone"}}
	if _, _, err := h.plan.Advance(&broken, h.input()); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("%v does not name the node", err)
	}
}
