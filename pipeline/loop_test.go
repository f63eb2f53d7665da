package pipeline_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// R1: one session, one loop.

func TestProducersOnManyGoroutinesMeetProcessorsThatNeedNoLocks(t *testing.T) {
	virtual(t, func(t *testing.T) {
		count, inside := 0, 0
		p := &stage{process: func(s *stage, f frames.Frame, dir pipeline.Direction) {
			if inside++; inside != 1 {
				t.Error("Process was entered twice at once")
			}
			count++
			s.Push(f, dir)
			inside--
		}}
		s := begin(t, p)
		count = 0
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 50 {
					s.Send(text("x"))
				}
			})
		}
		wg.Wait()
		synctest.Wait()
		if count != 400 {
			t.Errorf("handled %d frames, want 400", count)
		}
	})
}

func TestFramesOfOneProducerKeepTheirOrder(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := begin(t, &stage{}, &stage{})
		s.Send(text("a"), &kept{name: "b"}, text("c"), &parcel{name: "d"})
		came(t, s, "a b c d")
	})
}

func TestAPushAgainstTheWalkHappensWhenTheWalkIsOver(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var l log
		a := &stage{name: "a"}
		a.process = func(s *stage, f frames.Frame, dir pipeline.Direction) {
			if n := names([]frames.Frame{f}); n != "" {
				l.add("a gets %s %s", n, dir)
			}
			s.Push(f, dir)
			if n := names([]frames.Frame{f}); n != "" {
				l.add("a is done with %s", n)
			}
		}
		b := &stage{name: "b", process: func(s *stage, f frames.Frame, dir pipeline.Direction) {
			if t, ok := f.(*frames.TextFrame); ok && dir == down {
				l.add("b answers %s", t.Text)
				s.Push(&urgent{name: "answer"}, up)
			}
			s.Push(f, dir)
		}}
		s := begin(t, a, b)
		s.Send(text("question"))
		l.is(t, "a gets question downstream", "b answers question", "a is done with question",
			"a gets answer upstream", "a is done with answer")
	})
}

func TestFramesThatTurnAroundKeepTheOrderInWhichTheyWerePushed(t *testing.T) {
	// The middle answers an upstream frame with one downstream, while another that
	// was turned around before is about to pass the middle on its own way down.
	virtual(t, func(t *testing.T) {
		first := &stage{name: "first"}
		middle := &stage{name: "middle", process: func(s *stage, f frames.Frame, dir pipeline.Direction) {
			if u, ok := f.(*urgent); ok && dir == up {
				s.Push(text("answer to "+u.name), down)
				return
			}
			s.Push(f, dir)
		}}
		last := &stage{name: "last"}
		s := begin(t, first, middle, last)
		do(t, first, func() {
			// While nothing walks, both go out of a Do at once; the ring is used
			// when they are pushed from within a walk.
			last.Push(&urgent{name: "one"}, up)
			first.Push(text("later"), down)
		})
		came(t, s, "answer to one later")

		both := &kept{name: "start"}
		last.process = func(s *stage, f frames.Frame, dir pipeline.Direction) {
			s.Push(f, dir)
			if f == frames.Frame(both) && dir == down {
				s.Push(&urgent{name: "two"}, up)
				s.Push(&urgent{name: "three"}, up)
			}
		}
		first.process = func(s *stage, f frames.Frame, dir pipeline.Direction) { s.Push(f, dir) }
		s.Send(both)
		came(t, s, "answer to one later start answer to two answer to three")
	})
}

func TestAFramePassingBehindATurnedOneDoesNotOvertakeIt(t *testing.T) {
	virtual(t, func(t *testing.T) {
		first := &stage{name: "first", process: func(s *stage, f frames.Frame, dir pipeline.Direction) {
			if u, ok := f.(*urgent); ok && dir == up && u.name == "to first" {
				s.Push(text("second"), down)
				return
			}
			s.Push(f, dir)
		}}
		middle := &stage{name: "middle", process: func(s *stage, f frames.Frame, dir pipeline.Direction) {
			if u, ok := f.(*urgent); ok && dir == up && u.name == "to middle" {
				// The walk goes up: this one has to wait. Then the walk goes on to
				// first, whose answer comes down the same way.
				s.Push(text("first"), down)
				s.Push(&urgent{name: "to first"}, up)
				return
			}
			s.Push(f, dir)
		}}
		last := &stage{name: "last"}
		s := begin(t, first, middle, last)
		do(t, last, func() { last.Push(&urgent{name: "to middle"}, up) })
		came(t, s, "first second")
	})
}

func TestUninterruptibleFramesThatTurnAroundKeepTheirOrderThroughAnInterruption(t *testing.T) {
	virtual(t, func(t *testing.T) {
		first := &stage{name: "first", process: func(s *stage, f frames.Frame, dir pipeline.Direction) {
			if u, ok := f.(*urgent); ok && dir == up {
				s.Push(&kept{name: u.name + "1"}, down)
				s.Push(text("dropped"), down)
				s.Push(&kept{name: u.name + "2"}, down)
				s.Base.Interrupt("test", nil, down)
				return
			}
			s.Push(f, dir)
		}}
		first.interrupt = func(s *stage, _ *frames.InterruptionFrame) { s.Push(&kept{name: "new"}, down) }
		last := &stage{name: "last"}
		s := begin(t, first, last)
		do(t, last, func() {
			last.Push(&urgent{name: "a"}, up)
			last.Push(&urgent{name: "b"}, up)
		})
		// Two walks in one dispatch, both before the interruption they ask for.
		came(t, s, "a1 a2 b1 b2 new")
	})
}

func TestAFrameThatIsTurnedAroundForEverFailsTheSession(t *testing.T) {
	virtual(t, func(t *testing.T) {
		bounce := func(s *stage, f frames.Frame, dir pipeline.Direction) {
			if _, ok := f.(*frames.TextFrame); !ok {
				s.Push(f, dir)
				return
			}
			s.Push(f, down+up-dir)
		}
		s := begin(t, &stage{name: "ping", process: func(s *stage, f frames.Frame, dir pipeline.Direction) {
			if dir == up {
				s.Push(f, down)
				return
			}
			s.Push(f, dir)
		}}, &stage{name: "pong", process: bounce})
		s.Send(text("ball"))
		if err := s.Wait().Err; !errors.Is(err, pipeline.ErrOverflow) {
			t.Errorf("the session ended with %v", err)
		}
	})
}

func TestSettleRunsOnceWhenEverythingADispatchCausedIsOver(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var l log
		a := &stage{name: "a"}
		a.process = func(s *stage, f frames.Frame, dir pipeline.Direction) {
			if n := names([]frames.Frame{f}); n != "" {
				l.add("a gets %s", n)
				s.Dirty()
			}
			s.Push(f, dir)
		}
		a.settle = func(*stage) { l.add("a settles") }
		b := &stage{name: "b", process: func(s *stage, f frames.Frame, dir pipeline.Direction) {
			if t, ok := f.(*frames.TextFrame); ok && dir == down {
				for i := range 3 {
					s.Push(&urgent{name: fmt.Sprint(t.Text, i)}, up)
				}
			}
			s.Push(f, dir)
		}}
		s := begin(t, a, b)
		s.Send(text("x"))
		l.is(t, "a gets x", "a gets x0", "a gets x1", "a gets x2", "a settles")
		_ = s
	})
}

func TestProcessorsThatSettleForEverFailTheSession(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{name: "restless"}
		p.settle = func(s *stage) { s.Dirty() }
		s := begin(t, p)
		p.Do(p.Dirty)
		if err := s.Wait().Err; !errors.Is(err, pipeline.ErrOverflow) {
			t.Errorf("the session ended with %v", err)
		}
	})
}

func TestQueueingFromTheLoopNeverBlocks(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var send func(frames.Frame)
		p := &stage{process: func(s *stage, f frames.Frame, dir pipeline.Direction) {
			if f, ok := f.(*frames.TextFrame); ok && f.Text == "burst" {
				for range 2000 {
					send(text("x"))
				}
			}
			s.Push(f, dir)
		}}
		s := begin(t, p)
		send = s.Task().QueueFrame
		s.Send(text("burst"))
		synctest.Wait()
		if got := len(s.Out().Down); got != 2001 {
			t.Errorf("%d frames came out", got)
		}
	})
}

func TestATaskRunsOnceAndAPipelineServesOneTask(t *testing.T) {
	pipe := pipeline.MustNew(&stage{})
	task, err := pipeline.NewTask(pipe, pipeline.Params{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pipeline.NewTask(pipe, pipeline.Params{}); !errors.Is(err, pipeline.ErrWiring) {
		t.Errorf("a second task of the pipeline: %v", err)
	}
	task.End("")
	if err := task.Run(t.Context()); err != nil {
		t.Error(err)
	}
	if err := task.Run(t.Context()); !errors.Is(err, pipeline.ErrAlreadyRun) {
		t.Errorf("a second run: %v", err)
	}
}
