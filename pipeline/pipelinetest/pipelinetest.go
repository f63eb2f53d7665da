// Package pipelinetest runs processors in tests: it puts a chain between two
// collectors, sends frames through it and tells what came out.
//
//	out := pipelinetest.Run(t, []pipeline.Processor{&Shout{}}, &frames.TextFrame{Text: "hi"})
//	texts := pipelinetest.Only[*frames.TextFrame](out.Down)
//
// For anything with time in it, call it inside a testing/synctest bubble: there
// synctest.Wait waits until the session is at rest, and sleeping costs nothing.
package pipelinetest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// Out is what came out of a chain.
type Out struct {
	// Down holds what left the chain downstream, and Up what left it upstream, in
	// order. The frames that open and close the session are left out, and live
	// audio is copied.
	Down, Up []frames.Frame
	// Err is how the session ended; nil after a graceful end.
	Err error
}

// Run starts a session of the processors, sends the frames, ends it gracefully and
// returns what came out.
func Run(t testing.TB, procs []pipeline.Processor, in ...frames.Frame) Out {
	t.Helper()
	s := Start(t, pipeline.Params{}, procs...)
	s.Send(in...)
	return s.End()
}

// Session is a running chain. Its methods are for the test's goroutine.
type Session struct {
	t    testing.TB
	task *pipeline.Task
	err  error
	done chan struct{}

	mu  sync.Mutex
	out Out
}

// Start starts a session of the processors. It is cancelled when the test ends.
func Start(t testing.TB, params pipeline.Params, procs ...pipeline.Processor) *Session {
	t.Helper()
	s := &Session{t: t, done: make(chan struct{})}
	chain := slices.Concat(
		[]pipeline.Processor{s.collector("test input", pipeline.Upstream, &s.out.Up)},
		procs,
		[]pipeline.Processor{s.collector("test output", pipeline.Downstream, &s.out.Down)},
	)
	pipe, err := pipeline.New(chain...)
	if err != nil {
		t.Fatal(err)
	}
	s.task, err = pipeline.NewTask(pipe, params)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(s.done)
		s.err = s.task.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-s.done
	})
	return s
}

// collector makes a processor that notes what passes it in a direction.
func (s *Session) collector(name string, dir pipeline.Direction, into *[]frames.Frame) pipeline.Processor {
	return pipeline.Func(name, func(p *pipeline.Base, f frames.Frame, d pipeline.Direction) {
		if d == dir {
			s.collect(f, into)
		}
		p.Push(f, d)
	})
}

func (s *Session) collect(f frames.Frame, into *[]frames.Frame) {
	switch a := f.(type) {
	case *frames.StartFrame, *frames.EndFrame, *frames.CancelFrame, *frames.HeartbeatFrame:
		return
	case *frames.InputAudioFrame:
		f = a.Clone()
	}
	s.mu.Lock()
	*into = append(*into, f)
	s.mu.Unlock()
}

// Task is the session's task.
func (s *Session) Task() *pipeline.Task { return s.task }

// Send queues frames at the head of the chain.
func (s *Session) Send(in ...frames.Frame) {
	for _, f := range in {
		s.task.QueueFrame(f)
	}
}

// Out returns what has come out so far.
func (s *Session) Out() Out {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Out{Down: slices.Clone(s.out.Down), Up: slices.Clone(s.out.Up), Err: s.out.Err}
}

// End ends the session gracefully and returns what came out.
func (s *Session) End() Out {
	s.t.Helper()
	s.task.End("test is over")
	return s.Wait()
}

// Cancel ends the session at once and returns what came out.
func (s *Session) Cancel() Out {
	s.t.Helper()
	s.task.Cancel("test is over")
	return s.Wait()
}

// Wait waits for the session's end, up to five minutes, and returns what came out.
func (s *Session) Wait() Out {
	s.t.Helper()
	select {
	case <-s.done:
	case <-time.After(5 * time.Minute):
		s.t.Fatal("the session did not end")
	}
	out := s.Out()
	out.Err = s.err
	return out
}

// Only keeps the frames of one type.
func Only[F frames.Frame](in []frames.Frame) []F {
	var out []F
	for _, f := range in {
		if f, ok := f.(F); ok {
			out = append(out, f)
		}
	}
	return out
}

// Texts are the texts of the TextFrames among the frames.
func Texts(in []frames.Frame) []string {
	var out []string
	for _, f := range Only[*frames.TextFrame](in) {
		out = append(out, f.Text)
	}
	return out
}
