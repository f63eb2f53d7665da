package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

func TestAHoldMakesJobsUpstreamWaitButNeitherSystemFramesNorResultsNorTheLoop(t *testing.T) {
	virtual(t, func(t *testing.T) {
		source, output := &stage{name: "source"}, &stage{name: "output"}
		s := begin(t, source, output)
		do(t, output, func() { output.Hold(true) })
		do(t, source, func() {
			for _, f := range []frames.Frame{text("text"), &urgent{name: "system"}, &kept{name: "result"}} {
				source.Go(turn, func(j *pipeline.Job) { _ = j.Post(f) })
			}
			output.Go(turn, func(j *pipeline.Job) { _ = j.Post(text("own")) })
		})
		s.Send(text("from outside"))
		synctest.Wait()
		got := " " + names(s.Out().Down) + " "
		for _, want := range []string{"system", "result", "own", "from outside"} {
			if !strings.Contains(got, " "+want+" ") {
				t.Errorf("%q did not come out: %s", want, got)
			}
		}
		if strings.Contains(got, " text ") {
			t.Errorf("the text did not wait: %s", got)
		}
		do(t, output, func() { output.Hold(false) })
		if got := names(s.Out().Down); !strings.HasSuffix(got, " text") {
			t.Errorf("the text did not come when the hold was lowered: %s", got)
		}
	})
}

func TestAnInterruptionAtTheDoorWakesJobsThatWait(t *testing.T) {
	// The loop is held, so that only the door can have woken the job.
	virtual(t, func(t *testing.T) {
		source, output := &stage{name: "source"}, &stage{name: "output"}
		s := begin(t, source, output)
		var err error
		var woken time.Duration
		began := time.Now()
		do(t, output, func() { output.Hold(true) })
		do(t, source, func() {
			source.Queue(turn, func(j *pipeline.Job) {
				err = j.Post(text("stale"))
				woken = time.Since(began)
			})
		})
		do(t, source, func() {
			s.Send(&barge{name: "barge"})
			time.Sleep(time.Hour)
		})
		wait(time.Hour)
		if !errors.Is(err, pipeline.ErrTurnOver) || woken != 0 {
			t.Errorf("the post returned %v after %s", err, woken)
		}
		came(t, s, "barge")
	})
}

func TestALongLaneHoldsProducersUpstreamUntilItIsShort(t *testing.T) {
	virtual(t, func(t *testing.T) {
		model, voice := &stage{name: "model"}, slow(turn)
		s := begin(t, model, voice)
		var posted atomic.Int32
		do(t, model, func() {
			model.Queue(turn, func(j *pipeline.Job) {
				for i := range 5000 {
					if j.Post(text(fmt.Sprint(i))) != nil {
						return
					}
					posted.Add(1)
				}
			})
		})
		if n := posted.Load(); n > 2000 {
			t.Errorf("%d texts were taken at once", n)
		}
		wait(5001 * time.Second)
		if got := len(s.Out().Down); got != 5000 || posted.Load() != 5000 {
			t.Errorf("%d came out of %d", got, posted.Load())
		}
	})
}

func TestEnqueueWaitsWhileAProcessorHolds(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := begin(t, slow(sess))
		var done atomic.Int32
		go func() {
			for i := range 5000 {
				if err := s.Task().Enqueue(t.Context(), text(fmt.Sprint(i))); err != nil {
					return
				}
				done.Add(1)
			}
		}()
		synctest.Wait()
		if n := done.Load(); n > 2000 {
			t.Errorf("%d texts were taken at once", n)
		}
		wait(5001 * time.Second)
		if n := done.Load(); n != 5000 {
			t.Errorf("%d texts were taken in the end", n)
		}
	})
}

func TestEnqueueGivesUpWithItsContext(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{}
		s := begin(t, p)
		do(t, p, func() { p.Hold(true) })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		dropped := 0
		err := s.Task().Enqueue(ctx, &parcel{name: "a", dropped: func() { dropped++ }})
		synctest.Wait()
		if !errors.Is(err, context.DeadlineExceeded) || dropped != 1 {
			t.Errorf("gave %v, the frame was dropped %d times", err, dropped)
		}
	})
}

// What the user says while the bot's words are held is what would interrupt it.
func TestLiveAudioDoesNotWaitForAHold(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{}
		s := begin(t, p)
		do(t, p, func() { p.Hold(true) })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		for range 10 {
			audio := &frames.InputAudioFrame{PCM: frames.PCM{Samples: make([]int16, 320), Rate: 16000, Channels: 1}}
			if err := s.Task().Enqueue(ctx, audio); err != nil || time.Since(began) != 0 {
				t.Fatalf("gave %v after %s", err, time.Since(began))
			}
		}
		synctest.Wait()
		if n := len(s.Out().Down); n != 10 {
			t.Errorf("%d pieces of 10 came out", n)
		}
	})
}
