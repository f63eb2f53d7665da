package flows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/flows"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
)

// wantValidHistory checks that every call of every request, and of the
// conversation, has exactly one result, next to it, and none is pending where the
// model sees it.
func (s *session) wantValidHistory() {
	s.t.Helper()
	check := func(what string, c frames.Snapshot, pending bool) {
		var due []string
		for _, e := range c.Entries {
			m := e.Message()
			if len(due) > 0 {
				if m.Role != frames.RoleTool || m.ToolCallID != due[0] {
					s.t.Errorf("%s: the result of %s is missing:\n%s", what, due[0], show(c))
				}
				due = due[1:]
			} else if m.Role == frames.RoleTool {
				s.t.Errorf("%s: a result too many:\n%s", what, show(c))
			}
			if m.Pending && !pending {
				s.t.Errorf("%s: a result is pending:\n%s", what, show(c))
			}
			for _, t := range m.ToolCalls {
				due = append(due, t.ID)
			}
		}
		if len(due) > 0 {
			s.t.Errorf("%s: the results of %v are missing:\n%s", what, due, show(c))
		}
	}
	s.model.mu.Lock()
	defer s.model.mu.Unlock()
	for i, r := range s.model.requests {
		check(fmt.Sprintf("request %d", i), r.Context, false)
	}
	check("the conversation", s.convo.Snapshot(), true)
}

func TestABargeInDuringAnEdge(t *testing.T) {
	virtual(t, "that is cancelled by it: the old node answers", func(t *testing.T) {
		go_ := slow("go", 200*time.Millisecond, "ok", node("b"))
		go_.CancelOnInterruption = true
		s := start(t, nil, step{call("go")}, step{"still a"})
		s.initialize(node("a", go_))
		s.pass(100 * time.Millisecond)
		s.types("no wait")
		s.pass(time.Second)
		s.wantNode("a")
		s.wantAsked(2)
		s.wantSaid("bot still a")
		if r := s.request(1); !strings.Contains(r, "cancelled") || !strings.HasSuffix(r, "user: no wait\ntools: go") {
			t.Errorf("request 1:\n%s", r)
		}
		s.wantValidHistory()
	})
	virtual(t, "that survives it: the new node answers, once, with the words in view", func(t *testing.T) {
		s := start(t, nil, step{call("go")}, step{"at b"})
		s.initialize(node("a", slow("go", 200*time.Millisecond, "ok", node("b"))))
		s.pass(100 * time.Millisecond)
		s.types("no wait")
		s.wantAsked(1)
		s.pass(time.Second)
		s.wantNode("b")
		s.wantAsked(2)
		s.wantSaid("bot at b")
		s.wantRequest(1, "developer: task a", "assistant:  [go]", "tool: ok", "user: no wait", "developer: task b", "tools:")
	})
	virtual(t, "of a node that waits: what was said is answered, once", func(t *testing.T) {
		s := start(t, nil, step{call("go")}, step{"at b"})
		s.initialize(node("a", slow("go", 200*time.Millisecond, "ok", wait(node("b")))))
		s.pass(100 * time.Millisecond)
		s.types("hello?")
		s.pass(time.Second)
		s.wantNode("b")
		s.wantAsked(2)
	})
	virtual(t, "right after the new node was entered: its reply is cut and one answers", func(t *testing.T) {
		s := start(t, voice(time.Second), step{call("go")}, step{"at b"}, step{"answer"})
		s.initialize(node("a", fn("go", "ok", node("b"))))
		s.pass(500 * time.Millisecond)
		s.types("hello?")
		s.pass(5 * time.Second)
		s.wantAsked(3)
		s.wantSaid("bot answer")
	})
}

func TestAnInterruptedSentenceWithACall(t *testing.T) {
	for name, timeout := range map[string]time.Duration{"that finishes": 0, "that runs out of time": 2 * time.Second} {
		virtual(t, name+" leaves exactly one terminal result", func(t *testing.T) {
			look := slow("look", 3*time.Second, "found", nil)
			look.Timeout = timeout
			s := start(t, voice(time.Second), step{"Let me check", call("look")}, step{"answer"})
			s.initialize(node("a", look))
			s.pass(500 * time.Millisecond)
			s.types("hurry")
			s.pass(10 * time.Second)
			s.wantAsked(2)
			s.wantValidHistory()
			want := "found"
			if timeout != 0 {
				want = "timeout"
			}
			if r := s.request(1); !strings.Contains(r, want) || strings.Count(r, "tool: ") != 1 {
				t.Errorf("request 1:\n%s", r)
			}
		})
	}
}

func TestATrailingUtterance(t *testing.T) {
	virtual(t, "that ends while the new node is entered is part of its one generation", func(t *testing.T) {
		s := start(t, nil, step{"hi"}, step{call("go")}, step{"opening"})
		s.initialize(node("a", slow("go", 50*time.Millisecond, "ok", node("b"))))
		s.task.QueueFrame(&frames.TranscriptionFrame{Text: "first part"})
		s.pass(20 * time.Millisecond)
		s.task.QueueFrame(&frames.TranscriptionFrame{Text: "second part"})
		s.pass(time.Second)
		s.wantAsked(3)
		s.wantSaid("bot hi", "bot opening")
		if r := s.request(2); strings.Count(r, "second part") != 1 || !strings.Contains(r, "task b") {
			t.Errorf("request 2:\n%s", r)
		}
	})
}

func TestBatches(t *testing.T) {
	virtual(t, "a hand-off in parallel with another function: one request, the new persona with its own tools", func(t *testing.T) {
		b := node("b", fn("b_tool", "", nil))
		b.RoleMessage = "agent B"
		a := node("a", fn("hand_off", "ok", b), slow("look", 100*time.Millisecond, "seen", nil))
		a.RoleMessage = "agent A"
		s := start(t, nil, step{call("hand_off"), call("look")}, step{"B here"})
		s.initialize(a)
		s.pass(time.Second)
		s.wantSaid("bot B here")
		s.wantRequest(1, "system: agent B", "developer: task a", "assistant:  [hand_off] [look]", "tool: ok", "tool: seen",
			"developer: task b", "tools: b_tool")
	})
	virtual(t, "two edges: the first in call order wins, whichever is ready first", func(t *testing.T) {
		s := start(t, nil, step{call("slow_edge"), call("fast_edge")})
		s.initialize(node("a", slow("slow_edge", time.Second, "1", node("b")), fn("fast_edge", "2", node("c"))))
		s.pass(time.Second)
		s.wantNode("b")
		s.wantAsked(2)
		s.wantKinds(dropped, "transition_dropped c")
	})
	virtual(t, "an edge that failed does not win over the one behind it", func(t *testing.T) {
		late := slow("late", time.Minute, "1", node("b"))
		late.Timeout = time.Second
		s := start(t, nil, step{call("late"), call("go")})
		s.initialize(node("a", late, fn("go", "2", node("c"))))
		s.pass(time.Second)
		s.wantNode("c")
		s.wantKinds(dropped)
	})
	virtual(t, "three functions: one reply after the last, results in call order", func(t *testing.T) {
		s := start(t, nil, step{call("c200"), call("c10"), call("c50")})
		s.initialize(node("a", slow("c10", 10*time.Millisecond, "r10", nil), slow("c50", 50*time.Millisecond, "r50", nil),
			slow("c200", 200*time.Millisecond, "r200", nil)))
		s.pass(199 * time.Millisecond)
		s.wantAsked(1)
		s.pass(time.Second)
		s.wantAsked(2)
		s.wantRequest(1, "developer: task a", "assistant:  [c200] [c10] [c50]", "tool: r200", "tool: r10", "tool: r50", "tools: c10 c50 c200")
	})
	virtual(t, "two global functions for a question in two parts: one combined reply", func(t *testing.T) {
		s := start(t, func(_ *session, f *flows.Config, _ *llm.Config) {
			f.GlobalFunctions = []flows.NodeFunction{fn("hours", "9 to 5", nil), slow("address", time.Second, "Main Street", nil)}
		}, step{"hi"}, step{call("hours"), call("address")}, step{"we are open nine to five in Main Street"})
		s.initialize(node("a"))
		s.types("when and where?")
		s.pass(time.Second)
		s.wantAsked(3)
		s.wantSaid("bot hi", "bot we are open nine to five in Main Street")
	})
}

func TestASentenceBeforeACall(t *testing.T) {
	for name, strategy := range map[string]flows.ContextStrategy{"append": flows.ContextAppend, "reset": flows.ContextReset} {
		virtual(t, "that leads on, with "+name+": the sentence stands before the call and is heard once", func(t *testing.T) {
			b := node("b")
			b.ContextStrategy = strategy
			s := start(t, voice(800*time.Millisecond), step{"One moment", call("go")}, step{"at b"})
			s.initialize(node("a", slow("go", time.Millisecond, "ok", b)))
			s.pass(5 * time.Second)
			s.wantSaid("bot One moment", "bot at b")
			if strategy == flows.ContextAppend {
				s.wantRequest(1, "developer: task a", "assistant: One moment [go]", "tool: ok", "developer: task b", "tools:")
			} else {
				s.wantRequest(1, "developer: task b", "tools:")
			}
		})
	}
	virtual(t, "that stays: the second request has the sentence and it is heard once", func(t *testing.T) {
		s := start(t, voice(800*time.Millisecond), step{"One moment", call("look")}, step{"found it"})
		s.initialize(node("a", slow("look", time.Millisecond, "42", nil)))
		s.pass(5 * time.Second)
		s.wantSaid("bot One moment", "bot found it")
		s.wantRequest(1, "developer: task a", "assistant: One moment [look]", "tool: 42", "tools: look")
	})
}

func TestAnEdgeThatSurvivesInterruptionsIsAnOrdinaryCall(t *testing.T) {
	virtual(t, "its result is told as it is", func(t *testing.T) {
		s := start(t, nil, step{call("go")}, step{"at b"})
		s.initialize(node("a", slow("go", 5*time.Millisecond, "acknowledged", node("b"))))
		s.pass(time.Second)
		s.wantRequest(1, "developer: task a", "assistant:  [go]", "tool: acknowledged", "developer: task b", "tools:")
		s.wantAsked(2)
	})
}

func TestFalsyResultsAreResults(t *testing.T) {
	for _, text := range []string{"{}", "[]", "0", "false", ""} {
		virtual(t, fmt.Sprintf("%q", text), func(t *testing.T) {
			s := start(t, nil, step{call("look")}, step{"so"})
			s.initialize(node("a", fn("look", text, nil)))
			s.wantAsked(2)
			s.wantRequest(1, "developer: task a", "assistant:  [look]", strings.TrimSpace("tool: "+text), "tools: look")
			s.wantSaid("bot so")
		})
	}
}

func TestAFarewell(t *testing.T) {
	goodbye := func() *flows.NodeConfig {
		n := node("goodbye")
		n.PostActions = []flows.Action{flows.EndConversation("")}
		return n
	}
	virtual(t, "entered through a barge-in is heard to its end before the line is cut", func(t *testing.T) {
		s := start(t, voice(3*time.Second), step{"long story", call("finish")}, step{"bye ", "bye"})
		s.initialize(node("a", slow("finish", time.Second, "ok", goodbye())))
		s.pass(500 * time.Millisecond)
		s.types("I have to go")
		if err := <-s.done; err != nil {
			t.Errorf("the session ended with %v", err)
		}
		s.wantSaid("bot bye ", "bot bye", "end")
		if d := time.Since(s.begun); d != 7*time.Second {
			t.Errorf("the session ended after %s", d)
		}
	})
	virtual(t, "of fixed words alone is heard to its end too", func(t *testing.T) {
		n := wait(goodbye())
		n.PreActions = []flows.Action{flows.Say("thank you for calling")}
		s := start(t, voice(3*time.Second), step{call("finish")})
		s.initialize(node("a", fn("finish", "ok", n)))
		<-s.done
		s.wantSaid("say thank you for calling", "end")
		s.wantAsked(1)
		if d := time.Since(s.begun); d != 3*time.Second {
			t.Errorf("the session ended after %s", d)
		}
	})
	virtual(t, "of fixed words in the first node", func(t *testing.T) {
		n := wait(goodbye())
		n.PreActions = []flows.Action{flows.Say("we are closed")}
		s := start(t, voice(3*time.Second))
		s.initialize(n)
		<-s.done
		s.wantSaid("say we are closed", "end")
	})
	virtual(t, "whose generation fails still ends the session", func(t *testing.T) {
		s := start(t, nil, step{call("finish")}, step{&llm.Error{Category: frames.ErrorAuth, Provider: "test", Err: fmt.Errorf("no")}})
		s.initialize(node("a", fn("finish", "ok", goodbye())))
		s.pass(time.Second)
		if got := s.said(); !slices.Contains(got, "end") {
			t.Errorf("heard %q", got)
		}
	})
}

func TestStandingInstructionsOutliveAReset(t *testing.T) {
	virtual(t, "whatever stands in the history", func(t *testing.T) {
		b := node("b")
		b.ContextStrategy = flows.ContextReset
		a := node("a", fn("go", "ok", b))
		a.RoleMessage = "Never promise refunds."
		s := start(t, nil, step{"hi"}, step{call("go")})
		s.initialize(a)
		s.convo.Append(frames.Message{Role: frames.RoleSystem, Text: "The line is bad."})
		s.types("go")
		s.wantRequest(2, "system: Never promise refunds.", "developer: task b", "tools:")
	})
}

func TestTheEndDuringACall(t *testing.T) {
	for name, c := range map[string]struct {
		wait time.Duration
		end  time.Duration
		want frames.FunctionStatus
	}{
		"waits for it":       {5 * time.Second, 2 * time.Second, frames.FunctionOK},
		"waits no longer":    {time.Second, time.Second, frames.FunctionCancelled},
		"does not wait long": {time.Millisecond, time.Millisecond, frames.FunctionCancelled},
	} {
		virtual(t, name, func(t *testing.T) {
			results := make(chan frames.FunctionStatus, 4)
			look := flows.NodeFunction{Name: "look", Handler: func(ctx context.Context, _ json.RawMessage, _ *flows.FlowManager) (string, *flows.NodeConfig, error) {
				select {
				case <-time.After(2 * time.Second):
					results <- frames.FunctionOK
					return "found", node("b"), nil
				case <-ctx.Done():
					results <- frames.FunctionCancelled
					return "", nil, ctx.Err()
				}
			}}
			s := start(t, func(_ *session, _ *flows.Config, l *llm.Config) { l.EndWait = c.wait }, step{call("look")})
			s.initialize(node("a", look))
			s.task.End("test")
			if err := <-s.done; err != nil {
				t.Errorf("the session ended with %v", err)
			}
			if d := time.Since(s.begun); d != c.end {
				t.Errorf("after %s, want %s", d, c.end)
			}
			if got := <-results; got != c.want {
				t.Errorf("the handler saw %s, want %s", got, c.want)
			}
			s.wantAsked(1)
			s.wantNode("a")
			s.wantValidHistory()
			synctest.Wait()
		})
	}
}
