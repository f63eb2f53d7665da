package flows_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/flows"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/pipeline"
)

func TestPostActionsThatHang(t *testing.T) {
	virtual(t, "do not keep the conversation from ending", func(t *testing.T) {
		s := start(t, func(_ *session, f *flows.Config, _ *llm.Config) { f.ActionTimeout = 2 * time.Second }, step{"bye"})
		a := node("a")
		a.PostActions = []flows.Action{
			flows.Run(func(context.Context, flows.Action, *flows.FlowManager) error { time.Sleep(time.Minute); return nil }),
			flows.EndConversation("goodbye"),
		}
		s.initialize(a)
		s.pass(2 * time.Second)
		s.wantSaid("bot bye", "say goodbye", "end")
		s.wantKinds([]flows.EventKind{flows.EventActionFailed}, "action_failed a")
		s.pass(time.Minute)
	})
	virtual(t, "of a node that was set from outside are dropped with it", func(t *testing.T) {
		s := start(t, voice(time.Second), step{"one"}, step{"at b"})
		a := node("a")
		a.PostActions = []flows.Action{flows.Run(s.does("never", 0))}
		s.initialize(a)
		s.pass(500 * time.Millisecond)
		if err := s.fm.SetNode(t.Context(), node("b")); err != nil {
			t.Fatal(err)
		}
		s.pass(5 * time.Second)
		if slices.Contains(s.said(), "never") {
			t.Errorf("heard %q", s.said())
		}
	})
}

// RT1 and RT3 by voice: the user starts to speak while an edge is under way.
func TestSpeakingDuringAnEdge(t *testing.T) {
	for name, cancels := range map[string]bool{"that survives it": false, "that is cancelled by it": true} {
		virtual(t, name+": one node answers, once, with the words in view", func(t *testing.T) {
			edge := slow("go", 200*time.Millisecond, "ok", node("b"))
			edge.CancelOnInterruption = cancels
			s := start(t, nil, step{call("go")}, step{"answer"})
			s.initialize(node("a", edge))
			s.pass(100 * time.Millisecond)
			s.task.QueueFrame(&frames.UserStartedSpeakingFrame{})
			s.pass(time.Second)
			s.wantAsked(1)
			s.task.QueueFrame(&frames.TranscriptionFrame{Text: "no wait"})
			s.task.QueueFrame(&frames.UserStoppedSpeakingFrame{})
			s.pass(time.Second)
			s.wantAsked(2)
			s.wantSaid("bot answer")
			want := "b"
			if cancels {
				want = "a"
			}
			s.wantNode(want)
			if r := s.request(1); strings.Count(r, "no wait") != 1 || strings.Contains(r, "task b") == cancels {
				t.Errorf("request 1:\n%s", r)
			}
			s.wantValidHistory()
		})
	}
	virtual(t, "without a word: the new node still replies, once", func(t *testing.T) {
		s := start(t, nil, step{call("go")}, step{"at b"})
		s.initialize(node("a", slow("go", 200*time.Millisecond, "ok", node("b"))))
		s.pass(100 * time.Millisecond)
		s.task.QueueFrame(&frames.UserStartedSpeakingFrame{})
		s.pass(time.Second)
		s.task.QueueFrame(&frames.UserStoppedSpeakingFrame{})
		s.pass(time.Second)
		s.wantAsked(2)
		s.wantSaid("bot at b")
	})
	virtual(t, "a cancelled edge and not a word: the old node replies, once", func(t *testing.T) {
		edge := slow("go", 200*time.Millisecond, "ok", node("b"))
		edge.CancelOnInterruption = true
		s := start(t, nil, step{call("go")}, step{"still a"})
		s.initialize(node("a", edge))
		s.pass(100 * time.Millisecond)
		s.task.QueueFrame(&frames.UserStartedSpeakingFrame{})
		s.pass(time.Second)
		s.task.QueueFrame(&frames.UserStoppedSpeakingFrame{})
		s.pass(time.Second)
		s.wantNode("a")
		s.wantAsked(2)
		s.wantSaid("bot still a")
	})
}

func TestADisconnectInTheMiddle(t *testing.T) { // RT39
	told := func(what string, done chan<- string) flows.ActionHandler {
		return func(ctx context.Context, _ flows.Action, _ *flows.FlowManager) error {
			<-ctx.Done()
			done <- what
			return ctx.Err()
		}
	}
	gone := func(t *testing.T, s *session, done <-chan string, want string) {
		t.Helper()
		begun := time.Now()
		s.task.Cancel("the client has gone")
		<-s.task.Done()
		if took := time.Since(begun); took > time.Second {
			t.Errorf("the end took %s", took)
		}
		select {
		case got := <-done:
			if got != want {
				t.Errorf("%q was told, want %q", got, want)
			}
		default:
			t.Errorf("%s was not told", want)
		}
		if err := s.fm.SetNode(t.Context(), node("late")); err != nil && !errors.Is(err, flows.ErrEnded) {
			t.Errorf("SetNode afterwards: %v", err)
		}
		s.wantValidHistory()
	}
	virtual(t, "of an edge: the handler is told, the node stays", func(t *testing.T) {
		done := make(chan string, 1)
		edge := flows.NodeFunction{Name: "go", Handler: func(ctx context.Context, _ json.RawMessage, _ *flows.FlowManager) (string, *flows.NodeConfig, error) {
			<-ctx.Done()
			done <- "the handler"
			return "ok", node("b"), nil
		}}
		s := start(t, nil, step{call("go")})
		s.initialize(node("a", edge))
		gone(t, s, done, "the handler")
		s.wantNode("a")
		s.wantAsked(1)
	})
	virtual(t, "of a pre-action", func(t *testing.T) {
		done := make(chan string, 1)
		s := start(t, nil)
		a := node("a")
		a.PreActions = []flows.Action{flows.Run(told("the action", done))}
		s.initialize(a)
		gone(t, s, done, "the action")
		s.wantAsked(0)
	})
	virtual(t, "of a summary", func(t *testing.T) {
		done := make(chan string, 1)
		b := node("b")
		b.ContextStrategy = flows.ContextSummarize
		s := start(t, func(_ *session, f *flows.Config, _ *llm.Config) { f.Summarizer = attentive(done) },
			step{"hi"}, step{call("go")})
		s.initialize(node("a", fn("go", "ok", b)))
		s.types("go")
		gone(t, s, done, "the summarizer")
		s.wantNode("a")
	})
}

// attentive waits until it is told to stop, and says so.
type attentive chan<- string

func (a attentive) Summarize(ctx context.Context, _ flows.SummaryRequest) (string, error) {
	<-ctx.Done()
	a <- "the summarizer"
	return "", ctx.Err()
}

// TestRandomEndings drives random conversations, by voice and by text, to random
// ends: the client goes, the session is ended, the flow says goodbye. Each ends in
// time (R6, R16), with a valid history (R8), and no global function ran in the
// place of a node's own (R15).
func TestRandomEndings(t *testing.T) { randomly(t, 1500, converseToTheEnd) }

// parting adds to a random node what may end the session, or hang behind it.
func (w *world) parting(t *testing.T, n *flows.NodeConfig) *flows.NodeConfig {
	hang := flows.Run(func(ctx context.Context, _ flows.Action, _ *flows.FlowManager) error {
		select {
		case <-time.After(w.ms(3000)):
		case <-ctx.Done():
		}
		return ctx.Err()
	})
	hang.OnInterruption = flows.InterruptionPolicy(w.n(3))
	switch w.n(6) {
	case 0:
		n.PostActions = []flows.Action{hang, flows.EndConversation("goodbye")}
	case 1:
		n.PostActions = []flows.Action{flows.Say("by the way"), hang}
	}
	return n
}

func converseToTheEnd(t *testing.T, seed uint64) {
	c := &chance{r: rand.New(rand.NewPCG(seed, 2))}
	w := &world{chance: c}
	s := start(t, func(s *session, f *flows.Config, l *llm.Config) {
		s.pace = c.ms(50)
		l.Model = &wanderer{c, s.model}
		f.ActionTimeout = 2 * time.Second
		// Every random node has an f0 of its own.
		f.GlobalFunctions = []flows.NodeFunction{
			{Name: "f0", Handler: func(context.Context, json.RawMessage, *flows.FlowManager) (string, *flows.NodeConfig, error) {
				t.Error("a global function ran in the place of the node's own (R15)")
				return "", nil, nil
			}},
			{Name: "onward", Handler: func(context.Context, json.RawMessage, *flows.FlowManager) (string, *flows.NodeConfig, error) {
				return "on", w.parting(t, w.node()), nil
			}},
		}
	})
	s.initialize(w.parting(t, w.node()))
	for range 1 + c.n(8) {
		switch c.n(6) {
		case 0:
			if err := s.fm.SetNode(context.Background(), w.parting(t, w.node())); err != nil && !errors.Is(err, flows.ErrEnded) {
				t.Error(err)
			}
		case 1, 2:
			s.task.QueueFrame(&frames.UserStartedSpeakingFrame{})
			time.Sleep(c.ms(200))
			if c.n(3) > 0 {
				s.task.QueueFrame(&frames.TranscriptionFrame{Text: "spoken"})
			}
			s.task.QueueFrame(&frames.UserStoppedSpeakingFrame{})
		default:
			s.task.QueueFrame(&frames.UserTextFrame{Text: "typed"})
		}
		time.Sleep(c.ms(400))
	}
	begun, limit := time.Now(), time.Second
	switch c.n(3) {
	case 0:
		s.task.Cancel("the client has gone")
	case 1:
		s.task.Interrupt("the last word")
		s.task.Cancel("the client has gone")
	default:
		s.task.End("that is all")
		limit = 20 * time.Second // what is owed is said, calls get their time
	}
	err := <-s.done
	var cancelled *pipeline.CancelError
	if err != nil && !errors.As(err, &cancelled) {
		t.Errorf("the session ended with %v", err)
	}
	if took := time.Since(begun); took > limit {
		t.Errorf("the end took %s, at most %s (R6)", took, limit)
	}
	s.wantValidHistory()
	s.wantWholeEntries()
	for i, r := range s.model.requests {
		if names := r.Context.Tools.Names(); len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) {
			t.Errorf("request %d offers %q: a name twice (R15)", i, names)
		}
	}
	for _, e := range s.convo.Snapshot().Entries {
		if e.Message().Pending {
			t.Errorf("a placeholder is left (R8):\n%s", show(s.convo.Snapshot()))
		}
	}
	synctest.Wait()
}

func TestAFarewellThatIsToFinish(t *testing.T) {
	virtual(t, "is heard whole in spite of a barge-in", func(t *testing.T) {
		s := start(t, voice(time.Second), step{"thanks"}, step{"never"})
		end := flows.EndConversation("goodbye")
		end.OnInterruption = flows.InterruptionFinish
		a := node("a")
		a.PostActions = []flows.Action{end}
		s.initialize(a)
		s.pass(1500 * time.Millisecond)
		s.types("bye")
		<-s.done
		s.wantSaid("bot thanks", "say goodbye", "end")
		s.wantAsked(1)
	})
}

func TestTheObserverSeesHowCallsEndWithTheSession(t *testing.T) { // RT36
	for name, c := range map[string]struct {
		end  func(s *session)
		wait time.Duration
		want frames.FunctionStatus
	}{
		"the end waits for the call":       {func(s *session) { s.task.End("x") }, 5 * time.Second, frames.FunctionOK},
		"the end waits no longer":          {func(s *session) { s.task.End("x") }, time.Second, frames.FunctionCancelled},
		"the client goes while it is open": {func(s *session) { s.task.Cancel("x") }, time.Second, frames.FunctionCancelled},
	} {
		virtual(t, name, func(t *testing.T) {
			s := start(t, func(_ *session, _ *flows.Config, l *llm.Config) { l.EndWait = c.wait }, step{call("look")})
			s.initialize(node("a", slow("look", 2*time.Second, "found", nil)))
			c.end(s)
			<-s.task.Done()
			s.wantKinds([]flows.EventKind{flows.EventFunctionCalled, flows.EventFunctionSettled}, "function_called a", "function_settled a")
			if last := s.events[len(s.events)-1]; last.Status != c.want {
				t.Errorf("the last event is %+v", last)
			}
		})
	}
}
