package pipeline_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/pipeline/pipelinetest"
)

func TestTwentySessionsThatConnectInStartAreReadyTogether(t *testing.T) {
	// RT49: each service of each session takes 300 ms to connect; they connect at
	// the same time because Start starts a job and returns.
	virtual(t, func(t *testing.T) {
		began := time.Now()
		var all []*pipelinetest.Session
		for range 20 {
			all = append(all, pipelinetest.Start(t, pipeline.Params{}, &connector{}, &connector{}, &connector{}))
		}
		for _, s := range all {
			s.Send(text("ready?"))
		}
		wait(300 * time.Millisecond)
		for _, s := range all {
			came(t, s, "ready?")
		}
		if took := time.Since(began); took >= 500*time.Millisecond {
			t.Errorf("ready after %s", took)
		}
	})
}

// connector takes a while to connect before it passes anything on.
type connector struct{ pipeline.Base }

func (c *connector) Start(context.Context) error {
	c.Queue(sess, func(*pipeline.Job) { time.Sleep(300 * time.Millisecond) })
	return nil
}

func (c *connector) Process(f frames.Frame, dir pipeline.Direction) { c.Push(f, dir) }

func TestManySessionsLeaveNothingBehind(t *testing.T) {
	// RT41, in virtual time: 200 sessions of a minute, each with work under way
	// when it ends.
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	synctest.Test(t, func(t *testing.T) {
		done := make(chan error)
		for i := range 200 {
			p := slow(turn)
			task, _ := pipeline.NewTask(pipeline.MustNew(p, &stage{}), pipeline.Params{})
			go func() { done <- task.Run(context.Background()) }()
			go func() {
				for range 60 {
					time.Sleep(time.Second)
					task.QueueFrame(text("x"))
					if i%2 == 0 {
						task.Interrupt("test")
					}
				}
				task.End("over")
			}()
		}
		for range 200 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
	var after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 2<<20 {
		t.Errorf("%d bytes are left", grown)
	}
}
