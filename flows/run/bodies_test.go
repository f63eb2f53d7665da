package run_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/turnwise/turnwise/flows/run"
)

const trip = `
turnwise: 1
flow: trip
state: {day: {}, time: {}, weather: {}, n: {type: integer, default: 0}}
tools: {time: {go: time}, count: {go: count}}
start: info
nodes:
  info: {set: {n: 1}, next: all}
  all:
    parallel:
      branches:
        day: {day: {human: {title: Which day?, deadline: 1h}}}
        time: {time: {call: time}}
        weather: {weather: {human: {title: How is it?, deadline: 1h}}}
    save: {day: "{{ result.day }}", time: "{{ nodes.all.output.time ?? result.time }}", weather: "{{ result.weather }}"}
    next: count
  count: {call: count, next: done}
  done: {end: {outcome: done}}
`

// I2, W13
func TestBranchesThatWaitAreAnsweredInAnyOrderAndJoinOnce(t *testing.T) {
	for _, order := range [][2]string{{"Which day?", "How is it?"}, {"How is it?", "Which day?"}} {
		h := start(t, trip, run.Start{}, tools{"time": gives("noon"), "count": gives(nil)})
		if len(h.run.Interrupts) != 2 || h.run.Status != run.StatusWaiting || h.tally("time") != 1 {
			t.Fatalf("%d interrupts, %s, time called %d times", len(h.run.Interrupts), h.run.Status, h.tally("time"))
		}
		for _, title := range order {
			if h.tally("count") != 0 {
				t.Fatal("what comes after all branches ran before")
			}
			for _, i := range h.run.Interrupts {
				if i.Title == title {
					h.do(run.Answer{Interrupt: i.ID, Value: title})
					break
				}
			}
		}
		h.outcome("done")
		h.state(map[string]any{"day": "Which day?", "time": "noon", "weather": "How is it?", "n": int64(1)})
		if h.tally("time") != 1 || h.tally("count") != 1 {
			t.Errorf("time was called %d times, count %d times", h.tally("time"), h.tally("count"))
		}
	}
}

// W13: the interrupt is announced at once, and the run counts as waiting when the call has finished.
func TestASlowCallBesideAPersonDoesNotHoldTheInterruptBack(t *testing.T) {
	h := &host{t: t, plan: compile(t, trip), now: time.Unix(1, 0).UTC(), tools: tools{"time": gives("noon"), "count": gives(nil)}, hold: true}
	r, events, err := h.plan.Start(run.Start{ID: "r"}, h.input())
	if err != nil {
		t.Fatal(err)
	}
	h.keep(r, events)
	if len(h.run.Interrupts) != 2 || h.run.Status != run.StatusReady {
		t.Fatalf("%d interrupts, %s, before the call has returned", len(h.run.Interrupts), h.run.Status)
	}
	h.hold = false
	h.carry()
	if h.run.Status != run.StatusWaiting {
		t.Errorf("%s after the call has returned", h.run.Status)
	}
}

const both = `
turnwise: 1
flow: both
state: {out: {}, failed: {}}
tools: {a: {http: {method: GET}, retry: {max_attempts: 2, delay: 1s}}, b: {http: {method: GET}}, after: {go: after}}
on_error: sorry
start: work
nodes:
  work:
    parallel: {branches: {a: {a: {call: a}}, b: {b: {call: b}}}OPTIONS}
    save: {out: "{{ result }}"}
    next: after
  after: {set: {failed: "{{ nodes.work.failed ?? {} }}"}, next: tell}
  tell: {call: after, next: done}
  sorry: {end: {outcome: sorry, success: false, value: "{{ error.class }}"}}
  done: {end: {outcome: done}}
`

// P4, W9
func TestAParallelNodeIsDoneWhenItsJoinSays(t *testing.T) {
	down := &run.Failure{Class: "tool", Message: "down"}
	for _, c := range []struct {
		name, options string
		a, b          any
		outcome       string
		out           any // an int tells how many there are, of whichever branch was first
	}{
		{"all have succeeded", "", int64(1), int64(2), "done", map[string]any{"a": int64(1), "b": int64(2)}},
		{"one has failed, so all have", "", int64(1), down, "sorry", nil},
		{"one has failed and the other goes on", ", on_failure: continue", int64(1), down, "done", map[string]any{"a": int64(1)}},
		{"one has succeeded", ", join: success", int64(1), int64(2), "done", 1},
		{"one has succeeded though the first has failed", ", join: success", down, int64(2), "done", map[string]any{"b": int64(2)}},
		{"none has succeeded", ", join: success", down, down, "sorry", nil},
		{"any has ended", ", join: any", int64(1), int64(2), "done", 1},
		{"any has ended, by failing", ", join: any", down, down, "sorry", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			result := func(v any) func(run.ToolCall) (any, error) {
				if f, is := v.(*run.Failure); is {
					return func(run.ToolCall) (any, error) { return nil, f }
				}
				return gives(v)
			}
			h := start(t, with(both, c.options), run.Start{}, tools{"a": result(c.a), "b": result(c.b), "after": gives(nil)})
			h.outcome(c.outcome)
			got := h.run.Scopes[""].State["out"]
			if outputs, is := got.(map[string]any); is && c.out == len(outputs) {
				got = c.out
			}
			if !reflect.DeepEqual(got, c.out) {
				t.Errorf("out is %v, want %v", got, c.out)
			}
			if c.outcome == "done" && h.tally("after") != 1 {
				t.Errorf("what comes after ran %d times", h.tally("after"))
			}
			started := 0
			for _, e := range h.events {
				if e.Type == run.EventCall && (e.Call.Tool == "a" || e.Call.Tool == "b") {
					started++
				}
				if e.Type == run.EventCallEnd && started < 2 {
					t.Fatal("a branch had ended before the other was started")
				}
			}
		})
	}
}

// with puts options into a flow.
func with(source, options string) string { return strings.Replace(source, "OPTIONS", options, 1) }

func TestARetriedBranchJoinsOnce(t *testing.T) { // P4
	h := start(t, with(both, ""), run.Start{}, tools{"a": inTurn(&run.Failure{Class: "network", Message: "down"}, int64(1)), "b": gives(int64(2)), "after": gives(nil)})
	h.pass(time.Second)
	h.outcome("done")
	if h.tally("after") != 1 || h.tally("a") != 2 || h.tally("b") != 1 {
		t.Errorf("calls: after %d, a %d, b %d", h.tally("after"), h.tally("a"), h.tally("b"))
	}
}

func TestTheOthersOfAFailedBranchAreCancelledAndRecorded(t *testing.T) { // W9
	h := &host{t: t, plan: compile(t, with(both, "")), now: time.Unix(1, 0).UTC(), hold: true}
	r, events, err := h.plan.Start(run.Start{ID: "r"}, h.input())
	if err != nil {
		t.Fatal(err)
	}
	h.keep(r, events)
	for id, c := range h.run.Calls {
		if c.Tool == "a" {
			h.do(run.CallResult{Call: id, Failure: &run.Failure{Class: "tool", Message: "broken"}})
			break
		}
	}
	h.outcome("sorry")
	cancelled := false
	for _, e := range h.events {
		cancelled = cancelled || e.Type == run.EventScopeEnd && e.Reason == "cancelled" && e.Scope == "work#1.b"
	}
	if !cancelled || len(h.run.Calls) != 0 {
		t.Errorf("cancelled %t, open calls %v", cancelled, h.run.Calls)
	}
}

const rounds = `
turnwise: 1
flow: rounds
state: {n: {type: integer, default: 0}, seen: {default: []}, out: {}}
tools: {t: {go: t}}
on_error: sorry
start: turn
nodes:
  turn:
    loop: {LOOP, body: {BODY}}
    save: {out: "{{ result }}"}
    next: done
  early: {end: {outcome: early}}
  sorry: {end: {outcome: sorry, success: false, value: "{{ error.message }}"}}
  done: {end: {outcome: done}}
`

// W10
func TestALoopTurnsAsOftenAsItSays(t *testing.T) {
	for _, c := range []struct {
		name, loop, body, outcome string
		n                         int64
		out                       any
	}{
		{"as often as its max", "max: 3", "one: {set: {n: '{{ state.n + 1 }}'}}", "done", 3, []any{map[string]any{"n": int64(1)}, map[string]any{"n": int64(2)}, map[string]any{"n": int64(3)}}},
		{"while a condition holds", "while: state.n < 2, max: 9", "one: {set: {n: '{{ state.n + 1 }}'}}", "done", 2, []any{map[string]any{"n": int64(1)}, map[string]any{"n": int64(2)}}},
		{"not at all", "while: state.n < 0", "one: {set: {n: '{{ state.n + 1 }}'}}", "done", 0, []any{}},
		{"over a list, which may be empty", "over: []", "one: {set: {n: '{{ state.n + 1 }}'}}", "done", 0, []any{}},
		{"over a list", "over: [5, 7]", "start: {call: t, args: {n: '{{ item }}'}, next: add}, add: {set: {n: '{{ state.n + nodes.start.output }}'}}", "done", 12,
			[]any{map[string]any{"n": int64(5)}, map[string]any{"n": int64(12)}}},
		{"until its end", "max: 9", "start: {set: {n: '{{ state.n + 1 }}'}, next: [{when: state.n == 2, to: stop}, {to: on}]}, on: {set: {}}, stop: {end: {outcome: enough}}", "done", 2,
			[]any{map[string]any{}, nil}},
		{"until it is left", "max: 9", "start: {set: {n: '{{ state.n + 1 }}'}, next: [{when: state.n == 2, to: early}, {to: on}]}, on: {set: {}}", "early", 2, nil},
		{"until an error in it", "max: 9", "one: {set: {n: nothing}}", "sorry", 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			source := strings.NewReplacer("LOOP", c.loop, "BODY", c.body).Replace(rounds)
			h := start(t, source, run.Start{}, tools{"t": func(c run.ToolCall) (any, error) { return c.Args["n"], nil }})
			h.outcome(c.outcome)
			s := h.run.Scopes[""].State
			if s["n"] != c.n || !reflect.DeepEqual(s["out"], c.out) {
				t.Errorf("n is %v and out %v, want %v and %v", s["n"], s["out"], c.n, c.out)
			}
		})
	}
}

// W10, I8: a wait in the body works, and each round has its own interrupt.
func TestEachRoundWaitsWithAnInterruptOfItsOwn(t *testing.T) {
	h := start(t, `
turnwise: 1
flow: ask
state: {all: {default: []}}
start: each
nodes:
  each:
    loop: {over: [ada, bob], body: {ask: {human: {title: "{{ item }}?", deadline: 1h}}}}
    save: {all: "{{ result }}"}
    next: done
  done: {end: {outcome: done}}
`, run.Start{}, nil)
	ids := map[string]bool{}
	for _, who := range []string{"ada?", "bob?"} {
		i := h.interrupt("answer")
		if i.Title != who || ids[i.ID] {
			t.Fatalf("asked %q under %s", i.Title, i.ID)
		}
		ids[i.ID] = true
		h.do(run.Answer{Interrupt: i.ID, Value: who})
	}
	h.outcome("done")
	h.state(map[string]any{"all": []any{"ada?", "bob?"}})
}

const besideWork = `
turnwise: 1
flow: beside
state: {name: {type: string}, found: {}}
tools: {find: {go: find}}
functions: {stop: {description: Stop., next: stopped}}
start: both
nodes:
  both:
    parallel:
      branches:
        ask: {ask: {collect: [name], task: Ask the name.}}
        find: {find: {call: find}}
    save: {found: "{{ result.find }}"}
    next: done
  stopped: {end: {outcome: stopped}}
  done: {end: {outcome: done}}
`

// One floor: a branch talks while another works, and its calls are answered without it.
func TestABranchTalksWhileAnotherWorks(t *testing.T) {
	begun := func() *host {
		h := &host{t: t, plan: compile(t, besideWork), now: time.Unix(1, 0).UTC(), hold: true}
		r, events, err := h.plan.Start(run.Start{ID: "r"}, h.input())
		if err != nil {
			t.Fatal(err)
		}
		h.keep(r, events)
		return h
	}
	found := func(h *host) {
		for id := range h.run.Calls {
			h.do(run.CallResult{Call: id, Value: "it"})
			return
		}
		t.Fatal("nothing is called")
	}
	t.Run("the talk is done first", func(t *testing.T) {
		h := begun()
		if got := h.talk(); got.Node != "ask" || got.Task != "Ask the name." {
			t.Fatalf("the talk is at %s", got.Node)
		}
		h.say("I am Ada.")
		if result := h.call(run.FunctionRecord, map[string]any{"name": "Ada"}); result == nil || result["error"] != nil {
			t.Fatalf("the model is told %v while the other branch works", result)
		}
		found(h)
		h.outcome("done")
		h.state(map[string]any{"name": "Ada", "found": "it"})
	})
	t.Run("the work is done first", func(t *testing.T) {
		h := begun()
		found(h)
		h.call(run.FunctionRecord, map[string]any{"name": "Ada"})
		h.outcome("done")
	})
	t.Run("an edge offered everywhere cancels both", func(t *testing.T) {
		h := begun()
		if !h.offers("stop") {
			t.Fatal("the flow's own function is not offered in a branch")
		}
		h.call("stop", nil)
		h.outcome("stopped")
		if len(h.run.Calls) != 0 {
			t.Error("the other branch's call is still open")
		}
	})
}

func TestBodiesThatCannotBeRunAreRefused(t *testing.T) {
	for name, node := range map[string]string{
		"a parallel node without branches":      "{parallel: {branches: {}}}",
		"a branch that begins nowhere":          "{parallel: {branches: {a: {x: {say: X.}, y: {say: Y.}}}}}",
		"a branch that leaves":                  "{parallel: {branches: {a: {x: {say: X., next: done}}}}, next: done}",
		"a loop that would never end":           "{loop: {body: {x: {say: X.}}}}",
		"a loop without a body":                 "{loop: {max: 3}}",
		"a node in a body that leads nowhere":   "{loop: {max: 3, body: {x: {say: X., next: nowhere}}}}",
		"a body used as if it were a flow":      "{parallel: {branches: {a: {x: {use: bad/start/a}}}}}",
		"a loop in a branch that leaves both":   "{parallel: {branches: {a: {x: {loop: {max: 2, body: {y: {say: Y., next: done}}}}}}}}",
		"a wrong type in a node of a branch":    "{parallel: {branches: {a: {x: {say: 3}}}}}",
		"an expression that is none in a while": "{loop: {while: '1 +', body: {x: {say: X.}}}}",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := tryCompile(t, "turnwise: 1\nflow: bad\nstart: start\nnodes: {start: "+node+", done: {end: {outcome: done}}}", run.Options{}); err == nil {
				t.Error("it was compiled")
			}
		})
	}
}
