package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/pipeline/pipelinetest"
)

// Filter, Serial, observers and counts.

func TestAFilterDropsWhatItsPredicateRefusesButNothingASessionNeeds(t *testing.T) {
	virtual(t, func(t *testing.T) {
		none := pipeline.Filter(func(frames.Frame, pipeline.Direction) bool { return false })
		some := pipeline.Filter(func(f frames.Frame, _ pipeline.Direction) bool { return names([]frames.Frame{f}) != "b" })
		beats, marks, dropped := 0, 0, 0
		params := pipeline.Params{Heartbeat: time.Second, OnHeartbeat: func(time.Duration) { beats++ }}
		s := beginWith(t, params, some, none)
		s.Send(text("a"), text("b"), &urgent{name: "c"}, &frames.MarkFrame{Reached: func() { marks++ }},
			&parcel{dropped: func() { dropped++ }})
		wait(1500 * time.Millisecond)
		out := s.End()
		if got := names(out.Down); strings.TrimSpace(got) != "c" || out.Err != nil {
			t.Errorf("came out %q, ended with %v", got, out.Err)
		}
		if beats != 1 || marks != 1 || dropped != 1 {
			t.Errorf("%d heartbeats, %d marks, %d dropped", beats, marks, dropped)
		}
	})
}

// blocker takes a second for each frame.
type blocker struct {
	mu  sync.Mutex
	log log
}

func (b *blocker) note(format string, args ...any) {
	b.mu.Lock()
	b.log.add(format, args...)
	b.mu.Unlock()
}

func (b *blocker) Start(context.Context) error {
	time.Sleep(time.Second)
	b.note("started")
	return nil
}

func (b *blocker) Process(ctx context.Context, f frames.Frame, dir pipeline.Direction, push pipeline.PushFunc) error {
	t, ok := f.(*frames.TextFrame)
	if !ok {
		return push(f, dir)
	}
	if t.Text == "fail" {
		return errBoom
	}
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		b.note("%s given up", t.Text)
		return ctx.Err()
	}
	b.note("%s done", t.Text)
	if err := push(&urgent{name: "echo " + t.Text}, up); err != nil {
		return err
	}
	return push(text(t.Text+"!"), dir)
}

func (b *blocker) HandleSystem(f frames.Frame, _ pipeline.Direction) {
	if u, ok := f.(*urgent); ok {
		b.note("saw %s", u.name)
	}
}

func (b *blocker) Interrupt(f *frames.InterruptionFrame) { b.note("told of %s", f.Reason) }

func (b *blocker) Stop() { b.note("stopped") }

func TestSerialLetsAProcessorBlock(t *testing.T) {
	virtual(t, func(t *testing.T) {
		b := &blocker{}
		s := begin(t, pipeline.Serial(b))
		s.Send(text("a"), &kept{name: "k"}, text("b"))
		synctest.Wait()
		s.Send(&urgent{name: "news"})
		came(t, s, "news")
		wait(2 * time.Second)
		came(t, s, "news a! k")
		out := s.End()
		if got := names(out.Down); got != "news a! k b!" || names(out.Up) != "echo a echo b" || out.Err != nil {
			t.Errorf("came out %q and %q, ended with %v", got, names(out.Up), out.Err)
		}
		b.log.is(t, "saw news", "started", "a done", "b done", "stopped")
	})
}

func TestAnInterruptionCutsWhatSerialIsDoingAndDropsWhatWaits(t *testing.T) {
	virtual(t, func(t *testing.T) {
		b := &blocker{}
		s := begin(t, pipeline.Serial(b))
		dropped := 0
		s.Send(text("a"), text("b"), &parcel{name: "p", dropped: func() { dropped++ }}, &kept{name: "k"})
		wait(1500 * time.Millisecond)
		s.Task().Interrupt("test")
		s.Send(text("c"))
		wait(time.Second)
		came(t, s, "k c!")
		s.End()
		// It is told while it runs, so the two in the middle come in any order.
		slices.Sort(b.log[1:3])
		b.log.is(t, "started", "a given up", "told of test", "c done", "stopped")
		if dropped != 1 {
			t.Errorf("the frame in the lane was told %d times", dropped)
		}
	})
}

func TestAnErrorOfSerialIsReportedUpstream(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var got *frames.ErrorFrame
		s := beginWith(t, pipeline.Params{OnError: func(f *frames.ErrorFrame) { got = f }}, pipeline.Serial(&blocker{}))
		s.Send(text("fail"), text("a"))
		out := s.End()
		if got == nil || !errors.Is(got.Err, errBoom) || got.Source != "blocker" || strings.Contains(got.Public, "boom") {
			t.Errorf("reported %+v", got)
		}
		if names(out.Down) != "a!" || out.Err != nil {
			t.Errorf("came out %q, ended with %v", names(out.Down), out.Err)
		}
	})
}

func TestSerialThatDoesNotStartEndsTheSession(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := begin(t, pipeline.Serial(&failing{}))
		if err := s.Wait().Err; !errors.Is(err, errBoom) {
			t.Errorf("the session ended with %v", err)
		}
	})
}

type failing struct{ blocker }

func (*failing) Start(context.Context) error { return errBoom }

// ear notes the live audio it hears, a second for each frame.
type ear struct{ heard []int16 }

func (e *ear) Process(_ context.Context, f frames.Frame, dir pipeline.Direction, push pipeline.PushFunc) error {
	if a, ok := f.(*frames.InputAudioFrame); ok {
		wait(time.Second)
		e.heard = append(e.heard, a.Samples[0])
		return nil
	}
	return push(f, dir)
}

func TestSerialKeepsTheLatestLiveAudio(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := &ear{}
		var stats pipeline.Stats
		s := beginWith(t, pipeline.Params{Stats: &stats, EndTimeout: time.Hour}, pipeline.Serial(e))
		in := &frames.InputAudioFrame{PCM: frames.PCM{Samples: []int16{0}}}
		for i := range 200 {
			in.Samples[0] = int16(i)
			s.Send(in)
			synctest.Wait()
		}
		s.Task().Interrupt("test")
		s.End()
		if n := len(e.heard); n != 65 || e.heard[0] != 0 || e.heard[1] != 136 || e.heard[64] != 199 {
			t.Errorf("heard %d: %v", n, e.heard)
		}
		if c := stats.Read(); c.Audio != 200 || c.AudioDropped != 135 {
			t.Errorf("counted %+v", c)
		}
	})
}

func TestAnObserverSeesEveryHopAndWhereItEnds(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var l log
		p := &stage{name: "p"}
		params := pipeline.Params{Observers: []pipeline.Observer{pipeline.ObserverFunc(func(h pipeline.Hop) {
			n := names([]frames.Frame{h.Frame})
			if i, ok := h.Frame.(*frames.InterruptionFrame); ok {
				n = "interruption: " + i.Reason
			}
			if n != "" {
				l.add("%d %s %s %s %t", h.Index, h.To, n, h.Direction, h.Last)
			}
		})}}
		s := beginWith(t, params, p)
		s.Send(text("a"))
		synctest.Wait()
		do(t, p, func() { p.Push(&urgent{name: "b"}, up) })
		s.Task().Interrupt("test")
		l.is(t,
			"0 source a downstream false", "1 test input a downstream false", "2 p a downstream false",
			"3 test output a downstream false", "4 sink a downstream true",
			"1 test input b upstream false", "0 source b upstream true",
			"0 source interruption: test downstream false", "1 test input interruption: test downstream false",
			"2 p interruption: test downstream false", "3 test output interruption: test downstream false",
			"4 sink interruption: test downstream true")
	})
}

func TestOnFrameSeesAFrameOnceAtTheEndOfItsWay(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var got []string
		params := pipeline.Params{Observers: []pipeline.Observer{pipeline.OnFrame(func(f *frames.TextFrame) { got = append(got, f.Text) })}}
		p := &stage{name: "sink"} // a processor may well have that name
		section := pipeline.Parallel(pipeline.Branch{&stage{}}, pipeline.Branch{})
		s := beginWith(t, params, section, p)
		s.Send(text("a"), &kept{name: "b"}, text("c"))
		synctest.Wait()
		do(t, p, func() { p.Push(text("up"), up) })
		if fmt.Sprint(got) != "[a c up]" {
			t.Errorf("saw %v", got)
		}
	})
}

func TestAnAsyncObserverNeverDelaysASessionAndCountsWhatItDrops(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var handled []string
		o := pipeline.NewAsyncObserver(4,
			func(h pipeline.Hop) (string, bool) {
				f, ok := h.Frame.(*frames.TextFrame)
				if !ok || !h.Last {
					return "", false
				}
				return f.Text, true
			},
			func(s string) { time.Sleep(time.Second); handled = append(handled, s) })
		s := beginWith(t, pipeline.Params{Observers: []pipeline.Observer{o}}, &stage{})
		began := time.Now()
		s.Send(text("first"))
		synctest.Wait()
		for i := range 10 {
			s.Send(text(fmt.Sprint(i)))
		}
		s.End()
		if took := time.Since(began); took != 0 {
			t.Errorf("the session took %s", took)
		}
		o.Close()
		if fmt.Sprint(handled) != "[first 0 1 2 3]" || o.Dropped() != 6 {
			t.Errorf("handled %v, dropped %d", handled, o.Dropped())
		}
		o.Observe(pipeline.Hop{Frame: text("late"), Last: true})
		o.Close()
		if o.Dropped() != 7 {
			t.Errorf("dropped %d", o.Dropped())
		}
	})
}

func TestSessionsCountTogether(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var stats pipeline.Stats
		params := pipeline.Params{Stats: &stats}
		for range 2 {
			p := &stage{}
			s := beginWith(t, params, p)
			s.Send(text("a"), &barge{}, &frames.InputAudioFrame{})
			do(t, p, func() { p.Go(turn, func(j *pipeline.Job) { _ = j.Post(text("b")) }) })
			s.End()
		}
		beginWith(t, params, &bomb{}).Send(text("boom"))
		beginWith(t, params, &stage{}).Cancel()
		synctest.Wait()
		want := pipeline.Counts{Started: 4, Ended: 4, Failed: 1, Frames: 2 + 1 + 1, Posts: 2, Audio: 2, Interruptions: 2}
		got := stats.Read()
		got.Frames -= 2 // the end frames; the texts were dropped at the door
		if got != want {
			t.Errorf("counted %+v\nwant    %+v", got, want)
		}
	})
}

func TestFuncIsAProcessor(t *testing.T) {
	double := pipeline.Func("double", func(p *pipeline.Base, f frames.Frame, dir pipeline.Direction) {
		if t, ok := f.(*frames.TextFrame); ok {
			p.Push(text(t.Text), dir)
		}
		p.Push(f, dir)
	})
	out := pipelinetest.Run(t, []pipeline.Processor{double}, text("a"))
	if got := names(out.Down); got != "a a" {
		t.Errorf("came out %q", got)
	}
}
