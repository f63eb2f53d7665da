package pipeline

import (
	"context"
	"testing"

	"github.com/turnwise/turnwise/frames"
)

type pass struct{ Base }

func (p *pass) Process(f frames.Frame, dir Direction) { p.Push(f, dir) }

func benchHop(b *testing.B, n int) {
	procs := make([]Processor, n)
	for i := range procs {
		procs[i] = &pass{}
	}
	t, _ := NewTask(MustNew(procs...), Params{})
	l := &t.loop
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	f := &frames.TextFrame{}
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		l.walkTo(l.head, f, Downstream)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n+2), "ns/hop")
}
func BenchmarkHop5(b *testing.B)  { benchHop(b, 5) }
func BenchmarkHop20(b *testing.B) { benchHop(b, 20) }
func TestSmoke(t *testing.T) {
	task, _ := NewTask(MustNew(&pass{}), Params{})
	task.QueueFrame(&frames.TextFrame{})
	task.End("x")
	if err := task.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}
