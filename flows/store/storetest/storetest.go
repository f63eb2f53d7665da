// Package storetest holds a [run.Store] to what is promised of stores. A store's own tests
// call [Test]; what only some stores have, such as surviving a restart, they test besides.
package storetest

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/turnwise/turnwise/flows/run"
)

// Open gives an empty store for one test, which closes it at its end.
type Open func(t *testing.T) run.Store

// Test runs all tests against stores that open gives, each test with its own.
func Test(t *testing.T, open Open) {
	for _, one := range []struct {
		name string
		test func(*world)
	}{
		{"a run that was committed is loaded as it was", (*world).testLoads},
		{"integers, lists and empty values survive", (*world).testKeepsValues},
		{"a run that nobody committed is not there", (*world).testNoRun},
		{"a second start with the id of a run is refused", (*world).testExists},
		{"a stale owner's commit is refused and writes nothing", (*world).testFenced},
		{"of many commits at one revision one is written", (*world).testOneWins},
		{"what is given and taken is not changed by what comes later", (*world).testIsolated},
		{"the first valid answer is accepted and a later one gets its value", (*world).testFirstAnswer},
		{"of many answers at once one is accepted and all get its value", (*world).testManyAnswers},
		{"an answer that does not fit leaves the interrupt open", (*world).testInvalidAnswer},
		{"false, 0 and empty text are answers, and nothing is none", (*world).testFalsyAnswers},
		{"an answer to what is not asked is refused", (*world).testUnknownInterrupt},
		{"an accepted answer is there until a commit has taken it", (*world).testConsumed},
		{"an answer accepted before a stale commit is not consumed by it", (*world).testStaleConsumesNothing},
		{"an interrupt that is opened again is answered anew", (*world).testReopened},
		{"events are watched from any number on, in order, to the end", (*world).testWatch},
		{"who watches is told of what is committed later", (*world).testWatchLive},
		{"watching ends when its context does", (*world).testWatchEnds},
		{"runs are found by key, flow, status and what is due", (*world).testFind},
		{"a list is as long as was asked for, the run touched last first", (*world).testFindOrder},
		{"the text of a flow is kept under its hash", (*world).testFlow},
		{"a context that has ended ends a call", (*world).testContext},
		{"a history of thousands of events comes to the run", (*world).testLong},
	} {
		t.Run(one.name, func(t *testing.T) {
			one.test(&world{T: t, store: open(t), plan: plan(t), now: time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)})
		})
	}
}

// document is the flow the tests run: it notes, counts, asks people, and ends.
const document = `{
"turnwise": 1, "flow": "desk", "start": "ask", "key": "{{ inputs.who }}",
"inputs": {"who": {"type": "string"}},
"state": {"note": {}, "count": {"type": "integer", "default": 0}, "verdict": {}},
"nodes": {
  "ask": {"task": "Ask.", "functions": {
     "note":   {"description": "Note.", "parameters": {"note": {}}, "save": {"note": "{{ args.note }}", "count": "{{ state.count + 1 }}"}},
     "people": {"description": "People.", "next": "people"},
     "form":   {"description": "Form.", "next": "form"},
     "leave":  {"description": "Leave.", "next": "done"}}},
  "people": {"human": {"title": "Well?", "deadline": "10m", "default": "nobody"}, "save": {"verdict": "{{ answer }}"}, "next": "ask"},
  "form": {"human": {"title": "Well?", "deadline": "1h", "default": {"ok": false},
     "form": {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}}}, "save": {"verdict": "{{ answer }}"}, "next": "ask"},
  "done": {"end": {"outcome": "done"}}
}}`

// plan compiles the flow.
func plan(t *testing.T) *run.Plan {
	t.Helper()
	p, err := run.Compile([]byte(document), run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// world is one test's store, flow and clock.
type world struct {
	*testing.T
	store run.Store
	plan  *run.Plan
	now   time.Time
	calls int
}

// input is what an advance gets; each is a second later.
func (w *world) input(rs ...run.Response) run.Input {
	w.now = w.now.Add(time.Second)
	return run.Input{Now: w.now, Responses: rs}
}

// start begins and commits a run.
func (w *world) start(id, who string) *run.Record {
	w.Helper()
	r, events, err := w.plan.Start(run.Start{ID: id, Inputs: map[string]any{"who": who}}, w.input())
	if err != nil {
		w.Fatal(err)
	}
	revision, err := w.store.Commit(w.Context(), run.Commit{Run: r, Events: events, Due: w.plan.Due(r)})
	if err != nil {
		w.Fatal(err)
	}
	return &run.Record{Run: r, Revision: revision}
}

// advanced is the commit that tells a run of something.
func (w *world) advanced(rec *run.Record, rs ...run.Response) run.Commit {
	w.Helper()
	r, events, err := w.plan.Advance(rec.Run, w.input(rs...))
	if err != nil {
		w.Fatal(err)
	}
	return run.Commit{Expect: rec.Revision, Run: r, Events: events, Due: w.plan.Due(r)}
}

// tell advances and commits.
func (w *world) tell(rec *run.Record, rs ...run.Response) *run.Record {
	w.Helper()
	c := w.advanced(rec, rs...)
	for _, r := range rs {
		if a, is := r.(run.Answer); is {
			c.Consumed = append(c.Consumed, a.Interrupt)
		}
	}
	revision, err := w.store.Commit(w.Context(), c)
	if err != nil {
		w.Fatal(err)
	}
	return &run.Record{Run: c.Run, Revision: revision}
}

// call is a call of the model's.
func (w *world) call(name string, args map[string]any) run.FunctionCall {
	w.calls++
	return run.FunctionCall{ID: "call-" + string(rune('a'+w.calls%26)) + time.Duration(w.calls).String(), Name: name, Args: args}
}

// waiting starts a run that waits for people, and gives the interrupt.
func (w *world) waiting(id, function string) (*run.Record, string) {
	w.Helper()
	rec := w.tell(w.start(id, "ada"), w.call(function, nil))
	for name := range rec.Run.Interrupts {
		return rec, name
	}
	w.Fatal("the run does not wait")
	return nil, ""
}

// load loads and expects a run to be as it was committed.
func (w *world) load(id string) *run.Record {
	w.Helper()
	rec, err := w.store.Load(w.Context(), id)
	if err != nil {
		w.Fatal(err)
	}
	return rec
}

// same expects two runs to be one.
func (w *world) same(got, want *run.Run) {
	w.Helper()
	if !reflect.DeepEqual(got, want) {
		w.Fatalf("got\n%s\nwant\n%s", text(got), text(want))
	}
}

// history is all events of a run so far.
func (w *world) history(id string, upTo int64) []run.Event {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 30*time.Second)
	defer cancel()
	var all []run.Event
	for e, err := range w.store.Watch(ctx, id, 0) {
		if err != nil {
			w.Fatal(err)
		}
		if all = append(all, e); e.Seq == upTo {
			break
		}
	}
	if n := int64(len(all)); n != upTo {
		w.Fatalf("%d events, want %d", n, upTo)
	}
	return all
}

func text(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}
