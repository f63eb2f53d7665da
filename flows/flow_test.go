package flows_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/turnwise/turnwise/flows"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
)

var (
	dropped = []flows.EventKind{flows.EventTransitionDropped}
	entered = []flows.EventKind{flows.EventNodeEntered}
)

func TestEnteringANode(t *testing.T) {
	virtual(t, "asks for one reply", func(t *testing.T) {
		s := start(t, nil)
		s.initialize(node("a"))
		s.wantAsked(1)
		s.wantSaid("bot reply 1")
	})
	virtual(t, "waits for the user when it is to", func(t *testing.T) {
		s := start(t, nil)
		s.initialize(wait(node("a")))
		s.wantAsked(0)
		s.types("hello")
		s.wantAsked(1)
		s.wantRequest(0, "developer: task a", "user: hello", "tools:")
	})
	virtual(t, "from the hook of a client that connects, on the session loop", func(t *testing.T) {
		s := start(t, nil)
		s.svc.Do(func() {
			if err := s.fm.Initialize(t.Context(), node("a")); err != nil {
				t.Error(err)
			}
			s.wantNode("a")
		})
		s.pass(0)
		s.wantAsked(1)
	})
	virtual(t, "keeps the persona until another node brings one, across a reset", func(t *testing.T) {
		c := node("c")
		c.RoleMessage = "persona C"
		b := node("b", fn("to_c", "ok", c))
		b.ContextStrategy = flows.ContextReset
		a := node("a", fn("to_b", "ok", b))
		a.RoleMessage = "persona A"
		s := start(t, nil, step{"hi"}, step{call("to_b")}, step{"b here"}, step{call("to_c")})
		s.initialize(a)
		s.types("go")
		s.wantRequest(2, "system: persona A", "developer: task b", "tools: to_c")
		s.types("go on")
		s.wantRequest(4, "system: persona C", "developer: task b", "assistant: b here", "user: go on",
			"assistant:  [to_c]", "tool: ok", "developer: task c", "tools:")
	})
	virtual(t, "appends its messages with their roles, in order", func(t *testing.T) {
		a := node("a")
		a.TaskMessages = []frames.Message{
			{Role: frames.RoleSystem, Text: "one"}, {Role: frames.RoleDeveloper, Text: "two"},
			{Role: frames.RoleUser, Text: "three"}, {Role: frames.RoleAssistant, Text: "four"},
		}
		s := start(t, func(s *session, _ *flows.Config, _ *llm.Config) { s.convo.AddUserMessage("before") })
		s.initialize(a)
		s.wantRequest(0, "user: before", "system: one", "developer: two", "user: three", "assistant: four", "tools:")
	})
}

func TestCalls(t *testing.T) {
	virtual(t, "a function that stays brings a second reply with its result", func(t *testing.T) {
		s := start(t, nil, step{call("look")}, step{"found"})
		s.initialize(node("a", fn("look", "42", nil)))
		s.wantAsked(2)
		s.wantNode("a")
		s.wantRequest(1, "developer: task a", "assistant:  [look]", "tool: 42", "tools: look")
	})
	virtual(t, "an edge brings result, then task, then one reply with the new tools", func(t *testing.T) {
		b := node("b", fn("more", "", nil))
		s := start(t, nil, step{call("go")}, step{"at b"})
		s.initialize(node("a", fn("go", "going", b)))
		s.wantAsked(2)
		s.wantNode("b")
		s.wantRequest(1, "developer: task a", "assistant:  [go]", "tool: going", "developer: task b", "tools: more")
		s.wantSaid("bot at b")
		s.wantKinds(entered, "node_entered a", "node_entered b")
	})
	virtual(t, "an error is told, the node stays and the model speaks", func(t *testing.T) {
		bad := flows.NodeFunction{Name: "bad", Handler: func(context.Context, json.RawMessage, *flows.FlowManager) (string, *flows.NodeConfig, error) {
			return "", node("b"), errors.New("no such order")
		}}
		s := start(t, nil, step{call("bad")})
		s.initialize(node("a", bad))
		s.wantAsked(2)
		s.wantNode("a")
		if r := s.request(1); !strings.Contains(r, "no such order") {
			t.Errorf("the model was not told:\n%s", r)
		}
	})
	virtual(t, "a timeout cancels the handler, is told, and the flow goes on", func(t *testing.T) {
		late := make(chan error, 1)
		hang := flows.NodeFunction{Name: "hang", Timeout: time.Second, Handler: func(ctx context.Context, _ json.RawMessage, _ *flows.FlowManager) (string, *flows.NodeConfig, error) {
			<-ctx.Done()
			late <- ctx.Err()
			time.Sleep(9 * time.Second)
			return "late", node("late"), nil
		}}
		s := start(t, nil, step{call("hang")})
		s.initialize(node("a", hang, fn("go", "ok", node("b"))))
		s.pass(time.Second)
		s.wantAsked(2)
		if r := s.request(1); !strings.Contains(r, "timeout") {
			t.Errorf("the model was not told:\n%s", r)
		}
		if err := <-late; err == nil {
			t.Error("the handler's context was not cancelled")
		}
		s.model.steps = append(s.model.steps, step{"sorry"}, step{call("go")})
		s.types("then go on")
		s.wantNode("b")
		s.pass(10 * time.Second)
		s.wantNode("b")
	})
	virtual(t, "NoResponse leaves the word to the user", func(t *testing.T) {
		s := start(t, nil, step{call("note")})
		s.initialize(node("a", fn("note", "noted", flows.NoResponse)))
		s.wantAsked(1)
		s.wantNode("a")
		s.types("and now?")
		s.wantRequest(1, "developer: task a", "assistant:  [note]", "tool: noted", "user: and now?", "tools: note")
	})
	virtual(t, "a silent call beside one that wants a reply brings one", func(t *testing.T) {
		note := fn("note", "noted", nil)
		note.Respond = flows.RespondNever
		s := start(t, nil, step{call("note"), call("look")})
		s.initialize(node("a", note, fn("look", "seen", nil)))
		s.wantAsked(2)
	})
	virtual(t, "a silent call that fails brings a reply", func(t *testing.T) {
		bad := flows.NodeFunction{Name: "bad", Respond: flows.RespondNever, Handler: func(context.Context, json.RawMessage, *flows.FlowManager) (string, *flows.NodeConfig, error) {
			return "", nil, errors.New("broken")
		}}
		s := start(t, nil, step{call("bad")})
		s.initialize(node("a", bad))
		s.wantAsked(2)
	})
	virtual(t, "a node's function shadows the global one, which other nodes have", func(t *testing.T) {
		b := node("b")
		s := start(t, func(_ *session, f *flows.Config, _ *llm.Config) {
			f.GlobalFunctions = []flows.NodeFunction{fn("help", "global help", nil)}
		}, step{call("help"), call("go")}, step{call("help")})
		s.initialize(node("a", fn("help", "own help", nil), fn("go", "ok", b)))
		s.wantAsked(3)
		if r := s.request(1); !strings.Contains(r, "tool: own help") || !strings.HasSuffix(r, "tools: help") {
			t.Errorf("request 1:\n%s", r)
		}
		if r := s.request(2); !strings.Contains(r, "tool: global help") {
			t.Errorf("request 2:\n%s", r)
		}
	})
	virtual(t, "a call that is not on offer names those that are", func(t *testing.T) {
		s := start(t, nil, step{call("go")}, step{call("go")})
		s.initialize(node("a", fn("go", "ok", node("b", fn("ask", "", nil), fn("buy", "", nil)))))
		s.wantNode("b")
		if r := s.request(2); !strings.Contains(r, "ask, buy") {
			t.Errorf("request 2:\n%s", r)
		}
	})
	virtual(t, "a handler that leads to a node with errors settles as an error", func(t *testing.T) {
		s := start(t, nil, step{call("go")})
		s.initialize(node("a", fn("go", "ok", &flows.NodeConfig{Name: "b", PreActions: []flows.Action{{Type: "dance"}}})))
		s.wantNode("a")
		s.wantAsked(2)
		s.wantKinds([]flows.EventKind{flows.EventTransitionFailed}, "transition_failed a")
		if r := s.request(1); strings.Contains(r, "dance") {
			t.Errorf("the model was told about the program's fault:\n%s", r)
		}
	})
	virtual(t, "are reported when they begin and when they have settled", func(t *testing.T) {
		s := start(t, nil, step{call("look")})
		s.initialize(node("a", fn("look", "42", nil)))
		s.wantKinds([]flows.EventKind{flows.EventFunctionCalled, flows.EventFunctionSettled}, "function_called a", "function_settled a")
		last := s.events[len(s.events)-1]
		if last.Function != "look" || last.Status != frames.FunctionOK || last.Detail != "42" || last.CallID != "call_look" {
			t.Errorf("the last event is %+v", last)
		}
	})
}

func TestToolChoice(t *testing.T) {
	virtual(t, "of a node goes with it", func(t *testing.T) {
		a := node("a", fn("go", "ok", node("b")))
		a.ToolChoice = frames.ToolChoiceRequired
		s := start(t, nil, step{call("go")})
		s.initialize(a)
		for i, want := range []frames.ToolChoice{frames.ToolChoiceRequired, ""} {
			if got := s.model.requests[i].Context.Choice; got != want {
				t.Errorf("request %d has the choice %q, want %q", i, got, want)
			}
		}
	})
	virtual(t, "of the program is left alone by nodes that do not say", func(t *testing.T) {
		s := start(t, nil)
		s.convo.SetToolChoice(frames.ToolChoiceNone)
		s.initialize(node("a"))
		if got := s.model.requests[0].Context.Choice; got != frames.ToolChoiceNone {
			t.Errorf("the request has the choice %q", got)
		}
	})
}

func TestTheCurrentContextIsACopyOfTheHistory(t *testing.T) {
	s := newStub(t, nil)
	a := node("a")
	a.RoleMessage = "persona"
	if err := s.fm.Initialize(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	got := s.fm.CurrentContext()
	if len(got) != 1 || got[0].Text != "task a" {
		t.Fatalf("the history is %+v", got)
	}
	got[0].Text = "changed"
	if s.fm.CurrentContext()[0].Text != "task a" {
		t.Error("the copy was none")
	}
}

func TestStrategiesHaveNames(t *testing.T) {
	for s, want := range map[flows.ContextStrategy]string{
		flows.ContextDefault: "default", flows.ContextAppend: "append", flows.ContextReset: "reset", flows.ContextSummarize: "summarize",
	} {
		if got := s.String(); got != want {
			t.Errorf("strategy %d is called %q, want %q", s, got, want)
		}
	}
}

func TestContextStrategies(t *testing.T) {
	history := func(strategy flows.ContextStrategy, more ...step) (*flows.NodeConfig, []step) {
		b := node("b")
		b.ContextStrategy = strategy
		return node("a", fn("go", "ok", b)), append([]step{{"hi"}, {call("go")}}, more...)
	}
	virtual(t, "reset leaves just the new messages", func(t *testing.T) {
		a, steps := history(flows.ContextReset)
		s := start(t, nil, steps...)
		s.initialize(a)
		s.types("go")
		s.wantRequest(2, "developer: task b", "tools:")
	})
	virtual(t, "the default of the flow serves nodes that do not say", func(t *testing.T) {
		a, steps := history(flows.ContextDefault)
		s := start(t, func(_ *session, f *flows.Config, _ *llm.Config) { f.ContextStrategy = flows.ContextReset }, steps...)
		s.initialize(a)
		s.types("go")
		s.wantRequest(2, "developer: task b", "tools:")
	})
	virtual(t, "reset keeps what the user said in the meantime", func(t *testing.T) {
		b := node("b")
		b.ContextStrategy = flows.ContextReset
		s := start(t, nil, step{call("go")})
		s.initialize(node("a", slow("go", time.Second, "ok", b)))
		s.types("and a cake")
		s.pass(time.Second)
		s.wantAsked(2)
		s.wantRequest(1, "developer: task b", "user: and a cake", "tools:")
	})
	virtual(t, "summarize puts a summary first, asked of the model beside the conversation", func(t *testing.T) {
		a, steps := history(flows.ContextSummarize, step{"they said ", "hi"}, step{"at b"})
		s := start(t, nil, steps...)
		s.initialize(a)
		s.types("go")
		s.wantAsked(4)
		if r := s.request(2); !strings.Contains(r, "User: go") || !strings.Contains(r, "Assistant: hi") || !strings.HasSuffix(r, "tools:") {
			t.Errorf("the request for a summary is\n%s", r)
		}
		s.wantRequest(3, "developer: Summary of the conversation so far: they said hi", "developer: task b", "tools:")
		s.wantSaid("bot hi", "bot at b")
	})
	virtual(t, "a summary that fails leaves the history, for this entry only", func(t *testing.T) {
		a, steps := history(flows.ContextSummarize, step{errors.New("down")}, step{"at b"}, step{call("back")}, step{"short"}, step{"at c"})
		c := node("c")
		c.ContextStrategy = flows.ContextSummarize
		b := node("b", fn("back", "ok", c))
		b.ContextStrategy = flows.ContextSummarize
		a.Functions[0] = fn("go", "ok", b)
		s := start(t, nil, steps...)
		s.initialize(a)
		s.types("go")
		s.wantKinds([]flows.EventKind{flows.EventSummaryFailed}, "summary_failed b")
		s.wantRequest(3, "developer: task a", "assistant: hi", "user: go", "assistant:  [go]", "tool: ok", "developer: task b", "tools: back")
		s.types("on")
		s.wantRequest(6, "developer: Summary of the conversation so far: short", "developer: task c", "tools:")
	})
	virtual(t, "a summary that takes over five seconds leaves the history", func(t *testing.T) {
		a, steps := history(flows.ContextSummarize)
		s := start(t, func(_ *session, f *flows.Config, _ *llm.Config) { f.Summarizer = stubborn{} }, steps...)
		s.initialize(a)
		s.types("go")
		s.pass(4999 * time.Millisecond)
		s.wantNode("a")
		s.wantAsked(2)
		s.pass(time.Millisecond)
		s.wantNode("b")
		s.wantAsked(3)
		s.wantKinds([]flows.EventKind{flows.EventSummaryFailed}, "summary_failed b")
		s.pass(time.Minute)
		s.wantAsked(3)
	})
	virtual(t, "what is said while the summary is written is kept and answered once", func(t *testing.T) {
		a, steps := history(flows.ContextSummarize, step{2 * time.Second, "short"}, step{"at b"})
		s := start(t, nil, steps...)
		s.initialize(a)
		s.types("go")
		s.types("and a cake")
		s.wantAsked(3)
		s.pass(2 * time.Second)
		s.wantAsked(4)
		s.wantRequest(3, "developer: Summary of the conversation so far: short", "user: and a cake", "developer: task b", "tools:")
	})
	virtual(t, "a summarizer that panics is one that fails", func(t *testing.T) {
		a, steps := history(flows.ContextSummarize)
		s := start(t, func(_ *session, f *flows.Config, _ *llm.Config) { f.Summarizer = panicking{} }, steps...)
		s.initialize(a)
		s.types("go")
		s.wantNode("b")
		s.wantKinds([]flows.EventKind{flows.EventSummaryFailed}, "summary_failed b")
	})
}

// stubborn takes a minute, whatever it is told.
type stubborn struct{}

func (stubborn) Summarize(context.Context, flows.SummaryRequest) (string, error) {
	time.Sleep(time.Minute)
	return "late", nil
}

type panicking struct{}

func (panicking) Summarize(context.Context, flows.SummaryRequest) (string, error) { panic("no") }
