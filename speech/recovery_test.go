package speech_test

import (
	"testing"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/speech"
)

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

func TestWordsOfASlowSynthesizerAreEstimatedByItsPace(t *testing.T) { // RT31
	virtual(t, func(t *testing.T) {
		// It speaks twenty characters a second, in real time, and tells no words.
		line := "alpha bravo gamma delta epsil zetaa etaaa theta iotaa kappa."
		c := dial(t, setup{voice: &voice{pace: wordTime}, answers: [][]any{{line}, {line}}})
		c.says("go", time.Second)
		c.sleep(6 * time.Second)
		c.says("again", time.Second)
		c.until("bot started", 2)
		c.sleep(7*wordTime + wordTime/2)
		c.queue(&frames.UserTextFrame{Text: "stop"})
		c.sleep(time.Second)
		want(t, "history", c.history()[3:5], "assistant: alpha bravo gamma delta epsil zetaa etaaa theta  [cut]", "user: stop")
		c.cancel()
	})
}
