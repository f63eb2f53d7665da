package flows_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/flows"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
)

// voice makes an output that takes d over each piece of text.
func voice(d time.Duration) func(*session, *flows.Config, *llm.Config) {
	return func(s *session, _ *flows.Config, _ *llm.Config) { s.pace = d }
}

// does notes that it has run, and when, after d.
func (s *session) does(what string, d time.Duration) flows.ActionHandler {
	return func(ctx context.Context, _ flows.Action, _ *flows.FlowManager) error {
		select {
		case <-time.After(d):
			s.note(what)
			return nil
		case <-ctx.Done():
			s.note(what + " cancelled")
			return ctx.Err()
		}
	}
}

func TestPreActions(t *testing.T) {
	virtual(t, "are heard before the reply", func(t *testing.T) {
		s := start(t, voice(time.Second), step{"reply"})
		a := node("a")
		a.PreActions = []flows.Action{flows.Say("A"), flows.Say("B")}
		s.initialize(a)
		s.pass(5 * time.Second)
		s.wantSaid("say A", "say B", "bot reply")
		s.wantAsked(1)
	})
	virtual(t, "of a node that is entered by an edge too", func(t *testing.T) {
		s := start(t, voice(time.Second), step{"moving ", call("go")}, step{"reply"})
		b := node("b")
		b.PreActions = []flows.Action{flows.Say("A"), flows.Say("B")}
		s.initialize(node("a", fn("go", "ok", b)))
		s.pass(5 * time.Second)
		s.wantSaid("bot moving ", "say A", "say B", "bot reply")
		s.wantAsked(2)
	})
	virtual(t, "a function waits until what is before it was heard, and the reply for it", func(t *testing.T) {
		s := start(t, voice(time.Second), step{"reply"})
		a := node("a")
		a.PreActions = []flows.Action{flows.Say("A"), flows.Run(s.does("work", 3*time.Second)), flows.Say("B")}
		s.initialize(a)
		s.pass(3500 * time.Millisecond)
		s.wantAsked(0)
		s.wantSaid("say A")
		s.pass(10 * time.Second)
		s.wantAsked(1)
		s.wantSaid("say A", "work", "say B", "bot reply")
	})
	virtual(t, "what the user says meanwhile is answered by the same one reply", func(t *testing.T) {
		s := start(t, nil, step{"reply"})
		a := node("a")
		a.PreActions = []flows.Action{flows.Run(s.does("work", 3*time.Second))}
		s.initialize(a)
		s.pass(time.Second)
		s.task.QueueFrame(&frames.UserTextFrame{Text: "hello", Quiet: true})
		s.pass(time.Second)
		s.wantAsked(0)
		s.pass(time.Second)
		s.wantAsked(1)
		s.wantRequest(0, "developer: task a", "user: hello", "tools:")
	})
	virtual(t, "a handler that hangs is given up when its time is over", func(t *testing.T) {
		s := start(t, func(_ *session, f *flows.Config, _ *llm.Config) { f.ActionTimeout = 2 * time.Second })
		a := node("a")
		a.PreActions = []flows.Action{flows.Run(func(context.Context, flows.Action, *flows.FlowManager) error {
			time.Sleep(time.Minute)
			return nil
		})}
		s.initialize(a)
		s.pass(2 * time.Second)
		s.wantAsked(1)
		s.wantKinds([]flows.EventKind{flows.EventActionFailed}, "action_failed a")
		s.pass(time.Minute)
		s.wantAsked(1)
	})
	virtual(t, "a failing one is an event and the next follows", func(t *testing.T) {
		s := start(t, nil)
		a := node("a")
		a.PreActions = []flows.Action{
			flows.Run(func(context.Context, flows.Action, *flows.FlowManager) error { return errors.New("broken") }),
			flows.Run(func(context.Context, flows.Action, *flows.FlowManager) error { panic("very") }),
			flows.Say("B"),
		}
		s.initialize(a)
		s.wantSaid("say B", "bot reply 1")
		s.wantKinds([]flows.EventKind{flows.EventActionFailed}, "action_failed a", "action_failed a")
	})
	virtual(t, "one that is declared to fail the flow ends the session", func(t *testing.T) {
		s := start(t, nil)
		a := node("a")
		fail := flows.Run(func(context.Context, flows.Action, *flows.FlowManager) error { return errors.New("broken") })
		fail.OnError = flows.ErrorFail
		a.PreActions = []flows.Action{flows.Say("A"), fail, flows.Say("B")}
		s.initialize(a)
		if err := <-s.done; err != nil {
			t.Errorf("the session ended with %v", err)
		}
		s.wantSaid("say A", "end")
		s.wantAsked(0)
		i := slices.IndexFunc(s.events, func(e flows.Event) bool { return e.Kind == flows.EventEnded })
		if i < 0 || s.events[i].Err == nil {
			t.Errorf("the events are %+v", s.events)
		}
	})
	virtual(t, "a custom type runs its handler", func(t *testing.T) {
		var got flows.Action
		s := start(t, func(_ *session, f *flows.Config, _ *llm.Config) {
			f.Actions = map[string]flows.ActionHandler{"light": func(_ context.Context, a flows.Action, fm *flows.FlowManager) error {
				got = a
				fm.QueueFrame(&frames.SpeakFrame{Text: "click"})
				return nil
			}}
		})
		a := node("a")
		a.PreActions = []flows.Action{{Type: "light", Data: map[string]any{"colour": "red"}}}
		s.initialize(a)
		if got.Data["colour"] != "red" {
			t.Errorf("the handler got %+v", got)
		}
		if !slices.Contains(s.said(), "say click") {
			t.Errorf("heard %q", s.said())
		}
	})
}

func TestPostActions(t *testing.T) {
	virtual(t, "run once, when the first turn of the bot has been heard", func(t *testing.T) {
		s := start(t, voice(time.Second), step{"one"}, step{"two"})
		a := node("a")
		a.PostActions = []flows.Action{flows.Run(s.does("after", 0))}
		s.initialize(a)
		s.pass(999 * time.Millisecond)
		s.wantSaid()
		s.pass(time.Millisecond)
		s.wantSaid("bot one", "after")
		s.types("more")
		s.pass(time.Second)
		s.wantSaid("bot one", "after", "bot two")
	})
	virtual(t, "of a node that waits run after its first answer", func(t *testing.T) {
		s := start(t, nil, step{"one"}, step{"two"})
		a := wait(node("a"))
		a.PostActions = []flows.Action{flows.Run(s.does("after", 0))}
		s.initialize(a)
		s.wantSaid()
		s.types("hi")
		s.types("more")
		s.wantSaid("bot one", "after", "bot two")
	})
	virtual(t, "are dropped when the node was left before", func(t *testing.T) {
		s := start(t, nil, step{call("go")}, step{"at b"}, step{"more"})
		a := node("a", fn("go", "ok", node("b")))
		a.PostActions = []flows.Action{flows.Run(s.does("after", 0))}
		s.initialize(a)
		s.types("hi")
		s.wantSaid("bot at b", "bot more")
	})
	virtual(t, "wait for the next turn when the first is cut", func(t *testing.T) {
		s := start(t, voice(time.Second), step{"one"}, step{"two"})
		a := node("a")
		a.PostActions = []flows.Action{flows.Run(s.does("after", 0))}
		s.initialize(a)
		s.pass(500 * time.Millisecond)
		s.types("wait")
		s.pass(500 * time.Millisecond)
		s.wantSaid()
		s.pass(500 * time.Millisecond)
		s.wantSaid("bot two", "after")
	})
	virtual(t, "follow a turn that ended with a silent call", func(t *testing.T) {
		s := start(t, nil, step{"noted", call("note")})
		a := node("a", fn("note", "ok", flows.NoResponse))
		a.PostActions = []flows.Action{flows.Run(s.does("after", 0))}
		s.initialize(a)
		s.wantSaid("bot noted", "after")
	})
}

func TestEndConversation(t *testing.T) {
	virtual(t, "is heard whole, then the session ends, and nothing behind it is done", func(t *testing.T) {
		s := start(t, voice(4*time.Second), step{"thanks"})
		a := node("a")
		a.PostActions = []flows.Action{flows.EndConversation("goodbye"), flows.Say("never"), flows.Run(s.does("never", 0))}
		s.initialize(a)
		s.pass(7999 * time.Millisecond)
		s.wantSaid("bot thanks")
		if err := <-s.done; err != nil {
			t.Errorf("the session ended with %v", err)
		}
		s.wantSaid("bot thanks", "say goodbye", "end")
		s.wantAsked(1)
		if d := time.Since(s.begun); d != 8*time.Second {
			t.Errorf("the session ended after %s", d)
		}
		s.wantKinds([]flows.EventKind{flows.EventEnded}, "ended a")
	})
	virtual(t, "before the reply leaves the reply out", func(t *testing.T) {
		s := start(t, nil)
		a := node("a")
		a.PreActions = []flows.Action{flows.EndConversation("goodbye"), flows.Say("never")}
		s.initialize(a)
		<-s.done
		s.wantSaid("say goodbye", "end")
		s.wantAsked(0)
	})
	virtual(t, "that may be skipped is when the user barges in", func(t *testing.T) {
		s := start(t, voice(time.Second), step{"thanks"}, step{"still here"})
		end := flows.EndConversation("goodbye")
		end.OnInterruption = flows.InterruptionSkip
		a := node("a")
		a.PostActions = []flows.Action{end}
		s.initialize(a)
		s.pass(1500 * time.Millisecond)
		s.types("one more thing")
		s.pass(time.Minute)
		s.wantSaid("bot thanks", "bot still here")
		s.wantKinds([]flows.EventKind{flows.EventActionSkipped}, "action_skipped a")
	})
	virtual(t, "comes in spite of a barge-in otherwise", func(t *testing.T) {
		s := start(t, voice(time.Second), step{"thanks"}, step{"never"})
		a := node("a")
		a.PostActions = []flows.Action{flows.EndConversation("goodbye")}
		s.initialize(a)
		s.pass(1500 * time.Millisecond)
		s.types("bye")
		<-s.done
		s.wantSaid("bot thanks", "end")
		s.wantAsked(1)
	})
}

func TestAnInterruptionDuringActions(t *testing.T) {
	for _, raises := range []bool{false, true} {
		name := "a say before a function: the function runs at once and one reply answers"
		if raises {
			name = "a say before a function that fails: one reply answers"
		}
		virtual(t, name, func(t *testing.T) {
			s := start(t, voice(time.Second), step{"reply"}, step{"second"})
			b := node("b")
			b.PostActions = []flows.Action{flows.Run(s.does("after b", 0))}
			handler := s.does("work", 0)
			if raises {
				handler = func(context.Context, flows.Action, *flows.FlowManager) error { panic("very") }
			}
			a := node("a", fn("go", "ok", b))
			a.PreActions = []flows.Action{flows.Say("a long line"), flows.Run(handler)}
			s.initialize(a)
			s.pass(500 * time.Millisecond)
			s.types("hello")
			s.pass(100 * time.Millisecond)
			s.wantAsked(1)
			s.wantRequest(0, "developer: task a", "user: hello", "tools: go")
			if got := slices.Contains(s.said(), "work"); got == raises {
				t.Errorf("heard %q", s.said())
			}
			s.model.steps = []step{{}, {call("go")}, {"at b"}}
			s.types("go")
			s.pass(5 * time.Second)
			s.wantNode("b")
			if !slices.Contains(s.said(), "after b") {
				t.Errorf("the later node's post-actions did not run: %q", s.said())
			}
		})
	}
	virtual(t, "a handler that may be skipped is cancelled, one that is to finish runs on", func(t *testing.T) {
		s := start(t, nil, step{"reply"})
		skip, finish := flows.Run(s.does("skipped", time.Minute)), flows.Run(s.does("finished", 10*time.Second))
		skip.OnInterruption = flows.InterruptionSkip
		a := node("a")
		a.PreActions = []flows.Action{skip, finish, flows.Say("left out")}
		s.initialize(a)
		s.pass(time.Second)
		s.types("hello")
		s.wantAsked(1)
		s.pass(8 * time.Second)
		if got := s.said(); len(got) != 2 || !slices.Contains(got, "skipped cancelled") || !slices.Contains(got, "bot reply") {
			t.Errorf("heard %q", got)
		}
		s.pass(3 * time.Second)
		if got := s.said(); len(got) != 3 || got[2] != "finished" {
			t.Errorf("then heard %q", got)
		}
		s.wantAsked(1)
	})
	virtual(t, "a line that is to finish is said again", func(t *testing.T) {
		s := start(t, voice(time.Second), step{"reply"})
		say := flows.Say("this call is recorded")
		say.OnInterruption = flows.InterruptionFinish
		a := node("a")
		a.PreActions = []flows.Action{say, flows.Say("left out")}
		s.initialize(a)
		s.pass(500 * time.Millisecond)
		s.types("hello")
		s.pass(10 * time.Second)
		s.wantSaid("say this call is recorded", "bot reply")
		s.wantAsked(1)
	})
	virtual(t, "by voice holds the reply until the user has finished", func(t *testing.T) {
		s := start(t, nil, step{"reply"})
		a := node("a")
		a.PreActions = []flows.Action{flows.Run(s.does("work", time.Second))}
		s.initialize(a)
		s.task.QueueFrame(&frames.UserStartedSpeakingFrame{})
		s.pass(2 * time.Second)
		s.wantAsked(0)
		s.task.QueueFrame(&frames.TranscriptionFrame{Text: "hello"})
		s.task.QueueFrame(&frames.UserStoppedSpeakingFrame{})
		synctest.Wait()
		s.wantAsked(1)
		if r := s.request(0); !strings.Contains(r, "user: hello") {
			t.Errorf("request 0:\n%s", r)
		}
	})
	virtual(t, "the node is left meanwhile: its actions are dropped and the new node replies once", func(t *testing.T) {
		s := start(t, nil, step{"at b"})
		skip := flows.Run(s.does("work", time.Minute))
		skip.OnInterruption = flows.InterruptionSkip
		a := node("a")
		a.PreActions = []flows.Action{skip, flows.Say("never")}
		s.initialize(a)
		if err := s.fm.SetNode(t.Context(), node("b")); err != nil {
			t.Fatal(err)
		}
		s.pass(time.Minute)
		s.wantNode("b")
		if got := s.said(); slices.Contains(got, "say never") || !slices.Contains(got, "work cancelled") {
			t.Errorf("heard %q", got)
		}
		s.wantAsked(1)
	})
}
