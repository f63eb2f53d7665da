package run_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/turnwise/turnwise/flows/run"
)

var seed = flag.Uint64("seed", 0, "draw the random flows from this seed; 0: the committed ones")

// TestRandomFlowsNeverStick: any flow, any behaviour of user, model, tools and people. The
// harness holds every advance to the promises: the events come to the run, the run given
// is not changed, and a run that has not ended needs something or is due. Every call of the
// model's gets exactly one result.
func TestRandomFlowsNeverStick(t *testing.T) {
	first, last := uint64(1), uint64(520)
	if *seed != 0 {
		first, last = *seed, *seed
	}
	seen := map[run.Type]int{}
	for s := first; s <= last; s++ {
		t.Run(fmt.Sprintf("seed=%d", s), func(t *testing.T) { wander(t, s, seen) })
	}
	for _, kind := range []run.Type{run.EventEnded, run.EventRetrying, run.EventFailed, run.EventCorrected, run.EventReverted, run.EventRefused, run.EventSuperseded,
		run.EventPlace, run.EventForgotten, run.EventRequire, run.EventAnswered, run.EventScopeEnd, run.EventAttempt, run.EventSilence, run.EventDecision, run.EventBodies} {
		if *seed == 0 && seen[kind] == 0 {
			t.Errorf("no random run comes to %s", kind)
		}
	}
}

// wander runs one random flow under random behaviour.
func wander(t *testing.T, seed uint64, seen map[run.Type]int) {
	r := rand.New(rand.NewPCG(seed, 7))
	source := drawFlow(r)
	defer func() {
		if t.Failed() {
			t.Log(source)
		}
	}()
	random := func(run.ToolCall) (any, error) {
		switch r.IntN(16) {
		case 0:
			return nil, &run.Failure{Class: "network", Message: "down"}
		case 1:
			return nil, errors.New("broken")
		case 2:
			return nil, &run.Question{Name: "q"}
		}
		return map[string]any{"n": r.IntN(3)}, nil
	}
	h := start(t, source, run.Start{}, tools{"t0": random, "t1": random, "t2": func(c run.ToolCall) (any, error) { return c.Ask(run.Question{Name: "q"}) }})
	asked := 0
	for range 120 {
		if h.run.Status == run.StatusEnded {
			break
		}
		if id := act(r, h, asked); id != "" {
			asked++
		}
	}
	for _, e := range h.events {
		seen[e.Type]++
		if e.Type == run.EventFunction && h.result(e.Function.ID) == nil && h.openCall() == nil && h.run.Status != run.StatusReady {
			t.Errorf("%s has no result: %s", e.Function.Name, dump(h.run))
		}
	}
}

// act does something at random; it gives the id of a function call.
func act(r *rand.Rand, h *host, n int) string {
	needs, err := h.plan.Needs(h.run, h.input())
	if err != nil {
		h.t.Fatal(err)
	}
	var did []error
	id := ""
	switch k := r.IntN(10); {
	case k == 0:
		h.now = h.now.Add(time.Duration(r.IntN(100)) * time.Minute)
		did = append(did, h.try(run.Tick{}))
	case k == 1:
		did = append(did, h.try(run.Silence{}))
	case k == 2:
		did = append(did, h.try(run.BotTurn{Text: "Well."}))
	case k <= 4:
		did = append(did, h.try(run.UserTurn{Text: []string{"bye", "hm", "no, wrong"}[r.IntN(3)]}))
	case len(needs) > 0:
		need := needs[r.IntN(len(needs))]
		switch {
		case need.Interrupt != nil:
			value := []any{true, false, "yes", nil, int64(1)}[r.IntN(5)]
			err := h.try(run.Answer{Interrupt: need.Interrupt.ID, Value: value})
			var invalid *run.InvalidAnswer
			if !errors.As(err, &invalid) {
				did = append(did, err)
			}
		case need.Talk != nil && len(need.Talk.Functions) > 0:
			f := need.Talk.Functions[r.IntN(len(need.Talk.Functions))]
			for _, o := range need.Talk.Functions {
				if o.Name == run.FunctionCorrect && r.IntN(2) == 0 {
					f = o
				}
			}
			id = fmt.Sprintf("f%d", n)
			args := map[string]any{}
			switch f.Name {
			case run.FunctionRecord:
				args = map[string]any{"a": []any{int64(r.IntN(9)), int64(3), "x"}[r.IntN(3)], "b": int64(1)}
			case run.FunctionCorrect:
				args = map[string]any{"field": []string{"a", "b", "c", "a", "a"}[r.IntN(5)]}
				if r.IntN(2) == 0 {
					args["value"] = int64(r.IntN(3))
				}
			case run.FunctionConfirm:
				args = map[string]any{"approved": r.IntN(2) == 0}
			}
			did = append(did, h.try(run.FunctionCall{ID: id, Name: f.Name, Args: args}))
		}
	}
	for _, err := range did {
		if err != nil {
			h.t.Fatal(err)
		}
	}
	return id
}

// drawFlow writes a random flow of all kinds there are.
func drawFlow(r *rand.Rand) string {
	var b strings.Builder
	n := 4 + r.IntN(12)
	node := func() string { return fmt.Sprintf("n%d", r.IntN(n)) }
	next := func() string {
		return fmt.Sprintf("[{when: (state.c ?? 0) > %d, to: %s}, {to: %s, clear: [%s]}]", r.IntN(6), node(), node(), []string{"a", "b"}[r.IntN(2)])
	}
	b.WriteString("turnwise: 1\nflow: random\nabandon: 24h\ncorrections: " + []string{"dependency", "history", "off"}[r.IntN(3)] + `
state: {a: {type: integer}, b: {type: integer, depends_on: [a]}, c: {type: integer, default: 0}, d: {}}
tools: {t0: {go: t0}, t1: {http: {method: GET}, timeout: 5s, retry: {max_attempts: 2, delay: 1s}}, t2: {go: t2}}
silence: [{after: 5s, say: "Hello?"}, {after: 5s, to: ` + node() + "}]\n")
	if r.IntN(2) == 0 {
		b.WriteString("on_error: " + node() + "\n")
	}
	b.WriteString("functions: {help: {description: Help., visit: " + node() + "}, person: {description: Person., next: " + node() + "}}\nstart: n0\nnodes:\n")
	for i := range n {
		fmt.Fprintf(&b, "  n%d: {%s", i, drawNode(r, node, next))
		if r.IntN(5) == 0 {
			b.WriteString(", on_error: " + node())
		}
		if r.IntN(6) == 0 {
			b.WriteString(", max_visits: 4, on_max_visits: end")
		}
		b.WriteString("}\n")
	}
	b.WriteString("  end: {end: {outcome: done}}\nflows:\n  sub:\n    state: {a: {type: integer}}\n    start: s\n    nodes:\n      s: {collect: [a], next: e}\n      e: {end: {outcome: sub}}\n")
	return b.String()
}

// drawNode writes the inside of a random node.
func drawNode(r *rand.Rand, node, next func() string) string {
	meanwhile := ""
	if r.IntN(2) == 0 {
		meanwhile = ", while_waiting: {talk: " + node() + "}"
	}
	switch r.IntN(15) {
	case 12:
		return "parallel: {branches: {p: {x: {call: t1}}, q: {start: {human: {form: {type: boolean}, deadline: 20m, default: true}, next: y}, y: {" +
			[]string{"call: t0", "task: Talk.", "collect: [a]", "end: {outcome: out, success: false}", "use: sub"}[r.IntN(5)] + "}}}, join: " +
			[]string{"all", "any", "success"}[r.IntN(3)] + ", on_failure: " + []string{"fail", "continue"}[r.IntN(2)] + "}, save: {d: '{{ result }}'}, next: " + next()
	case 13:
		return "loop: {over: [1, 2], body: {start: {set: {c: '{{ state.c + item }}'}, next: " + []string{"z", node()}[r.IntN(2)] + "}, z: {" +
			[]string{"call: t0, on_error: " + node(), "task: Talk.", "follow_up: Talk., closure: [bye]", "human: {deadline: 5m, default: x}"}[r.IntN(4)] + "}}}, next: " + next()
	case 14:
		return "loop: {while: 'state.c < 5', max: 3, body: {x: {parallel: {branches: {p: {x: {call: t0}}, q: {x: {set: {c: '{{ state.c + 1 }}'}}}}}}}}, next: " + next()
	case 0:
		return "collect: [a, b], attempts: 2, on_attempts: " + node() + ", next: " + next()
	case 1:
		return "task: Talk., say: Hi., functions: {go: {description: Go., next: " + next() + "}, side: {description: Side., visit: " + node() + "}, tool: {description: Tool., call: t1, next: " + next() + "}}"
	case 2:
		return "follow_up: Talk., closure: [bye], next: " + next()
	case 3:
		return "say: Now., next: " + []string{next(), "back"}[r.IntN(2)]
	case 4:
		return "call: t0, args: {n: '{{ state.a ?? 0 }}'}, undo: {call: t1}, save: {d: '{{ result }}'}, next: " + next()
	case 5:
		return "call: t1, async: true, answer: {type: boolean}, deadline: 30m, on_timeout: " + node() + meanwhile + ", next: " + next()
	case 6:
		return "set: {c: '{{ state.c + 1 }}'}, next: " + next()
	case 7:
		return "branch: " + next()
	case 8:
		return "human: {form: {type: boolean}, deadline: 20m, default: false}" + meanwhile + ", next: " + next()
	case 9:
		return "use: sub, out_of_scope: {about: x, to: " + node() + "}, next: " + next()
	case 10:
		return "call: t2, confirm: {when: always, by: " + []string{"user", "operator"}[r.IntN(2)] + "}, on_refuse: " + node() + ", next: " + next()
	}
	return "task: Talk., require: {when: (state.a ?? 0) > 0, else: " + node() + "}, out_of_scope: {about: x}, next: " + next()
}
