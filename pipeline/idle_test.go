package pipeline_test

import (
	"testing"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

func TestAnIdleSessionEnds(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := beginWith(t, pipeline.Params{IdleTimeout: 10 * time.Second}, &stage{})
		began := time.Now()
		wait(5 * time.Second)
		s.Send(text("x"))
		// An open microphone is no sign of life.
		for range 500 {
			time.Sleep(20 * time.Millisecond)
			s.Send(&frames.InputAudioFrame{})
		}
		if out := s.Wait(); out.Err != nil || time.Since(began) != 15*time.Second {
			t.Errorf("ended after %s with %v", time.Since(began), out.Err)
		}
	})
}

func TestAnIdleSessionMayBeKept(t *testing.T) {
	virtual(t, func(t *testing.T) {
		asked := 0
		s := beginWith(t, pipeline.Params{IdleTimeout: 10 * time.Second, OnIdle: func() bool {
			asked++
			return asked < 3
		}}, &stage{})
		began := time.Now()
		s.Wait()
		if asked != 3 || time.Since(began) != 30*time.Second {
			t.Errorf("asked %d times, ended after %s", asked, time.Since(began))
		}
	})
}

func TestHeartbeatsMeasureTheWayUnderLoad(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var took []time.Duration
		p := &stage{}
		beginWith(t, pipeline.Params{Heartbeat: 10 * time.Second, OnHeartbeat: func(d time.Duration) { took = append(took, d) }}, p)
		wait(15 * time.Second)
		do(t, p, func() { p.Queue(sess, func(*pipeline.Job) { time.Sleep(7 * time.Second) }) })
		wait(10 * time.Second)
		if len(took) != 2 || took[0] != 0 || took[1] != 2*time.Second {
			t.Errorf("heartbeats took %v", took)
		}
	})
}
