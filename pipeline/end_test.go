package pipeline_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// R6: everything awaited ends.

func TestTheEndComesAfterWhatWasQueuedBeforeIt(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := begin(t, &stage{})
		s.Send(text("a"))
		s.Task().End("one")
		s.Send(text("too late"))
		s.Task().End("two")
		out := s.Wait()
		if got := names(out.Down); got != "a" || out.Err != nil {
			t.Errorf("came out: %q, ended with %v", got, out.Err)
		}
	})
}

func TestWhatAProcessorAnswersToTheEndIsStillHandled(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{process: func(s *stage, f frames.Frame, dir pipeline.Direction) {
			s.Push(f, dir)
			if _, end := f.(*frames.EndFrame); end {
				s.Push(&frames.ErrorFrame{Public: "last words"}, up)
			}
		}}
		if out := begin(t, p).End(); len(out.Up) != 1 || out.Err != nil {
			t.Errorf("upstream came %v, ended with %v", out.Up, out.Err)
		}
	})
}

func TestAnEndFrameOrCancelFrameThatReachesTheHeadUpstreamEndsTheSession(t *testing.T) {
	for name, f := range map[string]frames.Frame{"end": &frames.EndFrame{}, "cancel": &frames.CancelFrame{Reason: "test"}} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				p := &stage{}
				s := begin(t, p)
				p.Do(func() { p.Push(f, up) })
				err := s.Wait().Err
				if cancelled := errors.As(err, new(*pipeline.CancelError)); cancelled != (name == "cancel") {
					t.Errorf("the session ended with %v", err)
				}
			})
		})
	}
}

func TestCancelClosesAtOnceWhateverIsUnderWay(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{process: func(s *stage, f frames.Frame, dir pipeline.Direction) {
			if _, cancel := f.(*frames.CancelFrame); !cancel { // swallowed
				s.Push(f, dir)
			}
		}}
		q := slow(turn)
		s := begin(t, p, q)
		s.Send(text("a"), text("b"))
		synctest.Wait()
		began := time.Now()
		err := s.Cancel().Err
		var cancelled *pipeline.CancelError
		if !errors.As(err, &cancelled) || cancelled.Reason == "" || time.Since(began) != 0 {
			t.Errorf("ended after %s with %v", time.Since(began), err)
		}
	})
}

func TestTheEndOfItsContextCancelsTheSessionAndIsItsError(t *testing.T) {
	virtual(t, func(t *testing.T) {
		cause := errors.New("the server stops")
		ctx, cancel := context.WithCancelCause(t.Context())
		saw := false
		p := &stage{process: func(s *stage, f frames.Frame, dir pipeline.Direction) {
			if c, ok := f.(*frames.CancelFrame); ok {
				saw = c.Reason == cause.Error()
			}
			s.Push(f, dir)
		}}
		task, _ := pipeline.NewTask(pipeline.MustNew(p), pipeline.Params{})
		time.AfterFunc(time.Second, func() { cancel(cause) })
		err := task.Run(ctx)
		if !errors.Is(err, cause) || !errors.As(err, new(*pipeline.CancelError)) || !saw {
			t.Errorf("ended with %v; the processors were told: %t", err, saw)
		}
		<-task.Done()
	})
}

func TestAContextThatEndedBeforeRunCancelsTheSession(t *testing.T) {
	virtual(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		task, _ := pipeline.NewTask(pipeline.MustNew(&stage{}), pipeline.Params{})
		if err := task.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestCancellationIsNoticedInTheMiddleOfALongBatch(t *testing.T) {
	virtual(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		handled := 0
		p := &stage{process: func(s *stage, f frames.Frame, dir pipeline.Direction) {
			if _, ok := f.(*frames.TextFrame); ok {
				handled++
				time.Sleep(10 * time.Millisecond)
			}
			s.Push(f, dir)
		}}
		task, _ := pipeline.NewTask(pipeline.MustNew(p), pipeline.Params{})
		for range 500 {
			task.QueueFrame(text("x"))
		}
		time.AfterFunc(time.Second, cancel)
		_ = task.Run(ctx)
		if handled > 102 {
			t.Errorf("%d frames were handled, want about 100", handled)
		}
	})
}

func TestTimersFireInTheMiddleOfALongBatch(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{}
		p.process = func(s *stage, f frames.Frame, dir pipeline.Direction) {
			if _, ok := f.(*frames.TextFrame); ok {
				time.Sleep(10 * time.Millisecond)
			}
			s.Push(f, dir)
		}
		s := begin(t, p)
		began := time.Now()
		var fired time.Duration
		do(t, p, func() {
			p.After(sess, time.Second, func() { fired = time.Since(began) })
			for range 500 {
				s.Send(text("x"))
			}
		})
		wait(10 * time.Second)
		if fired < time.Second || fired > 1100*time.Millisecond {
			t.Errorf("the timer fired after %s", fired)
		}
	})
}

func TestAGracefulEndIsBounded(t *testing.T) {
	// RT23: say and end while a processor is paused.
	virtual(t, func(t *testing.T) {
		p := &stage{}
		s := begin(t, p)
		do(t, p, func() { p.Queue(sess, func(j *pipeline.Job) { <-j.Context().Done() }) })
		s.Send(text("farewell"))
		began := time.Now()
		out := s.End()
		if took := time.Since(began); took != 5*time.Second || !errors.Is(out.Err, pipeline.ErrEndTimeout) {
			t.Errorf("ended after %s with %v", took, out.Err)
		}
	})
}

func TestAGracefulEndHasTimeWhileContentArrives(t *testing.T) {
	// RT24: a farewell of a minute, said and ended together, is heard to the end.
	virtual(t, func(t *testing.T) {
		s := begin(t, slow(sess))
		for range 60 {
			s.Send(text("word"))
		}
		began := time.Now()
		out := s.End()
		if took := time.Since(began); took != time.Minute || out.Err != nil || len(out.Down) != 60 {
			t.Errorf("ended after %s with %v and %d words", took, out.Err, len(out.Down))
		}
	})
}

func TestAnOpenMicrophoneOrHeartbeatsDoNotProlongAGracefulEnd(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{}
		s := beginWith(t, pipeline.Params{Heartbeat: time.Second}, p)
		do(t, p, func() {
			p.After(sess, time.Hour, func() {})
			p.process = func(_ *stage, f frames.Frame, dir pipeline.Direction) {
				if _, end := f.(*frames.EndFrame); !end { // swallowed
					p.Push(f, dir)
				}
			}
		})
		stop := make(chan struct{})
		go func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(20 * time.Millisecond):
					s.Send(&frames.InputAudioFrame{PCM: frames.PCM{Samples: make([]int16, 320), Rate: 16000}}, &urgent{})
				}
			}
		}()
		began := time.Now()
		out := s.End()
		close(stop)
		if took := time.Since(began); took != 5*time.Second || !errors.Is(out.Err, pipeline.ErrEndTimeout) {
			t.Errorf("ended after %s with %v", took, out.Err)
		}
	})
}

func TestAGracefulEndIsLimitedInAll(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := beginWith(t, pipeline.Params{EndLimit: 10 * time.Second}, slow(sess))
		for range 60 {
			s.Send(text("word"))
		}
		began := time.Now()
		out := s.End()
		if took := time.Since(began); took != 10*time.Second || !errors.Is(out.Err, pipeline.ErrEndTimeout) {
			t.Errorf("ended after %s with %v", took, out.Err)
		}
	})
}

func TestAProcessorMayExtendTheEnd(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{process: func(s *stage, f frames.Frame, dir pipeline.Direction) {
			if _, end := f.(*frames.EndFrame); !end {
				s.Push(f, dir)
				return
			}
			s.ExtendEnd(20 * time.Second)
			s.After(sess, 20*time.Second, func() { s.Push(f, dir) })
		}}
		began := time.Now()
		out := begin(t, p).End()
		if took := time.Since(began); took != 20*time.Second || out.Err != nil {
			t.Errorf("ended after %s with %v", took, out.Err)
		}
	})
}

func TestWhenASessionHasEndedItsGoroutinesHaveToo(t *testing.T) {
	// RT39: the end while lanes, jobs and timers are at work.
	virtual(t, func(t *testing.T) {
		p := &stage{}
		s := begin(t, p)
		var stopped atomic.Int32
		do(t, p, func() {
			p.Queue(turn, func(j *pipeline.Job) { <-j.Context().Done(); stopped.Add(1) })
			p.Go(sess, func(j *pipeline.Job) { <-j.Context().Done(); time.Sleep(500 * time.Millisecond); stopped.Add(1) })
			p.After(sess, time.Hour, func() {})
		})
		began := time.Now()
		s.Cancel()
		if took := time.Since(began); stopped.Load() != 2 || took != 500*time.Millisecond {
			t.Errorf("after %s %d jobs have stopped", took, stopped.Load())
		}
	})
}

func TestJobsThatIgnoreTheEndAreNamed(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p, q := &stage{name: "deaf"}, &stage{name: "good"}
		s := begin(t, p, q)
		do(t, p, func() {
			p.Go(sess, func(*pipeline.Job) { time.Sleep(time.Minute) })
			q.Go(sess, func(j *pipeline.Job) { <-j.Context().Done() })
		})
		began := time.Now()
		err := s.End().Err
		if took := time.Since(began); !errors.Is(err, pipeline.ErrJobsLeft) || took != time.Second {
			t.Errorf("ended after %s with %v", took, err)
		}
		if err != nil && (!strings.Contains(err.Error(), "deaf") || strings.Contains(err.Error(), "good")) {
			t.Errorf("the error names the wrong processors: %v", err)
		}
		wait(time.Minute)
	})
}

func TestStopRunsOnEveryProcessorWhenNothingTravelsAnyMore(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var l log
		stop := func(s *stage) {
			l.add("%s stops, context %v", s.name, s.Context(sess).Err())
			s.Push(&frames.MarkFrame{Lost: func() { l.add("mark lost") }}, down)
			s.Queue(sess, func(*pipeline.Job) { t.Error("a job ran after the end") })
			s.Go(sess, func(*pipeline.Job) { t.Error("a job ran after the end") })
		}
		begin(t, &stage{name: "a", stop: stop}, &stage{name: "b", stop: stop}).End()
		l.is(t, "a stops, context context canceled", "mark lost", "b stops, context context canceled", "mark lost")
	})
}

func TestADeadPeerIsReportedOnceHoweverOftenWritingFails(t *testing.T) {
	// RT19: writes fail before the disconnect is noticed; the session is down in
	// under a second and the log holds one line for each error frame, no storm.
	virtual(t, func(t *testing.T) {
		var lines strings.Builder
		output := &stage{name: "output"}
		gone, reported := false, 0
		output.process = func(s *stage, f frames.Frame, dir pipeline.Direction) {
			if _, ok := f.(*frames.OutputAudioFrame); ok && !gone {
				gone = true
				s.Push(&frames.ErrorFrame{Category: frames.ErrorNetwork, Err: errors.New("broken pipe"), Fatal: true}, up)
				return
			}
			s.Push(f, dir)
		}
		s := beginWith(t, pipeline.Params{
			Logger:  slog.New(slog.NewTextHandler(&lines, nil)),
			OnError: func(*frames.ErrorFrame) { reported++ },
		}, output)
		for range 100 {
			s.Send(&frames.OutputAudioFrame{})
		}
		err := s.Wait().Err
		if err == nil || err.Error() != "broken pipe" {
			t.Errorf("the session ended with %v", err)
		}
		if n := strings.Count(lines.String(), "\n"); n != 1 || reported != 1 {
			t.Errorf("reported %d times, logged:\n%s", reported, lines.String())
		}
	})
}
