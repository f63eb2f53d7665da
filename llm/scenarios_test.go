package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
)

// The real-time cases that concern the model service alone; flows has the others.

func TestAnInterruptedOrTimedOutToolLeavesOneTerminalMessage(t *testing.T) { // RT2
	cases := []struct {
		name   string
		fn     llm.Function
		barge  bool
		result string
	}{
		{"cancelled by the barge-in", llm.Function{Handler: after(5*time.Second, "late"), CancelOnInterruption: true}, true,
			`{"status":"cancelled","reason":"the user interrupted"}`},
		{"survives the barge-in", llm.Function{Handler: after(5*time.Second, "there it is")}, true, "there it is"},
		{"times out", llm.Function{Handler: after(5*time.Second, "late"), Timeout: time.Second}, false,
			`{"status":"timeout","error":"look did not finish within 1s"}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSession(t, llm.Config{}, step{"Let me check… ", call("1", "look", `{}`)}, step{"So."})
				s.convo.SetTools(tools("look"))
				s.svc.Register("look", c.fn)
				s.start()
				s.say("is it open?")
				want := []string{"user: is it open?", "assistant: Let me check…  [1 look {}]", "tool 1: " + c.result}
				if c.barge {
					s.say("hello?")
					want = append(want, "user: hello?")
				}
				time.Sleep(10 * time.Second)
				s.end()
				s.want(s.history(), append(want, "assistant: So.")...)
				if n := s.model.asked(); n != 2 {
					t.Errorf("%d generations, want 2", n)
				}
			})
		})
	}
}

func TestTextBeforeACallStandsBeforeItInTheNextRequest(t *testing.T) { // RT7, RT8
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t, llm.Config{}, step{"One moment. ", call("1", "look", `{}`)}, step{"Open."})
		s.convo.SetTools(tools("look"))
		s.svc.RegisterFunction("look", after(time.Millisecond, "open"))
		s.start()
		s.say("is it open?")
		time.Sleep(time.Second)
		s.end()
		s.want(s.model.request(1), "user: is it open?", "assistant: One moment.  [1 look {}]", "tool 1: open")
		s.want(s.seen, "One moment. ", "look ok", "Open.", "end")
	})
}

func TestACallOfADiscardedGenerationNeverRuns(t *testing.T) { // RT10
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t, llm.Config{}, step{call("1", "hang_up", `{}`), time.Second}, step{"Go on."})
		s.convo.SetTools(tools("hang_up"))
		s.svc.RegisterFunction("hang_up", func(context.Context, json.RawMessage) (string, error) {
			t.Error("the line was cut while the user went on talking")
			return "", nil
		})
		s.start()
		s.say("that was all")
		time.Sleep(500 * time.Millisecond)
		s.say("but one more thing")
		time.Sleep(5 * time.Second)
		s.end()
		s.want(s.seen, "Go on.", "end")
		s.want(s.history(), "user: that was all", "user: but one more thing", "assistant: Go on.")
	})
}

func TestSurvivingAnInterruptionIsNotAsynchronousPresentation(t *testing.T) { // RT14
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t, llm.Config{}, step{call("1", "next", `{}`)}, step{"Good."})
		s.convo.SetTools(tools("next"))
		s.svc.RegisterFunction("next", after(5*time.Millisecond, "acknowledged"))
		s.start()
		s.say("go on")
		time.Sleep(time.Second)
		s.end()
		s.want(s.model.request(1), "user: go on", "assistant:  [1 next {}]", "tool 1: acknowledged")
	})
}

func TestNothingOfADiscardedGenerationComesAfterAnUpdate(t *testing.T) { // RT16
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t, llm.Config{}, step{"Old ", time.Second, "words."}, step{"New words."})
		s.start()
		s.say("hi")
		s.task.QueueFrame(&frames.LLMContextUpdateFrame{Run: true, Update: frames.ContextUpdate{
			Append: []frames.Message{{Role: frames.RoleDeveloper, Text: "Now be brief."}}}})
		time.Sleep(5 * time.Second)
		s.end()
		s.want(s.seen, "Old ", "New words.", "end")
		s.want(s.history(), "user: hi", "assistant: Old ", "developer: Now be brief.", "assistant: New words.")
		s.want(s.ends, "replaced", "stop")
	})
}

func TestARunRequestWhileAResponseIsUnderWayIsAnsweredAfterIt(t *testing.T) { // RT28
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t, llm.Config{}, step{"One ", time.Second, "two."}, step{"Are you still there?"})
		s.start()
		s.say("count")
		s.task.QueueFrame(&frames.LLMMessagesAppendFrame{Run: true, Messages: []frames.Message{
			{Role: frames.RoleDeveloper, Text: "Ask whether they are there."}}})
		time.Sleep(5 * time.Second)
		s.end()
		s.want(s.seen, "One ", "two.", "Are you still there?", "end")
	})
}

func TestWhatIsAddedDuringAResponseStandsBehindIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t, llm.Config{}, step{"One ", time.Second, call("1", "f", `{}`)}, step{"Two."})
		s.convo.SetTools(tools("f"))
		s.svc.RegisterFunction("f", after(0, "x"))
		s.start()
		s.say("count")
		s.task.QueueFrame(&frames.UserTextFrame{Text: "by the way", Quiet: true})
		time.Sleep(5 * time.Second)
		s.end()
		s.want(s.history(), "user: count", "assistant: One  [1 f {}]", "tool 1: x", "user: by the way", "assistant: Two.")
	})
}

func TestAResponseWithoutTextStillEnds(t *testing.T) { // RT32
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t, llm.Config{}, step{call("1", "f", `{}`)}, step{}, step{"Ok."})
		s.convo.SetTools(tools("f"))
		s.svc.RegisterFunction("f", after(0, ""))
		s.start()
		s.say("go")
		s.say("hello?")
		s.end()
		s.want(s.ends, "tool_calls", "stop", "stop")
		s.want(s.seen, "f ok", "error content", "Ok.", "end")
	})
}

func TestTwoToolsForOneQuestionGiveOneReply(t *testing.T) { // RT33
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t, llm.Config{}, step{call("1", "hours", `{}`), call("2", "address", `{}`)}, step{"Both."})
		s.convo.SetTools(tools("hours", "address"))
		s.svc.RegisterFunction("hours", after(300*time.Millisecond, "9 to 5"))
		s.svc.RegisterFunction("address", after(0, "Main Street"))
		s.start()
		s.say("when and where?")
		time.Sleep(time.Second)
		s.end()
		s.want(s.seen, "address ok", "hours ok", "Both.", "end")
	})
}

func TestTranscriptsWhileTheModelStartsRestartItOncePerTurn(t *testing.T) { // RT35
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t, llm.Config{}, step{10 * time.Second}, step{10 * time.Second}, step{"Yes."})
		s.start()
		for i := range 3 {
			s.task.QueueFrame(&frames.UserStartedSpeakingFrame{})
			for range 20 {
				s.task.QueueFrame(&frames.TranscriptionFrame{Text: fmt.Sprintf("w%d", i)})
			}
			s.task.QueueFrame(&frames.UserStoppedSpeakingFrame{})
			time.Sleep(100 * time.Millisecond)
		}
		s.end()
		if n := s.model.asked(); n != 3 {
			t.Errorf("%d generations, want 3", n)
		}
		s.want(s.seen, "Yes.", "end")
	})
}

func TestTypedTextWhileTheBotTalksIsAnsweredInOrder(t *testing.T) { // RT37
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t, llm.Config{}, step{"A long ", time.Minute, "story."}, step{"Four."})
		s.start()
		s.say("tell me a story")
		time.Sleep(time.Second)
		s.say("no: what is two and two?")
		s.end()
		s.want(s.history(), "user: tell me a story", "assistant: A long ", "user: no: what is two and two?", "assistant: Four.")
	})
}

func TestAModelThatKeepsFailingIsLeftAlone(t *testing.T) { // RT51
	synctest.Test(t, func(t *testing.T) {
		down := &llm.Error{Category: frames.ErrorNetwork, Provider: "x", Err: errors.New("connection closed")}
		s := newSession(t, llm.Config{Apology: "sorry", Retries: -1}, step{down}, step{down}, step{down}, step{"Back."})
		s.start()
		for range 4 {
			s.say("hi")
		}
		s.want(s.seen, "error network", "say sorry", "error network", "say sorry",
			"error server", "error network", "say sorry", "error server", "say sorry")
		if n := s.model.asked(); n != 3 {
			t.Errorf("the model was asked %d times, want 3", n)
		}
		time.Sleep(31 * time.Second)
		s.seen = nil
		s.say("hi")
		s.end()
		s.want(s.seen, "Back.", "end")
	})
}

func TestAResultWhileTheUserSpeaksIsPickedUpWhenTheTurnEnds(t *testing.T) { // R9
	for _, words := range []string{"and for two", ""} {
		t.Run("words: "+words, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSession(t, llm.Config{}, step{call("1", "f", `{}`)}, step{"So."})
				s.convo.SetTools(tools("f"))
				s.svc.RegisterFunction("f", after(time.Second, "found"))
				s.start()
				s.say("look")
				s.task.QueueFrame(&frames.UserStartedSpeakingFrame{})
				time.Sleep(5 * time.Second)
				if n := s.model.asked(); n != 1 {
					t.Errorf("the bot spoke into the user's turn")
				}
				if words != "" {
					s.task.QueueFrame(&frames.TranscriptionFrame{Text: words})
				}
				s.task.QueueFrame(&frames.UserStoppedSpeakingFrame{})
				synctest.Wait()
				s.end()
				s.want(s.seen, "f ok", "So.", "end")
			})
		})
	}
}

func TestAFillerIsSpokenWhileACallTakesLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t, llm.Config{}, step{call("1", "f", `{}`)}, step{"Found."})
		s.convo.SetTools(tools("f"))
		s.svc.Register("f", llm.Function{Handler: after(2*time.Second, "x"), Filler: "One moment."})
		s.start()
		s.say("look")
		time.Sleep(3 * time.Second)
		s.end()
		s.want(s.seen, "say One moment.", "f ok", "Found.", "end")
		s.want(s.history(), "user: look", "assistant:  [1 f {}]", "tool 1: x", "assistant: One moment.", "assistant: Found.")
	})
}

func TestAFunctionThatRunsInTheClientIsSettledByItsResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t, llm.Config{}, step{call("1", "locate", `{}`)}, step{"Berlin."})
		s.convo.SetTools(tools("locate"))
		s.svc.Register("locate", llm.Function{Remote: true})
		s.start()
		s.say("where am I?")
		s.task.QueueFrame(&frames.FunctionResultFrame{CallID: "other", Name: "locate", Result: json.RawMessage(`1`)})
		s.task.QueueFrame(&frames.FunctionResultFrame{CallID: "1", Name: "locate", Result: json.RawMessage(`"Berlin"`)})
		synctest.Wait()
		s.end()
		s.want(s.history(), "user: where am I?", "assistant:  [1 locate {}]", `tool 1: "Berlin"`, "assistant: Berlin.")
	})
}
