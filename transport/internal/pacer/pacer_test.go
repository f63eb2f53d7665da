package pacer_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/turnwise/turnwise/transport/internal/pacer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// record is a stream that notes its ticks.
type record struct {
	mu    sync.Mutex
	ticks []pacer.Tick
	hold  func(n int) // runs in tick n
}

func (r *record) Tick(t pacer.Tick) {
	r.mu.Lock()
	r.ticks = append(r.ticks, t)
	n := len(r.ticks)
	r.mu.Unlock()
	if r.hold != nil {
		r.hold(n)
	}
}

func (r *record) all() []pacer.Tick {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]pacer.Tick(nil), r.ticks...)
}

func TestAnHourHasEveryTickAndNoDrift(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pacer.New(2)
		defer p.Close()
		r := &record{}
		begin := time.Now()
		e := p.Add(r)
		time.Sleep(time.Hour)
		e.Remove()
		ticks := r.all()
		const want = int(time.Hour / pacer.Slot)
		if n := len(ticks); n < want-1 || n > want+1 {
			t.Fatalf("%d ticks in an hour, want %d ± 1", n, want)
		}
		last := ticks[len(ticks)-1]
		if at := begin.Add(time.Duration(last.Number) * pacer.Slot); last.Now.Sub(at).Abs() > time.Millisecond {
			t.Errorf("after an hour a tick ran %v off its grid", last.Now.Sub(at))
		}
	})
}

func TestLatenessIsMadeUpForWithoutABurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pacer.New(1)
		defer p.Close()
		r := &record{hold: func(n int) {
			if n == 10 {
				time.Sleep(150 * time.Millisecond) // the machine is busy with something else
			}
		}}
		begin := time.Now()
		e := p.Add(r)
		time.Sleep(time.Second)
		e.Remove()
		ticks := r.all()
		for i := 1; i < len(ticks); i++ {
			if d := ticks[i].Now.Sub(ticks[i-1].Now); d < pacer.Slot/2 {
				t.Errorf("ticks %d and %d are %v apart: a burst", i-1, i, d)
			}
			if ticks[i].Number != ticks[i-1].Number+1 {
				t.Errorf("tick %d was left out", ticks[i-1].Number+1)
			}
		}
		last := ticks[len(ticks)-1]
		if off := last.Now.Sub(begin) - time.Duration(last.Number)*pacer.Slot; off != 0 {
			t.Errorf("still %v off the grid after a second", off)
		}
	})
}

func TestSlotsMissedByALongDelayAreLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pacer.New(1)
		defer p.Close()
		r := &record{hold: func(n int) {
			if n == 10 {
				time.Sleep(510 * time.Millisecond)
			}
		}}
		e := p.Add(r)
		time.Sleep(time.Second)
		e.Remove()
		ticks := r.all()
		after := ticks[10] // the tick that follows the one that was held
		if after.Skipped != 24 || after.Number != ticks[9].Number+25 {
			t.Errorf("after 510 ms: %d slots skipped, number %d after %d; want 24 skipped", after.Skipped, after.Number, ticks[9].Number)
		}
		burst := 0
		for _, k := range ticks[11:] {
			if k.Now.Sub(after.Now) < pacer.Slot/2 {
				burst++
			}
		}
		if burst > 0 {
			t.Errorf("%d more ticks within 10 ms of the first one after the delay", burst)
		}
	})
}

func TestStreamsAreSpreadOverTheSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pacer.New(1)
		defer p.Close()
		const n = 8
		var streams [n]record
		for i := range streams {
			defer p.Add(&streams[i]).Remove()
		}
		for i := range streams {
			if ticks := streams[i].all(); len(ticks) > 1 {
				t.Errorf("stream %d had %d ticks at once", i, len(ticks))
			}
		}
		time.Sleep(2 * pacer.Slot)
		at := map[time.Time]bool{}
		for i := range streams {
			at[streams[i].all()[1].Now] = true
		}
		if len(at) != n {
			t.Errorf("%d streams tick at only %d different times", n, len(at))
		}
	})
}

func TestRemoveWaitsForTheTickUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pacer.New(1)
		defer p.Close()
		over := false
		r := &record{hold: func(int) { time.Sleep(5 * time.Millisecond); over = true }}
		e := p.Add(r)
		time.Sleep(time.Millisecond)
		e.Remove()
		if !over {
			t.Error("Remove returned while a tick ran")
		}
		n := len(r.all())
		time.Sleep(time.Second)
		if len(r.all()) != n {
			t.Error("a stream ticked after it had been removed")
		}
		e.Remove()
	})
}

func TestStreamsComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pacer.New(2)
		defer p.Close()
		var entries []*pacer.Entry
		streams := make([]record, 20)
		for i := range streams {
			entries = append(entries, p.Add(&streams[i]))
			time.Sleep(3 * time.Millisecond)
		}
		for i := 0; i < len(entries); i += 2 {
			entries[i].Remove()
		}
		var before [20]int
		for i := range streams {
			before[i] = len(streams[i].all())
		}
		time.Sleep(time.Second)
		for i := range streams {
			got := len(streams[i].all()) - before[i]
			if want := 50 * (i % 2); got < want-1 || got > want+1 {
				t.Errorf("stream %d: %d ticks in a second, want %d", i, got, want)
			}
			if i%2 == 1 {
				entries[i].Remove()
			}
		}
	})
}

type nothing struct{}

func (nothing) Tick(pacer.Tick) {}

func BenchmarkAddRemove(b *testing.B) {
	p := pacer.New(1)
	defer p.Close()
	b.ReportAllocs()
	for b.Loop() {
		p.Add(nothing{}).Remove()
	}
}
