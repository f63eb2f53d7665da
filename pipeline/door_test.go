package pipeline_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// R3 and R5: three classes of frame, bounded everywhere.

// held keeps the loop while fn runs, so that what fn queues waits at the door.
func held(t *testing.T, p *stage, fn func()) {
	t.Helper()
	do(t, p, fn)
}

func TestSystemFramesOvertakeWhatWaits(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{}
		s := begin(t, p)
		held(t, p, func() {
			s.Send(text("a"), &kept{name: "b"}, &urgent{name: "c"}, text("d"), &urgent{name: "e"})
		})
		came(t, s, "c e a b d")
	})
}

func TestSystemFramesOvertakeABatchThatIsUnderWay(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{}
		s := begin(t, p)
		p.process = func(_ *stage, f frames.Frame, dir pipeline.Direction) {
			if names([]frames.Frame{f}) == "b" {
				s.Send(&urgent{name: "news"})
			}
			p.Push(f, dir)
		}
		held(t, p, func() { s.Send(text("a"), text("b"), text("c")) })
		came(t, s, "a b news c")
	})
}

func TestAnInterruptionDropsWhatWaitsExceptUninterruptibleAndSystemFrames(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{}
		s := begin(t, p)
		dropped := 0
		held(t, p, func() {
			s.Send(text("a"), &kept{name: "b"}, &urgent{name: "c"},
				&parcel{name: "d", dropped: func() { dropped++ }}, &barge{name: "e"}, text("f"))
		})
		came(t, s, "c e b f")
		if dropped != 1 {
			t.Errorf("the dropped frame was told %d times", dropped)
		}
	})
}

func TestWhatIsQueuedBehindATypedTextSurvivesAnInterruptionThatTheLoopBeganMeanwhile(t *testing.T) {
	// The loop is about to interrupt on its own account when the user types; what
	// is queued behind the typed text belongs to the turn the text begins.
	virtual(t, func(t *testing.T) {
		p := &stage{}
		s := begin(t, p)
		p.interrupt = func(_ *stage, f *frames.InterruptionFrame) {
			if f.Reason == "own" {
				s.Send(text("b"))
			}
		}
		held(t, p, func() {
			s.Send(&barge{name: "typed"}, text("a"))
			p.Base.Interrupt("own", nil, down)
		})
		// a was queued before the loop's interruption happened, b after it.
		came(t, s, "typed b")
	})
}

func TestEveryInterruptionIsANewTurn(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{}
		var l log
		p.interrupt = func(_ *stage, f *frames.InterruptionFrame) { l.add("%s %d", f.Reason, f.Turn) }
		s := begin(t, p)
		held(t, p, func() {
			s.Send(&barge{name: "a"}, &barge{name: "b"})
			s.Task().Interrupt("outside")
			p.Base.Interrupt("own", nil, down)
		})
		l.is(t, "own 2", "barge 3", "barge 4", "outside 5")
	})
}

func TestADataFrameThatInterruptsBelongsToTheTurnItBegins(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{}
		s := begin(t, p)
		held(t, p, func() {
			s.Send(text("a"), &song{name: "song"})
			p.Base.Interrupt("own", nil, down)
		})
		synctest.Wait()
		if got := s.Out().Down; len(got) != 1 {
			t.Errorf("came out: %v", got)
		}
	})
}

// song is a data frame that interrupts.
type song struct {
	frames.DataFrame
	name string
}

func (*song) Interrupts() (string, bool) { return "song", true }

func TestAFullQueueFailsTheSessionLoudly(t *testing.T) {
	for name, f := range map[string]func() frames.Frame{
		"of data":                 func() frames.Frame { return text("x") },
		"of control":              func() frames.Frame { return &kept{} },
		"of system frames":        func() frames.Frame { return &urgent{} },
		"of frames that are told": func() frames.Frame { return &parcel{} },
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				p := &stage{}
				s := begin(t, p)
				p.Do(func() {
					for range 10_000 {
						s.Send(f())
					}
				})
				if err := s.Wait().Err; !errors.Is(err, pipeline.ErrOverflow) {
					t.Errorf("the session ended with %v", err)
				}
			})
		})
	}
}

func TestAJobThatFloodsTheSessionWithResultsFailsItLoudly(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{}
		s := begin(t, p)
		var err error
		p.Do(func() {
			p.Go(sess, func(j *pipeline.Job) {
				for err == nil {
					err = j.Post(&kept{})
				}
			})
			time.Sleep(time.Second)
		})
		if end := s.Wait().Err; !errors.Is(end, pipeline.ErrOverflow) || !errors.Is(err, pipeline.ErrOverflow) {
			t.Errorf("the session ended with %v, the job with %v", end, err)
		}
	})
}

func TestWhenTheLoopIsLateTheOldestLiveAudioGoesAndNothingElse(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{}
		s := begin(t, p)
		held(t, p, func() {
			for i := range 100 {
				s.Send(&frames.InputAudioFrame{PCM: frames.PCM{Samples: []int16{int16(i)}, Rate: 16000, Channels: 1}})
			}
			s.Send(text("a"), &kept{name: "b"})
		})
		came(t, s, "a b")
		var heard []int16
		for _, f := range s.Out().Down {
			if a, ok := f.(*frames.InputAudioFrame); ok {
				heard = append(heard, a.Samples[0])
			}
		}
		if len(heard) != 64 || heard[0] != 36 || heard[63] != 99 {
			t.Errorf("heard %d frames: %v", len(heard), heard)
		}
		if n := s.Task().DroppedAudio(); n != 36 {
			t.Errorf("%d frames were counted as dropped", n)
		}
	})
}

func TestLiveAudioIsCopiedAndMayBeChangedByProcessors(t *testing.T) {
	virtual(t, func(t *testing.T) {
		own := make([]int16, 4) // what the processor puts in the frame's place
		p := &stage{process: func(s *stage, f frames.Frame, dir pipeline.Direction) {
			if a, ok := f.(*frames.InputAudioFrame); ok {
				own[0] = a.Samples[0] + 1
				a.Samples, a.Rate = own[:1], 8000
			}
			s.Push(f, dir)
		}}
		s := begin(t, p)
		in := &frames.InputAudioFrame{PCM: frames.PCM{Samples: []int16{1, 2}, Rate: 16000}}
		for i := range 10 {
			in.Samples[0] = int16(10 * i)
			s.Send(in)
			synctest.Wait()
		}
		own[0] = 42
		for i, f := range s.Out().Down {
			if a := f.(*frames.InputAudioFrame); a.Samples[0] != int16(10*i+1) || a.Rate != 8000 {
				t.Errorf("frame %d is %v", i, a.PCM)
			}
		}
		s.Send(in)
		synctest.Wait()
		if own[0] != 91 {
			t.Errorf("the processor's own samples were overwritten: %v", own)
		}
	})
}

func TestLiveAudioIsNotDroppedByInterruptions(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{}
		s := begin(t, p)
		held(t, p, func() {
			s.Send(&frames.InputAudioFrame{PCM: frames.PCM{Samples: []int16{1}}}, &barge{name: "barge"})
		})
		synctest.Wait()
		if got := s.Out().Down; len(got) != 2 {
			t.Errorf("came out: %v", got)
		}
	})
}

func TestAFrameQueuedAfterTheEndIsDroppedAndSaysSo(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := begin(t, &stage{})
		s.End()
		dropped := 0
		s.Send(&parcel{dropped: func() { dropped++ }})
		if dropped != 1 {
			t.Errorf("the late frame was told %d times", dropped)
		}
		if err := s.Task().Enqueue(t.Context(), text("late")); !errors.Is(err, pipeline.ErrClosed) {
			t.Errorf("enqueueing late gave %v", err)
		}
		s.Task().Interrupt("late")
	})
}

func TestStaleFramesAtTheDoorDoNotBlockFreshProducers(t *testing.T) {
	// The queue is full of what an interruption has made stale, and the loop is
	// still at work on something else; a producer of the new turn gets in.
	virtual(t, func(t *testing.T) {
		p := &stage{}
		s := begin(t, p)
		var got time.Duration
		began := time.Now()
		p.process = func(_ *stage, f frames.Frame, dir pipeline.Direction) {
			switch f := f.(type) {
			case *frames.TextFrame:
				if f.Text == "burst" {
					for range 600 {
						s.Send(text("stale"))
					}
					s.Send(&barge{})
				}
			case *barge:
				time.Sleep(time.Minute) // the loop is slow with this one
			}
			p.Push(f, dir)
		}
		do(t, p, func() { s.Send(text("burst"), text("stale")) })
		go func() {
			if err := s.Task().Enqueue(t.Context(), text("fresh")); err == nil {
				got = time.Since(began)
			}
		}()
		wait(time.Hour)
		came(t, s, "burst  fresh")
		if got != 0 {
			t.Errorf("the fresh frame got in after %s", got)
		}
	})
}

func TestFramesQueuedBeforeRunWait(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var l log
		p := pipeline.Func("p", func(p *pipeline.Base, f frames.Frame, dir pipeline.Direction) {
			if n := names([]frames.Frame{f}); n != "" {
				l.add("%s", n)
			}
			p.Push(f, dir)
		})
		task, err := pipeline.NewTask(pipeline.MustNew(p), pipeline.Params{})
		if err != nil {
			t.Fatal(err)
		}
		task.QueueFrame(text("a"))
		task.QueueFrame(&barge{name: "b"})
		task.QueueFrame(text("c"))
		task.End("")
		if err := task.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.is(t, "b", "c")
	})
}

func TestARefusedFrameIsToldOnTheLoop(t *testing.T) {
	// Two jobs' posts are refused while the loop counts without a lock; the race
	// detector sees it when they are told on the jobs' goroutines.
	virtual(t, func(t *testing.T) {
		p := &stage{}
		s := begin(t, p)
		told := 0
		do(t, p, func() {
			for i := range 2 {
				p.Go(turn, func(j *pipeline.Job) {
					<-j.Context().Done()
					_ = j.Post(&parcel{name: fmt.Sprint(i), dropped: func() { told++ }})
				})
			}
		})
		s.Task().Interrupt("test")
		do(t, p, func() { told += 10 })
		if told != 12 {
			t.Errorf("told %d", told)
		}
	})
}
