package storetest

import (
	"context"
	"errors"
	"reflect"
	"sync"

	"github.com/turnwise/turnwise/flows/run"
)

func (w *world) testLoads() {
	rec := w.tell(w.start("r", "ada"), w.call("note", map[string]any{"note": "n"}))
	got := w.load("r")
	w.same(got.Run, rec.Run)
	if got.Revision != rec.Revision || len(got.Answers) != 0 {
		w.Errorf("revision %d and answers %v, want %d and none", got.Revision, got.Answers, rec.Revision)
	}
}

func (w *world) testKeepsValues() {
	rec := w.start("r", "ada")
	for _, v := range []any{
		int64(9007199254740993), 1.5, "", "ä\u2028\x00", false, map[string]any{}, []any{}, []any{int64(1), nil, "x"}, map[string]any{"a.b": []any{map[string]any{"c": int64(3)}}},
	} {
		rec = w.tell(rec, w.call("note", map[string]any{"note": v}))
		got := w.load("r").Run
		w.same(got, rec.Run)
		if note := got.Scopes[""].State["note"]; !reflect.DeepEqual(note, v) {
			w.Errorf("noted %#v, want %#v", note, v)
		}
	}
}

func (w *world) testNoRun() {
	if _, err := w.store.Load(w.Context(), "nobody"); !errors.Is(err, run.ErrNoRun) {
		w.Errorf("loading: %v", err)
	}
	if _, _, err := w.store.Answer(w.Context(), "nobody", run.Answer{Interrupt: "i", Value: 1}); !errors.Is(err, run.ErrNoRun) {
		w.Errorf("answering: %v", err)
	}
	for _, err := range w.store.Watch(w.Context(), "nobody", 0) {
		if !errors.Is(err, run.ErrNoRun) {
			w.Errorf("watching: %v", err)
		}
	}
	rec := w.start("r", "ada")
	c := w.advanced(rec, w.call("leave", nil))
	other := *c.Run
	other.ID = "nobody"
	c.Run = &other
	if _, err := w.store.Commit(w.Context(), c); !errors.Is(err, run.ErrNoRun) {
		w.Errorf("committing: %v", err)
	}
}

func (w *world) testExists() {
	rec := w.start("r", "ada")
	r, events, err := w.plan.Start(run.Start{ID: "r", Inputs: map[string]any{"who": "bob"}}, w.input())
	if err != nil {
		w.Fatal(err)
	}
	if _, err := w.store.Commit(w.Context(), run.Commit{Run: r, Events: events}); !errors.Is(err, run.ErrExists) {
		w.Fatalf("a second start: %v", err)
	}
	w.same(w.load("r").Run, rec.Run)
}

func (w *world) testFenced() {
	old := w.start("r", "ada")
	rec := w.tell(old, w.call("note", map[string]any{"note": "new"}))
	if _, err := w.store.Commit(w.Context(), w.advanced(old, w.call("note", map[string]any{"note": "stale"}))); !errors.Is(err, run.ErrFenced) {
		w.Fatalf("a stale commit: %v", err)
	}
	got := w.load("r")
	w.same(got.Run, rec.Run)
	w.history("r", rec.Run.Seq)
	if got.Revision != rec.Revision {
		w.Errorf("revision %d, want %d", got.Revision, rec.Revision)
	}
}

func (w *world) testOneWins() {
	rec := w.start("r", "ada")
	const many = 16
	commits := make([]run.Commit, many)
	for i := range commits {
		commits[i] = w.advanced(rec, w.call("note", map[string]any{"note": int64(i)}))
	}
	errs := make([]error, many)
	var all sync.WaitGroup
	for i := range commits {
		all.Go(func() { _, errs[i] = w.store.Commit(w.Context(), commits[i]) })
	}
	all.Wait()
	won := -1
	for i, err := range errs {
		switch {
		case err == nil && won >= 0:
			w.Fatalf("both %d and %d were written", won, i)
		case err == nil:
			won = i
		case !errors.Is(err, run.ErrFenced):
			w.Fatal(err)
		}
	}
	if won < 0 {
		w.Fatal("none was written")
	}
	w.same(w.load("r").Run, commits[won].Run)
}

func (w *world) testIsolated() {
	first := w.start("r", "ada")
	before := text(first.Run)
	loaded := w.load("r")
	rec := first
	for range 5 {
		rec = w.tell(rec, w.call("note", map[string]any{"note": "x"}))
	}
	if text(loaded.Run) != before || text(first.Run) != before {
		w.Error("a run that was given or taken has changed")
	}
}

func (w *world) testContext() {
	w.start("r", "ada")
	ctx, cancel := context.WithCancel(w.Context())
	cancel()
	rec := w.load("r")
	// A store in memory may not look at the context; whoever does says so, and a write that
	// is refused has not happened.
	_, err := w.store.Commit(ctx, w.advanced(rec, w.call("note", map[string]any{"note": "x"})))
	got := w.load("r")
	switch {
	case err == nil && got.Revision != rec.Revision+1:
		w.Errorf("revision %d after a commit at %d", got.Revision, rec.Revision)
	case err != nil && !errors.Is(err, context.Canceled):
		w.Errorf("committing with an ended context: %v", err)
	}
}

func (w *world) testLong() {
	rec := w.start("r", "ada")
	for i := range 600 {
		rec = w.tell(rec, w.call("note", map[string]any{"note": int64(i)}))
		if i%97 == 0 {
			w.same(w.load("r").Run, rec.Run)
		}
	}
	w.same(w.load("r").Run, rec.Run)
	again, err := run.Replay(w.history("r", rec.Run.Seq))
	if err != nil {
		w.Fatal(err)
	}
	w.same(again, rec.Run)
}
