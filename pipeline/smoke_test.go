package pipeline

import (
	"context"
	"testing"

	"github.com/turnwise/turnwise/frames"
)

type pass struct{ Base }

func (p *pass) Process(f frames.Frame, dir Direction) { p.Push(f, dir) }

func benchHop(b *testing.B, n int, dir Direction, obs ...Observer) {
	procs := make([]Processor, n)
	for i := range procs {
		procs[i] = &pass{}
	}
	t, _ := NewTask(MustNew(procs...), Params{Observers: obs})
	l := &t.loop
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	f := &frames.TextFrame{}
	b.ReportAllocs()
	b.ResetTimer()
	at := l.head
	if dir == Upstream {
		at = l.nodes[len(l.nodes)-2]
	}
	for b.Loop() {
		l.walkTo(at, f, dir)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n+2), "ns/hop")
}
func BenchmarkHop5(b *testing.B)     { benchHop(b, 5, Downstream) }
func BenchmarkHop20(b *testing.B)    { benchHop(b, 20, Downstream) }
func BenchmarkHopUp5(b *testing.B)   { benchHop(b, 5, Upstream) }
func BenchmarkHopUp20(b *testing.B)  { benchHop(b, 20, Upstream) }
func BenchmarkHopObs20(b *testing.B) { benchHop(b, 20, Downstream, ObserverFunc(func(Hop) {})) }
func TestSmoke(t *testing.T) {
	task, _ := NewTask(MustNew(&pass{}), Params{})
	task.QueueFrame(&frames.TextFrame{})
	task.End("x")
	if err := task.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}
