package llm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestASlowButSteadyStreamIsNoTrouble(t *testing.T) { // RT22
	synctest.Test(t, func(t *testing.T) {
		var words step
		for range 60 {
			words = append(words, time.Second, "x ")
		}
		s := newSession(t, llm.Config{}, words)
		s.start()
		s.say("slowly")
		time.Sleep(2 * time.Minute)
		s.end()
		if got := strings.Join(s.seen, ""); got != strings.Repeat("x ", 60)+"end" {
			t.Errorf("seen %q", got)
		}
	})
}

func TestAStreamThatNeverEndsIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var words step
		for range 1000 {
			words = append(words, time.Second, "x ")
		}
		s := newSession(t, llm.Config{Apology: "sorry"}, words)
		s.start()
		s.say("for ever")
		time.Sleep(121 * time.Second)
		synctest.Wait()
		if n := len(s.seen); !slices.Equal(s.seen[n-2:], []string{"error timeout", "say sorry"}) {
			t.Errorf("after two minutes: %q", s.seen[n-2:])
		}
		s.end()
	})
}

func TestCallsOfAResponseThatIsCutNeverRun(t *testing.T) { // RT10, RT13
	for name, st := range map[string]step{
		"by the end of the stream":                 {call("1", "hang_up", `{}`), finish("")},
		"by a barge-in, behind a slow one":         {call("1", "slow", `{}`), call("2", "hang_up", `{}`), time.Minute},
		"by a barge-in between the two of them":    {call("1", "slow", `{}`), time.Minute, call("2", "hang_up", `{}`)},
		"by a barge-in, behind words already said": {"Goodbye then. ", call("1", "hang_up", `{}`), time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSession(t, llm.Config{}, st)
				s.convo.SetTools(tools("slow", "hang_up"))
				never := func(context.Context, json.RawMessage) (string, error) {
					t.Error("a call of a discarded response ran")
					return "", nil
				}
				s.svc.RegisterFunction("slow", never)
				s.svc.RegisterFunction("hang_up", never)
				s.start()
				s.say("that was all")
				time.Sleep(5 * time.Second)
				s.say("no, one more thing")
				time.Sleep(2 * time.Minute)
				s.end()
				for _, line := range s.history() {
					if strings.Contains(line, "hang_up") || strings.Contains(line, "slow") {
						t.Errorf("the history has %q", line)
					}
				}
			})
		})
	}
}

func TestATrailingSpokenTurnIsPartOfTheOneFollowUp(t *testing.T) { // RT3, by voice
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t, llm.Config{}, step{call("1", "f", `{}`)}, step{"Both."})
		s.convo.SetTools(tools("f"))
		s.svc.RegisterFunction("f", after(200*time.Millisecond, "x"))
		s.start()
		s.task.QueueFrame(&frames.UserStartedSpeakingFrame{})
		s.task.QueueFrame(&frames.TranscriptionFrame{Text: "a table"})
		s.task.QueueFrame(&frames.UserStoppedSpeakingFrame{})
		time.Sleep(100 * time.Millisecond)
		s.task.QueueFrame(&frames.UserStartedSpeakingFrame{})
		time.Sleep(300 * time.Millisecond) // the result comes while they speak
		s.task.QueueFrame(&frames.TranscriptionFrame{Text: "by the window"})
		s.task.QueueFrame(&frames.UserStoppedSpeakingFrame{})
		time.Sleep(time.Second)
		s.end()
		if n := s.model.asked(); n != 2 {
			t.Errorf("%d generations, want 2", n)
		}
		s.want(s.model.request(1), "user: a table", "assistant:  [1 f {}]", "tool 1: x", "user: by the window")
		s.want(s.seen, "f ok", "Both.", "end")
	})
}

func TestADisconnectEndsEverythingUnderWay(t *testing.T) { // RT39
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t, llm.Config{}, step{"One ", call("1", "f", `{}`), call("2", "g", `{}`)}, step{"Two ", time.Hour})
		s.convo.SetTools(tools("f", "g"))
		stopped := make(chan string, 2)
		until := func(name string) llm.ToolHandler {
			return func(ctx context.Context, _ json.RawMessage) (string, error) {
				<-ctx.Done()
				stopped <- name
				return "", ctx.Err()
			}
		}
		s.svc.Register("f", llm.Function{Handler: until("f"), Async: true})
		s.svc.Register("g", llm.Function{Handler: until("g"), Filler: "hm"})
		s.start()
		s.say("go")
		time.Sleep(time.Second)
		begun := time.Now()
		s.task.Cancel("the client has gone")
		<-s.done
		if took := time.Since(begun); took > time.Second {
			t.Errorf("the end took %s", took)
		}
		if len(stopped) != 2 {
			t.Errorf("%d of 2 handlers were told", len(stopped))
		}
		for _, line := range s.history() {
			if strings.Contains(line, "pending") {
				t.Errorf("a placeholder is left: %q", line)
			}
		}
	})
}

func TestAskingWhetherAnybodyIsThereDoesNotPutOffTheRecovery(t *testing.T) {
	hang := step{time.Hour}
	hello := func(s *session) {
		for range 12 {
			s.say("hello?")
			time.Sleep(10 * time.Second)
		}
		synctest.Wait()
	}
	t.Run("the fallback model answers", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			second := &script{}
			s := newSession(t, llm.Config{Fallback: second}, slices.Repeat([]step{hang}, 40)...)
			s.start()
			hello(s)
			if second.asked() == 0 {
				t.Errorf("two minutes of hello, and the fallback was never asked; seen %q", s.seen)
			}
			s.task.Cancel("over")
			<-s.done
		})
	})
	t.Run("without one an event says why nothing comes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSession(t, llm.Config{Apology: "sorry"}, slices.Repeat([]step{hang}, 40)...)
			s.start()
			hello(s)
			if !slices.Contains(s.seen, "error timeout") {
				t.Errorf("two minutes of hello, and nothing was said or reported: %q", s.seen)
			}
			s.task.Cancel("over")
			<-s.done
		})
	})
}

func TestNoCallOfALargeBatchIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var st step
		for i := range 80 {
			st = append(st, call(fmt.Sprint(i), "f", fmt.Sprintf(`{"n":%d}`, i)))
		}
		s := newSession(t, llm.Config{}, st)
		s.convo.SetTools([]frames.Tool{{Name: "f", Parameters: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}})
		s.svc.RegisterFunction("f", func(context.Context, json.RawMessage) (string, error) { return "ok", nil })
		s.start()
		s.say("all of them")
		s.end()
		settled, said := 0, false
		for _, line := range s.seen {
			if strings.HasPrefix(line, "f ") {
				settled++
			}
			said = said || strings.HasPrefix(line, "error ")
		}
		if settled != 80 && !said {
			t.Errorf("%d of 80 calls have settled and nothing tells of the others", settled)
		}
	})
}

func TestAnEndlessResponseIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var st step
		for range 40 {
			st = append(st, strings.Repeat("word ", 8000))
		}
		s := newSession(t, llm.Config{Apology: "sorry"}, st)
		s.start()
		s.say("go on")
		s.end()
		size := 0
		for _, m := range s.convo.Messages() {
			size += len(m.Text)
		}
		if size > 1<<20+100 || !slices.Contains(s.seen, "say sorry") {
			t.Errorf("%d bytes stay in the conversation; the last that was seen is %.20q", size, s.seen[len(s.seen)-1])
		}
	})
}
