package pipeline_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// R2: the loop never blocks; slow work runs in lanes and jobs.

// slow is a processor whose lane takes a second for each text and then posts it.
func slow(scope pipeline.Scope) *stage {
	return &stage{name: "slow", process: func(s *stage, f frames.Frame, dir pipeline.Direction) {
		t, ok := f.(*frames.TextFrame)
		if !ok {
			s.Push(f, dir)
			return
		}
		s.Queue(scope, func(j *pipeline.Job) {
			select {
			case <-time.After(time.Second):
				_ = j.Post(text(t.Text + "!"))
			case <-j.Context().Done():
			}
		})
	}}
}

func TestALaneWorksInOrderAndTheLoopGoesOn(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := begin(t, slow(turn))
		s.Send(text("a"), text("b"))
		came(t, s, "")
		s.Send(&urgent{name: "news"})
		came(t, s, "news")
		wait(time.Second)
		came(t, s, "news a!")
		wait(time.Second)
		came(t, s, "news a! b!")
	})
}

func TestWhatIsPushedBehindOrderedWorkWaitsForIt(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := begin(t, slow(turn))
		s.Send(text("a"), &parcel{name: "behind a"}, text("b"), &kept{name: "behind b"})
		came(t, s, "")
		wait(time.Second)
		came(t, s, "a! behind a")
		wait(time.Second)
		came(t, s, "a! behind a b! behind b")
	})
}

func TestLiveAudioDoesNotWaitBehindOrderedWork(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := begin(t, slow(turn))
		s.Send(text("a"), &frames.InputAudioFrame{PCM: frames.PCM{Samples: []int16{7}}})
		synctest.Wait()
		if got := s.Out().Down; len(got) != 1 {
			t.Errorf("came out: %v", got)
		}
	})
}

func TestTheEndWaitsForOrderedWork(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := begin(t, slow(turn))
		s.Send(text("a"), text("farewell"))
		began := time.Now()
		out := s.End()
		if took := time.Since(began); took != 2*time.Second || out.Err != nil {
			t.Errorf("ended after %s with %v", took, out.Err)
		}
		if got := names(out.Down); got != "a! farewell!" {
			t.Errorf("came out: %q", got)
		}
	})
}

func TestPostsOfOneJobKeepTheirOrderWhateverTheirClass(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{}
		s := begin(t, p)
		do(t, p, func() {
			p.Queue(turn, func(j *pipeline.Job) {
				_ = j.Post(text("a"))
				_ = j.Post(&urgent{name: "b"})
				_ = j.Post(&kept{name: "c"})
				_ = j.Post(text("d"))
			})
			p.Push(text("behind"), down)
		})
		came(t, s, "a b c d behind")
	})
}

func TestAJobMayPushPastItsProcessorInEitherDirection(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{receive: func(_ *stage, f frames.Frame) { t.Errorf("received %v", f) }}
		s := begin(t, p)
		do(t, p, func() {
			p.Queue(turn, func(j *pipeline.Job) {
				_ = j.Push(text("down"), down)
				_ = j.Push(&frames.ErrorFrame{Public: "up"}, up)
			})
		})
		came(t, s, "down")
		if up := s.Out().Up; len(up) != 1 {
			t.Errorf("upstream came %v", up)
		}
	})
}

func TestSessionWorkOutlivesAnInterruptionAndTurnWorkDoesNot(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{}
		s := begin(t, p)
		work := func(scope pipeline.Scope, name string) {
			p.Queue(scope, func(j *pipeline.Job) {
				select {
				case <-time.After(time.Second):
					_ = j.Post(text(name))
				case <-j.Context().Done():
				}
			})
		}
		do(t, p, func() {
			work(turn, "turn 1")
			work(sess, "session 2")
			work(turn, "turn 3")
			work(sess, "session 4")
			p.Push(text("dropped"), down)
			p.Push(&kept{name: "behind"}, down)
		})
		s.Task().Interrupt("test")
		do(t, p, func() {
			work(turn, "turn 5")
			p.Push(text("last"), down)
		})
		wait(time.Second)
		came(t, s, "session 2")
		wait(time.Second)
		came(t, s, "session 2 session 4 behind")
		wait(time.Second)
		came(t, s, "session 2 session 4 behind turn 5 last")
	})
}

func TestAPurgedJobThatDoesNotReturnKeepsItsLaneButHoldsNothingUp(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{}
		s := begin(t, p)
		do(t, p, func() {
			p.Queue(turn, func(*pipeline.Job) { time.Sleep(time.Minute) })
			p.Push(&kept{name: "behind"}, down)
		})
		s.Task().Interrupt("test")
		came(t, s, "behind")
		do(t, p, func() {
			p.Queue(turn, func(j *pipeline.Job) { _ = j.Post(text("next")) })
			p.Push(text("after"), down)
		})
		came(t, s, "behind")
		wait(time.Minute)
		came(t, s, "behind next after")
	})
}

func TestWhatAPurgedJobStillOwesComesBeforeWhatWaitsBehindIt(t *testing.T) {
	// The job has posted a result that survives when the interruption comes; the
	// end that waits behind the job must not overtake it.
	virtual(t, func(t *testing.T) {
		p := &stage{}
		var s interface{ Send(...frames.Frame) }
		session := begin(t, p)
		s = session
		release := make(chan struct{})
		do(t, p, func() {
			p.Queue(turn, func(j *pipeline.Job) {
				<-release
				_ = j.Post(&kept{name: "result"})
				_ = j.Post(text("dropped"))
				<-j.Context().Done()
			})
		})
		session.Task().End("test")
		synctest.Wait()
		do(t, p, func() {
			close(release)
			// Keep the loop until the job has posted, then interrupt at the door.
			time.Sleep(time.Second)
			s.Send(&barge{name: "barge"})
		})
		out := session.Wait()
		if got := names(out.Down); got != "barge result" || out.Err != nil {
			t.Errorf("came out: %q, ended with %v", got, out.Err)
		}
	})
}

func TestDetachedJobsRunAtOnceAndHoldNothingUp(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{}
		s := begin(t, p)
		do(t, p, func() {
			for i := range 3 {
				p.Go(sess, func(j *pipeline.Job) {
					time.Sleep(time.Duration(3-i) * time.Second)
					_ = j.Post(text(fmt.Sprint(i)))
				})
			}
			p.Push(text("now"), down)
		})
		came(t, s, "now")
		wait(3 * time.Second)
		came(t, s, "now 2 1 0")
	})
}

func TestWhatADetachedJobPostsWaitsBehindOrderedWorkToo(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{}
		s := begin(t, p)
		do(t, p, func() {
			p.Queue(turn, func(j *pipeline.Job) { time.Sleep(time.Second); _ = j.Post(text("ordered")) })
			p.Go(turn, func(j *pipeline.Job) { _ = j.Post(text("detached")); _ = j.Post(&urgent{name: "news"}) })
		})
		came(t, s, "news")
		wait(time.Second)
		came(t, s, "news ordered detached")
	})
}

func TestTooMuchWorkFailsTheSessionLoudly(t *testing.T) {
	for name, start := range map[string]func(p *stage){
		"in the lane": func(p *stage) {
			for range pipeline.MaxLane + 2 {
				p.Queue(turn, func(j *pipeline.Job) { <-j.Context().Done() })
			}
		},
		"detached": func(p *stage) {
			for range pipeline.MaxDetached + 1 {
				p.Go(turn, func(j *pipeline.Job) { <-j.Context().Done() })
			}
		},
		"held": func(p *stage) {
			p.Queue(turn, func(j *pipeline.Job) { <-j.Context().Done() })
			for range 10_000 {
				p.Push(text("x"), down)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				p := &stage{name: "greedy"}
				s := begin(t, p)
				p.Do(func() { start(p) })
				err := s.Wait().Err
				if !errors.Is(err, pipeline.ErrOverflow) || !strings.Contains(err.Error(), "greedy") {
					t.Errorf("the session ended with %v", err)
				}
			})
		})
	}
}

func TestAJobThatPostsAfterTheEndIsToldSo(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{}
		s := begin(t, p)
		var err error
		do(t, p, func() {
			p.Go(sess, func(j *pipeline.Job) {
				<-j.Context().Done()
				time.Sleep(100 * time.Millisecond)
				err = j.Post(text("late"))
			})
		})
		s.Cancel()
		if !errors.Is(err, pipeline.ErrTurnOver) {
			t.Errorf("the late post gave %v", err)
		}
	})
}
