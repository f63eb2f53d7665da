package pipeline_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// upper copies texts in capitals and passes nothing else but what is vital.
func upper() pipeline.Processor {
	return pipeline.Func("upper", func(p *pipeline.Base, f frames.Frame, dir pipeline.Direction) {
		if t, ok := f.(*frames.TextFrame); ok {
			p.Push(text(strings.ToUpper(t.Text)), dir)
			return
		}
		p.Push(f, dir)
	})
}

func TestBranchesSeeEveryFrameAndTheSameFrameLeavesOnce(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var l log
		spy := func(name string) *stage {
			return &stage{name: name, process: func(s *stage, f frames.Frame, dir pipeline.Direction) {
				if n := names([]frames.Frame{f}); n != "" {
					l.add("%s sees %s", name, n)
				}
				s.Push(f, dir)
			}}
		}
		s := begin(t, pipeline.Parallel(pipeline.Branch{spy("a")}, pipeline.Branch{}, pipeline.Branch{spy("b")}), spy("behind"))
		s.Send(text("x"), &urgent{name: "y"}, &kept{name: "z"})
		came(t, s, "y x z")
		l.is(t, "a sees y", "behind sees y", "b sees y", "a sees x", "behind sees x", "b sees x",
			"a sees z", "behind sees z", "b sees z")
		s.End()
	})
}

func TestCopiesOfABranchLeaveBesideTheOriginals(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := begin(t, pipeline.Parallel(pipeline.Branch{}, pipeline.Branch{upper()}))
		s.Send(text("a"), text("b"))
		came(t, s, "a A b B")
	})
}

func TestUpstreamFramesLeaveASectionOnceToo(t *testing.T) {
	virtual(t, func(t *testing.T) {
		last, inner := &stage{name: "last"}, &stage{name: "inner"}
		s := begin(t, pipeline.Parallel(pipeline.Branch{&stage{}, inner}, pipeline.Branch{&stage{}}, pipeline.Branch{}), last)
		do(t, last, func() { last.Push(&urgent{name: "from behind"}, up) })
		do(t, inner, func() { inner.Push(&urgent{name: "from within"}, up) })
		if got := names(s.Out().Up); got != "from behind from within" {
			t.Errorf("upstream came %q", got)
		}
	})
}

func TestTheEndAndMarksLeaveWhenEveryBranchHasLetThemOut(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := begin(t, pipeline.Parallel(pipeline.Branch{slow(turn)}, pipeline.Branch{&stage{}}))
		var reached time.Duration
		began := time.Now()
		s.Send(text("a"), &frames.MarkFrame{Name: "mark", Reached: func() { reached = time.Since(began) }}, text("b"))
		out := s.End()
		if got := names(out.Down); got != "a b a! mark b!" || out.Err != nil {
			t.Errorf("came out %q, ended with %v", got, out.Err)
		}
		if reached != time.Second || time.Since(began) != 2*time.Second {
			t.Errorf("the mark came after %s, the end after %s", reached, time.Since(began))
		}
	})
}

func TestSectionsStandInBranches(t *testing.T) {
	virtual(t, func(t *testing.T) {
		inner := pipeline.Parallel(pipeline.Branch{slow(turn)}, pipeline.Branch{&stage{}})
		s := begin(t, pipeline.Parallel(pipeline.Branch{inner, &stage{}}, pipeline.Branch{}, pipeline.Branch{upper()}))
		marks, dropped := 0, 0
		s.Send(text("a"), &frames.MarkFrame{Reached: func() { marks++ }}, &parcel{name: "p", dropped: func() { dropped++ }})
		came(t, s, "a A p")
		out := s.End()
		if out.Err != nil || marks != 1 || dropped != 0 {
			t.Errorf("ended with %v, %d marks arrived, %d frames dropped", out.Err, marks, dropped)
		}
	})
}

func TestAFrameThatOneBranchDropsAndAnotherPassesOnHasArrived(t *testing.T) {
	never := func() *stage {
		return &stage{process: func(s *stage, f frames.Frame, dir pipeline.Direction) {
			if _, ok := f.(*parcel); ok {
				pipeline.Drop(f)
				return
			}
			s.Push(f, dir)
		}}
	}
	for name, c := range map[string]struct {
		branches []pipeline.Branch
		dropped  int
	}{
		"first branch drops":  {[]pipeline.Branch{{never()}, {}}, 0},
		"second branch drops": {[]pipeline.Branch{{}, {never()}}, 0},
		"both drop":           {[]pipeline.Branch{{never()}, {never()}}, 1},
		"neither drops":       {[]pipeline.Branch{{}, {&stage{}}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				s := begin(t, pipeline.Parallel(c.branches...))
				dropped := 0
				s.Send(&parcel{dropped: func() { dropped++ }})
				s.End()
				if dropped != c.dropped {
					t.Errorf("told %d times, want %d", dropped, c.dropped)
				}
			})
		})
	}
}

func TestAnInterruptionReachesEveryBranchAndDropsWhatIsHeldInOne(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var l log
		told := func(name string) *stage {
			return &stage{name: name, interrupt: func(*stage, *frames.InterruptionFrame) { l.add("%s told", name) }}
		}
		s := begin(t, pipeline.Parallel(pipeline.Branch{told("a"), slow(turn)}, pipeline.Branch{told("b")}), told("behind"))
		s.Send(text("x"), &frames.MarkFrame{Lost: func() { l.add("mark lost") }})
		synctest.Wait()
		s.Task().Interrupt("test")
		l.is(t, "mark lost", "a told", "b told", "behind told")
		if out := s.End(); out.Err != nil {
			t.Errorf("ended with %v", out.Err)
		}
	})
}

func TestEveryBranchSeesACancelBeforeItLeaves(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var l log
		spy := func(name string, swallow bool) *stage {
			return &stage{name: name, process: func(s *stage, f frames.Frame, dir pipeline.Direction) {
				if _, ok := f.(*frames.CancelFrame); ok {
					l.add("%s sees it", name)
					if swallow {
						return
					}
				}
				s.Push(f, dir)
			}}
		}
		s := begin(t, pipeline.Parallel(pipeline.Branch{spy("a", false)}, pipeline.Branch{spy("b", true)}), spy("behind", false))
		s.Cancel()
		l.is(t, "a sees it", "b sees it", "behind sees it")
	})
}

func TestAHoldInOneBranchLetsTheOthersWork(t *testing.T) {
	virtual(t, func(t *testing.T) {
		front, a1, a2, b := &stage{name: "front"}, &stage{name: "a1"}, &stage{name: "a2"}, &stage{name: "b"}
		s := begin(t, front, pipeline.Parallel(pipeline.Branch{a1, a2}, pipeline.Branch{b}))
		do(t, a2, func() { a2.Hold(true) })
		for _, p := range []*stage{front, a1, a2, b} {
			do(t, p, func() { p.Go(turn, func(j *pipeline.Job) { _ = j.Post(text(p.name)) }) })
		}
		came(t, s, "a2 b")
		do(t, a2, func() { a2.Hold(false) })
		synctest.Wait()
		if got := len(s.Out().Down); got != 4 {
			t.Errorf("%d came out in the end", got)
		}
	})
}

func TestTurningAroundSettlingAndInterruptingWorkInABranch(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{name: "p"}
		p.process = func(_ *stage, f frames.Frame, dir pipeline.Direction) {
			if u, ok := f.(*urgent); ok && u.name == "voice" && p.Turn() == 1 {
				p.Base.Interrupt("voice", f, dir)
				p.Dirty()
				return
			}
			p.Push(f, dir)
		}
		p.settle = func(*stage) { p.Push(text("settled"), down) }
		echo := &stage{process: func(s *stage, f frames.Frame, dir pipeline.Direction) {
			if t, ok := f.(*frames.TextFrame); ok && dir == down {
				s.Push(&urgent{name: "heard " + t.Text}, up)
			}
			s.Push(f, dir)
		}}
		s := begin(t, pipeline.Parallel(pipeline.Branch{p, echo}, pipeline.Branch{pipeline.Filter(func(frames.Frame, pipeline.Direction) bool { return false })}))
		held(t, p, func() { s.Send(&urgent{name: "voice"}, text("stale")) })
		// The system frame has left by the other branch already when p sees it
		// again.
		came(t, s, "voice settled")
		if got := names(s.Out().Up); got != "heard settled" {
			t.Errorf("upstream came %q", got)
		}
	})
}
