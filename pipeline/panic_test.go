package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// Panics and loops that are held end or report one session, and name who did it.

type bomb struct{ pipeline.Base }

func (b *bomb) Process(f frames.Frame, dir pipeline.Direction) {
	if t, ok := f.(*frames.TextFrame); ok && t.Text == "boom" {
		panic(errBoom)
	}
	b.Push(f, dir)
}

var errBoom = errors.New("boom")

func TestAPanicInProcessEndsItsSessionAndNamesTheProcessor(t *testing.T) {
	virtual(t, func(t *testing.T) {
		stopped, lost := 0, 0
		count := func(*stage) { stopped++ }
		s := begin(t, &stage{stop: count}, &bomb{}, &stage{stop: count})
		other := begin(t, &stage{})
		s.Send(&frames.MarkFrame{Lost: func() { lost++ }}, text("boom"), &frames.MarkFrame{Lost: func() { lost++ }})
		err := s.Wait().Err
		var p *pipeline.PanicError
		if !errors.As(err, &p) || !errors.Is(err, errBoom) || p.Processor != "bomb" || !strings.Contains(string(p.Stack), "bomb") {
			t.Errorf("the session ended with %v", err)
		}
		if stopped != 2 || lost != 1 {
			t.Errorf("%d processors were stopped, %d marks lost", stopped, lost)
		}
		other.Send(text("alive"))
		came(t, other, "alive")
	})
}

func TestADirectionThatIsNoneEndsTheSessionWithAnErrorThatSaysSo(t *testing.T) {
	for name, push := range map[string]func(p *stage, f frames.Frame, dir pipeline.Direction){
		"the frame that came": func(p *stage, f frames.Frame, dir pipeline.Direction) { p.Push(f, dir) },
		"a new frame":         func(p *stage, _ frames.Frame, dir pipeline.Direction) { p.Push(text("new"), dir) },
		"from a job": func(p *stage, f frames.Frame, dir pipeline.Direction) {
			p.Go(sess, func(j *pipeline.Job) { _ = j.Push(f, dir) })
		},
		"the cause of an interruption": func(p *stage, f frames.Frame, dir pipeline.Direction) { p.Base.Interrupt("test", f, dir) },
	} {
		for _, dir := range []pipeline.Direction{0, pipeline.Upstream + 1} {
			t.Run(fmt.Sprintf("%s in %s", name, dir), func(t *testing.T) {
				virtual(t, func(t *testing.T) {
					s := begin(t, &stage{name: "lost", process: func(p *stage, f frames.Frame, was pipeline.Direction) {
						if _, ok := f.(*frames.TextFrame); ok {
							push(p, f, dir)
							return
						}
						p.Push(f, was)
					}}, &stage{})
					s.Send(text("a"))
					err := s.Wait().Err
					var p *pipeline.PanicError
					if !errors.As(err, &p) || p.Processor != "lost" || !strings.Contains(err.Error(), fmt.Sprintf("cannot go in direction %d", dir)) {
						t.Errorf("the session ended with %v", err)
					}
				})
			})
		}
	}
}

func TestFramesInTheHandsOfProcessorsAreToldWhenOneOfThemPanics(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var l log
		outer := &stage{name: "outer", process: func(s *stage, f frames.Frame, dir pipeline.Direction) {
			if _, ok := f.(*parcel); ok {
				s.Push(&frames.MarkFrame{Lost: func() { l.add("mark lost") }}, dir)
				return
			}
			s.Push(f, dir)
		}}
		s := begin(t, outer, pipeline.Func("fragile", func(p *pipeline.Base, f frames.Frame, dir pipeline.Direction) {
			if _, ok := f.(*frames.MarkFrame); ok {
				panic("mark")
			}
			p.Push(f, dir)
		}))
		s.Send(&parcel{dropped: func() { l.add("parcel dropped") }})
		s.Wait()
		l.is(t, "parcel dropped", "mark lost")
	})
}

func TestPanicsElsewhereEndTheSessionToo(t *testing.T) {
	for name, arm := range map[string]func(p *stage){
		"in a lane job":     func(p *stage) { p.Queue(turn, func(*pipeline.Job) { panic(errBoom) }) },
		"in a detached job": func(p *stage) { p.Go(sess, func(*pipeline.Job) { panic(errBoom) }) },
		"in a timer":        func(p *stage) { p.After(turn, time.Second, func() { panic(errBoom) }) },
		"in Settle":         func(p *stage) { p.settle = func(*stage) { panic(errBoom) }; p.Dirty() },
		"in Receive": func(p *stage) {
			p.receive = func(*stage, frames.Frame) { panic(errBoom) }
			p.Go(sess, func(j *pipeline.Job) { _ = j.Post(text("x")) })
		},
		"in Interrupt": func(p *stage) {
			p.interrupt = func(*stage, *frames.InterruptionFrame) { panic(errBoom) }
			p.Base.Interrupt("test", nil, down)
		},
		"in a lost mark": func(p *stage) {
			p.Queue(turn, func(j *pipeline.Job) { <-j.Context().Done() })
			p.Push(&frames.MarkFrame{Lost: func() { panic(errBoom) }}, down)
			p.Base.Interrupt("test", nil, down)
		},
		"in Do": func(p *stage) { p.Do(func() { panic(errBoom) }) },
		"in Stop": func(p *stage) {
			p.stop = func(*stage) { panic(errBoom) }
			p.End("test")
		},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				p := &stage{}
				stopped := false
				s := begin(t, p, &stage{stop: func(*stage) { stopped = true }})
				p.Do(func() { arm(p) })
				err := s.Wait().Err
				if !errors.As(err, new(*pipeline.PanicError)) || !errors.Is(err, errBoom) || !stopped {
					t.Errorf("the session ended with %v; the others were stopped: %t", err, stopped)
				}
			})
		})
	}
}

func TestAPanicInALostMarkAfterTheEndStopsNothing(t *testing.T) {
	virtual(t, func(t *testing.T) {
		stopped := false
		p := &stage{stop: func(*stage) { stopped = true }}
		s := begin(t, p)
		do(t, p, func() {
			p.Queue(turn, func(j *pipeline.Job) { <-j.Context().Done() })
			p.Push(&frames.MarkFrame{Lost: func() { panic(errBoom) }}, down)
		})
		s.Cancel()
		if !stopped {
			t.Error("the processor was not stopped")
		}
	})
}

func TestAProcessorThatLeavesTheGoroutineEndsTheSession(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{}
		task, _ := pipeline.NewTask(pipeline.MustNew(p), pipeline.Params{})
		go func() { _ = task.Run(context.Background()) }()
		p.Do(runtime.Goexit)
		<-task.Done()
	})
}

func TestAProcessorThatDoesNotStartEndsTheSession(t *testing.T) {
	virtual(t, func(t *testing.T) {
		stopped := false
		s := begin(t, &stage{stop: func(*stage) { stopped = true }}, &refuser{})
		err := s.Wait().Err
		if !errors.Is(err, errBoom) || !strings.Contains(err.Error(), "refuser") || !stopped {
			t.Errorf("the session ended with %v; the others were stopped: %t", err, stopped)
		}
	})
}

type refuser struct{ stage }

func (*refuser) Name() string                { return "refuser" }
func (*refuser) Start(context.Context) error { return errBoom }

// holder is named by its type, which the watchdog finds on the stack.
type holder struct{ pipeline.Base }

func (h *holder) Process(f frames.Frame, dir pipeline.Direction) {
	if _, ok := f.(*frames.TextFrame); ok {
		wait(5 * time.Second)
	}
	h.Push(f, dir)
}

func TestTheWatchdogNamesTheProcessorThatHoldsTheLoopOnce(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var told []pipeline.Stuck
		s := beginWith(t, pipeline.Params{OnStuck: func(s pipeline.Stuck) { told = append(told, s) }}, &stage{}, &holder{})
		wait(time.Minute)
		for range 2 {
			s.Send(text("x"))
			time.Sleep(10 * time.Second)
		}
		s.End()
		if len(told) != 2 || told[0].Processor != "holder" || !strings.Contains(told[0].Stack, "holder") {
			t.Errorf("told of %v", told)
		}
	})
}

func TestTheWatchdogWatchesStartAndMayBeTurnedOff(t *testing.T) {
	for _, limit := range []time.Duration{time.Second, -1} {
		virtual(t, func(t *testing.T) {
			told := 0
			p := &stage{}
			beginWith(t, pipeline.Params{StuckAfter: limit, OnStuck: func(pipeline.Stuck) { told++ }}, p, &sleeper{})
			time.Sleep(10 * time.Second)
			synctest.Wait()
			if want := map[bool]int{true: 1, false: 0}[limit > 0]; told != want {
				t.Errorf("with limit %s told %d times", limit, told)
			}
		})
	}
}

type sleeper struct{ stage }

func (*sleeper) Start(context.Context) error { time.Sleep(5 * time.Second); return nil }
