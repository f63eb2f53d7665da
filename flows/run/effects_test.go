package run_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/turnwise/turnwise/flows/run"
)

const weather = `
turnwise: 1
flow: weather
state: {sky: {}}
tools: {look: {go: look}, pay: {go: pay, risk: high, permissions: [pay]}, secret: {go: secret, permissions: [root]}, hidden: {go: hidden}}
policy: {allow: [look, pay, secret]}
start: ask
nodes:
  ask: {task: Ask., functions: {look: {description: Look., next: look}}}
  look: {call: look, save: {sky: "{{ result }}"}, next: done}
  done: {end: {outcome: done, say: "It is {{ state.sky }}."}}
`

// asks is a tool that asks for the weather and gives what it is told.
func asks(c run.ToolCall) (any, error) {
	return c.Ask(run.Question{Name: "weather", Reason: "look out of the window"})
}

func TestI1AToolAsksAndGetsItsAnswer(t *testing.T) {
	h := start(t, weather, run.Start{}, tools{"look": asks})
	h.call("look", nil)
	if h.result("call-1") == nil || h.run.Status != run.StatusWaiting {
		t.Fatalf("status %s, the model is told %v", h.run.Status, h.result("call-1"))
	}
	i := h.interrupt("weather")
	if i.Reason != "look out of the window" || len(h.run.Interrupts) != 1 {
		t.Errorf("%+v", i)
	}
	again := start(t, weather, run.Start{}, tools{"look": asks})
	again.call("look", nil)
	if again.interrupt("weather").ID != i.ID {
		t.Error("the id is another one after a restart")
	}
	h.do(run.Answer{Interrupt: i.ID, Value: "sunny"})
	h.outcome("done")
	if h.said() != "It is sunny." || h.tally("look") != 2 || h.calls[0].Key != h.calls[1].Key {
		t.Errorf("said %q after %d calls", h.said(), h.tally("look"))
	}
}

func TestI3FalseZeroAndEmptyAreAnswersAndNothingIsNone(t *testing.T) {
	for _, v := range []any{false, int64(0), ""} {
		h := start(t, weather, run.Start{}, tools{"look": asks})
		h.call("look", nil)
		id := h.interrupt("weather").ID
		var invalid *run.InvalidAnswer
		if err := h.try(run.Answer{Interrupt: id}); !errors.As(err, &invalid) {
			t.Errorf("no answer was taken: %v", err)
		}
		h.do(run.Answer{Interrupt: id, Value: v})
		h.outcome("done")
		h.state(map[string]any{"sky": v})
	}
}

func TestI4AnUnknownInterruptOrAWrongShapeChangesNothing(t *testing.T) {
	h := start(t, weather, run.Start{}, tools{"look": func(c run.ToolCall) (any, error) {
		return c.Ask(run.Question{Name: "weather", Schema: []byte(`{"type":"string"}`)})
	}})
	h.call("look", nil)
	if err := h.try(run.Answer{Interrupt: "x", Value: "sunny"}); !errors.Is(err, run.ErrNoInterrupt) {
		t.Errorf("%v", err)
	}
	var invalid *run.InvalidAnswer
	if err := h.try(run.Answer{Interrupt: h.interrupt("weather").ID, Value: int64(3)}); !errors.As(err, &invalid) {
		t.Errorf("%v", err)
	}
	if h.run.Status != run.StatusWaiting {
		t.Errorf("status %s", h.run.Status)
	}
}

// calling is the weather flow whose look node is another one.
func calling(node string) string {
	return strings.Replace(weather, `look: {call: look, save: {sky: "{{ result }}"}, next: done}`, "look: "+node, 1)
}

func TestPolicyDeniesWhatIsNotAllowed(t *testing.T) {
	for _, tool := range []string{"hidden", "secret"} {
		h := start(t, calling("{call: "+tool+", next: done}"), run.Start{}, nil)
		h.call("look", nil)
		if o := h.outcome("failed"); o.Failure.Class != "policy" || h.count(run.EventDecision) != 1 || len(h.calls) != 0 {
			t.Errorf("%s: %+v, %d decisions", tool, o.Failure, h.count(run.EventDecision))
		}
	}
}

func TestW3AConfirmedCallIsMadeOnceWithWhatWasShown(t *testing.T) {
	source := calling(`{call: pay, args: {n: 3}, confirm: {when: risk, by: operator, say: "Pay {{ args.n }}?"}, on_refuse: "no", next: done}`) +
		"  \"no\": {end: {outcome: declined, value: \"{{ nodes.look.output.refused_by }}\"}}\n"
	source = strings.Replace(source, "It is {{ state.sky }}.", "Paid.", 1)
	h := start(t, source, run.Start{}, tools{"pay": gives("ok")})
	h.call("look", nil)
	i := h.interrupt("confirm")
	if len(h.calls) != 0 || i.Title != "Pay 3?" || i.Tool != "pay" || !reflect.DeepEqual(i.Args, map[string]any{"n": int64(3)}) {
		t.Fatalf("%d calls, %+v", len(h.calls), i)
	}
	h.do(run.Answer{Interrupt: i.ID, Value: true, By: "eve"})
	h.outcome("done")
	if h.tally("pay") != 1 || !reflect.DeepEqual(h.calls[0].Args, i.Args) {
		t.Errorf("called %+v", h.calls)
	}
	h = start(t, source, run.Start{}, tools{"pay": gives("ok")})
	h.call("look", nil)
	h.do(run.Answer{Interrupt: h.interrupt("confirm").ID, Value: false, By: "eve"})
	if o := h.outcome("declined"); o.Value != "eve" || len(h.calls) != 0 {
		t.Errorf("%+v, %d calls", o, len(h.calls))
	}
	// The user answers in the conversation.
	h = start(t, strings.Replace(source, "by: operator", "by: user", 1), run.Start{}, tools{"pay": gives("ok")})
	h.call("look", nil)
	if h.said() != "Pay 3?" || !h.offers(run.FunctionConfirm) {
		t.Fatalf("said %q", h.said())
	}
	h.call(run.FunctionConfirm, map[string]any{"approved": true})
	h.outcome("done")
}

func TestW5ATemplateWithoutItsValueFailsTheNode(t *testing.T) {
	h := start(t, calling(`{call: look, args: {n: "{{ state.sky }}"}, next: done}`), run.Start{}, nil)
	h.call("look", nil)
	if o := h.outcome("failed"); o.Failure.Class != "expression" || o.Failure.Node != "look" {
		t.Errorf("%+v", o.Failure)
	}
	var got map[string]any
	keep := tools{"look": func(c run.ToolCall) (any, error) { got = c.Args; return nil, nil }}
	h = start(t, calling(`{call: look, args: {n: "{{ state.sky }}", text: "n={{ state.sky }}", list: ["{{ state.none ?? 1 }}"]}, next: done}`), run.Start{State: map[string]any{"sky": int64(3)}}, keep)
	h.call("look", nil)
	if want := map[string]any{"n": int64(3), "text": "n=3", "list": []any{int64(1)}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestW6AComparisonThatMakesNoSenseFailsTheNode(t *testing.T) {
	h := start(t, calling(`{branch: [{when: state.sky > 3, to: done}, {to: ask}]}`), run.Start{State: map[string]any{"sky": "vip"}}, nil)
	h.call("look", nil)
	if o := h.outcome("failed"); o.Failure.Class != "expression" {
		t.Errorf("%+v", o.Failure)
	}
	h = start(t, calling(`{branch: [{when: 'state.sky == "90"', to: ask}, {to: done}]}`), run.Start{State: map[string]any{"sky": int64(90)}}, nil)
	h.call("look", nil)
	h.outcome("done")
}

func TestW7RetryWaitsLongerEachTime(t *testing.T) {
	source := calling(`{call: look, retry: {max_attempts: 3, delay: 100ms, backoff: 2, max_delay: 250ms}, save: {sky: "{{ result }}"}, next: done}`)
	down := &run.Failure{Class: "network", Message: "no route"}
	h := start(t, source, run.Start{}, tools{"look": inTurn(down, down, "blue")})
	h.call("look", nil)
	for _, delay := range []time.Duration{100, 200} {
		if due := h.plan.Due(h.run); due.Sub(h.now) != delay*time.Millisecond || h.run.Status != run.StatusReady {
			t.Fatalf("due in %s, want %d ms", due.Sub(h.now), delay)
		}
		h.pass(delay * time.Millisecond)
	}
	h.outcome("done")
	if h.count(run.EventRetrying) != 2 || h.calls[2].Attempt != 3 || h.calls[0].Key != h.calls[2].Key {
		t.Errorf("%d retries, %+v", h.count(run.EventRetrying), h.calls)
	}
	if h.result("call-1")["node"] != "done" {
		t.Errorf("the model is told %v", h.result("call-1"))
	}
	h = start(t, source, run.Start{}, tools{"look": inTurn(&run.Failure{Class: "auth", Message: "no"})})
	h.call("look", nil)
	if h.outcome("failed"); h.count(run.EventRetrying) != 0 {
		t.Error("retried what a retry does not help")
	}
}

func TestW8ATimeoutGoesToOnError(t *testing.T) {
	source := calling(`{call: look, timeout: 2s, on_error: sorry, next: done}`) + "  sorry: {set: {sky: \"{{ error.class }}\"}, next: done}\n"
	h := start(t, source, run.Start{}, nil)
	h.hold = true
	h.call("look", nil)
	late := h.openCall().ID
	h.pass(2 * time.Second)
	h.outcome("done")
	if h.count(run.EventFailed) != 1 || h.said() != "It is timeout." {
		t.Errorf("said %q", h.said())
	}
	if err := h.try(run.CallResult{Call: late, Value: 1}); err == nil {
		t.Error("a late result was taken")
	}
}

func TestAgentsAnswersMustFitTheirSchema(t *testing.T) {
	source := calling(`{agent: {prompt: "Judge {{ user.text }}", output: {type: object, required: [ok], properties: {ok: {type: boolean}}}}, save: {sky: "{{ result.ok }}"}, next: done}`)
	h := begin(t, compile(t, source), run.Start{}, nil)
	h.models = []any{map[string]any{"ok": true}}
	h.say("me")
	h.call("look", nil)
	h.outcome("done")
	h.state(map[string]any{"sky": true})
	h = begin(t, compile(t, source), run.Start{}, nil)
	h.models = []any{"yes"}
	h.call("look", nil)
	if o := h.outcome("failed"); o.Failure.Class != "output" {
		t.Errorf("%+v", o.Failure)
	}
}
