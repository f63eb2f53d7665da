package pipeline_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// pass is the smallest processor.
type pass struct{ pipeline.Base }

func (p *pass) Process(f frames.Frame, dir pipeline.Direction) { p.Push(f, dir) }

func passes(n int) []pipeline.Processor {
	procs := make([]pipeline.Processor, n)
	for i := range procs {
		procs[i] = &pass{}
	}
	return procs
}

// running starts a session for a benchmark and returns when it has started.
func running(tb testing.TB, params pipeline.Params, procs ...pipeline.Processor) *pipeline.Task {
	tb.Helper()
	task, err := pipeline.NewTask(pipeline.MustNew(procs...), params)
	if err != nil {
		tb.Fatal(err)
	}
	go func() { _ = task.Run(context.Background()) }()
	tb.Cleanup(func() {
		task.Cancel("")
		<-task.Done()
	})
	return task
}

// onLoop runs fn on the session loop of p and waits for it.
func onLoop(p *pipeline.Base, fn func()) {
	done := make(chan struct{})
	p.Do(func() {
		defer close(done)
		fn()
	})
	<-done
}

// percentiles reports some of the times a benchmark has measured.
func percentiles(b *testing.B, took []time.Duration) {
	b.Helper()
	if len(took) == 0 {
		return
	}
	slices.Sort(took)
	at := func(p float64) float64 { return float64(took[min(len(took)-1, int(p*float64(len(took))))]) }
	b.ReportMetric(at(0.50), "p50-ns")
	b.ReportMetric(at(0.99), "p99-ns")
}

// BenchmarkHop sends one frame through chains of pass-through processors.
func BenchmarkHop(b *testing.B) {
	watcher := pipeline.Params{Observers: []pipeline.Observer{pipeline.ObserverFunc(func(pipeline.Hop) {})}}
	for _, c := range []struct {
		name   string
		n      int
		dir    pipeline.Direction
		params pipeline.Params
	}{
		{"down/5", 5, down, pipeline.Params{}}, {"down/20", 20, down, pipeline.Params{}},
		{"up/5", 5, up, pipeline.Params{}}, {"up/20", 20, up, pipeline.Params{}},
		{"observed/5", 5, down, watcher}, {"observed/20", 20, down, watcher},
	} {
		b.Run(c.name, func(b *testing.B) {
			procs := passes(c.n)
			from := procs[0].(*pass)
			if c.dir == up {
				from = procs[c.n-1].(*pass)
			}
			running(b, c.params, procs...)
			f := text("x")
			b.ReportAllocs()
			onLoop(&from.Base, func() {
				for b.Loop() {
					from.Push(f, c.dir)
				}
			})
			// n-1 processors and the end of the pipeline handle it.
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*c.n), "ns/hop")
		})
	}
}

// BenchmarkHopBranches sends one frame through a section with two branches of five.
func BenchmarkHopBranches(b *testing.B) {
	first := &pass{}
	running(b, pipeline.Params{}, first, pipeline.Parallel(pipeline.Branch(passes(5)), pipeline.Branch(passes(5))))
	f := text("x")
	b.ReportAllocs()
	onLoop(&first.Base, func() {
		for b.Loop() {
			first.Push(f, down)
		}
	})
}

// teller notes when it is told of an interruption.
type teller struct {
	pass
	told func()
}

func (p *teller) Interrupt(*frames.InterruptionFrame) {
	if p.told != nil {
		p.told()
	}
}

// BenchmarkInterruption measures from the moment an interruption is asked for on
// the loop until everything is purged and the last of 20 processors has been told,
// with audio for so many seconds queued behind a synthesizer's work and held.
func BenchmarkInterruption(b *testing.B) {
	for _, queued := range []int{0, 100, 1500} {
		b.Run(fmt.Sprintf("queued=%d", queued), func(b *testing.B) {
			procs := make([]pipeline.Processor, 20)
			for i := range procs {
				procs[i] = &teller{}
			}
			voice, last := procs[9].(*teller), procs[19].(*teller)
			running(b, pipeline.Params{}, procs...)
			var began time.Time
			took := make([]time.Duration, 0, b.N)
			done := make(chan struct{})
			last.told = func() {
				took = append(took, time.Since(began))
				done <- struct{}{}
			}
			queue := make([]frames.Frame, queued)
			for i := range queue {
				queue[i] = &frames.OutputAudioFrame{}
			}
			for b.Loop() {
				voice.Do(func() {
					if queued > 0 {
						voice.Queue(turn, func(j *pipeline.Job) { <-j.Context().Done() })
					}
					for _, f := range queue {
						f.Header().Unstamp()
						voice.Push(f, down)
					}
					began = time.Now()
					voice.Base.Interrupt("bench", nil, down)
				})
				<-done
			}
			percentiles(b, took)
		})
	}
}

// BenchmarkInterruptionFromOutside measures from the call on another goroutine.
func BenchmarkInterruptionFromOutside(b *testing.B) {
	procs := make([]pipeline.Processor, 20)
	for i := range procs {
		procs[i] = &teller{}
	}
	task := running(b, pipeline.Params{}, procs...)
	var began time.Time
	took := make([]time.Duration, 0, b.N)
	done := make(chan struct{})
	procs[19].(*teller).told = func() {
		took = append(took, time.Since(began))
		done <- struct{}{}
	}
	for b.Loop() {
		began = time.Now()
		task.Interrupt("bench")
		<-done
	}
	percentiles(b, took)
}

// starter tells when the StartFrame has reached it.
type starter struct {
	pass
	started chan struct{}
}

func (p *starter) Process(f frames.Frame, dir pipeline.Direction) {
	if _, ok := f.(*frames.StartFrame); ok {
		close(p.started)
	}
	p.Push(f, dir)
}

// BenchmarkSessionStart builds, starts and ends sessions of ten processors; the
// times are those from nothing to the StartFrame's arrival at the last one.
func BenchmarkSessionStart(b *testing.B) {
	took := make([]time.Duration, 0, b.N)
	b.ReportAllocs()
	for b.Loop() {
		began := time.Now()
		last := &starter{started: make(chan struct{})}
		task, _ := pipeline.NewTask(pipeline.MustNew(append(passes(9), last)...), pipeline.Params{})
		go func() { _ = task.Run(context.Background()) }()
		<-last.started
		took = append(took, time.Since(began))
		task.Cancel("")
		<-task.Done()
	}
	percentiles(b, took)
}

// BenchmarkIdleSession reports what an idle session of ten processors takes.
func BenchmarkIdleSession(b *testing.B) {
	const sessions = 2000
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		goroutines := runtime.NumGoroutine()
		tasks := make([]*pipeline.Task, sessions)
		for i := range tasks {
			last := &starter{started: make(chan struct{})}
			tasks[i], _ = pipeline.NewTask(pipeline.MustNew(append(passes(9), last)...), pipeline.Params{SessionID: "s"})
			go func() { _ = tasks[i].Run(context.Background()) }()
			<-last.started
			tasks[i].QueueFrame(text("x"))
		}
		time.Sleep(100 * time.Millisecond)
		b.ReportMetric(float64(runtime.NumGoroutine()-goroutines)/sessions, "goroutines")
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/sessions, "heap-B")
		b.ReportMetric(float64(after.StackInuse-before.StackInuse)/sessions, "stack-B")
		for _, t := range tasks {
			t.Cancel("")
		}
		for _, t := range tasks {
			<-t.Done()
		}
	}
}

// arrivals counts frames that came through and tells when there are enough.
type arrivals struct {
	pass
	got, want int
	done      chan struct{}
}

func (p *arrivals) Process(f frames.Frame, dir pipeline.Direction) {
	p.Push(f, dir)
	if _, ok := f.(*frames.TextFrame); ok {
		if p.got++; p.got == p.want {
			p.got = 0
			p.done <- struct{}{}
		}
	}
}

// BenchmarkQueueFrame hands frames to a session of ten processors from another
// goroutine: one after the other has come through, and many at once.
func BenchmarkQueueFrame(b *testing.B) {
	for _, burst := range []int{1, 100} {
		b.Run(fmt.Sprintf("burst=%d", burst), func(b *testing.B) {
			last := &arrivals{want: burst, done: make(chan struct{})}
			task := running(b, pipeline.Params{}, append(passes(9), last)...)
			queue := make([]*frames.TextFrame, burst)
			for i := range queue {
				queue[i] = text("x")
			}
			b.ReportAllocs()
			for b.Loop() {
				for _, f := range queue {
					task.QueueFrame(f)
				}
				<-last.done
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*burst), "ns/frame")
		})
	}
}

// laneWorker sends each text through its lane.
type laneWorker struct {
	pass
	detached bool
}

func (p *laneWorker) Process(f frames.Frame, dir pipeline.Direction) {
	t, ok := f.(*frames.TextFrame)
	switch {
	case !ok:
		p.Push(f, dir)
	case p.detached:
		p.Go(turn, func(j *pipeline.Job) { _ = j.Post(t) })
	default:
		p.Queue(turn, func(j *pipeline.Job) { _ = j.Post(t) })
	}
}

// BenchmarkLane takes a frame from outside through a lane, or a detached job, and
// back to the loop.
func BenchmarkLane(b *testing.B) {
	for _, detached := range []bool{false, true} {
		b.Run(fmt.Sprintf("detached=%t", detached), func(b *testing.B) {
			last := &arrivals{want: 1, done: make(chan struct{})}
			task := running(b, pipeline.Params{}, &laneWorker{detached: detached}, last)
			f := text("x")
			b.ReportAllocs()
			for b.Loop() {
				task.QueueFrame(f)
				<-last.done
			}
		})
	}
}

// BenchmarkTimer sets a timer again and again among 20 others.
func BenchmarkTimer(b *testing.B) {
	p := &pass{}
	running(b, pipeline.Params{}, p)
	b.ReportAllocs()
	onLoop(&p.Base, func() {
		for i := range 20 {
			p.After(turn, time.Hour+time.Duration(i)*time.Minute, func() {})
		}
		t := p.After(turn, time.Hour, func() {})
		for b.Loop() {
			t.Reset(time.Hour)
		}
	})
}

// BenchmarkMicrophone takes 20 ms of live audio in and through ten processors.
func BenchmarkMicrophone(b *testing.B) {
	heard := make(chan struct{})
	last := pipeline.Func("last", func(p *pipeline.Base, f frames.Frame, dir pipeline.Direction) {
		p.Push(f, dir)
		if _, ok := f.(*frames.InputAudioFrame); ok {
			heard <- struct{}{}
		}
	})
	task := running(b, pipeline.Params{}, append(passes(9), last)...)
	in := &frames.InputAudioFrame{PCM: frames.PCM{Samples: make([]int16, 320), Rate: 16000, Channels: 1}}
	b.ReportAllocs()
	for b.Loop() {
		task.QueueFrame(in)
		<-heard
	}
}
