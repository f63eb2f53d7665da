package speech_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/speech"
)

func TestAnAnswerIsHeardAndEntersTheConversation(t *testing.T) {
	virtual(t, func(t *testing.T) {
		c := dial(t, setup{answers: [][]any{{"It is open from nine to five. ", "Do you want to come?"}}})
		c.says("when are you open", time.Second)
		c.sleep(10 * time.Second)
		want(t, "events", c.log(),
			"user started", "user stopped", `turn "when are you open" by silence`,
			"bot started", "end of response 1", "bot stopped")
		c.end()
		want(t, "history", c.history(), "user: when are you open", "assistant: It is open from nine to five. Do you want to come?")
		want(t, "spoken", c.voice.texts(), "It is open from nine to five.", "Do you want to come?")
		if got, want := len(c.voice.texts()), 2; got != want {
			t.Errorf("%d pieces", got)
		}
	})
}

func TestEverySampleIsHeardOnceAndInOrder(t *testing.T) {
	virtual(t, func(t *testing.T) {
		c := dial(t, setup{answers: [][]any{{numbers(20), " ", numbers(20)}}})
		c.says("count", time.Second)
		c.sleep(20 * time.Second)
		ear := c.ear
		c.end()
		if len(ear.heard) != samples(40*wordTime) {
			t.Fatalf("%d samples were heard, want %d", len(ear.heard), samples(40*wordTime))
		}
		for i, s := range ear.heard {
			if s != int16((i+1)%30000+1) {
				t.Fatalf("sample %d is %d", i, s)
			}
		}
	})
}

// interruptions: words spoken before the barge-in, with and without word times.
func TestAnInterruptionKeepsTheWordsThatWereHeard(t *testing.T) { // RT9, RT31
	for _, timed := range []bool{true, false} {
		for heard := range 12 {
			t.Run(fmt.Sprintf("times given %t, %d words heard", timed, heard), func(t *testing.T) {
				virtual(t, func(t *testing.T) {
					text := "alpha bravo gamma delta epsil zetaa etaaa theta iotaa kappa."
					c := dial(t, setup{voice: &voice{words: timed}, answers: [][]any{{text, " ", numbers(5)}}})
					c.says("go", time.Second)
					for c.ear.count() == 0 {
						time.Sleep(time.Millisecond)
					}
					c.sleep(time.Duration(heard)*wordTime + wordTime/2)
					c.queue(&frames.UserTextFrame{Text: "stop"})
					c.sleep(time.Second)
					words := strings.Fields(text + " " + numbers(5))
					lines := c.history()
					got := len(strings.Fields(strings.TrimSuffix(strings.TrimPrefix(lines[1], "assistant: "), " [cut]")))
					if got < heard || got > heard+2 {
						t.Errorf("%d words are in the conversation, %d were heard: %q", got, heard+1, lines[1])
					}
					if !strings.HasPrefix(strings.Join(words, " ")+" [cut]", strings.TrimSuffix(strings.TrimPrefix(lines[1], "assistant: "), " [cut]")) {
						t.Errorf("%q is not the beginning of the answer", lines[1])
					}
					if !strings.HasSuffix(lines[1], "[cut]") || lines[2] != "user: stop" {
						t.Errorf("history: %q", lines)
					}
					c.cancel()
				})
			})
		}
	}
}

func TestNothingIsHeardAfterAnInterruption(t *testing.T) { // RT38
	virtual(t, func(t *testing.T) {
		c := dial(t, setup{answers: [][]any{{numbers(33)}, {}}}) // ten seconds, made at once
		c.says("go", time.Second)
		for c.ear.count() == 0 {
			time.Sleep(time.Millisecond)
		}
		c.sleep(2 * time.Second)
		before, at := c.ear.count(), time.Now()
		c.task.Interrupt("test")
		c.sleep(5 * time.Second)
		if after := c.ear.count(); after != before {
			t.Errorf("%d samples were heard after the interruption", after-before)
		}
		if late := c.ear.lastHeard().Sub(at); late > 0 {
			t.Errorf("something was heard %s after the interruption", late)
		}
		c.cancel()
	})
}

func TestThePiecesReleasedAreTheTextAsItIsHeard(t *testing.T) {
	virtual(t, func(t *testing.T) {
		c := dial(t, setup{answers: [][]any{{"One two three four. ", "Five six seven eight."}}})
		c.says("go", time.Second)
		for c.ear.count() == 0 {
			time.Sleep(time.Millisecond)
		}
		for i, heard := range []string{"One ", "One two ", "One two three ", "One two three four. ", "One two three four. Five "} {
			c.sleep(wordTime / 2)
			if got := c.text(); got != heard {
				t.Errorf("after %d and a half words: %q, want %q", i, got, heard)
			}
			c.sleep(wordTime / 2)
		}
		c.sleep(3 * time.Second)
		last := map[uint64]int{}
		for _, s := range c.spoken {
			if s.From != last[s.Segment] {
				t.Errorf("segment %d goes on at %d, was at %d", s.Segment, s.From, last[s.Segment])
			}
			last[s.Segment] = s.To
		}
		if c.spoken[0].Text != "One two three four. " || !c.spoken[len(c.spoken)-1].Done {
			t.Errorf("captions: %+v", c.spoken)
		}
		c.end()
	})
}

func TestALineOutsideTheConversationStaysOutside(t *testing.T) {
	virtual(t, func(t *testing.T) {
		c := dial(t, setup{})
		c.queue(&frames.SpeakFrame{Text: "One moment, please. I am looking it up.", NoContext: true})
		c.sleep(wordTime)
		c.task.Interrupt("test")
		c.sleep(time.Second)
		c.queue(&frames.SpeakFrame{Text: "All of it.", NoContext: true})
		c.sleep(3 * time.Second)
		want(t, "history", c.history())
		c.end()
	})
}

func TestALineIsOneTurnOfTheBot(t *testing.T) {
	virtual(t, func(t *testing.T) {
		// Each piece takes longer to come than the one before lasts.
		c := dial(t, setup{voice: &voice{first: 2 * time.Second, words: true}})
		c.queue(&frames.SpeakFrame{Text: "Welcome to the restaurant. What can I do for you?"})
		c.sleep(15 * time.Second)
		want(t, "events", c.log(), "bot started", `line "Welcome to the restaurant. What can I do for you?"`, "bot stopped")
		want(t, "history", c.history(), "assistant: Welcome to the restaurant. What can I do for you?")
		c.end()
	})
}

func TestAFarewellIsHeardToItsLastSample(t *testing.T) { // RT18, RT24, R16
	for _, size := range []int{3, 60} {
		t.Run(fmt.Sprintf("%d words", size), func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				c := dial(t, setup{voice: &voice{first: 800 * time.Millisecond}})
				var marked time.Time
				ear := c.ear
				c.queue(&frames.SpeakFrame{Text: numbers(size)},
					&frames.MarkFrame{Reached: func() { marked = time.Now() }, Lost: func() { t.Error("the mark was lost") }})
				c.end()
				if len(ear.heard) != samples(time.Duration(size)*wordTime) {
					t.Errorf("%d of %d samples were heard", len(ear.heard), samples(time.Duration(size)*wordTime))
				}
				if marked.Before(ear.last) {
					t.Errorf("the mark came %s before the last sample", ear.last.Sub(marked))
				}
				if tail := time.Since(ear.last); tail < 180*time.Millisecond || tail > 400*time.Millisecond {
					t.Errorf("the session ended %s after the last sample", tail)
				}
			})
		})
	}
}

func TestAFarewellThatNobodyTakesEndsAllTheSame(t *testing.T) { // RT23
	virtual(t, func(t *testing.T) {
		c := dial(t, setup{nobody: true})
		c.queue(&frames.SpeakFrame{Text: numbers(10)})
		begun := time.Now()
		c.task.End("test")
		if err := <-c.done; err == nil {
			t.Error("the session ended as if the farewell had been heard")
		}
		if took := time.Since(begun); took > 10*wordTime+8*time.Second {
			t.Errorf("the end took %s", took)
		}
	})
}

func TestAResponseWithoutTextPasses(t *testing.T) { // RT32
	virtual(t, func(t *testing.T) {
		c := dial(t, setup{answers: [][]any{{}}})
		c.says("hello", time.Second)
		c.sleep(3 * time.Second)
		if c.count("end of response 1") != 1 || c.count("bot started") != 0 {
			t.Errorf("events: %q", c.log())
		}
		c.end()
	})
}

func TestTextForNobodysEarsIsNotSpoken(t *testing.T) {
	virtual(t, func(t *testing.T) {
		c := dial(t, setup{answers: [][]any{{"Only to be read."}}})
		c.queue(&frames.UserTextFrame{Text: "hi", SkipSpeech: true})
		c.sleep(time.Second)
		want(t, "history", c.history(), "user: hi", "assistant: Only to be read.")
		want(t, "spoken", c.voice.texts())
		c.end()
	})
}

func TestSynthesizersAreHeldWhileEnoughIsQueued(t *testing.T) {
	virtual(t, func(t *testing.T) {
		v := &voice{words: true}
		c := dial(t, setup{voice: v, answers: [][]any{{strings.Repeat("Now "+numbers(9)+" ", 20)}}}) // a minute
		c.says("go", time.Second)
		most := 0
		for range 3000 {
			c.sleep(20 * time.Millisecond)
			most = max(most, c.buf.Queued())
		}
		if most < samples(3*time.Second) || most > samples(7100*time.Millisecond) {
			t.Errorf("up to %d samples waited", most)
		}
		c.sleep(10 * time.Second)
		if c.ear.count() != samples(200*wordTime) {
			t.Errorf("%d samples were heard, want %d", c.ear.count(), samples(200*wordTime))
		}
		if c.count("bot stopped") != 1 {
			t.Errorf("events: %q", c.log())
		}
		c.end()
	})
}

func TestAudioOfAnotherRateIsConverted(t *testing.T) {
	virtual(t, func(t *testing.T) {
		c := dial(t, setup{voice: &voice{rate: 24000, words: true}, answers: [][]any{{numbers(10)}}})
		c.says("go", time.Second)
		c.sleep(8 * time.Second)
		if n := c.ear.count(); n != samples(10*wordTime) {
			t.Errorf("%d samples were heard, want %d", n, samples(10*wordTime))
		}
		want(t, "history", c.history(), "user: go", "assistant: "+numbers(10))
		c.end()
	})
}

func TestTheLatencyRecordSumsUpToWhatWasWaited(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var told []speech.Latency
		c := dial(t, setup{
			voice:   &voice{first: 250 * time.Millisecond, words: true},
			playout: speech.PlayoutConfig{OnLatency: func(l speech.Latency) { told = append(told, l) }},
			answers: [][]any{{300 * time.Millisecond, "This is ", 150 * time.Millisecond, "the answer. ", "And more."}},
		})
		c.queue(&frames.VADStartedFrame{Ago: 200 * time.Millisecond})
		time.Sleep(time.Second)
		c.queue(&frames.VADStoppedFrame{Ago: 200 * time.Millisecond})
		stopped := time.Now().Add(-200 * time.Millisecond)
		time.Sleep(120 * time.Millisecond)
		c.queue(&frames.TranscriptionFrame{Text: "a question"})
		c.sleep(10 * time.Second)
		if len(c.lags) != 1 || !slices.Equal(told, c.lags) {
			t.Fatalf("records: %+v, told %+v", c.lags, told)
		}
		l := c.lags[0]
		if got, want := l.Total(), c.ear.first.Sub(stopped); got != want {
			t.Errorf("the parts sum up to %s, the user waited %s", got, want)
		}
		wantParts := speech.Latency{
			Recognition: 320 * time.Millisecond, Endpointing: 480 * time.Millisecond, Model: 300 * time.Millisecond,
			Sentence: 150 * time.Millisecond, Synthesis: 250 * time.Millisecond, Playout: l.Playout,
		}
		if l != wantParts || l.Playout > 20*time.Millisecond {
			t.Errorf("got %+v, want %+v", l, wantParts)
		}
		c.end()
	})
}
