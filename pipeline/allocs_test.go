//go:build !race

package pipeline_test

import (
	"testing"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// What the contract calls free allocates nothing.

func TestWhatHappensAllTheTimeAllocatesNothing(t *testing.T) {
	answers := &frames.ErrorFrame{}
	answers.Header().Stamp(0)
	procs := passes(20)
	first := procs[0].(*pass)
	procs = append(procs, pipeline.Func("answers", func(p *pipeline.Base, f frames.Frame, dir pipeline.Direction) {
		if _, ok := f.(*question); ok {
			p.Push(&reply, up)
			return
		}
		p.Push(f, dir)
	}))
	running(t, pipeline.Params{}, procs...)
	f := text("x")
	ask := &question{}
	for name, fn := range map[string]func(){
		"a frame through 20 processors":                         func() { first.Push(f, down) },
		"a frame that is answered upstream":                     func() { first.Push(ask, down) },
		"asking for a decision and for the context of the turn": func() { first.Dirty(); first.Context(turn) },
	} {
		var allocs float64
		onLoop(&first.Base, func() { allocs = testing.AllocsPerRun(100, fn) })
		if allocs != 0 {
			t.Errorf("%s: %v allocations", name, allocs)
		}
	}
	var allocs float64
	onLoop(&first.Base, func() {
		timer := first.After(turn, time.Hour, func() {})
		allocs = testing.AllocsPerRun(100, func() { timer.Reset(time.Hour) })
	})
	if allocs != 0 {
		t.Errorf("setting a timer again: %v allocations", allocs)
	}
}

type question struct{ frames.DataFrame }

type answer struct{ frames.DataFrame }

var reply answer

func TestFramesFromOutsideAllocateNothingOnTheirWay(t *testing.T) {
	last := &arrivals{want: 1, done: make(chan struct{})}
	task := running(t, pipeline.Params{}, append(passes(9), last)...)
	f := text("x")
	if n := testing.AllocsPerRun(1000, func() {
		task.QueueFrame(f)
		<-last.done
	}); n != 0 {
		t.Errorf("a frame from outside: %v allocations", n)
	}
	in := &frames.InputAudioFrame{PCM: frames.PCM{Samples: make([]int16, 320), Rate: 16000}}
	if n := testing.AllocsPerRun(1000, func() {
		task.QueueFrame(in)
		task.QueueFrame(f)
		<-last.done
	}); n != 0 {
		t.Errorf("live audio: %v allocations", n)
	}
}
