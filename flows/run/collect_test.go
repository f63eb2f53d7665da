package run_test

import (
	"strings"
	"testing"

	"github.com/turnwise/turnwise/flows/run"
)

const people = `
turnwise: 1
flow: people
state: {name: {type: string}, age: {type: integer, minimum: 0}}
start: ask_name
nodes:
  ask_name: {collect: [name], task: Get the name., next: ask_age}
  ask_age:
    collect: [age]
    check: [{when: state.age < 130, say: Nobody is that old.}]
    task: Get the age.
    next: done
  done: {end: {outcome: done, say: "{{ state.name }} is {{ state.age }}."}}
`

func TestC1TwoFieldsAreAskedForAndKeepTheirTypes(t *testing.T) {
	h := start(t, people, run.Start{}, nil)
	h.at("ask_name")
	if got := h.talk(); got.Task != "Get the name." || !h.offers(run.FunctionRecord) {
		t.Fatalf("%+v", got)
	}
	h.say("Ada")
	if got := h.call("record", map[string]any{"name": "Ada"}); got["node"] != "ask_age" {
		t.Fatalf("the model is told %v", got)
	}
	h.say("36")
	h.call("record", map[string]any{"age": int64(36)})
	h.outcome("done")
	h.state(map[string]any{"name": "Ada", "age": int64(36)})
	if h.said() != "Ada is 36." {
		t.Errorf("said %q", h.said())
	}
}

func TestC2WhatDoesNotValidateIsRefusedWithAReasonAndCounts(t *testing.T) {
	h := start(t, people, run.Start{}, nil)
	h.call("record", map[string]any{"name": "Ada"})
	h.say("thirty")
	got := h.call("record", map[string]any{"age": "thirty"})
	rejected, _ := got["rejected"].(map[string]any)
	if reason, _ := rejected["age"].(string); !strings.Contains(reason, "age") {
		t.Errorf("the model is told %v", got)
	}
	h.at("ask_age")
	h.state(map[string]any{"name": "Ada"})
	if h.run.Scopes[""].Attempts["age"] != 1 {
		t.Errorf("attempts %v", h.run.Scopes[""].Attempts)
	}
	h.say("two hundred")
	got = h.call("record", map[string]any{"age": int64(200)})
	if rejected, _ := got["rejected"].(map[string]any); rejected["age"] != "Nobody is that old." {
		t.Errorf("the model is told %v", got)
	}
}

func TestC3GivenValuesSkipTheirQuestion(t *testing.T) {
	h := start(t, people, run.Start{State: map[string]any{"name": "Ada"}}, nil)
	h.at("ask_age")
	h = start(t, people, run.Start{State: map[string]any{"name": int64(7)}}, nil)
	h.at("ask_name")
	if !strings.Contains(h.said(), "name") {
		t.Errorf("the first words are %q", h.said())
	}
	h.state(map[string]any{})
	h.call("record", map[string]any{"name": "Ada"})
	h.call("record", map[string]any{"age": int64(36)})
	h.outcome("done")
	h.state(map[string]any{"name": "Ada", "age": int64(36)})
}

func TestC4AskingBackStaysAndIsRemembered(t *testing.T) {
	h := start(t, people, run.Start{}, nil)
	h.say("my name?")
	h.do(run.BotTurn{Text: "Which name do you mean?"})
	h.at("ask_name")
	turns := h.talk().Turns
	if len(turns) != 1 || turns[0].User != "my name?" || turns[0].Bot != "Which name do you mean?" {
		t.Errorf("turns %+v", turns)
	}
}

func TestC5TheAttemptThatExhaustsThemIsTheEdge(t *testing.T) {
	source := strings.Replace(people, "task: Get the age.", "task: Get the age.\n    attempts: 2\n    on_attempts: person", 1) +
		"  person: {end: {outcome: person}}\n"
	h := start(t, source, run.Start{State: map[string]any{"name": "Ada"}}, nil)
	h.say("old")
	h.call("record", map[string]any{"age": "old"})
	h.at("ask_age")
	h.call("record", map[string]any{"age": "older"}) // the same turn counts once
	h.at("ask_age")
	h.say("very old")
	got := h.call("record", map[string]any{"age": "very old"})
	h.outcome("person")
	if got["rejected"] == nil {
		t.Errorf("the model is told %v", got)
	}
	// Plain text that brings nothing is an attempt after the reply.
	h = start(t, source, run.Start{State: map[string]any{"name": "Ada"}}, nil)
	for range 2 {
		h.at("ask_age")
		h.say("hm")
		h.do(run.BotTurn{Text: "How old are you?"})
	}
	h.outcome("person")
	// Without a node to go to the run fails with that reason.
	h = start(t, strings.Replace(source, "    on_attempts: person\n", "", 1), run.Start{State: map[string]any{"name": "Ada"}}, nil)
	for range 2 {
		h.say("hm")
		h.call("record", map[string]any{"age": "x"})
	}
	if o := h.outcome("failed"); o.Failure.Class != "attempts" || o.Failure.Node != "ask_age" {
		t.Errorf("%+v", o.Failure)
	}
}

const codes = `
turnwise: 1
flow: codes
state: {code: {type: string}}
tools: {look: {go: look}, after: {go: after}}
start: ask
nodes:
  ask:
    task: Ask.
    functions:
      check:
        description: Check it.
        call: look
        next: [{when: 'result.state.code in ["open", "held"]', to: good}, {when: result.state.code == "none", to: quiet}]
  quiet: {call: look, next: [{when: result.state.code == "open", to: good}]}
  good: {end: {outcome: good}}
`

func TestC6TheResultDecides(t *testing.T) {
	code := func(c string) any { return map[string]any{"state": map[string]any{"code": c}} }
	h := start(t, codes, run.Start{}, tools{"look": gives(code("held"))})
	h.call("check", nil)
	h.outcome("good")
	// A function none of whose cases holds stays.
	h = start(t, codes, run.Start{}, tools{"look": gives(code("lost"))})
	if got := h.call("check", nil); got["node"] != "ask" {
		t.Errorf("the model is told %v", got)
	}
	// A quiet node none of whose cases holds fails, naming node and value.
	h = start(t, codes, run.Start{}, tools{"look": inTurn(code("none"), code("lost"))})
	h.call("check", nil)
	if o := h.outcome("failed"); o.Failure.Node != "quiet" || !strings.Contains(o.Failure.Message, "lost") {
		t.Errorf("%+v", o.Failure)
	}
}

func TestC7AFunctionThatFailsTakesOnError(t *testing.T) {
	broken := tools{"look": inTurn(&run.Failure{Class: "server", Message: "it is down"})}
	h := start(t, codes, run.Start{}, broken)
	h.call("check", nil)
	o := h.outcome("failed")
	for _, want := range []string{"check", "it is down"} {
		if !strings.Contains(o.Failure.Message, want) || o.Failure.Node != "ask" {
			t.Errorf("%+v does not tell %s", o.Failure, want)
		}
	}
	broken["look"] = inTurn(&run.Failure{Class: "server", Message: "it is down"})
	h = start(t, strings.Replace(codes, "task: Ask.", "task: Ask.\n    on_error: sorry", 1)+"  sorry: {say: \"{{ error.class }}\", next: good}\n", run.Start{}, broken)
	h.call("check", nil)
	h.outcome("good")
	if h.said() != "server" {
		t.Errorf("the target sees %q", h.said())
	}
}

const survey = `
turnwise: 1
flow: survey
state: {verdict: {type: object}}
tools: {survey: {go: survey}}
start: ask
nodes:
  ask: {task: Ask., functions: {go_on: {description: Go., next: survey}, bye: {description: Bye., next: no}}}
  survey:
    call: survey
    args: {answer_to: "{{ callback.url }}"}
    async: true
    answer: {type: object, required: [verdict], properties: {verdict: {enum: [accept, reject]}}}
    deadline: 48h
    on_timeout: no
    while_waiting: {talk: meanwhile}
    save: {verdict: "{{ answer }}"}
    next: [{when: answer.verdict == "accept", to: yes}, {to: no}]
  meanwhile: {follow_up: Answer questions., closure: [bye], next: hang}
  hang: {end: {outcome: later}}
  "yes": {end: {outcome: paid}}
  "no": {end: {outcome: declined}}
`

func TestC8AnAsyncCallWaitsForItsCallback(t *testing.T) {
	source := strings.NewReplacer("on_timeout: no", `on_timeout: "no"`, "to: yes", `to: "yes"`, "to: no", `to: "no"`, "next: no", `next: "no"`).Replace(survey)
	given := ""
	tl := tools{"survey": func(c run.ToolCall) (any, error) {
		given, _ = c.Args["answer_to"].(string)
		return map[string]any{"status": "pending"}, nil
	}}
	h := start(t, source, run.Start{}, tl)
	told := h.call("go_on", nil)
	i := h.interrupt("callback")
	if given != "https://example.test/callbacks/"+i.ID || i.Kind != run.InterruptCallback || told["waiting"] == nil && told["node"] != "meanwhile" {
		t.Fatalf("the tool got %q, the model is told %v, the interrupt is %+v", given, told, i)
	}
	if h.talk().Node != "meanwhile" {
		t.Errorf("the talk is at %s", h.talk().Node)
	}
	// A restart finds it open and calls nothing.
	again, err := run.Replay(h.events)
	if err != nil {
		t.Fatal(err)
	}
	h.run = again
	h.pass(0)
	if h.tally("survey") != 1 {
		t.Errorf("called %d times", h.tally("survey"))
	}
	// The talk beside it ends without the run ending.
	h.say("Bye!")
	if h.run.Status != run.StatusWaiting || !h.talk().Holding {
		t.Fatalf("status %s", h.run.Status)
	}
	if err := h.try(run.Answer{Interrupt: i.ID, Value: map[string]any{"verdict": "maybe"}}); err == nil {
		t.Error("an answer that does not fit was taken")
	}
	h.do(run.Answer{Interrupt: i.ID, Value: map[string]any{"verdict": "accept"}})
	h.outcome("paid")
	h.state(map[string]any{"verdict": map[string]any{"verdict": "accept"}})
	if h.tally("survey") != 1 {
		t.Errorf("called %d times", h.tally("survey"))
	}
	// Nobody answers.
	h = start(t, source, run.Start{}, tl)
	h.call("go_on", nil)
	h.pass(49 * 3600e9)
	h.outcome("declined")
	// A callback that comes before the call has returned.
	h = start(t, source, run.Start{}, tl)
	h.hold = true
	h.call("go_on", nil)
	h.do(run.Answer{Interrupt: h.interrupt("callback").ID, Value: map[string]any{"verdict": "accept"}})
	if h.run.Status == run.StatusEnded {
		t.Fatal("ended before the call has returned")
	}
	h.hold = false
	h.carry()
	h.outcome("paid")
	// Without async an answer of that look is an ordinary result.
	h = start(t, codes, run.Start{}, tools{"look": gives(map[string]any{"status": "pending", "state": map[string]any{"code": "open"}})})
	h.call("check", nil)
	h.outcome("good")
}
