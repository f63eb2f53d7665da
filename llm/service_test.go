package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
)

func TestATypedTurnIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t, llm.Config{}, step{"Hel", "lo."})
		s.start()
		s.say("hi")
		s.end()
		s.want(s.seen, "Hel", "lo.", "end")
		s.want(s.history(), "user: hi", "assistant: Hello.")
	})
}

func TestThreeCallsOfOneResponseGiveOneFollowUp(t *testing.T) { // RT6
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t, llm.Config{}, step{call("1", "a", `{}`), call("2", "b", `{}`), call("3", "c", `{}`)}, step{"Done."})
		s.convo.SetTools(tools("a", "b", "c"))
		s.svc.RegisterFunction("a", after(50*time.Millisecond, "A"))
		s.svc.RegisterFunction("b", after(200*time.Millisecond, "B"))
		s.svc.RegisterFunction("c", after(10*time.Millisecond, "C"))
		s.start()
		s.say("go")
		time.Sleep(time.Second)
		s.end()
		if n := s.model.asked(); n != 2 {
			t.Errorf("%d generations, want 2", n)
		}
		s.want(s.model.request(1), "user: go", "assistant:  [1 a {}] [2 b {}] [3 c {}]", "tool 1: A", "tool 2: B", "tool 3: C")
	})
}

func TestAnInterruptedResponseKeepsWhatWasHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t, llm.Config{}, step{"One ", "two ", time.Second, "three."}, step{"Yes?"})
		s.start()
		s.say("count")
		s.say("stop")
		s.end()
		s.want(s.seen, "One ", "two ", "Yes?", "end")
		s.want(s.history(), "user: count", "assistant: One two ", "user: stop", "assistant: Yes?")
	})
}

func TestALateResultIsRefused(t *testing.T) { // RT11
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t, llm.Config{FunctionTimeout: time.Second}, step{call("1", "slow", `{}`)}, step{"Too slow."})
		s.convo.SetTools(tools("slow"))
		var cancelled time.Duration
		begun := time.Now()
		s.svc.RegisterFunction("slow", func(ctx context.Context, _ json.RawMessage) (string, error) {
			<-ctx.Done()
			cancelled = time.Since(begun)
			time.Sleep(9 * time.Second)
			return "late", nil
		})
		s.start()
		s.say("go")
		time.Sleep(20 * time.Second)
		s.end()
		if cancelled != time.Second {
			t.Errorf("cancelled after %s", cancelled)
		}
		s.want(s.seen, "slow timeout", "Too slow.", "end")
		s.want(s.history(), "user: go", "assistant:  [1 slow {}]",
			`tool 1: {"status":"timeout","error":"slow did not finish within 1s"}`, "assistant: Too slow.")
	})
}

func TestArgumentsThatDoNotFitRunNothing(t *testing.T) { // RT12, RT13
	cases := map[string]struct{ name, args string }{
		"an unknown tool":     {"other", `{}`},
		"no arguments":        {"book", ``},
		"null":                {"book", `null`},
		"an array":            {"book", `[1]`},
		"doubled JSON":        {"book", `{"n":1}{"n":1}`},
		"cut JSON":            {"book", `{"n":`},
		"a wrong type":        {"book", `{"n":"one"}`},
		"a missing argument":  {"book", `{}`},
		"out of its range":    {"book", `{"n":99}`},
		"an unknown argument": {"book", `{"n":1,"m":2}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSession(t, llm.Config{}, step{call("1", c.name, c.args)}, step{"Hm."})
				s.convo.SetTools([]frames.Tool{{Name: "book", Parameters: json.RawMessage(
					`{"type":"object","properties":{"n":{"type":"integer","maximum":12}},"required":["n"],"additionalProperties":false}`)}})
				s.svc.RegisterFunction("book", func(context.Context, json.RawMessage) (string, error) {
					t.Error("the handler ran")
					return "", nil
				})
				s.start()
				s.say("go")
				s.end()
				s.want(s.seen, c.name+" error", "Hm.", "end")
			})
		})
	}
}

func TestASchemaThatRefersToItselfDoesNoHarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t, llm.Config{}, step{call("1", "book", `{"a":1}`)}, step{"Hm."})
		s.convo.SetTools([]frames.Tool{{Name: "book", Parameters: json.RawMessage(`{"$ref":"#"}`)}})
		s.svc.RegisterFunction("book", func(context.Context, json.RawMessage) (string, error) { return "", nil })
		s.start()
		s.say("go")
		s.end()
		if len(s.seen) == 0 || s.seen[len(s.seen)-1] != "end" {
			t.Errorf("seen %v", s.seen)
		}
	})
}

func TestFalsyResultsAreResults(t *testing.T) { // RT15
	for _, result := range []string{`{}`, `[]`, `0`, `false`, `""`, ``} {
		synctest.Test(t, func(t *testing.T) {
			s := newSession(t, llm.Config{}, step{call("1", "f", `{}`)}, step{"Ok."})
			s.convo.SetTools(tools("f"))
			s.svc.RegisterFunction("f", func(context.Context, json.RawMessage) (string, error) { return result, nil })
			s.start()
			s.say("go")
			s.end()
			s.want(s.history(), "user: go", "assistant:  [1 f {}]", "tool 1: "+result, "assistant: Ok.")
		})
	}
}

func TestAPanickingHandlerSettlesAsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t, llm.Config{}, step{call("1", "f", `{}`)}, step{"Sorry."})
		s.convo.SetTools(tools("f"))
		s.svc.RegisterFunction("f", func(context.Context, json.RawMessage) (string, error) { panic("secret") })
		s.start()
		s.say("go")
		s.end()
		s.want(s.history(), "user: go", "assistant:  [1 f {}]", `tool 1: {"error":"the function failed"}`, "assistant: Sorry.")
	})
}

func TestDeadlines(t *testing.T) { // RT22, RT54
	fail := &llm.Error{Category: frames.ErrorAuth, Provider: "x", Err: errors.New("no")}
	busy := &llm.Error{Category: frames.ErrorRateLimit, Provider: "x", Err: errors.New("no"), RetryAfter: 2 * time.Second}
	hang := 10 * time.Minute
	cases := []struct {
		name  string
		steps []step
		after time.Duration
		seen  string
	}{
		{"nothing comes, the retry answers", []step{{hang}, {"Hello."}}, 16 * time.Second, "Hello."},
		{"nothing comes and the retry hangs too", []step{{hang}, {hang}}, 31 * time.Second, "error timeout|say sorry"},
		{"the stream stops after some words", []step{{"Well ", hang}}, 11 * time.Second, "Well |error timeout|say sorry"},
		{"the stream is cut before a word", []step{{finish("")}, {"Hello."}}, time.Second, "Hello."},
		{"the stream is cut after some words", []step{{"Well ", finish("")}}, time.Second, "Well |error network|say sorry"},
		{"the key is refused", []step{{fail}}, time.Second, "error auth|say sorry"},
		{"the model asks to wait", []step{{busy}, {"Hello."}}, 3 * time.Second, "Hello."},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSession(t, llm.Config{Apology: "sorry"}, c.steps...)
				s.start()
				s.say("hi")
				time.Sleep(c.after)
				synctest.Wait()
				s.want(s.seen, strings.Split(c.seen, "|")...)
				s.task.Cancel("over")
				<-s.done
			})
		})
	}
}

func TestTheFallbackModelTakesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		second := &script{steps: []step{{"From the other."}}}
		s := newSession(t, llm.Config{Fallback: second}, step{&llm.Error{Category: frames.ErrorQuota, Err: errors.New("no")}})
		s.start()
		s.say("hi")
		s.end()
		s.want(s.seen, "From the other.", "end")
	})
}

func TestTheEndWaitsForATool(t *testing.T) { // RT36
	for _, c := range []struct {
		takes time.Duration
		seen  string
	}{{2 * time.Second, "f ok|end"}, {20 * time.Second, "f cancelled|end"}} {
		synctest.Test(t, func(t *testing.T) {
			s := newSession(t, llm.Config{}, step{call("1", "f", `{}`)})
			s.convo.SetTools(tools("f"))
			s.svc.RegisterFunction("f", after(c.takes, "ok"))
			s.start()
			s.say("go")
			s.end()
			s.want(s.seen, strings.Split(c.seen, "|")...)
		})
	}
}

func TestAnAsynchronousCallLetsTheConversationGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t, llm.Config{}, step{call("1", "f", `{}`)}, step{"I started it."}, step{"Sure."}, step{"It is done."})
		s.convo.SetTools(tools("f"))
		s.svc.Register("f", llm.Function{Handler: after(10*time.Second, "42"), Async: true})
		s.start()
		s.say("go")
		s.say("and you?")
		time.Sleep(11 * time.Second)
		s.end()
		s.want(s.seen, "I started it.", "Sure.", "f ok", "It is done.", "end")
	})
}

func TestSpeechSplitInTwoIsOneTurn(t *testing.T) { // RT27
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t, llm.Config{}, step{2 * time.Second, "First."}, step{"Both."})
		s.start()
		speak := func(text string) {
			s.task.QueueFrame(&frames.UserStartedSpeakingFrame{})
			if text != "" {
				s.task.QueueFrame(&frames.TranscriptionFrame{Text: text})
			}
			s.task.QueueFrame(&frames.UserStoppedSpeakingFrame{})
			synctest.Wait()
		}
		speak("a table")
		time.Sleep(1300 * time.Millisecond)
		speak("for four")
		s.want(s.seen, "Both.")
		s.want(s.history(), "user: a table for four", "assistant: Both.")
		s.end()
	})
}

func TestANoiseDoesNotSilenceTheBot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t, llm.Config{}, step{2 * time.Second, "First."}, step{"Again."})
		s.start()
		s.say("hi")
		s.task.QueueFrame(&frames.UserStartedSpeakingFrame{})
		s.task.QueueFrame(&frames.UserStoppedSpeakingFrame{})
		synctest.Wait()
		s.want(s.seen, "Again.")
		s.end()
	})
}
