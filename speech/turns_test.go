package speech_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/speech"
)

// voiceStarts and voiceStops are what voice activity tells.
func (c *call) voiceStarts() { c.queue(&frames.VADStartedFrame{Ago: 200 * time.Millisecond}) }
func (c *call) voiceStops()  { c.queue(&frames.VADStoppedFrame{Ago: 200 * time.Millisecond}) }
func (c *call) words(s string) {
	c.queue(&frames.TranscriptionFrame{Text: s})
}
func (c *call) interim(s string) { c.queue(&frames.InterimTranscriptionFrame{Text: s}) }

// until waits for an event.
func (c *call) until(event string, n int) {
	c.t.Helper()
	for range 100000 {
		if c.count(event) >= n {
			return
		}
		c.sleep(time.Millisecond)
	}
	c.t.Fatalf("no %q in %q", event, c.log())
}

// longest is the longest time in which nothing was heard, from now on for d.
func (c *call) longest(d time.Duration) time.Duration {
	var most time.Duration
	for end := time.Now().Add(d); time.Now().Before(end); {
		n, since := c.ear.count(), time.Now()
		for c.ear.count() == n && time.Now().Before(end) {
			c.sleep(5 * time.Millisecond)
		}
		most = max(most, time.Since(since))
	}
	return most
}

func TestATurnEndsWhen(t *testing.T) {
	type step func(c *call)
	cases := []struct {
		name  string
		turns speech.TurnsConfig
		do    step
		after time.Duration // from the last step to the end of the turn
		by    string
	}{
		{"the words are there and the silence has lasted",
			speech.TurnsConfig{Latency: 2 * time.Second},
			func(c *call) {
				c.voiceStarts()
				c.sleep(time.Second)
				c.words("hello")
				c.sleep(50 * time.Millisecond)
				c.voiceStops()
			},
			600 * time.Millisecond, `turn "hello" by silence`},
		{"the recognizer could still bring words, until it cannot",
			speech.TurnsConfig{Latency: 2 * time.Second},
			func(c *call) { c.voiceStarts(); c.words("hello"); c.sleep(time.Second); c.voiceStops() },
			1800 * time.Millisecond, `turn "hello" by silence`},
		{"words come after their time",
			speech.TurnsConfig{Latency: 500 * time.Millisecond},
			func(c *call) {
				c.voiceStarts()
				c.sleep(time.Second)
				c.voiceStops()
				c.sleep(3 * time.Second)
				c.words("hello")
			},
			0, `turn "hello" by silence`},
		{"the recognizer says so",
			speech.TurnsConfig{},
			func(c *call) {
				c.voiceStarts()
				c.sleep(time.Second)
				c.voiceStops()
				c.words("hello")
				c.queue(&speech.EndOfTurnFrame{})
			},
			0, `turn "hello" by recognizer`},
		{"voice activity missed it and the words have come",
			speech.TurnsConfig{},
			func(c *call) { c.interim("hel"); c.sleep(time.Second); c.words("hello") },
			600 * time.Millisecond, `turn "hello" by silence`},
		{"nothing was said after all", // RT25
			speech.TurnsConfig{},
			func(c *call) { c.voiceStarts(); c.sleep(time.Second); c.voiceStops() },
			5 * time.Second, `turn "" by watchdog`},
		{"the recognizer never finishes its words",
			speech.TurnsConfig{},
			func(c *call) { c.voiceStarts(); c.interim("hello th"); c.sleep(time.Second); c.voiceStops() },
			5 * time.Second, `turn "hello th" by watchdog`},
		{"the noise goes on behind the words",
			speech.TurnsConfig{},
			func(c *call) { c.voiceStarts(); c.interim("hel"); c.words("hello") },
			8 * time.Second, `turn "hello" by noise`},
		{"the user goes on before the silence is over",
			speech.TurnsConfig{Latency: 500 * time.Millisecond},
			func(c *call) {
				c.says("hello", time.Second)
				c.sleep(400 * time.Millisecond)
				c.voiceStarts()
				c.sleep(3 * time.Second)
				c.voiceStops()
				c.words("there")
			}, 600 * time.Millisecond, `turn "hello there" by silence`},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				c := dial(t, setup{turns: tc.turns})
				tc.do(c)
				last := time.Now()
				c.until("user stopped", 1)
				if took := time.Since(last); took < tc.after || took > tc.after+10*time.Millisecond {
					t.Errorf("the turn ended after %s, want %s", took, tc.after)
				}
				want(t, "events", c.log()[:3], "user started", "user stopped", tc.by)
				if c.count("user started") != 1 {
					t.Errorf("events: %q", c.log())
				}
				c.cancel()
			})
		})
	}
}

func TestEventsCarryTheWholeTextOfTheTurn(t *testing.T) { // RT29
	virtual(t, func(t *testing.T) {
		var told []string
		c := dial(t, setup{turns: speech.TurnsConfig{
			Settings: speech.TurnSettings{Stop: []speech.StopStrategy{speech.RecognizerEnd{}}},
			OnTurn:   func(f *speech.UserTurnFrame) { told = append(told, f.Text) },
		}})
		c.voiceStarts()
		c.words("a table")
		c.words("for four")
		c.sleep(time.Second)
		c.voiceStops()
		c.sleep(6 * time.Second)
		want(t, "told", told, "a table for four")
		want(t, "history", c.history()[:1], "user: a table for four")
		c.end()
	})
}

func TestANoiseOnlyPausesTheBot(t *testing.T) { // RT26
	virtual(t, func(t *testing.T) {
		c := dial(t, setup{turns: speech.TurnsConfig{Latency: 500 * time.Millisecond}, answers: [][]any{{numbers(20)}}})
		c.says("count", time.Second)
		c.until("bot started", 1)
		c.sleep(5 * wordTime)
		heard := c.ear.count()
		c.voiceStarts() // a cough
		c.sleep(300 * time.Millisecond)
		c.voiceStops()
		if n := c.ear.count() - heard; n > samples(20*time.Millisecond) {
			t.Errorf("%d samples were heard over the noise", n)
		}
		if silence := c.longest(10 * time.Second); silence > 5*time.Second {
			t.Errorf("the bot was silent for %s", silence)
		}
		if c.ear.count() != samples(20*wordTime) {
			t.Errorf("%d samples were heard of %d", c.ear.count(), samples(20*wordTime))
		}
		want(t, "history", c.history(), "user: count", "assistant: "+numbers(20))
		if n := c.model.requests(); n != 1 {
			t.Errorf("%d requests", n)
		}
		want(t, "events", c.log()[3:], "bot started", "user started", "bot stopped", "user stopped", `turn "" by false alarm`,
			"bot started", "end of response 1", "bot stopped")
		c.end()
	})
}

func TestWordsBehindANoiseInterrupt(t *testing.T) {
	virtual(t, func(t *testing.T) {
		c := dial(t, setup{answers: [][]any{{numbers(20)}, {"Yes?"}}})
		c.says("count", time.Second)
		c.until("bot started", 1)
		c.sleep(5*wordTime + wordTime/2)
		c.voiceStarts()
		c.sleep(400 * time.Millisecond)
		c.interim("wait")
		c.sleep(400 * time.Millisecond)
		c.voiceStops()
		c.words("wait a moment")
		c.sleep(5 * time.Second)
		want(t, "history", c.history(), "user: count", "assistant: one two three four five six  [cut]", "user: wait a moment", "assistant: Yes?")
		if c.count("user started") != 2 || c.count("user stopped") != 2 {
			t.Errorf("events: %q", c.log())
		}
		c.end()
	})
}

func TestANoiseDuringGenerationHasItGenerateAgain(t *testing.T) { // RT26
	virtual(t, func(t *testing.T) {
		c := dial(t, setup{answers: [][]any{{numbers(5), " ", 3 * time.Second, "and so on."}, {"Once more, from the start."}}})
		c.says("count", time.Second)
		c.until("bot started", 1)
		c.sleep(wordTime)
		c.voiceStarts()
		c.sleep(300 * time.Millisecond)
		c.voiceStops()
		if silence := c.longest(4 * time.Second); silence > 3*time.Second {
			t.Errorf("the bot was silent for %s", silence)
		}
		c.sleep(5 * time.Second)
		if h := c.history(); h[len(h)-1] != "assistant: Once more, from the start." || c.model.requests() != 2 {
			t.Errorf("history: %q after %d requests", h, c.model.requests())
		}
		c.end()
	})
}

func TestANoiseBehindACompleteReplyHasItGenerateAgain(t *testing.T) { // RT26
	for _, heard := range []time.Duration{wordTime / 2, 5*wordTime + wordTime/2} {
		virtual(t, func(t *testing.T) {
			c := dial(t, setup{
				turns:   speech.TurnsConfig{Settings: speech.TurnSettings{Recovery: speech.RecoverByGeneration}},
				answers: [][]any{{numbers(10)}, {"Once more."}},
			})
			c.says("count", time.Second)
			c.until("bot started", 1)
			c.sleep(heard)
			c.voiceStarts()
			c.sleep(300 * time.Millisecond)
			c.voiceStops()
			if silence := c.longest(3 * time.Second); silence > 3*time.Second {
				t.Errorf("the bot was silent for %s", silence)
			}
			c.sleep(5 * time.Second)
			if h := c.history(); h[len(h)-1] != "assistant: Once more." || c.model.requests() != 2 {
				t.Errorf("history: %q after %d requests", h, c.model.requests())
			}
			c.end()
		})
	}
}

func TestANoiseIsLeftAtThatWhenAskedFor(t *testing.T) {
	virtual(t, func(t *testing.T) {
		c := dial(t, setup{
			turns:   speech.TurnsConfig{Settings: speech.TurnSettings{Recovery: speech.RecoverNever}},
			answers: [][]any{{numbers(10)}},
		})
		c.says("count", time.Second)
		c.until("bot started", 1)
		c.sleep(wordTime)
		c.says("", 300*time.Millisecond)
		c.sleep(10 * time.Second)
		if n := c.model.requests(); n != 1 {
			t.Errorf("%d requests", n)
		}
		c.end()
	})
}

func TestANoiseThatGoesOnDoesNotSilenceTheBot(t *testing.T) { // RT26
	virtual(t, func(t *testing.T) {
		c := dial(t, setup{answers: [][]any{{numbers(20)}}})
		c.interim("coun")
		c.words("count")
		c.until("bot started", 1)
		c.sleep(wordTime)
		c.voiceStarts() // a lawnmower
		if silence := c.longest(8 * time.Second); silence > 5*time.Second {
			t.Errorf("the bot was silent for %s", silence)
		}
		c.sleep(5 * time.Second)
		want(t, "history", c.history(), "user: count", "assistant: "+numbers(20))
		c.end()
	})
}

func TestLongSpeechBeforeAnyWordsTakesTheTurn(t *testing.T) {
	virtual(t, func(t *testing.T) {
		// The recognizer tells nothing before the end.
		c := dial(t, setup{answers: [][]any{{numbers(40)}, {"I see."}}})
		c.says("count", time.Second)
		c.until("bot started", 1)
		c.sleep(wordTime)
		n := c.ear.count()
		c.says("that is a long story", 6*time.Second)
		if m := c.ear.count() - n; m > samples(20*time.Millisecond) {
			t.Errorf("%d samples were heard over the user", m)
		}
		c.sleep(5 * time.Second)
		want(t, "the end of the history", c.history()[2:], "user: that is a long story", "assistant: I see.")
		c.end()
	})
}

func TestAnUtteranceInTwoPartsHasOneAnswer(t *testing.T) { // RT27
	virtual(t, func(t *testing.T) {
		c := dial(t, setup{answers: [][]any{{2 * time.Second, "To the first."}, {"To both."}}})
		c.says("I would like", time.Second)
		c.sleep(1300 * time.Millisecond)
		c.says("a table", time.Second)
		c.sleep(5 * time.Second)
		want(t, "history", c.history(), "user: I would like a table", "assistant: To both.")
		want(t, "spoken", c.voice.texts(), "To both.")
		c.end()
	})
}

func TestWordsThatTrickleInRestartTheModelOnce(t *testing.T) { // RT35
	virtual(t, func(t *testing.T) {
		c := dial(t, setup{answers: [][]any{{2 * time.Second, "Late."}, {2 * time.Second, "Now."}}})
		c.says("well", time.Second)
		c.sleep(700 * time.Millisecond)
		for _, w := range strings.Fields("I would like to book a table") {
			c.words(w)
			c.sleep(300 * time.Millisecond)
		}
		c.sleep(10 * time.Second)
		if n := c.model.requests(); n != 2 {
			t.Errorf("%d requests", n)
		}
		want(t, "history", c.history(), "user: well I would like to book a table", "assistant: Now.")
		c.end()
	})
}

func TestWordsAfterTheWatchdogAreAnswered(t *testing.T) {
	virtual(t, func(t *testing.T) {
		c := dial(t, setup{})
		c.says("", time.Second)
		c.sleep(7 * time.Second)
		c.words("hello")
		c.sleep(4 * time.Second)
		want(t, "history", c.history(), "user: hello", "assistant: Answer 1.")
		c.end()
	})
}

func TestWordsThatWereTakenForFinalDoNotComeTwice(t *testing.T) {
	virtual(t, func(t *testing.T) {
		c := dial(t, setup{})
		c.voiceStarts()
		c.interim("hello the")
		c.voiceStops()
		c.sleep(6 * time.Second)
		c.words("Hello there.")
		c.sleep(4 * time.Second)
		want(t, "history", c.history(), "user: hello the", "assistant: Answer 1.")
		c.end()
	})
}

func TestFewWordsDoNotInterrupt(t *testing.T) {
	virtual(t, func(t *testing.T) {
		c := dial(t, setup{
			turns:   speech.TurnsConfig{Settings: speech.TurnSettings{Start: []speech.StartStrategy{speech.MinWordsStart{Words: 3}}}},
			answers: [][]any{{numbers(20)}, {"Yes?"}},
		})
		c.says("count", time.Second) // one word is enough while the bot is silent
		c.until("bot started", 1)
		c.sleep(wordTime)
		c.says("uh huh", time.Second)
		c.sleep(wordTime)
		if c.count("bot stopped") != 0 || c.count("user started") != 1 {
			t.Errorf("events: %q", c.log())
		}
		c.says("stop it now", time.Second)
		c.sleep(5 * time.Second)
		want(t, "the end of the history", c.history()[2:], "user: stop it now", "assistant: Yes?")
		c.end()
	})
}

func TestAQuietStartLeavesTheBotTalking(t *testing.T) {
	virtual(t, func(t *testing.T) {
		c := dial(t, setup{
			turns:   speech.TurnsConfig{Settings: speech.TurnSettings{Start: []speech.StartStrategy{speech.VoiceStart{Quiet: true}}}},
			answers: [][]any{{numbers(20)}, {"Fine."}},
		})
		c.says("count", time.Second)
		c.until("bot started", 1)
		c.sleep(wordTime)
		c.says("lovely", time.Second)
		c.sleep(15 * time.Second)
		want(t, "history", c.history(), "user: count", "assistant: "+numbers(20), "user: lovely", "assistant: Fine.")
		c.end()
	})
}

func TestSettingsOfANode(t *testing.T) {
	virtual(t, func(t *testing.T) {
		c := dial(t, setup{turns: speech.TurnsConfig{Latency: 300 * time.Millisecond}})
		patient := &speech.TurnSettings{Stop: []speech.StopStrategy{speech.SpeechTimeout{Silence: 3 * time.Second}}}
		c.queue(&speech.TurnSettingsFrame{Settings: patient})
		c.says("oh seven", time.Second)
		c.sleep(2 * time.Second)
		c.says("three three", time.Second)
		last := time.Now()
		c.until("user stopped", 1)
		if took := time.Since(last); took < 2800*time.Millisecond {
			t.Errorf("the turn ended after %s", took)
		}
		c.sleep(3 * time.Second)
		c.queue(&speech.TurnSettingsFrame{})
		c.says("yes", time.Second)
		last = time.Now()
		c.until("user stopped", 2)
		if took := time.Since(last); took > 600*time.Millisecond {
			t.Errorf("the turn ended after %s", took)
		}
		c.end()
	})
}

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
		var told []int
		c := dial(t, setup{turns: speech.TurnsConfig{
			Settings: speech.TurnSettings{Idle: 5 * time.Second},
			OnIdle:   func(n int) { told = append(told, n) },
		}})
		c.sleep(20 * time.Second)
		if len(told) != 0 {
			t.Errorf("idle before anybody has said anything")
		}
		c.queue(&frames.SpeakFrame{Text: numbers(10)})
		c.until("bot stopped", 1)
		c.queue(&speech.MuteFrame{On: true})
		c.sleep(20 * time.Second)
		if len(told) != 0 {
			t.Errorf("idle while muted: %v", told)
		}
		c.queue(&speech.MuteFrame{})
		c.sleep(4900 * time.Millisecond)
		if len(told) != 0 {
			t.Errorf("idle too soon: %v", told)
		}
		c.sleep(10200 * time.Millisecond)
		if len(told) != 3 || told[2] != 3 {
			t.Errorf("three timeouts gave %v", told)
		}
		c.says("", 300*time.Millisecond) // a noise is not an answer
		c.sleep(5 * time.Second)         // the watchdog
		c.sleep(5100 * time.Millisecond)
		if len(told) != 4 || told[3] != 4 {
			t.Errorf("after a noise: %v", told)
		}
		c.says("yes", time.Second)
		c.sleep(20 * time.Second)
		if told[4] != 1 {
			t.Errorf("after words: %v", told)
		}
		c.cancel()
	})
}

func TestIdleWaitsForTheBotAndItsFunctions(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var idle []time.Duration
		begun := time.Now()
		c := dial(t, setup{
			turns:     speech.TurnsConfig{Settings: speech.TurnSettings{Idle: 2 * time.Second}, OnIdle: func(int) { idle = append(idle, time.Since(begun)) }},
			voice:     &voice{first: 2100 * time.Millisecond, words: true},
			answers:   [][]any{{5 * time.Second, numbers(5), " ", 3 * time.Second, numbers(5)}},
			synthesis: speech.SynthesisConfig{FirstAudio: 3 * time.Second},
		})
		c.says("go", time.Second)
		c.until("bot stopped", 1)
		stopped := time.Since(begun)
		c.sleep(2100 * time.Millisecond)
		if len(idle) != 1 || idle[0] < stopped+1900*time.Millisecond {
			t.Errorf("idle at %v, the bot stopped at %s", idle, stopped)
		}
		c.end()
	})
}

// endModel is an end-of-turn model that takes its time.
type endModel struct {
	finished float64
	took     time.Duration
}

func (m *endModel) Finished(ctx context.Context, _ []int16) (float64, error) {
	select {
	case <-time.After(m.took):
		return m.finished, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func TestAModelJudgesTheSilence(t *testing.T) {
	cases := []struct {
		name  string
		model endModel
		after time.Duration
	}{
		{"finished", endModel{finished: 0.9, took: 50 * time.Millisecond}, 150 * time.Millisecond},
		{"not finished", endModel{finished: 0.1, took: 50 * time.Millisecond}, 3 * time.Second},
		{"late", endModel{took: time.Hour}, time.Second},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				stop := []speech.StopStrategy{speech.ModelEnd{Model: &tc.model}}
				c := dial(t, setup{turns: speech.TurnsConfig{Settings: speech.TurnSettings{Stop: stop}}})
				c.voiceStarts()
				c.sleep(time.Second)
				c.voiceStops()
				silent := time.Now()
				c.sleep(150 * time.Millisecond)
				c.words("hello")
				c.until("user stopped", 1)
				if took := time.Since(silent); took < tc.after || took > tc.after+10*time.Millisecond {
					t.Errorf("the turn ended after %s of silence, want %s", took, tc.after)
				}
				c.sleep(10 * time.Second)
				c.end()
			})
		})
	}
}

func TestTwoSignalsInOneFrameOfAudioKeepTheirOrder(t *testing.T) {
	virtual(t, func(t *testing.T) {
		both := pipeline.Func("both", func(p *pipeline.Base, f frames.Frame, dir pipeline.Direction) {
			p.Push(f, dir)
			if _, ok := f.(*frames.InputAudioFrame); ok {
				p.Push(&frames.VADStartedFrame{}, dir)
				p.Push(&frames.VADStoppedFrame{}, dir)
				p.Push(&frames.TranscriptionFrame{Text: "hello"}, dir)
			}
		})
		c := dial(t, setup{front: []pipeline.Processor{both}})
		c.queue(&frames.InputAudioFrame{PCM: frames.PCM{Samples: make([]int16, 320), Rate: rate, Channels: 1}})
		synctest.Wait()
		c.sleep(4 * time.Second)
		want(t, "history", c.history(), "user: hello", "assistant: Answer 1.")
		want(t, "events", c.log()[:3], "user started", "user stopped", `turn "hello" by silence`)
		c.end()
	})
}
