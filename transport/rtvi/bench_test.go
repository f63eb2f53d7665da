package rtvi_test

import (
	"testing"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/transport/rtvi"
)

// nowhere is a sender that does nothing.
type nowhere struct{}

func (nowhere) Send([]byte, rtvi.Priority) {}

// onLoop is a processor that runs fn on the session loop when it gets a burst.
type onLoop struct {
	pipeline.Base
	fn func(p *onLoop)
}

func (p *onLoop) Process(f frames.Frame, dir pipeline.Direction) {
	if _, ok := f.(*burst); ok {
		p.fn(p)
		return
	}
	p.Push(f, dir)
}

// throughOutput runs fn on the loop of a session, before an output.
func throughOutput(tb testing.TB, fn func(p *onLoop)) {
	tb.Helper()
	out, err := rtvi.NewOutput(nowhere{}, rtvi.OutputConfig{})
	if err != nil {
		tb.Fatal(err)
	}
	task, err := pipeline.NewTask(pipeline.MustNew(&onLoop{fn: fn}, out), pipeline.Params{StuckAfter: -1})
	if err != nil {
		tb.Fatal(err)
	}
	task.QueueFrame(&burst{})
	task.End("")
	if err := task.Run(tb.Context()); err != nil {
		tb.Fatal(err)
	}
}

func TestATokenIsSentWithoutAllocating(t *testing.T) {
	throughOutput(t, func(p *onLoop) {
		f := &frames.LLMTextFrame{Text: " tokens and", Response: 1}
		p.Push(&frames.LLMResponseStartFrame{Response: 1}, pipeline.Downstream)
		if n := testing.AllocsPerRun(2000, func() { p.Push(f, pipeline.Downstream) }); n > 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

// BenchmarkToken is one token of a reply, from the frame to the encoded message;
// every tenth ends a sentence.
func BenchmarkToken(b *testing.B) {
	throughOutput(b, func(p *onLoop) {
		word := &frames.LLMTextFrame{Text: " token", Response: 1}
		last := &frames.LLMTextFrame{Text: " end.", Response: 1}
		p.Push(&frames.LLMResponseStartFrame{Response: 1}, pipeline.Downstream)
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			if i++; i%10 == 0 {
				p.Push(last, pipeline.Downstream)
			} else {
				p.Push(word, pipeline.Downstream)
			}
		}
	})
}

func BenchmarkDecodeSendText(b *testing.B) {
	in, err := rtvi.NewInput(rtvi.InputConfig{Sender: nowhere{}, Queue: func(frames.Frame) error { return nil }})
	if err != nil {
		b.Fatal(err)
	}
	raw := []byte(message("send-text", `{"content":"a table for four, please","options":{"run_immediately":true}}`))
	b.ReportAllocs()
	for b.Loop() {
		if err := in.Message(raw); err != nil {
			b.Fatal(err)
		}
	}
}
