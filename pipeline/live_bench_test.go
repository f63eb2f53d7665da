package pipeline_test

import (
	"flag"
	"runtime"
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
	outSamples = 24000 / 50
)

// ears stands in for a recognizer: it reads every sample of the microphone.
type ears struct {
	pass
	due    time.Time
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
	p.record.heard(p.due)
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
	due    time.Time
	record *lateness
}

func (p *speaker) Process(f frames.Frame, dir pipeline.Direction) {
	if _, ok := f.(*frames.OutputAudioFrame); ok {
		p.record.heard(p.due)
	}
	p.Push(f, dir)
}

// lateness is how late one session's frames were; it belongs to its loop.
type lateness struct{ all []time.Duration }

func (l *lateness) heard(due time.Time) { l.all = append(l.all, time.Since(due)) }

// liveSession is a session as the pacer sees it.
type liveSession struct {
	task   *pipeline.Task
	ears   *ears
	mouth  *mouth
	out    *speaker
	record lateness
}

func newLiveSession(b *testing.B, frameCount int) *liveSession {
	s := &liveSession{record: lateness{all: make([]time.Duration, 0, 2*frameCount)}}
	s.ears = &ears{record: &s.record}
	s.mouth = &mouth{queue: make([]*frames.OutputAudioFrame, 5*time.Second/tick)}
	s.out = &speaker{record: &s.record}
	for i := range s.mouth.queue {
		s.mouth.queue[i] = &frames.OutputAudioFrame{PCM: frames.PCM{Samples: make([]int16, outSamples), Rate: 24000}}
	}
	m := s.mouth
	m.step = func() {
		f := m.queue[m.next]
		m.next = (m.next + 1) % len(m.queue)
		f.Header().Unstamp()
		m.Push(f, down)
	}
	s.task = running(b, pipeline.Params{}, &pass{}, s.ears, &pass{}, &pass{}, m, &pass{}, s.out, &pass{})
	return s
}

// due hands a session the frames of one tick, one each way.
func (s *liveSession) send(in *frames.InputAudioFrame, due time.Time) {
	// The loop reads these after it has taken the frame from the door.
	s.ears.due, s.out.due = due, due
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
	records := uint64(len(sessions)) * uint64(2*ticks) * 8
	b.ReportMetric(float64(after.Sys-before.Sys-records)/float64(len(sessions)), "B/session")

	in := &frames.InputAudioFrame{PCM: frames.PCM{Samples: make([]int16, inSamples), Rate: 16000, Channels: 1}}
	for b.Loop() {
		pace(sessions, in, ticks)
	}
	var all []time.Duration
	for _, s := range sessions {
		onLoop(&s.mouth.Base, func() { all = append(all, s.record.all...) })
	}
	if want := 2 * ticks * len(sessions); len(all) != want {
		b.Errorf("%d of %d frames arrived", len(all), want)
	}
	percentiles(b, all)
}

// pace spreads the sessions over each tick, a millisecond's worth at a time.
func pace(sessions []*liveSession, in *frames.InputAudioFrame, ticks int) {
	const slots = int(tick / time.Millisecond)
	origin := time.Now().Add(time.Millisecond)
	for slot := range ticks * slots {
		due := origin.Add(time.Duration(slot) * time.Millisecond)
		time.Sleep(time.Until(due))
		for i := slot % slots; i < len(sessions); i += slots {
			sessions[i].send(in, due)
		}
	}
}
