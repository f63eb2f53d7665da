package speech_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/turnwise/turnwise/audio/vad"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/speech"
)

func TestAnHourOfACallTakesNoMoreMemoryThanTenMinutes(t *testing.T) {
	virtual(t, func(t *testing.T) {
		energy := must(vad.NewEnergy(rate))
		c := dial(t, setup{
			front: []pipeline.Processor{must(speech.NewActivity(speech.ActivityConfig{Detector: energy}))},
			turns: speech.TurnsConfig{Latency: 300 * time.Millisecond},
		})
		begun := time.Now()
		// What the test itself keeps, and what was said, does not count.
		heap := func() int64 {
			c.ear.mu.Lock()
			c.ear.heard = nil
			c.ear.mu.Unlock()
			c.mu.Lock()
			c.events, c.spoken, c.lags, c.turns, c.byResponse = nil, nil, nil, nil, map[uint64]string{}
			c.heard.Reset()
			c.mu.Unlock()
			c.model.mu.Lock()
			c.model.asked, c.model.times = make([][]string, len(c.model.asked)), nil
			c.model.mu.Unlock()
			c.convo.SetMessages(nil)
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return int64(m.HeapAlloc)
		}
		loud := make([]int16, 320)
		for i := range loud {
			loud[i] = int16(9000 * (1 - 2*(i/16%2)))
		}
		// minutes has the user speak for a second of every twenty, and the bot answer.
		minutes := func(n int) (turns int) {
			before := c.model.requests()
			for i := range n * 60 * 50 {
				second := i / 50 % 20
				piece := make([]int16, 320)
				if second == 0 {
					copy(piece, loud)
				}
				if err := c.task.Enqueue(t.Context(), &frames.InputAudioFrame{PCM: frames.PCM{Samples: piece, Rate: rate, Channels: 1}}); err != nil {
					t.Fatal(err)
				}
				if i%1000 == 65 {
					c.words("and so on")
				}
				time.Sleep(20 * time.Millisecond)
			}
			return c.model.requests() - before
		}
		minutes(2)
		early := minutes(8)
		small := heap()
		at := time.Now()
		late := minutes(50)
		if early != 8*3 || late != 50*3 {
			t.Errorf("%d answers in eight minutes and %d in fifty, not three in each", early, late)
		}
		answers := c.ear.count()
		if want := late * samples(2*wordTime); answers != want {
			t.Errorf("%d samples of answers were heard of %d", answers, want)
		}
		if took := time.Since(at); took != 50*time.Minute || time.Since(begun) < time.Hour {
			t.Errorf("fifty minutes took %s", took)
		}
		if grown := heap() - small; grown > 256<<10 {
			t.Errorf("in fifty minutes the heap has grown by %d KB", grown>>10)
		}
		c.end()
	})
}
