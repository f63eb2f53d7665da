package pipeline_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/pipeline/pipelinetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	down = pipeline.Downstream
	up   = pipeline.Upstream
	turn = pipeline.TurnScope
	sess = pipeline.SessionScope
)

// stage is a processor made of functions; those that are nil pass on or do nothing.
type stage struct {
	pipeline.Base
	name      string
	process   func(s *stage, f frames.Frame, dir pipeline.Direction)
	receive   func(s *stage, f frames.Frame)
	interrupt func(s *stage, f *frames.InterruptionFrame)
	settle    func(s *stage)
	stop      func(s *stage)
}

func (s *stage) Name() string {
	if s.name == "" {
		return "stage"
	}
	return s.name
}

func (s *stage) Process(f frames.Frame, dir pipeline.Direction) {
	if s.process == nil {
		s.Push(f, dir)
		return
	}
	s.process(s, f, dir)
}

func (s *stage) Receive(f frames.Frame) {
	if s.receive == nil {
		s.Push(f, down)
		return
	}
	s.receive(s, f)
}

func (s *stage) Interrupt(f *frames.InterruptionFrame) {
	if s.interrupt != nil {
		s.interrupt(s, f)
	}
}

func (s *stage) Settle() {
	if s.settle != nil {
		s.settle(s)
	}
}

func (s *stage) Stop() {
	if s.stop != nil {
		s.stop(s)
	}
}

// text is a data frame.
func text(s string) *frames.TextFrame { return &frames.TextFrame{Text: s} }

// kept is an uninterruptible control frame.
type kept struct {
	frames.UninterruptibleFrame
	name string
}

// urgent is a system frame.
type urgent struct {
	frames.SystemFrame
	name string
}

// barge is a system frame that interrupts.
type barge struct {
	frames.SystemFrame
	name string
}

func (*barge) Interrupts() (string, bool) { return "barge", true }

// parcel is a data frame that wants to know its fate.
type parcel struct {
	frames.DataFrame
	name    string
	dropped func()
}

func (p *parcel) Dropped() {
	if p.dropped != nil {
		p.dropped()
	}
}

// names lists the frames that have names, in order.
func names(in []frames.Frame) string {
	var out []string
	for _, f := range in {
		switch f := f.(type) {
		case *frames.TextFrame:
			out = append(out, f.Text)
		case *kept:
			out = append(out, f.name)
		case *urgent:
			out = append(out, f.name)
		case *barge:
			out = append(out, f.name)
		case *parcel:
			out = append(out, f.name)
		case *frames.MarkFrame:
			out = append(out, f.Name)
		}
	}
	return strings.Join(out, " ")
}

// virtual runs a test in virtual time.
func virtual(t *testing.T, fn func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, fn)
}

// wait lets time pass and then everything come to rest.
func wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// begin starts a session and lets it come to rest.
func begin(t *testing.T, procs ...pipeline.Processor) *pipelinetest.Session {
	t.Helper()
	return beginWith(t, pipeline.Params{}, procs...)
}

func beginWith(t *testing.T, p pipeline.Params, procs ...pipeline.Processor) *pipelinetest.Session {
	t.Helper()
	s := pipelinetest.Start(t, p, procs...)
	synctest.Wait()
	return s
}

// came checks what has come out downstream.
func came(t *testing.T, s *pipelinetest.Session, want string) {
	t.Helper()
	synctest.Wait()
	if got := names(s.Out().Down); got != want {
		t.Errorf("came out: %q, want %q", got, want)
	}
}

// do runs fn on the session loop as a step of p and waits until all is at rest.
func do(t *testing.T, p *stage, fn func()) {
	t.Helper()
	if !p.Do(fn) {
		t.Fatal("the session has ended")
	}
	synctest.Wait()
}

// log is a list of what happened; it is written on the loop and read at rest.
type log []string

func (l *log) add(format string, args ...any) { *l = append(*l, fmt.Sprintf(format, args...)) }

func (l *log) is(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	if strings.Join(*l, "\n") != strings.Join(want, "\n") {
		t.Errorf("happened:\n  %s\nwant:\n  %s", strings.Join(*l, "\n  "), strings.Join(want, "\n  "))
	}
}
