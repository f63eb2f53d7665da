package speech_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/speech"
)

// What may go wrong with a synthesizer.

var errGone = errors.New("the line to the service is gone")

// always does the same with every utterance.
func always(t take) func(int, speech.Utterance) take {
	return func(int, speech.Utterance) take { return t }
}

func TestASynthesizerWithoutSoundEndsTheTurn(t *testing.T) { // RT21
	cases := []struct {
		name string
		take take
		err  error
	}{
		{"zero audio", take{silent: true}, speech.ErrNoAudio},
		{"an error", take{silent: true, err: errGone}, errGone},
		{"a dead line", take{hang: 20 * time.Second}, speech.ErrLateAudio},
		{"a dead line that it does not notice", take{hang: 20 * time.Second, deaf: true}, speech.ErrLateAudio},
		{"a panic", take{panics: true}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				s := dial(t, setup{voice: &voice{script: always(c.take)}, answers: [][]any{{"We are open now. ", "Until nine in the evening. ", "Every day."}}})
				s.says("are you open", time.Second)
				s.sleep(500 * time.Millisecond)
				begun := time.Now()
				for s.count("end of response 1") == 0 && time.Since(begun) < time.Minute {
					s.sleep(10 * time.Millisecond)
				}
				if took := time.Since(begun); took > 3*time.Second {
					t.Errorf("the turn ended after %s", took)
				}
				s.sleep(time.Second)
				want(t, "history", s.history(), "user: are you open")
				if len(s.errs) == 0 || (c.err != nil && !errors.Is(s.errs[0].Err, c.err)) {
					t.Errorf("errors: %v", s.errs)
				}
				// The user can speak.
				s.voice.script = nil
				s.sleep(40 * time.Second)
				s.says("hello", time.Second)
				s.sleep(time.Minute)
				if h := s.history(); h[len(h)-1] != "assistant: Answer 2." {
					t.Errorf("history: %q", h)
				}
				s.end()
			})
		})
	}
}

func TestTheFallbackTakesOver(t *testing.T) { // RT21
	virtual(t, func(t *testing.T) {
		second := &voice{words: true}
		c := dial(t, setup{
			voice:     &voice{script: always(take{hang: time.Minute})},
			synthesis: speech.SynthesisConfig{Fallback: second},
			answers:   [][]any{{"We are open now. ", "Until nine in the evening."}, {"Yes, that is it."}, {"You are welcome."}, {"Good evening then."}},
		})
		for i, text := range []string{"one", "two", "three", "four"} {
			c.says(text, time.Second)
			asked := time.Now()
			n := c.ear.count()
			for c.ear.count() == n {
				c.sleep(10 * time.Millisecond)
			}
			if took := time.Since(asked); (i < 3) != (took > 2*time.Second) {
				t.Errorf("turn %d: the first sound came after %s", i, took)
			}
			c.sleep(10 * time.Second)
		}
		if n := len(c.voice.texts()); n != 3 {
			t.Errorf("the first synthesizer was asked %d times; a response asks once, and after three it rests", n)
		}
		want(t, "history", c.history()[:2], "user: one", "assistant: We are open now. Until nine in the evening.")
		c.sleep(time.Minute)
		c.voice.script = nil
		c.says("five", time.Second)
		c.sleep(10 * time.Second)
		if n := len(c.voice.texts()); n != 4 {
			t.Errorf("after its rest it was asked %d times", n-3)
		}
		c.end()
	})
}

func TestSpeechThatBreaksOffGoesOnThere(t *testing.T) {
	for _, timed := range []bool{true, false} {
		virtual(t, func(t *testing.T) {
			second := &voice{words: true}
			c := dial(t, setup{
				voice:     &voice{words: timed, script: always(take{dieAt: 4, err: errGone})},
				synthesis: speech.SynthesisConfig{Fallback: second},
				answers:   [][]any{{"alpha bravo gamma delta epsil zetaa etaaa theta iotaa kappa."}},
			})
			c.says("go", time.Second)
			c.sleep(10 * time.Second)
			want(t, "history", c.history(), "user: go", "assistant: alpha bravo gamma delta epsil zetaa etaaa theta iotaa kappa.")
			if timed {
				want(t, "the rest", second.texts(), "epsil zetaa etaaa theta iotaa kappa.")
			}
			if c.count("bot started") != 1 || c.count("bot stopped") != 1 {
				t.Errorf("events: %q", c.log())
			}
			c.end()
		})
	}
}

func TestSpeechThatBreaksOffIsTriedOnceMoreWithTheSameVoice(t *testing.T) {
	virtual(t, func(t *testing.T) {
		v := &voice{words: true, script: func(n int, _ speech.Utterance) take {
			if n < 2 {
				return take{dieAt: 2, err: errGone}
			}
			return take{}
		}}
		c := dial(t, setup{voice: v, answers: [][]any{{"alpha bravo gamma delta epsil zetaa. ", "And this is the rest."}}})
		c.says("go", time.Second)
		c.sleep(10 * time.Second)
		want(t, "spoken", v.texts(), "alpha bravo gamma delta epsil zetaa.", "gamma delta epsil zetaa.")
		want(t, "history", c.history(), "user: go", "assistant: alpha bravo gamma delta  [cut]")
		if len(c.errs) != 1 || !errors.Is(c.errs[0].Err, errGone) {
			t.Errorf("errors: %v", c.errs)
		}
		c.end()
	})
}

func TestAVoiceOutOfOrderIsLeftAlone(t *testing.T) {
	virtual(t, func(t *testing.T) {
		v := &voice{script: always(take{silent: true, err: errGone})}
		c := dial(t, setup{voice: v})
		for range 5 {
			c.says("hello", time.Second)
			c.sleep(2 * time.Second)
		}
		if n := len(v.texts()); n != 3 {
			t.Errorf("it was asked %d times", n)
		}
		unusable := 0
		for _, e := range c.errs {
			if errors.Is(e.Err, speech.ErrUnusable) {
				unusable++
			}
			if e.Public == "" || strings.Contains(e.Public, "gone") {
				t.Errorf("the client is told %q", e.Public)
			}
		}
		if unusable != 3 { // one when it begins, one for each response during it
			t.Errorf("errors: %d of %d say that it is out of order", unusable, len(c.errs))
		}
		c.end()
	})
}

func TestAnInterruptionLeavesADeafSynthesizerBehind(t *testing.T) {
	virtual(t, func(t *testing.T) {
		v := &voice{words: true, script: func(n int, _ speech.Utterance) take {
			if n == 0 {
				return take{hang: 20 * time.Second, deaf: true}
			}
			return take{}
		}}
		c := dial(t, setup{voice: v})
		c.says("hello", time.Second)
		c.sleep(time.Second)
		c.queue(&frames.UserTextFrame{Text: "are you there"})
		asked := time.Now()
		for c.ear.count() == 0 && time.Since(asked) < time.Minute {
			c.sleep(10 * time.Millisecond)
		}
		if took := time.Since(asked); took > 400*time.Millisecond {
			t.Errorf("the answer came after %s", took)
		}
		c.sleep(30 * time.Second)
		c.end()
	})
}

func TestTextWithNothingToSayPasses(t *testing.T) {
	virtual(t, func(t *testing.T) {
		c := dial(t, setup{answers: [][]any{{"🎉🎉\n", "All is booked. ", "✨"}}})
		c.says("book it", time.Second)
		c.sleep(5 * time.Second)
		want(t, "spoken", c.voice.texts(), "All is booked.")
		want(t, "history", c.history(), "user: book it", "assistant: 🎉🎉\nAll is booked. ✨")
		c.end()
	})
}

func TestAFillerBridgesALongWait(t *testing.T) {
	virtual(t, func(t *testing.T) {
		c := dial(t, setup{
			synthesis: speech.SynthesisConfig{FillerAfter: time.Second, Filler: func() string { return "One moment." }},
			answers:   [][]any{{3 * time.Second, "There it is."}, {"At once."}},
		})
		c.says("look it up", time.Second)
		c.sleep(10 * time.Second)
		c.says("and now", time.Second)
		c.sleep(5 * time.Second)
		want(t, "spoken", c.voice.texts(), "One moment.", "There it is.", "At once.")
		want(t, "history", c.history(), "user: look it up", "assistant: There it is.", "user: and now", "assistant: At once.")
		c.end()
	})
}

func TestTextThatStopsIsSpokenAsFarAsItGoes(t *testing.T) { // RT22
	virtual(t, func(t *testing.T) {
		c := dial(t, setup{answers: [][]any{{"One moment. ", 2 * time.Second, "Let me see, I th", 4 * time.Second, "ink it is open."}}})
		c.says("are you open", time.Second)
		c.until("bot started", 1)
		asked := c.model.times[0]
		if took := c.ear.first.Sub(asked); took > 300*time.Millisecond {
			t.Errorf("a whole sentence was spoken after %s", took)
		}
		c.sleep(15 * time.Second)
		want(t, "spoken", c.voice.texts(), "One moment.", "Let me see, I", "think it is open.")
		want(t, "history", c.history(), "user: are you open", "assistant: One moment. Let me see, I think it is open.")
		c.end()
	})
}
