package speech_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/speech"
)

func TestMutedTheUserIsNotHeard(t *testing.T) {
	cases := []struct {
		name    string
		mute    speech.MuteStrategy
		answers [][]any
		heard   bool // what is said over the first answer
		again   bool // what is said over the second
	}{
		{"never", nil, nil, true, true},
		{"while the bot speaks", speech.MuteWhileBotSpeaks{}, nil, false, false},
		{"the first time the bot speaks", speech.MuteFirstSpeech{}, nil, false, true},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				settings := speech.TurnSettings{}
				if tc.mute != nil {
					settings.Mute = []speech.MuteStrategy{tc.mute}
				}
				c := dial(t, setup{turns: speech.TurnsConfig{Settings: settings}})
				for i, heard := range []bool{tc.heard, tc.again} {
					c.queue(&frames.SpeakFrame{Text: numbers(12)})
					c.sleep(wordTime)
					c.says("over the bot", time.Second)
					c.sleep(10 * time.Second)
					if got := strings.Contains(strings.Join(c.history(), "\n"), "over the bot"); got != heard {
						t.Errorf("round %d: heard is %t, want %t: %q", i, got, heard, c.log())
					}
				}
				c.says("after the bot", time.Second)
				c.sleep(5 * time.Second)
				if got := strings.Join(c.history(), "\n"); !strings.Contains(got, "after the bot") {
					t.Errorf("history: %s", got)
				}
				c.end()
			})
		})
	}
}

func TestNobodyListensBeforeTheBotHasSpoken(t *testing.T) {
	virtual(t, func(t *testing.T) {
		c := dial(t, setup{turns: speech.TurnsConfig{Settings: speech.TurnSettings{Mute: []speech.MuteStrategy{speech.MuteUntilFirstBotTurn{}}}}})
		c.says("hello?", time.Second)
		c.queue(&frames.SpeakFrame{Text: "Welcome."})
		c.sleep(3 * time.Second)
		c.says("hi", time.Second)
		c.sleep(4 * time.Second)
		want(t, "history", c.history(), "assistant: Welcome.", "user: hi", "assistant: Answer 1.")
		c.end()
	})
}

func TestIdleUsersAreCountedOncePerTimeout(t *testing.T) { // RT30
	virtual(t, func(t *testing.T) {
		var told notes[int]
		c := dial(t, setup{turns: speech.TurnsConfig{
			Settings: speech.TurnSettings{Idle: 5 * time.Second},
			OnIdle:   told.add,
		}})
		c.sleep(20 * time.Second)
		if len(told.all()) != 0 {
			t.Errorf("idle before anybody has said anything")
		}
		c.queue(&frames.SpeakFrame{Text: numbers(10)})
		c.until("bot stopped", 1)
		c.queue(&speech.MuteFrame{On: true})
		c.sleep(20 * time.Second)
		if len(told.all()) != 0 {
			t.Errorf("idle while muted: %v", told.all())
		}
		c.queue(&speech.MuteFrame{})
		c.sleep(4900 * time.Millisecond)
		if len(told.all()) != 0 {
			t.Errorf("idle too soon: %v", told.all())
		}
		c.sleep(10200 * time.Millisecond)
		if len(told.all()) != 3 || told.all()[2] != 3 {
			t.Errorf("three timeouts gave %v", told.all())
		}
		c.says("", 300*time.Millisecond) // a noise is not an answer
		c.sleep(5 * time.Second)         // the watchdog
		c.sleep(5100 * time.Millisecond)
		if len(told.all()) != 4 || told.all()[3] != 4 {
			t.Errorf("after a noise: %v", told.all())
		}
		c.says("yes", time.Second)
		c.sleep(20 * time.Second)
		if told.all()[4] != 1 {
			t.Errorf("after words: %v", told.all())
		}
		c.cancel()
	})
}

func TestIdleWaitsForTheBotAndItsFunctions(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var idle notes[time.Duration]
		begun := time.Now()
		c := dial(t, setup{
			turns:     speech.TurnsConfig{Settings: speech.TurnSettings{Idle: 2 * time.Second}, OnIdle: func(int) { idle.add(time.Since(begun)) }},
			voice:     &voice{first: 2100 * time.Millisecond, words: true},
			answers:   [][]any{{5 * time.Second, numbers(5), " ", 3 * time.Second, numbers(5)}},
			synthesis: speech.SynthesisConfig{FirstAudio: 3 * time.Second},
		})
		c.says("go", time.Second)
		c.until("bot stopped", 1)
		stopped := time.Since(begun)
		c.sleep(2100 * time.Millisecond)
		if got := idle.all(); len(got) != 1 || got[0] < stopped+1900*time.Millisecond {
			t.Errorf("idle at %v, the bot stopped at %s", got, stopped)
		}
		c.end()
	})
}

func TestNobodyListensWhileFunctionsRun(t *testing.T) {
	virtual(t, func(t *testing.T) {
		look := frames.ToolCall{ID: "1", Name: "look", Args: []byte("{}")}
		c := dial(t, setup{
			turns:   speech.TurnsConfig{Settings: speech.TurnSettings{Idle: 3 * time.Second, Mute: []speech.MuteStrategy{speech.MuteDuringCalls{}}}},
			answers: [][]any{{"Let me see. ", look}, {"There is one."}},
		})
		c.convo.SetTools([]frames.Tool{{Name: "look"}})
		c.svc.RegisterFunction("look", func(ctx context.Context, _ json.RawMessage) (string, error) {
			time.Sleep(10 * time.Second)
			return "one", nil
		})
		c.says("a table", time.Second)
		c.sleep(4 * time.Second)
		c.says("are you there", time.Second)
		c.sleep(10 * time.Second)
		if got := strings.Join(c.history(), "\n"); strings.Contains(got, "are you there") || !strings.HasSuffix(got, "There is one.") {
			t.Errorf("history: %s", got)
		}
		if n := c.count("idle 1"); n != 1 { // after the answer, not before
			t.Errorf("events: %q", c.log())
		}
		c.end()
	})
}
