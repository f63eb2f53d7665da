package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/pipeline"
)

// script is a model that answers request after request from a list.
type script struct {
	mu       sync.Mutex
	steps    []step
	requests []llm.Request
}

// step is one response: what it does in order.
type step []any // string: text; frames.ToolCall: call; time.Duration: pause; error: failure; stop: end

type finish string

func (s *script) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	s.mu.Lock()
	n := len(s.requests)
	s.requests = append(s.requests, *req)
	var st step
	if n < len(s.steps) {
		st = s.steps[n]
	} else {
		st = step{fmt.Sprintf("reply %d", n+1)}
	}
	s.mu.Unlock()
	return func(yield func(llm.Chunk, error) bool) {
		end := llm.FinishStop
		for _, part := range st {
			var c llm.Chunk
			switch part := part.(type) {
			case string:
				c.Text = part
			case frames.ToolCall:
				c.Call, end = &part, llm.FinishCalls
			case time.Duration:
				select {
				case <-time.After(part):
				case <-ctx.Done():
					yield(llm.Chunk{}, ctx.Err())
					return
				}
				continue
			case error:
				yield(llm.Chunk{}, part)
				return
			case finish:
				if part == "" {
					return
				}
				end = string(part)
				continue
			}
			if !yield(c, nil) {
				return
			}
		}
		yield(llm.Chunk{Finish: end}, nil)
	}
}

func (s *script) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

// request shows the history of request n in short lines.
func (s *script) request(n int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, e := range s.requests[n].Context.Entries {
		out = append(out, show(e.Message()))
	}
	return out
}

func show(m *frames.Message) string {
	line := string(m.Role) + ": " + m.Text
	if m.Role == frames.RoleTool {
		line = "tool " + m.ToolCallID + ": " + m.Text
	}
	for _, c := range m.ToolCalls {
		line += fmt.Sprintf(" [%s %s %s]", c.ID, c.Name, c.Args)
	}
	return line
}

// session is a chat session under test.
type session struct {
	t     *testing.T
	model *script
	svc   *llm.Service
	convo *frames.LLMContext
	task  *pipeline.Task
	seen  []string
	ends  []string
	done  chan error
}

// tail records what reaches the user.
type tail struct {
	pipeline.Base
	s *session
}

func (p *tail) Process(f frames.Frame, dir pipeline.Direction) {
	if dir == pipeline.Downstream {
		switch f := f.(type) {
		case *frames.LLMResponseEndFrame:
			p.s.ends = append(p.s.ends, f.Finish)
		case *frames.LLMTextFrame:
			p.s.seen = append(p.s.seen, f.Text)
		case *frames.SpeakFrame:
			p.s.seen = append(p.s.seen, "say "+f.Text)
		case *frames.FunctionCallResultFrame:
			p.s.seen = append(p.s.seen, fmt.Sprintf("%s %s", f.Call.Name, f.Status))
		case *frames.EndFrame:
			p.s.seen = append(p.s.seen, "end")
		}
	}
	p.Push(f, dir)
}

func newSession(t *testing.T, cfg llm.Config, steps ...step) *session {
	t.Helper()
	s := &session{t: t, model: &script{steps: steps}, convo: frames.NewLLMContext("You help."), done: make(chan error, 1)}
	if cfg.Model == nil {
		cfg.Model = s.model
	}
	cfg.Context = s.convo
	svc, err := llm.NewService(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.svc = svc
	pipe, err := pipeline.New(llm.NewUserAggregator(s.convo), svc, &tail{s: s}, llm.NewAssistantAggregator(s.convo))
	if err != nil {
		t.Fatal(err)
	}
	s.task, err = pipeline.NewTask(pipe, pipeline.Params{SessionID: "s", OnError: func(f *frames.ErrorFrame) {
		s.seen = append(s.seen, "error "+string(f.Category))
	}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *session) start() {
	go func() { s.done <- s.task.Run(context.Background()) }()
	synctest.Wait()
}

func (s *session) say(text string) {
	s.task.QueueFrame(&frames.UserTextFrame{Text: text})
	synctest.Wait()
}

func (s *session) end() {
	s.task.End("test")
	if err := <-s.done; err != nil {
		s.t.Errorf("the session ended with %v", err)
	}
}

func (s *session) history() []string {
	var out []string
	for _, m := range s.convo.Messages() {
		out = append(out, show(&m))
	}
	return out
}

func (s *session) want(got []string, want ...string) {
	s.t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		s.t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func call(id, name, args string) frames.ToolCall {
	return frames.ToolCall{ID: id, Name: name, Args: json.RawMessage(args)}
}

func tools(names ...string) []frames.Tool {
	var out []frames.Tool
	for _, n := range names {
		out = append(out, frames.Tool{Name: n, Parameters: json.RawMessage(`{"type":"object"}`)})
	}
	return out
}

func after(d time.Duration, result string) llm.ToolHandler {
	return func(ctx context.Context, _ json.RawMessage) (string, error) {
		select {
		case <-time.After(d):
			return result, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

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
