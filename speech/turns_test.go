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

// endModel is an end-of-turn model that takes its time.
type endModel struct {
	finished float64
	took     time.Duration
	given    notes[[]int16]
}

func (m *endModel) Finished(ctx context.Context, heard []int16) (float64, error) {
	m.given.add(append([]int16(nil), heard...))
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
		model *endModel
		after time.Duration
	}{
		{"finished", &endModel{finished: 0.9, took: 50 * time.Millisecond}, 150 * time.Millisecond},
		{"not finished", &endModel{finished: 0.1, took: 50 * time.Millisecond}, 3 * time.Second},
		{"late", &endModel{took: time.Hour}, time.Second},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				stop := []speech.StopStrategy{speech.ModelEnd{Model: tc.model}}
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

func TestAModelIsGivenTheLastSeconds(t *testing.T) {
	virtual(t, func(t *testing.T) {
		m := &endModel{finished: 1}
		c := dial(t, setup{turns: speech.TurnsConfig{Settings: speech.TurnSettings{Stop: []speech.StopStrategy{speech.ModelEnd{Model: m}}}}})
		c.voiceStarts()
		next := int16(0)
		for range 1000 { // twenty seconds at 8 kHz
			s := make([]int16, 160)
			for i := range s {
				s[i] = next
			}
			next++
			c.queue(&frames.InputAudioFrame{PCM: frames.PCM{Samples: s, Rate: 8000, Channels: 1}})
		}
		c.voiceStops()
		c.words("hello")
		c.sleep(time.Second)
		given := m.given.all()
		if len(given) != 1 || len(given[0]) != 8*16000 {
			t.Fatalf("it was asked %d times", len(given))
		}
		if first, last := given[0][100], given[0][len(given[0])-1]; first < 598 || first > 602 || last < 995 {
			t.Errorf("it was given what was said from %d to %d", first, last)
		}
		c.sleep(5 * time.Second)
		c.end()
	})
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
