package run_test

import (
	"context"
	"errors"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/flows/run"
)

// caller calls scripted tools.
type caller struct {
	mu    sync.Mutex
	tools map[string]func(context.Context, run.ToolCall) (any, error)
	calls []run.ToolCall
}

func (c *caller) CallTool(ctx context.Context, call run.ToolCall) (any, error) {
	c.mu.Lock()
	c.calls = append(c.calls, call)
	f := c.tools[call.Tool]
	c.mu.Unlock()
	return f(ctx, call)
}

func (c *caller) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.calls)
}

const pays = `
turnwise: 1
flow: pays
inputs: {who: {type: string}}
key: "{{ inputs.who }}"
state: {receipt: {type: string}}
tools: {pay: {go: pay}, look: {http: {method: GET}}}
start: ask
nodes:
  ask: {task: Ask., functions: {pay: {description: Pay., next: pay}, look: {description: Look., next: look}, approve: {description: Approve., next: approve}}}
  pay: {call: pay, save: {receipt: "{{ result }}"}, on_error: sorry, next: done}
  look: {call: look, timeout: 3s, retry: {max_attempts: 3, delay: 1s, backoff: 2}, save: {receipt: "{{ result }}"}, on_error: sorry, next: done}
  approve: {human: {title: "Pay?", options: [approve, reject], deadline: 10m, default: reject}, save: {receipt: "{{ answer }}"}, next: done}
  sorry: {end: {outcome: sorry, success: false, value: "{{ error.class }}"}}
  done: {end: {outcome: done}}
`

// runner makes a runner over a store, for a run that has been started.
func runner(t *testing.T, store run.Store, c *caller) *run.Runner {
	t.Helper()
	r := &run.Runner{Plan: compile(t, pays), Store: store, Tools: c}
	if _, err := store.Load(t.Context(), "r"); errors.Is(err, run.ErrNoRun) {
		if _, err := r.Start(t.Context(), run.Start{ID: "r", Inputs: map[string]any{"who": "ada"}}); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func TestTheRunnerCommitsACallBeforeItIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &run.Memory{}
		c := &caller{}
		c.tools = map[string]func(context.Context, run.ToolCall) (any, error){"pay": func(ctx context.Context, call run.ToolCall) (any, error) {
			rec, err := store.Load(ctx, "r")
			if err != nil || len(rec.Run.Calls) != 1 {
				t.Errorf("the call is made before it is committed: %v", err)
			}
			time.Sleep(time.Second)
			return "no. 7", nil
		}}
		r := runner(t, store, c)
		got, err := r.Respond(t.Context(), "r", run.FunctionCall{ID: "1", Name: "pay"})
		if err != nil || got.Outcome == nil || got.Scopes[""].State["receipt"] != "no. 7" || got.Key != "ada" {
			t.Fatalf("%v: %s", err, dump(got))
		}
		var last int64
		for e, err := range store.Watch(t.Context(), "r", 0) {
			if err != nil || e.Seq != last+1 {
				t.Fatalf("event %d behind %d: %v", e.Seq, last, err)
			}
			last = e.Seq
		}
		if last != got.Seq {
			t.Errorf("%d events, want %d", last, got.Seq)
		}
	})
}

func TestTheRunnerRetriesAndTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &caller{}
		c.tools = map[string]func(context.Context, run.ToolCall) (any, error){"look": func(ctx context.Context, call run.ToolCall) (any, error) {
			if call.Attempt < 3 {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return "seen", nil
		}}
		r := runner(t, &run.Memory{}, c)
		began := time.Now()
		got, err := r.Respond(t.Context(), "r", run.FunctionCall{ID: "1", Name: "look"})
		if err != nil || got.Outcome == nil || got.Outcome.Name != "done" {
			t.Fatalf("%v: %s", err, dump(got))
		}
		if took := time.Since(began); took != 9*time.Second {
			t.Errorf("took %s, want 3s + 1s + 3s + 2s", took)
		}
	})
}

func TestEachOfSeveralRetriesIsMadeInItsTime(t *testing.T) {
	const retrying = `
turnwise: 1
flow: retrying
tools:
  one: {http: {method: GET}, retry: {max_attempts: 2, delay: 1s}}
  two: {http: {method: GET}, retry: {max_attempts: 2, delay: 5s}}
  three: {http: {method: GET}, retry: {max_attempts: 2, delay: 7s}}
start: ask
nodes:
  ask:
    task: Ask.
    functions:
      one: {description: One., call: one}
      two: {description: Two., call: two}
      three: {description: Three., call: three}
      end: {description: End., next: done}
  done: {end: {outcome: done}}
`
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		again := map[string]time.Duration{}
		c := &caller{}
		tool := func(_ context.Context, call run.ToolCall) (any, error) {
			if call.Attempt == 1 {
				return nil, &run.Failure{Class: "network", Message: "down"}
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			again[call.Tool] = time.Since(began)
			return "up", nil
		}
		c.tools = map[string]func(context.Context, run.ToolCall) (any, error){"one": tool, "two": tool, "three": tool}
		r := &run.Runner{Plan: compile(t, retrying), Store: &run.Memory{}, Tools: c}
		if _, err := r.Start(t.Context(), run.Start{ID: "r"}); err != nil {
			t.Fatal(err)
		}
		got, err := r.Respond(t.Context(), "r", run.FunctionCall{ID: "1", Name: "one"}, run.FunctionCall{ID: "2", Name: "two"}, run.FunctionCall{ID: "3", Name: "three"})
		if err != nil || len(got.Calls) != 0 {
			t.Fatalf("%v: %s", err, dump(got))
		}
		want := map[string]time.Duration{"one": time.Second, "two": 5 * time.Second, "three": 7 * time.Second}
		if !maps.Equal(again, want) {
			t.Errorf("made again after %v, want %v", again, want)
		}
	})
}

func TestACallACrashInterruptedIsRepeatedOnlyWhenThatIsSafe(t *testing.T) {
	for name, c := range map[string]struct {
		tool, outcome string
		value         any
	}{
		"an effect that cannot be repeated fails as unknown": {"pay", "sorry", "unknown"},
		"a call that only reads is made again":               {"look", "done", nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &run.Memory{}
				crash, kill := context.WithCancel(t.Context())
				first := &caller{}
				hang := func(ctx context.Context, _ run.ToolCall) (any, error) {
					kill()
					<-ctx.Done()
					return nil, ctx.Err()
				}
				first.tools = map[string]func(context.Context, run.ToolCall) (any, error){"pay": hang, "look": hang}
				if _, err := runner(t, store, first).Respond(crash, "r", run.FunctionCall{ID: "1", Name: c.tool}); !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				second := &caller{}
				ok := func(context.Context, run.ToolCall) (any, error) { return "again", nil }
				second.tools = map[string]func(context.Context, run.ToolCall) (any, error){"pay": ok, "look": ok}
				got, err := runner(t, store, second).Resume(t.Context(), "r")
				if err != nil || got.Outcome == nil || got.Outcome.Name != c.outcome || got.Outcome.Value != c.value {
					t.Fatalf("%v: %s", err, dump(got))
				}
				if c.tool == "look" && second.calls[0].Key != first.calls[0].Key {
					t.Error("the idempotency key is another one")
				}
				if c.tool == "pay" && second.count() != 0 {
					t.Error("the effect was repeated")
				}
			})
		})
	}
}

func TestW2OfTwoAnswersExactlyOneCounts(t *testing.T) {
	store := &run.Memory{}
	r := runner(t, store, &caller{})
	got, err := r.Respond(t.Context(), "r", run.FunctionCall{ID: "1", Name: "approve"})
	if err != nil {
		t.Fatal(err)
	}
	var id string
	for id = range got.Interrupts {
		break
	}
	if _, err := r.Answer(t.Context(), "r", run.Answer{Interrupt: id, Value: "maybe"}); err == nil {
		t.Error("an answer that is no option was taken")
	}
	var all sync.WaitGroup
	accepted := make(chan any, 8)
	for i := range cap(accepted) {
		all.Go(func() {
			v, err := r.Answer(context.Background(), "r", run.Answer{Interrupt: id, Value: []string{"approve", "reject"}[i%2]})
			if err != nil {
				t.Error(err)
			}
			accepted <- v
		})
	}
	all.Wait()
	close(accepted)
	rec, err := store.Load(t.Context(), "r")
	if err != nil || rec.Run.Outcome == nil {
		t.Fatalf("%v: %s", err, dump(rec))
	}
	for v := range accepted {
		if v != rec.Run.Scopes[""].State["receipt"] {
			t.Errorf("told %v, and %v counts", v, rec.Run.Scopes[""].State["receipt"])
		}
	}
}

func TestADeadlineGivesTheDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &run.Memory{}
		r := runner(t, store, &caller{})
		if _, err := r.Respond(t.Context(), "r", run.FunctionCall{ID: "1", Name: "approve"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		due, err := store.Find(t.Context(), run.Query{Due: time.Now()})
		if err != nil || len(due) != 1 || due[0].Key != "ada" || due[0].Waits != 1 {
			t.Fatalf("%+v, %v", due, err)
		}
		got, err := r.Resume(t.Context(), due[0].ID)
		if err != nil || got.Scopes[""].State["receipt"] != "reject" {
			t.Fatalf("%v: %s", err, dump(got))
		}
		if _, err := r.Resume(t.Context(), "r"); err != nil {
			t.Errorf("resuming what has ended: %v", err)
		}
	})
}

func TestAStaleWriteIsRefused(t *testing.T) {
	store := &run.Memory{}
	runner(t, store, &caller{})
	rec, err := store.Load(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	write := run.Commit{Expect: rec.Revision, Run: rec.Run}
	if _, err := store.Commit(t.Context(), write); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Commit(t.Context(), write); !errors.Is(err, run.ErrFenced) {
		t.Errorf("%v", err)
	}
	if _, err := store.Commit(t.Context(), run.Commit{Run: rec.Run}); !errors.Is(err, run.ErrExists) {
		t.Errorf("%v", err)
	}
}
