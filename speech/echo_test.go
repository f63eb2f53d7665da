package speech_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/turnwise/turnwise/speech"
)

// echoed is a call in whose microphone the bot is heard: each time it speaks, voice
// activity finds speech soon after, and the recognizer hears words of it; a number is how many of the last ones it hears.
func echoed(t *testing.T, c *call, recognized ...string) {
	t.Helper()
	for i, words := range recognized {
		c.sleep(4 * wordTime)
		heard := strings.Fields(c.text())
		c.voiceStarts()
		c.sleep(300 * time.Millisecond)
		c.voiceStops()
		if n, err := strconv.Atoi(words); err == nil {
			words = strings.Join(heard[len(heard)-n:], " ")
		}
		c.words(words)
		c.sleep(2 * time.Second)
		if n := c.count("user started"); n > i+2 {
			t.Errorf("%d turns of the user after %d echoes", n, i+1)
		}
	}
}

func TestTheBotsEchoDoesNotInterruptIt(t *testing.T) {
	for name, recognized := range map[string][]string{
		"heard well":           {"two three four", "six seven eight"},
		"heard badly":          {"won two three four", "five six heaven eight nine"},
		"a word or two of it":  {"1", "2"},
		"as sound without any": {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				c := dial(t, setup{turns: speech.TurnsConfig{Latency: 500 * time.Millisecond}, answers: [][]any{{numbers(20)}}})
				c.says("count", time.Second)
				c.until("bot started", 1)
				echoed(t, c, recognized...)
				c.sleep(20 * wordTime)
				want(t, "history", c.history(), "user: count", "assistant: "+numbers(20))
				if c.ear.count() != samples(20*wordTime) {
					t.Errorf("%d samples were heard of %d", c.ear.count(), samples(20*wordTime))
				}
				c.end()
			})
		})
	}
}

func TestSoundsWithoutWordsPauseTheBotTwiceAndNoMore(t *testing.T) {
	virtual(t, func(t *testing.T) {
		c := dial(t, setup{turns: speech.TurnsConfig{Latency: 500 * time.Millisecond}, answers: [][]any{{numbers(40)}, {numbers(20)}, {"Yes?"}}})
		c.says("count", time.Second)
		c.until("bot started", 1)
		for range 5 {
			c.sleep(2 * wordTime)
			c.says("", 300*time.Millisecond)
			c.sleep(1500 * time.Millisecond)
		}
		if n := c.count("bot stopped"); n != 2 {
			t.Errorf("the bot was stopped %d times", n)
		}
		c.says("thank you very much", time.Second) // which stops it at the words
		c.until("bot started", 4)
		c.sleep(2 * wordTime)
		heard := c.ear.count()
		c.voiceStarts() // and from now on sound does again
		c.sleep(300 * time.Millisecond)
		if n := c.ear.count() - heard; n > samples(20*time.Millisecond) {
			t.Errorf("%d samples were heard over the user", n)
		}
		c.voiceStops()
		c.words("stop")
		c.sleep(3 * time.Second)
		h := c.history()
		if h[len(h)-2] != "user: stop" || h[2] != "user: thank you very much" {
			t.Errorf("history: %q", h)
		}
		c.end()
	})
}

func TestWordsOverTheBotThatAreNotItsOwnInterrupt(t *testing.T) {
	for name, c := range map[string]struct {
		words, heard string
		settings     speech.TurnSettings
	}{
		"the user's own":                   {words: "no stop that please"},
		"an answer that takes up one word": {words: "two"},
		"in another order":                 {words: "four three two"},
		"its own, when all are to count":   {words: "two three four", settings: speech.TurnSettings{KeepEcho: true}},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				call := dial(t, setup{turns: speech.TurnsConfig{Settings: c.settings}, answers: [][]any{{numbers(20)}, {"Yes?"}}})
				call.says("count", time.Second)
				call.until("bot started", 1)
				call.sleep(5*wordTime + wordTime/2)
				call.says(c.words, 400*time.Millisecond)
				call.sleep(5 * time.Second)
				want(t, "history", call.history(), "user: count", "assistant: one two three four five six  [cut]", "user: "+c.words, "assistant: Yes?")
				call.end()
			})
		})
	}
}
