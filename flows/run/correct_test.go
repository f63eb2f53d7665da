package run_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/turnwise/turnwise/flows/run"
)

const letters = `
turnwise: 1
flow: letters
corrections: dependency
state:
  a: {type: string}
  b: {type: string}
  c: {type: string, depends_on: [b]}
  d: {type: string}
  e: {type: string}
start: a
nodes:
  a: {collect: [a], task: Get a., next: e}
  e: {collect: [e], task: Get e., next: b}
  b: {collect: [b], task: Get b., say: Tell me b., next: c}
  c: {collect: [c], task: Get c., next: d}
  d: {collect: [d], task: Get d., next: done}
  done: {end: {outcome: done}}
`

// spell fills the fields up to d, one turn each.
func spell(h *host, fields ...string) {
	for _, f := range fields {
		h.say(f + " is " + f + "1")
		h.call("record", map[string]any{f: f + "1"})
	}
}

func TestC9ACorrectionByDependencyClearsWhatFollowsFromTheField(t *testing.T) {
	h := start(t, letters, run.Start{}, nil)
	spell(h, "a", "e", "b", "c")
	h.at("d")
	h.say("b was wrong, it is b2")
	h.call("correct", map[string]any{"field": "b"})
	h.at("b")
	h.state(map[string]any{"a": "a1", "e": "e1"})
	if talk := h.talk(); talk.Replay != "b was wrong, it is b2" {
		t.Errorf("replayed %q", talk.Replay)
	}
	if strings.Count(h.said(), "Tell me b.") != 1 {
		t.Errorf("it asks again: %q", h.said())
	}
	for _, turn := range h.talk().Turns {
		if strings.HasPrefix(turn.User, "b is") || strings.HasPrefix(turn.User, "c is") {
			t.Errorf("%q is still sent", turn.User)
		}
	}
	if len(h.run.Turns) != 5 || len(h.talk().Turns) != 3 {
		t.Errorf("the log has %d turns, requests %d", len(h.run.Turns), len(h.talk().Turns))
	}
	h.call("record", map[string]any{"b": "b2"})
	h.at("c")
	h.call("record", map[string]any{"c": "c2"})
	h.at("d")
	h.state(map[string]any{"a": "a1", "e": "e1", "b": "b2", "c": "c2"})
}

func TestC9ACorrectionByHistoryClearsWhatWasWrittenSince(t *testing.T) {
	h := start(t, strings.Replace(letters, "corrections: dependency", "corrections: history", 1), run.Start{}, nil)
	spell(h, "a", "e", "b", "c")
	h.say("e was wrong")
	h.call("correct", map[string]any{"field": "e", "value": "e2"})
	h.at("b") // the value came with it, so e is passed
	h.state(map[string]any{"a": "a1", "e": "e2"})
	var sent []string
	for _, turn := range h.talk().Turns {
		sent = append(sent, turn.User)
	}
	if got := strings.Join(sent, "; "); got != "a is a1; e was wrong" {
		t.Errorf("sent: %s", got)
	}
}

func TestCorrectionsThatAreRefusedChangeNothing(t *testing.T) {
	h := start(t, letters, run.Start{}, nil)
	spell(h, "a")
	for _, field := range []string{"b", "nothing"} {
		err := h.try(run.Correct{Correction: run.Correction{Field: field}})
		var refused *run.Refused
		if !errors.As(err, &refused) || refused.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	h.state(map[string]any{"a": "a1"})
	if h := start(t, strings.Replace(letters, "dependency", "off", 1), run.Start{State: map[string]any{"a": "x"}}, nil); h.offers("correct") {
		t.Error("a correction is offered though they are off")
	}
}

const booking = `
turnwise: 1
flow: booking
state: {day: {type: string}, name: {type: string}}
tools: {look: {http: {method: GET}}, book: {go: book}, free: {go: free}}
start: day
nodes:
  day: {collect: [day], next: look}
  look: {call: look, args: {day: "{{ state.day }}"}, next: book}
  book: {call: book, args: {day: "{{ state.day }}"}, undo: {call: free, args: {id: "{{ result.id }}"}}, next: name}
  name: {collect: [name], next: done}
  done: {end: {outcome: done}}
`

func TestACorrectionUndoesEffects(t *testing.T) {
	tl := tools{"look": gives("free"), "book": inTurn(map[string]any{"id": 1}, map[string]any{"id": 2}), "free": gives("ok")}
	h := start(t, booking, run.Start{}, tl)
	h.call("record", map[string]any{"day": "monday"})
	h.at("name")
	h.call("correct", map[string]any{"field": "day", "value": "friday"})
	h.at("name")
	h.state(map[string]any{"day": "friday"})
	var made []string
	keys := map[string]bool{}
	for _, c := range h.calls {
		made = append(made, c.Tool+dump(c.Args))
		keys[c.Key] = true
	}
	want := `look{"day":"monday"} book{"day":"monday"} free{"id":1} look{"day":"friday"} book{"day":"friday"}`
	if got := strings.Join(made, " "); got != want {
		t.Errorf("called %s, want %s", got, want)
	}
	if len(keys) != len(h.calls) {
		t.Errorf("a correction shares an idempotency key: %d keys of %d calls", len(keys), len(h.calls))
	}
	// The same value again: nothing depends on a change, but the field is cleared and the
	// effect was undone, so it is made once more.
	if h.tally("free") != 1 {
		t.Errorf("undone %d times", h.tally("free"))
	}
}

func TestAnEffectWithoutUndoRefusesTheCorrection(t *testing.T) {
	h := start(t, strings.Replace(booking, `undo: {call: free, args: {id: "{{ result.id }}"}}, `, "", 1), run.Start{}, tools{"look": gives(1), "book": gives(1)})
	h.call("record", map[string]any{"day": "monday"})
	got := h.call("correct", map[string]any{"field": "day", "value": "friday"})
	if text, _ := got["error"].(string); !strings.Contains(text, "cannot be undone") {
		t.Errorf("the model is told %v", got)
	}
	h.at("name")
	h.state(map[string]any{"day": "monday"})
	if h.count(run.EventRefused) != 1 {
		t.Error("no event tells of it")
	}
}

func TestCallsWithUnchangedArgumentsReuseTheirResults(t *testing.T) {
	source := strings.Replace(booking, "book: {call", "ask: {collect: [name], next: look}\n  book: {call", 1)
	source = strings.Replace(source, "next: look}\n  look", "next: ask}\n  look", 1)
	source = strings.Replace(source, "  name: {collect: [name], next: done}", "  name: {follow_up: Talk., next: done}", 1)
	h := start(t, source, run.Start{}, tools{"look": gives("free"), "book": gives(map[string]any{"id": 1})})
	h.call("record", map[string]any{"day": "monday"})
	h.call("record", map[string]any{"name": "Ada"})
	h.at("name")
	h.call("correct", map[string]any{"field": "name", "value": "Eve"})
	h.at("name")
	h.state(map[string]any{"day": "monday", "name": "Eve"})
	if h.tally("look") != 1 || h.tally("book") != 1 {
		t.Errorf("look was called %d times, book %d times", h.tally("look"), h.tally("book"))
	}
}

const scoped = `
turnwise: 1
flow: scoped
state: {no: {type: string}}
functions: {hours: {description: When open., visit: hours}, person: {description: A person., next: person}}
start: ask
nodes:
  ask: {collect: [no], task: Get the number., say: Hello., out_of_scope: {about: parcels, to: desk}, attempts: 2, next: chat}
  desk: {use: front, input: {words: "{{ user.text }}"}, next: ask}
  hours: {say: Nine to five., next: back}
  chat: {follow_up: Answer questions., closure: [thanks, "that's all"], functions: {wrong_no: {description: The number is wrong., correct: no}}, next: done}
  person: {end: {outcome: person}}
  done: {end: {outcome: done}}
flows:
  front:
    inputs: {words: {type: string}}
    start: talk
    nodes:
      talk: {task: "Help with {{ inputs.words }}.", next: over}
      over: {end: {outcome: helped}}
`

func TestC10OutOfScopeLeadsOnOrAsksAPerson(t *testing.T) {
	h := start(t, scoped, run.Start{}, nil)
	h.say("I want to buy stamps")
	h.call("out_of_scope", map[string]any{"reason": "stamps"})
	if talk := h.talk(); talk.Scope == "" || talk.Task != "Help with I want to buy stamps." {
		t.Fatalf("%+v", talk)
	}
	h.call("continue", nil)
	h.at("ask")
	// Without a node to go to a person is asked, and it goes on at the same node.
	h = start(t, strings.Replace(scoped, "about: parcels, to: desk", "about: parcels", 1), run.Start{}, nil)
	h.say("I want to buy stamps")
	h.call("out_of_scope", map[string]any{"reason": "stamps"})
	i := h.interrupt("escalate")
	if i.Audience != run.AudienceOperator || i.Reason != "stamps" || i.Title != "I want to buy stamps" {
		t.Errorf("%+v", i)
	}
	h.state(map[string]any{})
	h.do(run.Answer{Interrupt: i.ID, Value: "tell them to go to the shop"})
	h.at("ask")
	if !h.offers("record") {
		t.Error("it does not go on")
	}
	// A node that declares no scope does not offer it.
	h = start(t, people, run.Start{}, nil)
	if h.offers("out_of_scope") {
		t.Error("offered without a scope")
	}
}

func TestC11FollowUpEndsWithAClosurePhraseAlone(t *testing.T) {
	h := start(t, scoped, run.Start{State: map[string]any{"no": "1"}}, nil)
	h.at("chat")
	for _, words := range []string{"when?", "thanks, but why?"} {
		h.say(words)
		h.do(run.BotTurn{Text: "Soon."})
		h.at("chat")
	}
	h.say("my parcel number is wrong")
	h.call("wrong_no", nil)
	h.at("ask")
	if h.talk().Replay != "my parcel number is wrong" {
		t.Errorf("replayed %q", h.talk().Replay)
	}
	h.call("record", map[string]any{"no": "2"})
	h.at("chat")
	h.say("  Thanks! ")
	h.outcome("done")
}

func TestADigressionReturnsWithoutAGreetingVisitOrAttempt(t *testing.T) {
	h := start(t, scoped, run.Start{}, nil)
	h.say("x")
	h.call("record", map[string]any{"no": int64(1)})
	visits, attempts := h.run.Scopes[""].Visits["ask"], h.run.Scopes[""].Attempts["no"]
	h.say("when are you open?")
	got := h.call("hours", nil)
	h.at("ask")
	if got["node"] != "ask" || h.said() != "Hello. | Nine to five." {
		t.Errorf("the model is told %v, said %q", got, h.said())
	}
	if s := h.run.Scopes[""]; s.Visits["ask"] != visits || s.Attempts["no"] != attempts || attempts != 1 {
		t.Errorf("visits %d, attempts %v", s.Visits["ask"], s.Attempts)
	}
	// An outer function inside a subflow unwinds it.
	h.call("out_of_scope", nil)
	if !h.offers("person") {
		t.Fatal("the outer function is not offered inside")
	}
	h.call("person", nil)
	h.outcome("person")
}
