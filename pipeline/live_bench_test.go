//go:build unix

package pipeline_test

import (
	"flag"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

var (
	liveFlag     = flag.Int("live", 0, "how many sessions BenchmarkLiveAudio runs; it is skipped when 0")
	liveTimeFlag = flag.Duration("live-time", 10*time.Second, "how long BenchmarkLiveAudio runs")
)

const (
	tick       = 20 * time.Millisecond
	inSamples  = 16000 / 50
	outSamples = 16000 / 50
)

// ears stands in for a recognizer: it reads every sample of the microphone.
type ears struct {
	pass
	sum    int
	record *lateness
}

func (p *ears) Process(f frames.Frame, dir pipeline.Direction) {
	a, ok := f.(*frames.InputAudioFrame)
	if !ok {
		p.Push(f, dir)
		return
	}
	for _, s := range a.Samples {
		p.sum += int(s)
	}
	p.record.heard()
}

// mouth stands in for a synthesizer and the playout behind it: it holds five
// seconds of audio and sends a frame of it whenever one is due.
type mouth struct {
	pass
	queue []*frames.OutputAudioFrame
	next  int
	step  func()
}

// speaker stands in for the transport: what reaches it has been sent.
type speaker struct {
	pass
	record *lateness
}

func (p *speaker) Process(f frames.Frame, dir pipeline.Direction) {
	if _, ok := f.(*frames.OutputAudioFrame); ok {
		p.record.heard()
	}
	p.Push(f, dir)
}

// lateness is how late one stream of frames was. But for next, which is set before
// the first frame, it belongs to the session's loop.
type lateness struct {
	next time.Time // when the next frame is due
	all  []time.Duration
}

func (l *lateness) heard() {
	l.all = append(l.all, time.Since(l.next))
	l.next = l.next.Add(tick)
}

// liveSession is a session as the pacer sees it.
type liveSession struct {
	task    *pipeline.Task
	mouth   *mouth
	in, out lateness
}

func newLiveSession(b *testing.B, frameCount int) *liveSession {
	s := &liveSession{mouth: &mouth{queue: make([]*frames.OutputAudioFrame, 5*time.Second/tick)}}
	s.in.all, s.out.all = make([]time.Duration, 0, frameCount), make([]time.Duration, 0, frameCount)
	for i := range s.mouth.queue {
		s.mouth.queue[i] = &frames.OutputAudioFrame{PCM: frames.PCM{Samples: make([]int16, outSamples), Rate: 16000}}
	}
	m := s.mouth
	m.step = func() {
		f := m.queue[m.next]
		m.next = (m.next + 1) % len(m.queue)
		f.Header().Unstamp()
		m.Push(f, down)
	}
	s.task = running(b, pipeline.Params{}, &pass{}, &ears{record: &s.in}, &pass{}, &pass{}, m, &pass{}, &speaker{record: &s.out}, &pass{})
	return s
}

// send hands a session the frames of one tick, one each way.
func (s *liveSession) send(in *frames.InputAudioFrame) {
	s.task.QueueFrame(in)
	s.mouth.Do(s.mouth.step)
}

// BenchmarkLiveAudio runs -live sessions for -live-time with a frame of audio each
// way every 20 ms, paced in real time by one pacer, and reports how late frames
// were. Use GOMAXPROCS to say on how many cores.
func BenchmarkLiveAudio(b *testing.B) {
	if *liveFlag == 0 {
		b.Skip("say how many sessions with -live")
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	ticks := int(*liveTimeFlag / tick)
	sessions := make([]*liveSession, *liveFlag)
	for i := range sessions {
		sessions[i] = newLiveSession(b, ticks)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	// The records of lateness are the benchmark's own.
	records := uint64(len(sessions)) * uint64(2*ticks) * 8
	used := after.HeapAlloc + after.StackInuse - before.HeapAlloc - before.StackInuse - records

	in := &frames.InputAudioFrame{PCM: frames.PCM{Samples: make([]int16, inSamples), Rate: 16000, Channels: 1}}
	busy := cpuTime(b)
	for b.Loop() {
		pace(sessions, in, ticks)
	}
	b.ReportMetric(float64(cpuTime(b)-busy)/float64(*liveTimeFlag)/float64(b.N), "cores")
	b.ReportMetric(float64(used)/float64(len(sessions)), "B/session")
	time.Sleep(time.Second) // for the last ones
	var all []time.Duration
	for _, s := range sessions {
		onLoop(&s.mouth.Base, func() { all = append(append(all, s.in.all...), s.out.all...) })
	}
	if want := 2 * ticks * len(sessions); len(all) != want {
		b.Errorf("%d of %d frames arrived", len(all), want)
	}
	percentiles(b, all)
}

// cpuTime is what the process has used so far.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// pace spreads the sessions over each tick, a millisecond's worth at a time.
func pace(sessions []*liveSession, in *frames.InputAudioFrame, ticks int) {
	const slots = int(tick / time.Millisecond)
	origin := time.Now().Add(tick)
	for i, s := range sessions {
		s.in.next = origin.Add(time.Duration(i%slots) * time.Millisecond)
		s.out.next = s.in.next
	}
	for slot := range ticks * slots {
		due := origin.Add(time.Duration(slot) * time.Millisecond)
		time.Sleep(time.Until(due))
		for i := slot % slots; i < len(sessions); i += slots {
			sessions[i].send(in)
		}
	}
}
