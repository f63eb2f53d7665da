package storetest

import (
	"errors"
	"reflect"
	"sync"

	"github.com/turnwise/turnwise/flows/run"
)

// answer answers and expects what comes of it.
func (w *world) answer(interrupt string, value, want any, first bool) {
	w.Helper()
	got, was, err := w.store.Answer(w.Context(), "r", run.Answer{Interrupt: interrupt, Value: value, By: "bob"})
	if err != nil || was != first || !reflect.DeepEqual(got, want) {
		w.Fatalf("answered %v: got %v, first %t, %v; want %v, first %t", value, got, was, err, want, first)
	}
}

func (w *world) testFirstAnswer() {
	rec, i := w.waiting("r", "people")
	w.answer(i, "yes", "yes", true)
	w.answer(i, "no", "yes", false)
	w.tell(rec, run.Answer{Interrupt: i, Value: "yes"})
	w.answer(i, "no", "yes", false)
}

func (w *world) testManyAnswers() {
	_, i := w.waiting("r", "people")
	const many = 16
	type outcome struct {
		value any
		first bool
		err   error
	}
	outcomes := make([]outcome, many)
	var all sync.WaitGroup
	for n := range many {
		all.Go(func() {
			o := &outcomes[n]
			o.value, o.first, o.err = w.store.Answer(w.Context(), "r", run.Answer{Interrupt: i, Value: int64(n)})
		})
	}
	all.Wait()
	first := 0
	for n, o := range outcomes {
		if o.err != nil || o.value != outcomes[0].value {
			w.Fatalf("%v and %v, %v", o.value, outcomes[0].value, o.err)
		}
		if o.first {
			first++
			if o.value != int64(n) {
				w.Errorf("the answer %d is the first, and %v was accepted", n, o.value)
			}
		}
	}
	if answers := w.load("r").Answers; first != 1 || len(answers) != 1 || answers[0].Value != outcomes[0].value {
		w.Errorf("%d were first; accepted is %v", first, answers)
	}
}

func (w *world) testInvalidAnswer() {
	_, i := w.waiting("r", "form")
	for _, value := range []any{"yes", nil, map[string]any{}, map[string]any{"ok": "yes"}} {
		var invalid *run.InvalidAnswer
		if _, _, err := w.store.Answer(w.Context(), "r", run.Answer{Interrupt: i, Value: value}); !errors.As(err, &invalid) {
			w.Fatalf("%v: %v", value, err)
		}
	}
	if rec := w.load("r"); len(rec.Answers) != 0 || rec.Run.Interrupts[i] == nil {
		w.Error("an answer that does not fit has had an effect")
	}
	fits := map[string]any{"ok": true}
	w.answer(i, fits, fits, true)
}

func (w *world) testFalsyAnswers() {
	for _, value := range []any{false, int64(0), ""} {
		id := "r-" + text(value)
		_, i := w.waiting(id, "people")
		got, first, err := w.store.Answer(w.Context(), id, run.Answer{Interrupt: i, Value: value})
		if err != nil || !first || got != value {
			w.Errorf("%v: got %v, %t, %v", value, got, first, err)
		}
		if answers := w.load(id).Answers; len(answers) != 1 || answers[0].Value != value {
			w.Errorf("%v is kept as %v", value, answers)
		}
	}
	_, i := w.waiting("none", "people")
	var invalid *run.InvalidAnswer
	if _, _, err := w.store.Answer(w.Context(), "none", run.Answer{Interrupt: i}); !errors.As(err, &invalid) {
		w.Errorf("nothing: %v", err)
	}
}

func (w *world) testUnknownInterrupt() {
	rec, i := w.waiting("r", "people")
	ask := func(id string) error {
		_, _, err := w.store.Answer(w.Context(), "r", run.Answer{Interrupt: id, Value: "yes"})
		return err
	}
	if err := ask("nothing"); !errors.Is(err, run.ErrNoInterrupt) {
		w.Errorf("what nobody asked: %v", err)
	}
	w.tell(rec, run.Cancel{Reason: "test"})
	if err := ask(i); !errors.Is(err, run.ErrNoInterrupt) {
		w.Errorf("what a run that has ended had asked: %v", err)
	}
}

func (w *world) testConsumed() {
	rec, i := w.waiting("r", "people")
	w.answer(i, "yes", "yes", true)
	rec = w.tell(rec, run.UserTurn{Text: "Hello?"}) // which does not take it
	got := w.load("r")
	want := []run.Answer{{Interrupt: i, Value: "yes", By: "bob"}}
	if !reflect.DeepEqual(got.Answers, want) {
		w.Fatalf("answers %v, want %v", got.Answers, want)
	}
	rec = w.tell(rec, got.Answers[0])
	if after := w.load("r"); len(after.Answers) != 0 || after.Run.Scopes[""].State["verdict"] != "yes" {
		w.Errorf("answers %v and verdict %v after the commit that took it", after.Answers, after.Run.Scopes[""].State["verdict"])
	}
	w.same(w.load("r").Run, rec.Run)
}

func (w *world) testStaleConsumesNothing() {
	old, i := w.waiting("r", "people")
	w.answer(i, "yes", "yes", true)
	w.tell(old, run.UserTurn{Text: "Hello?"})
	c := w.advanced(old, run.Answer{Interrupt: i, Value: "yes"})
	c.Consumed = []string{i}
	if _, err := w.store.Commit(w.Context(), c); !errors.Is(err, run.ErrFenced) {
		w.Fatalf("a stale commit: %v", err)
	}
	if got := w.load("r"); len(got.Answers) != 1 {
		w.Errorf("answers %v: the stale commit has consumed it", got.Answers)
	}
}

func (w *world) testReopened() {
	rec, i := w.waiting("r", "people")
	opened := rec.Run.Interrupts[i]
	w.answer(i, "yes", "yes", true)
	rec = w.tell(rec, run.Answer{Interrupt: i, Value: "yes"})
	w.answer(i, "no", "yes", false)
	// The reducer gives another visit another id; a store must not count on that.
	r := *rec.Run
	r.Seq++
	r.Interrupts = map[string]*run.Interrupt{i: opened}
	again := run.Event{Schema: run.Schema, Seq: r.Seq, Time: w.now, Type: run.EventInterrupt, Node: opened.Node, Visit: opened.Visit, Interrupt: opened}
	if _, err := w.store.Commit(w.Context(), run.Commit{Expect: rec.Revision, Run: &r, Events: []run.Event{again}}); err != nil {
		w.Fatal(err)
	}
	w.answer(i, "no", "no", true)
	w.answer(i, "yes", "no", false)
}
