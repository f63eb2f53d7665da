package flows_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/turnwise/turnwise/flows"
)

func TestSetNode(t *testing.T) {
	virtual(t, "from outside enters at once and cuts the reply under way", func(t *testing.T) {
		s := start(t, nil, step{"one ", time.Second, "two"}, step{"at b"})
		s.initialize(node("a", fn("x", "", nil)))
		if err := s.fm.SetNode(t.Context(), node("b")); err != nil {
			t.Fatal(err)
		}
		s.pass(2 * time.Second)
		s.wantNode("b")
		s.wantSaid("bot one ", "bot at b")
		s.wantRequest(1, "developer: task a", "assistant: one", "developer: task b", "tools:")
	})
	virtual(t, "in the same instant as Initialize leaves one reply", func(t *testing.T) {
		s := start(t, nil, step{"at b"})
		if err := s.fm.Initialize(t.Context(), node("a")); err != nil {
			t.Fatal(err)
		}
		if err := s.fm.SetNode(t.Context(), node("b")); err != nil {
			t.Fatal(err)
		}
		s.pass(2 * time.Second)
		s.wantNode("b")
		s.wantAsked(1)
		s.wantSaid("bot at b")
	})
	virtual(t, "while a transition is pending drops the pending one", func(t *testing.T) {
		s := start(t, nil, step{call("go"), call("wait")})
		s.initialize(node("a", fn("go", "ok", node("b")), slow("wait", time.Second, "done", nil)))
		if err := s.fm.SetNode(t.Context(), node("c")); err != nil {
			t.Fatal(err)
		}
		s.pass(0)
		s.wantNode("a")
		s.pass(time.Second)
		s.wantNode("c")
		s.wantAsked(2)
		s.wantKinds(dropped, "transition_dropped b")
		s.wantRequest(1, "developer: task a", "assistant:  [go] [wait]", "tool: ok", "tool: done", "developer: task c", "tools:")
	})
	virtual(t, "while another node set waits for its batch drops that one", func(t *testing.T) {
		s := start(t, nil, step{call("wait")})
		s.initialize(node("a", slow("wait", time.Second, "done", nil)))
		for _, n := range []string{"b", "c"} {
			if err := s.fm.SetNode(t.Context(), node(n)); err != nil {
				t.Fatal(err)
			}
		}
		s.pass(time.Second)
		s.wantNode("c")
		s.wantAsked(2)
		s.wantKinds(dropped, "transition_dropped b")
	})
	virtual(t, "while a summary is written drops the entry that waits for it", func(t *testing.T) {
		b := node("b")
		b.ContextStrategy = flows.ContextSummarize
		s := start(t, nil, step{call("go")}, step{time.Second, "short"}, step{"at c"})
		s.initialize(node("a", fn("go", "ok", b)))
		if err := s.fm.SetNode(t.Context(), node("c")); err != nil {
			t.Fatal(err)
		}
		s.pass(10 * time.Second)
		s.wantNode("c")
		s.wantKinds(dropped, "transition_dropped b")
		s.wantSaid("bot at c")
	})
	virtual(t, "during a reply whose calls would open a batch while the summary is written", func(t *testing.T) {
		b := node("b")
		b.ContextStrategy = flows.ContextSummarize
		s := start(t, nil, step{"hm ", time.Second, call("go")}, step{2 * time.Second, "short"}, step{"at b"})
		s.initialize(node("a", fn("go", "ok", node("x"))))
		if err := s.fm.SetNode(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		s.pass(10 * time.Second)
		s.wantNode("b")
		s.wantSaid("bot hm ", "bot at b")
		s.wantRequest(2, "developer: Summary of the conversation so far: short", "developer: task b", "tools:")
	})
	virtual(t, "from a handler waits for its batch", func(t *testing.T) {
		jump := flows.NodeFunction{Name: "jump", Handler: func(ctx context.Context, _ json.RawMessage, fm *flows.FlowManager) (string, *flows.NodeConfig, error) {
			return "jumped", nil, fm.SetNode(ctx, node("b"))
		}}
		s := start(t, nil, step{call("jump")})
		s.initialize(node("a", jump))
		s.wantNode("b")
		s.wantAsked(2)
		s.wantRequest(1, "developer: task a", "assistant:  [jump]", "tool: jumped", "developer: task b", "tools:")
	})
	virtual(t, "checks the node at once", func(t *testing.T) {
		s := start(t, nil)
		s.initialize(node("a"))
		if err := s.fm.SetNode(t.Context(), node("b", fn("", "", nil))); !errors.Is(err, flows.ErrInvalidNode) {
			t.Errorf("SetNode gave %v", err)
		}
		s.wantNode("a")
	})
	virtual(t, "after the end is refused", func(t *testing.T) {
		s := start(t, nil)
		a := node("a")
		a.PreActions = []flows.Action{flows.EndConversation("bye")}
		s.initialize(a)
		if err := s.fm.SetNode(t.Context(), node("b")); !errors.Is(err, flows.ErrEnded) {
			t.Errorf("SetNode gave %v", err)
		}
	})
	virtual(t, "after the session's end is refused too", func(t *testing.T) {
		s := start(t, nil)
		s.initialize(node("a"))
		s.task.End("the client hung up")
		<-s.task.Done()
		if err := s.fm.SetNode(t.Context(), node("b")); !errors.Is(err, flows.ErrEnded) {
			t.Errorf("SetNode gave %v", err)
		}
		s.wantNode("a")
	})
}

func TestAsyncFunctions(t *testing.T) {
	async := func(d time.Duration, next *flows.NodeConfig) flows.NodeFunction {
		f := slow("order", d, "ordered", next)
		f.Async = true
		return f
	}
	virtual(t, "the conversation goes on and the result is told when it is there", func(t *testing.T) {
		s := start(t, nil, step{call("order")}, step{"working on it"}, step{"chat"}, step{"it is done"})
		s.initialize(node("a", async(10*time.Second, nil)))
		s.types("how are you?")
		s.pass(10 * time.Second)
		s.wantSaid("bot working on it", "bot chat", "bot it is done")
		if r := s.request(3); !strings.Contains(r, "ordered") {
			t.Errorf("request 3:\n%s", r)
		}
	})
	virtual(t, "leads on when it has settled, after its result", func(t *testing.T) {
		s := start(t, nil, step{call("order")}, step{"working on it"}, step{"at b"})
		s.initialize(node("a", async(10*time.Second, node("b"))))
		s.wantNode("a")
		s.pass(10 * time.Second)
		s.wantNode("b")
		s.wantAsked(3)
		if r := s.request(2); strings.Index(r, "ordered") > strings.Index(r, "task b") || !strings.Contains(r, "ordered") {
			t.Errorf("request 2:\n%s", r)
		}
	})
	virtual(t, "does not lead on from a node that was left", func(t *testing.T) {
		s := start(t, nil, step{call("order")}, step{"working on it"}, step{"at c"}, step{"done"})
		s.initialize(node("a", async(10*time.Second, node("b"))))
		if err := s.fm.SetNode(t.Context(), node("c")); err != nil {
			t.Fatal(err)
		}
		s.pass(10 * time.Second)
		s.wantNode("c")
		s.wantKinds(dropped, "transition_dropped b")
		s.wantAsked(4)
	})
	virtual(t, "waits with the transition while a batch is open", func(t *testing.T) {
		s := start(t, nil, step{call("order")}, step{call("look")}, step{"at b"})
		s.initialize(node("a", async(time.Second, node("b")), slow("look", 3*time.Second, "seen", nil)))
		s.pass(2 * time.Second)
		s.wantNode("a")
		s.pass(2 * time.Second)
		s.wantNode("b")
		s.wantAsked(3)
	})
}
