package pipeline_test

import (
	"testing"
	"time"

	"github.com/turnwise/turnwise/pipeline"
)

func TestTimersFireInTheirOrderOnTheLoop(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var l log
		p := &stage{}
		begin(t, p)
		do(t, p, func() {
			for _, name := range []string{"b1", "b2", "b3"} {
				p.After(sess, 2*time.Second, func() { l.add("%s", name) })
			}
			p.After(turn, time.Second, func() { l.add("a") })
			p.After(turn, 0, func() { l.add("now") })
		})
		wait(3 * time.Second)
		l.is(t, "now", "a", "b1", "b2", "b3")
	})
}

func TestATimerMayBeStoppedAndSetAgain(t *testing.T) {
	virtual(t, func(t *testing.T) {
		fired := 0
		p := &stage{}
		begin(t, p)
		var timer *pipeline.Timer
		do(t, p, func() {
			timer = p.After(turn, time.Second, func() { fired++ })
			if !timer.Active() || !timer.Stop() || timer.Active() || timer.Stop() {
				t.Error("the timer does not know whether it is set")
			}
		})
		wait(2 * time.Second)
		do(t, p, func() { timer.Reset(time.Second); timer.Reset(3 * time.Second) })
		wait(2 * time.Second)
		do(t, p, func() {
			if fired != 0 {
				t.Error("the timer fired too early")
			}
		})
		wait(2 * time.Second)
		if fired != 1 {
			t.Errorf("the timer fired %d times", fired)
		}
		if (*pipeline.Timer)(nil).Active() || (*pipeline.Timer)(nil).Stop() {
			t.Error("a timer that was never made is set")
		}
	})
}

func TestATimerThatSetsItselfAgainAtOnceDoesNotStarveTheSession(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{}
		s := begin(t, p)
		fired := 0
		p.Do(func() {
			var timer *pipeline.Timer
			timer = p.After(sess, 0, func() {
				if fired++; fired < 1000 {
					timer.Reset(0)
				}
			})
		})
		s.Send(text("a"))
		came(t, s, "a")
		if fired != 1000 {
			t.Errorf("fired %d times", fired)
		}
	})
}

func TestAnInterruptionStopsEveryTimerOfTheTurn(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := &stage{}
		s := begin(t, p)
		fired := map[pipeline.Scope]int{}
		do(t, p, func() {
			for i := range 100 {
				scope := turn
				if i%3 == 0 {
					scope = sess
				}
				p.After(scope, time.Duration(i*7%100)*time.Second, func() { fired[scope]++ })
			}
		})
		fired = map[pipeline.Scope]int{}
		s.Task().Interrupt("test")
		wait(time.Hour)
		if fired[turn] != 0 || fired[sess] != 33 {
			t.Errorf("fired %v", fired)
		}
	})
}
