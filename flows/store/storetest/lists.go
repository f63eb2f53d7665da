package storetest

import (
	"context"
	"errors"
	"reflect"
	"time"

	"github.com/turnwise/turnwise/flows/run"
)

func (w *world) testWatch() {
	rec := w.start("r", "ada")
	for range 20 {
		rec = w.tell(rec, w.call("note", map[string]any{"note": "x"}))
	}
	rec = w.tell(rec, w.call("leave", nil))
	for after := range rec.Run.Seq + 1 {
		last := after
		for e, err := range w.store.Watch(w.Context(), "r", after) {
			if err != nil || e.Seq != last+1 {
				w.Fatalf("event %d behind %d: %v", e.Seq, last, err)
			}
			last = e.Seq
		}
		if last != rec.Run.Seq {
			w.Fatalf("from %d on, the last event was %d, want %d", after, last, rec.Run.Seq)
		}
	}
	again, err := run.Replay(w.history("r", rec.Run.Seq))
	if err != nil {
		w.Fatal(err)
	}
	w.same(again, rec.Run)
}

func (w *world) testWatchLive() {
	rec := w.start("r", "ada")
	seen := make(chan run.Event)
	ctx, cancel := context.WithTimeout(w.Context(), 30*time.Second)
	defer cancel()
	last := rec.Run.Seq
	events := w.store.Watch(ctx, "r", last)
	go func() {
		defer close(seen)
		for e, err := range events {
			if err != nil {
				return
			}
			seen <- e
		}
	}()
	for range 3 {
		rec = w.tell(rec, w.call("note", map[string]any{"note": "x"}))
		for last < rec.Run.Seq {
			e, open := <-seen
			if !open || e.Seq != last+1 {
				w.Fatalf("event %d behind %d, open %t", e.Seq, last, open)
			}
			last = e.Seq
		}
	}
	w.tell(rec, w.call("leave", nil))
	for range seen { // it ends with the run
	}
	if ctx.Err() != nil {
		w.Error("watching did not end with the run")
	}
}

func (w *world) testWatchEnds() {
	rec := w.start("r", "ada")
	ctx, cancel := context.WithCancel(w.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for _, err := range w.store.Watch(ctx, "r", rec.Run.Seq) {
			w.Errorf("an event nobody committed, or %v", err)
		}
	}()
	cancel()
	<-ended
}

// found are the ids of runs.
func (w *world) found(q run.Query) []string {
	w.Helper()
	all, err := w.store.Find(w.Context(), q)
	if err != nil {
		w.Fatal(err)
	}
	ids := []string{}
	for _, s := range all {
		ids = append(ids, s.ID)
	}
	return ids
}

func (w *world) testFind() {
	w.start("one", "ada")
	two := w.tell(w.start("two", "bob"), w.call("people", nil))
	w.tell(w.start("three", "bob"), w.call("leave", nil))
	deadline := w.plan.Due(two.Run)
	for _, c := range []struct {
		name string
		q    run.Query
		want []string
	}{
		{"all", run.Query{}, []string{"three", "two", "one"}},
		{"of a key", run.Query{Key: "bob"}, []string{"three", "two"}},
		{"of nobody", run.Query{Key: "eve"}, []string{}},
		{"of a flow", run.Query{Flow: "desk"}, []string{"three", "two", "one"}},
		{"of another flow", run.Query{Flow: "other"}, []string{}},
		{"that have ended", run.Query{Status: run.StatusEnded}, []string{"three"}},
		{"of a key that have ended", run.Query{Key: "ada", Status: run.StatusEnded}, []string{}},
		{"before anything is due", run.Query{Due: deadline.Add(-time.Nanosecond)}, []string{}},
		{"that are due", run.Query{Due: deadline}, []string{"two"}},
	} {
		if got := w.found(c.q); !reflect.DeepEqual(got, c.want) {
			w.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	all, err := w.store.Find(w.Context(), run.Query{Due: deadline})
	if err != nil || len(all) != 1 {
		w.Fatal(all, err)
	}
	if want := run.Summarize(two.Run, two.Revision, deadline); !reflect.DeepEqual(all[0], want) {
		w.Errorf("got %+v, want %+v", all[0], want)
	}
}

func (w *world) testFindOrder() {
	for _, id := range []string{"a", "b", "c"} {
		w.start(id, "ada")
	}
	rec := w.load("a")
	w.tell(rec, run.UserTurn{Text: "I am here."})
	if got := w.found(run.Query{Limit: 2}); !reflect.DeepEqual(got, []string{"a", "c"}) {
		w.Errorf("%v, want a, which was touched last, and c", got)
	}
}

func (w *world) testFlow() {
	if _, err := w.store.Flow(w.Context(), "none"); !errors.Is(err, run.ErrNoFlow) {
		w.Errorf("a flow nobody kept: %v", err)
	}
	for range 2 {
		if err := w.store.PutFlow(w.Context(), w.plan.Hash(), []byte(document)); err != nil {
			w.Fatal(err)
		}
	}
	got, err := w.store.Flow(w.Context(), w.plan.Hash())
	if err != nil || string(got) != document {
		w.Errorf("%q, %v", got, err)
	}
}
