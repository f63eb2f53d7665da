package pipeline_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// R4: an interruption is one step.

func TestAnInterruptionCancelsPurgesAndTellsEveryProcessorInOneStep(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var l log
		var ctx context.Context
		told := func(s *stage, f *frames.InterruptionFrame) {
			l.add("%s told of %s, turn %d, context %v", s.name, f.Reason, s.Turn(), ctx.Err())
		}
		a, b := &stage{name: "a", interrupt: told}, &stage{name: "b", interrupt: told}
		s := begin(t, a, b)
		do(t, a, func() {
			ctx = a.Context(turn)
			a.After(turn, time.Second, func() { l.add("turn timer") })
			a.After(sess, time.Second, func() { l.add("session timer") })
			a.Queue(turn, func(j *pipeline.Job) { <-j.Context().Done() })
			a.Push(text("held"), down)
			a.Push(&frames.MarkFrame{Lost: func() { l.add("mark lost") }}, down)
		})
		s.Task().Interrupt("test")
		wait(2 * time.Second)
		l.is(t, "mark lost", "a told of test, turn 2, context context canceled",
			"b told of test, turn 2, context context canceled", "session timer")
		came(t, s, "")
	})
}

func TestTheFrameThatInterruptsIsHandledAgainInTheNewTurnBeforeAnythingElse(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var l log
		vad := &stage{name: "vad"}
		vad.process = func(s *stage, f frames.Frame, dir pipeline.Direction) {
			if u, ok := f.(*urgent); ok {
				l.add("%s in turn %d", u.name, s.Turn())
				if s.Turn() == 1 {
					s.Base.Interrupt("speech", f, dir)
					s.Base.Interrupt("again", nil, dir)
					return
				}
			}
			s.Push(f, dir)
		}
		vad.interrupt = func(_ *stage, f *frames.InterruptionFrame) { l.add("interruption: %s", f.Reason) }
		s := begin(t, vad)
		held(t, vad, func() { s.Send(&urgent{name: "voice"}, &urgent{name: "next"}) })
		l.is(t, "voice in turn 1", "interruption: speech", "voice in turn 2", "next in turn 2")
		came(t, s, "voice next")
	})
}

func TestFramesPushedWhileBeingToldTravelInTheNewTurnBehindWhatSurvived(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{name: "p", interrupt: func(s *stage, _ *frames.InterruptionFrame) { s.Push(text("new"), down) }}
		s := begin(t, p)
		do(t, p, func() {
			p.Queue(turn, func(j *pipeline.Job) { <-j.Context().Done() })
			p.Push(text("dropped"), down)
			p.Push(&kept{name: "survived"}, down)
		})
		s.Task().Interrupt("test")
		came(t, s, "survived new")
	})
}

func TestAFrameThatAProcessorKeptBackIsStaleAfterAnInterruption(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var mine []frames.Frame
		p := &stage{process: func(s *stage, f frames.Frame, dir pipeline.Direction) {
			if n := names([]frames.Frame{f}); n != "" {
				mine = append(mine, f)
				return
			}
			s.Push(f, dir)
		}}
		s := begin(t, p)
		dropped := 0
		s.Send(text("a"), &kept{name: "b"}, &parcel{name: "c", dropped: func() { dropped++ }})
		synctest.Wait()
		s.Task().Interrupt("test")
		do(t, p, func() {
			for _, f := range mine {
				p.Push(f, down)
			}
		})
		came(t, s, "b")
		if dropped != 1 {
			t.Errorf("the stale frame was told %d times", dropped)
		}
	})
}

func TestASessionJobCannotBringBackAFrameOfATurnThatIsOver(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{process: func(s *stage, f frames.Frame, dir pipeline.Direction) {
			if _, ok := f.(*frames.TextFrame); !ok {
				s.Push(f, dir)
				return
			}
			s.Go(sess, func(j *pipeline.Job) {
				time.Sleep(time.Second)
				_ = j.Post(f)
				_ = j.Post(text("result"))
			})
		}}
		s := begin(t, p)
		s.Send(text("old"))
		synctest.Wait()
		s.Task().Interrupt("test")
		wait(time.Second)
		came(t, s, "result")
	})
}

func TestTwoProcessorsThatInterruptInOneDispatchMakeOneInterruption(t *testing.T) {
	virtual(t, func(t *testing.T) {
		count := 0
		ask := func(s *stage, f frames.Frame, dir pipeline.Direction) {
			if u, ok := f.(*urgent); ok && s.Turn() == 1 {
				s.Base.Interrupt(s.name, &urgent{name: u.name + " again by " + s.name}, dir)
			}
			s.Push(f, dir)
		}
		a := &stage{name: "a", process: ask, interrupt: func(*stage, *frames.InterruptionFrame) { count++ }}
		b := &stage{name: "b", process: ask}
		s := begin(t, a, b)
		s.Send(&urgent{name: "x"})
		came(t, s, "x x again by a x again by b")
		if count != 1 {
			t.Errorf("%d interruptions", count)
		}
	})
}

func TestACauseWaitsForTheInterruptionThatAnotherCauseAsksFor(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var l log
		ask := func(s *stage, f frames.Frame, dir pipeline.Direction) {
			if u, ok := f.(*urgent); ok {
				l.add("%s in turn %d", u.name, s.Turn())
				if s.Turn() == 1 || (s.name == "a" && s.Turn() == 2) {
					s.Base.Interrupt(s.name, &urgent{name: s.name}, dir)
				}
			}
			s.Push(f, dir)
		}
		s := begin(t, &stage{name: "a", process: ask}, &stage{name: "b", process: ask})
		s.Send(&urgent{name: "x"})
		// In turn 2 the cause of a asks again; that of b comes in turn 3.
		l.is(t, "x in turn 1", "x in turn 1", "a in turn 2", "a in turn 2", "a in turn 3", "a in turn 3", "b in turn 3")
	})
}

func TestAProcessorThatInterruptsForEverFailsTheSession(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{name: "nervous", process: func(s *stage, f frames.Frame, dir pipeline.Direction) {
			if _, ok := f.(*urgent); ok {
				s.Base.Interrupt("again", f, dir)
				return
			}
			s.Push(f, dir)
		}}
		s := begin(t, p)
		s.Send(&urgent{})
		err := s.Wait().Err
		if !errors.Is(err, pipeline.ErrOverflow) || !strings.Contains(err.Error(), "nervous") {
			t.Errorf("the session ended with %v", err)
		}
	})
}

func TestAnInterruptionGetsInWhileALongQueueIsReleased(t *testing.T) {
	// A thousand frames wait behind a job; when it is done they go on one by one,
	// and typed text need not wait for the last.
	virtual(t, func(t *testing.T) {
		p := &stage{}
		q := &stage{}
		s := begin(t, p, q)
		seen := 0
		q.process = func(_ *stage, f frames.Frame, dir pipeline.Direction) {
			if _, ok := f.(*frames.TextFrame); ok {
				if seen++; seen == 10 {
					s.Send(&barge{name: "barge"})
				}
			}
			q.Push(f, dir)
		}
		do(t, p, func() {
			p.Queue(turn, func(*pipeline.Job) {})
			for range 1000 {
				p.Push(text("x"), down)
			}
			p.Push(&kept{name: "kept"}, down)
		})
		came(t, s, strings.Repeat("x ", 10)+"barge kept")
	})
}

func TestAnInterruptionWhileEndingDropsContentAndStillEnds(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{}
		s := begin(t, p)
		do(t, p, func() {
			p.Queue(sess, func(j *pipeline.Job) {
				time.Sleep(time.Second)
				_ = j.Post(&kept{name: "owed"})
			})
			if p.Ending() {
				t.Error("ending before the end")
			}
		})
		s.Send(text("farewell"))
		s.Task().End("test")
		synctest.Wait()
		do(t, p, func() {
			if !p.Ending() {
				t.Error("not ending")
			}
		})
		s.Send(&barge{name: "typed"})
		out := s.Wait()
		if got := names(out.Down); got != "typed owed" || out.Err != nil {
			t.Errorf("came out: %q, ended with %v", got, out.Err)
		}
	})
}

func TestAMarkReportsExactlyOnceWhetherItArrivesOrIsLost(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var l log
		mark := func(name string, keep bool) *frames.MarkFrame {
			return &frames.MarkFrame{Name: name, Keep: keep,
				Reached: func() { l.add("%s reached", name) }, Lost: func() { l.add("%s lost", name) }}
		}
		p := &stage{}
		s := begin(t, p)
		s.Send(mark("a", false))
		l.is(t, "a reached")
		do(t, p, func() { p.Queue(sess, func(j *pipeline.Job) { <-j.Context().Done() }) })
		s.Send(mark("b", false), mark("c", true))
		s.Task().Interrupt("test")
		l.is(t, "a reached", "b lost")
		s.Cancel()
		l.is(t, "a reached", "b lost", "c lost")
		s.Send(mark("d", false))
		l.is(t, "a reached", "b lost", "c lost", "d lost")
	})
}

func TestALostMarkMayQueueAnewWhileTheInterruptionIsUnderWay(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{}
		s := begin(t, p)
		do(t, p, func() {
			p.Queue(sess, func(*pipeline.Job) { time.Sleep(time.Second) })
			for range 3 {
				p.Push(&frames.MarkFrame{Lost: func() { p.Push(text("again"), down) }}, down)
			}
			p.Push(&kept{name: "kept"}, down)
		})
		s.Task().Interrupt("test")
		wait(time.Second)
		came(t, s, "kept again again again")
	})
}
