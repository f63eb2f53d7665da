package speech_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/speech"
)

// TestRandomCalls has callers who talk, cough, type and hang up at random, models and
// voices that pause and fail, and checks what must hold for every call.
func TestRandomCalls(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			virtual(t, func(t *testing.T) { randomCall(t, rand.New(rand.NewPCG(seed, 3))) })
		})
	}
}

func randomCall(t *testing.T, r *rand.Rand) {
	var answers [][]any
	for i := range 30 {
		var a []any
		for k := range 1 + r.IntN(3) {
			a = append(a, fmt.Sprintf("Answer %d part %d with %s ", i, k, numbers(1+r.IntN(12))))
			if r.IntN(3) == 0 {
				a = append(a, time.Duration(r.IntN(2000))*time.Millisecond)
			}
		}
		answers = append(answers, a)
	}
	v := &voice{words: r.IntN(2) == 0, first: time.Duration(r.IntN(600)) * time.Millisecond, pace: time.Duration(r.IntN(200)) * time.Millisecond}
	trouble := rand.New(rand.NewPCG(r.Uint64(), 4))
	v.script = func(int, speech.Utterance) take {
		switch trouble.IntN(12) {
		case 0:
			return take{dieAt: 1 + trouble.IntN(5), err: errors.New("gone")}
		case 1:
			return take{hang: 4 * time.Second}
		case 2:
			return take{silent: true}
		}
		return take{}
	}
	settings := speech.TurnSettings{Recovery: speech.Recovery(1 + r.IntN(3)), Idle: time.Duration(r.IntN(8)) * time.Second}
	c := dial(t, setup{voice: v, answers: answers, turns: speech.TurnsConfig{Settings: settings},
		synthesis: speech.SynthesisConfig{Fallback: &voice{words: true}}})
	voiced := false
	for range 60 {
		switch r.IntN(9) {
		case 0, 1:
			voiced = true
			c.voiceStarts()
		case 2, 3:
			voiced = false
			c.voiceStops()
		case 4:
			c.interim("some wo")
		case 5:
			c.words(fmt.Sprint("some words ", r.IntN(100)))
		case 6:
			if r.IntN(4) == 0 {
				c.queue(&frames.UserTextFrame{Text: "typed"})
			} else if r.IntN(2) == 0 {
				c.queue(&frames.SpeakFrame{Text: "A fixed line for you. And another.", NoContext: r.IntN(2) == 0})
			} else {
				before := c.ear.count()
				c.task.Interrupt("test")
				c.sleep(15 * time.Millisecond)
				if n := c.ear.count() - before; n > samples(20*time.Millisecond) {
					t.Errorf("%d samples were heard after an interruption", n)
				}
			}
		case 7:
			c.queue(&speech.MuteFrame{On: r.IntN(3) == 0})
		}
		c.sleep(time.Duration(r.IntN(1500)) * time.Millisecond)
	}
	c.queue(&speech.MuteFrame{})
	if voiced {
		c.voiceStops()
	}
	c.sleep(90 * time.Second)
	checkCall(t, c)
	ear := c.ear
	c.end()
	if ear.count() == 0 {
		t.Error("nothing was heard in the whole call")
	}
}

// checkCall checks a call that is at rest.
func checkCall(t *testing.T, c *call) {
	t.Helper()
	open, speaking := false, false
	for i, e := range c.log() {
		switch e {
		case "user started", "user stopped":
			if open == (e == "user started") {
				t.Errorf("event %d: %q comes twice in %q", i, e, c.log())
			}
			open = e == "user started"
		case "bot started", "bot stopped":
			if speaking == (e == "bot started") {
				t.Errorf("event %d: %q comes twice in %q", i, e, c.log())
			}
			speaking = e == "bot started"
		}
	}
	if open || speaking {
		t.Errorf("at the end a turn is open: user %t, bot %t; %q", open, speaking, c.log())
	}
	if c.buf.Queued() != 0 {
		t.Errorf("%d samples are left", c.buf.Queued())
	}
	// The bot's messages are what was heard of its responses, to the letter.
	left := map[string]int{}
	for _, text := range c.byResponse {
		left[text]++
	}
	for _, m := range c.convo.Messages() {
		if m.Role != frames.RoleAssistant {
			continue
		}
		if left[m.Text]--; left[m.Text] < 0 {
			t.Errorf("the conversation has %q, which was not heard so", m.Text)
		}
	}
	for text, n := range left {
		if n > 0 && text != "" {
			t.Errorf("%q was heard and is not in the conversation", text)
		}
	}
	heard := map[uint64]int{}
	for _, s := range c.spoken {
		if s.From != heard[s.Segment] || s.To < s.From || s.To > len(s.Text) {
			t.Errorf("segment %d goes on at %d, was at %d, to %d of %d", s.Segment, s.From, heard[s.Segment], s.To, len(s.Text))
		}
		heard[s.Segment] = s.To
	}
}
