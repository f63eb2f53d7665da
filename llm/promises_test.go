package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
)

func TestEveryCallHasAKeyOfItsOwnAndKeepsItWhenTheSessionIsRunAgain(t *testing.T) { // R11
	keys := func() (keys []string) {
		synctest.Test(t, func(t *testing.T) {
			s := newSession(t, llm.Config{},
				step{call("1", "f", `{"n":1}`), call("2", "f", `{"n":2}`)}, step{call("1", "f", `{"n":1}`)}, step{"Done."})
			s.convo.SetTools(tools("f"))
			told := make(chan string, 10)
			s.svc.RegisterFunction("f", func(ctx context.Context, _ json.RawMessage) (string, error) {
				c, ok := llm.CallFrom(ctx)
				if !ok {
					t.Error("the handler does not see its call")
					return "", nil
				}
				told <- c.IdempotencyKey
				return "ok", nil
			})
			s.start()
			s.say("go")
			s.end()
			close(told)
			for key := range told {
				keys = append(keys, key)
			}
		})
		slices.Sort(keys) // the two of one response run side by side
		return keys
	}
	first, again := keys(), keys()
	if len(first) != 3 || len(slices.Compact(slices.Clone(first))) != 3 {
		t.Errorf("three calls have the keys %q", first)
	}
	if !slices.Equal(first, again) {
		t.Errorf("the same session has the keys %q and then %q", first, again)
	}
}

func TestACallThatRepeatsOneUnderWay(t *testing.T) { // R11
	for name, c := range map[string]struct {
		policy llm.DuplicatePolicy
		runs   int
		second string
	}{
		"shares its result":    {llm.DuplicateShare, 1, "tool 2: run 1"},
		"runs as well":         {llm.DuplicateRun, 2, "tool 2: run 2"},
		"is answered an error": {llm.DuplicateReject, 1, `tool 2: {"error":"the same call is still running"}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				// The arguments are the same, whatever white space the model put between.
				s := newSession(t, llm.Config{}, step{call("1", "f", `{"n":1}`), call("2", "f", `{ "n": 1 }`), call("3", "f", `{"n":3}`)}, step{"Done."})
				begun := make(map[string]int) // by the call's id
				offer := tools("f")
				runs := make(chan string, 3)
				offer[0].Binding = llm.Function{Duplicates: c.policy, Handler: func(ctx context.Context, _ json.RawMessage) (string, error) {
					call, _ := llm.CallFrom(ctx)
					runs <- call.ID
					time.Sleep(time.Second)
					return "run " + call.ID, nil
				}}
				s.convo.SetTools(offer)
				s.start()
				s.say("go")
				time.Sleep(2 * time.Second)
				s.end()
				close(runs)
				for id := range runs {
					begun[id]++
				}
				if n := begun["1"] + begun["2"]; n != c.runs || begun["3"] != 1 {
					t.Errorf("the runs are %v", begun)
				}
				history := s.history()
				for _, want := range []string{"tool 1: run 1", c.second, "tool 3: run 3"} {
					if !slices.Contains(history, want) {
						t.Errorf("no %q in %q", want, history)
					}
				}
			})
		})
	}
}

func TestAResponseTellsWhatItTookAndCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		usage := &frames.TokenUsage{Prompt: 40, Completion: 2, Total: 42, CachedPrompt: 32}
		s := newSession(t, llm.Config{}, step{300 * time.Millisecond, "Four", 200 * time.Millisecond, ".", usage})
		s.start()
		s.say("two and two?")
		time.Sleep(time.Second)
		s.end()
		var waits []time.Duration
		var used []frames.TokenUsage
		for _, m := range s.costs {
			if m.Processor != s.svc.Name() {
				t.Errorf("measured by %q", m.Processor)
			}
			if m.TTFB > 0 {
				waits = append(waits, m.TTFB)
			}
			if m.Usage != nil {
				used = append(used, *m.Usage)
			}
		}
		if !slices.Equal(waits, []time.Duration{300 * time.Millisecond}) {
			t.Errorf("the first text came after %v", waits)
		}
		if !slices.Equal(used, []frames.TokenUsage{*usage}) {
			t.Errorf("the tokens are %+v", used)
		}
	})
}

// clocked notes when it is asked.
type clocked struct {
	llm.Model
	begin time.Time
	at    []time.Duration
}

func (c *clocked) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	c.at = append(c.at, time.Since(c.begin))
	return c.Model.Stream(ctx, req)
}

func TestPausesBetweenAttemptsGrow(t *testing.T) { // RT51
	down := &llm.Error{Category: frames.ErrorNetwork, Provider: "x", Err: errors.New("connection closed")}
	busy := &llm.Error{Category: frames.ErrorRateLimit, Provider: "x", RetryAfter: time.Second, Err: errors.New("slow down")}
	long := &llm.Error{Category: frames.ErrorRateLimit, Provider: "x", RetryAfter: time.Hour, Err: errors.New("come back later")}
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		steps []step
		at    []time.Duration
		seen  string
	}{
		"each is twice the one before":          {[]step{{down}, {down}, {down}, {"Back."}}, []time.Duration{0, 100 * ms, 300 * ms, 700 * ms}, "Back."},
		"what the provider asks for is granted": {[]step{{busy}, {"Back."}}, []time.Duration{0, time.Second}, "Back."},
		"an hour is not":                        {[]step{{long}, {"Back."}}, []time.Duration{0}, "say sorry"},
		"there are no more than wanted":         {[]step{{down}, {down}, {down}, {down}, {"Back."}}, []time.Duration{0, 100 * ms, 300 * ms, 700 * ms}, "say sorry"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model := &clocked{Model: &script{steps: c.steps}, begin: time.Now()}
				s := newSession(t, llm.Config{Model: model, Retries: 3, Backoff: 100 * ms, Apology: "sorry"})
				s.start()
				s.say("hi")
				time.Sleep(2 * time.Second)
				s.end()
				if !slices.Equal(model.at, c.at) {
					t.Errorf("the model was asked after %v, not %v", model.at, c.at)
				}
				if !slices.Contains(s.seen, c.seen) {
					t.Errorf("seen %q, not %q", s.seen, c.seen)
				}
			})
		})
	}
}
