package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/turnwise/turnwise/flows/run"
	"github.com/turnwise/turnwise/flows/store/sqlite"
)

// A run that one process starts is carried on by another: they share the file.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "runs")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	plan, err := run.Compile([]byte(`{"turnwise": 1, "flow": "approval", "start": "ask", "state": {"verdict": {"type": "string"}}, "nodes": {
		"ask":  {"human": {"title": "Pay?", "options": ["yes", "no"], "deadline": "48h", "default": "no"}, "save": {"verdict": "{{ answer }}"}, "next": "done"},
		"done": {"end": {"outcome": "{{ state.verdict }}"}}}}`), run.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}

	process := func(work func(context.Context, *run.Runner) error) {
		ctx := context.Background()
		store, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(dir, "turnwise.db")})
		if err != nil {
			fmt.Println(err)
			return
		}
		defer store.Close()
		if err := work(ctx, &run.Runner{Plan: plan, Store: store}); err != nil {
			fmt.Println(err)
		}
	}

	process(func(ctx context.Context, r *run.Runner) error {
		started, err := r.Start(ctx, run.Start{ID: "run-1"})
		fmt.Println(started.Status)
		return err
	})
	process(func(ctx context.Context, r *run.Runner) error {
		rec, err := r.Store.Load(ctx, "run-1")
		if err != nil {
			return err
		}
		for id, i := range rec.Run.Interrupts {
			fmt.Println(i.Title)
			if _, err := r.Answer(ctx, "run-1", run.Answer{Interrupt: id, Value: "yes", By: "ada"}); err != nil {
				return err
			}
		}
		rec, err = r.Store.Load(ctx, "run-1")
		fmt.Println(rec.Run.Status, rec.Run.Scopes[""].State["verdict"])
		return err
	})
	// Output:
	// waiting
	// Pay?
	// ended yes
}
