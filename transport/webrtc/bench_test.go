package webrtc

import (
	"slices"
	"testing"
	"time"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/transport/internal/pacer"
)

// endless is a source that never runs dry.
type endless struct {
	samples []int16
	at      int
}

func (e *endless) Read(dst []int16) int {
	if e.at+len(dst) > len(e.samples) {
		e.at = 0
	}
	n := copy(dst, e.samples[e.at:])
	e.at += n
	return n
}

// BenchmarkSlot is what 20 ms of a call take, without the network: a packet in, put in
// order and decoded, and one out, encoded. In silence neither end has anything to say.
func BenchmarkSlot(b *testing.B) {
	for _, talking := range []bool{true, false} {
		name := "talking"
		if !talking {
			name = "silence"
		}
		b.Run(name, func(b *testing.B) {
			conn, w, closeAll := wired(b, Config{Pacers: 1}, codecOpus)
			defer closeAll()
			conn.entry.Remove()
			w.keep = false
			conn.served.Store(&served{session: quiet{}, log: conn.engine.cfg.Logger})
			h := newHearing(conn.engine, map[uint8]codec{111: codecOpus}, func(*frames.InputAudioFrame) {})
			conn.hearing.Store(h)
			if talking {
				conn.Play(&endless{samples: sine(24000, 440, time.Second)})
			}
			packets := encoded(b, audio.Mono(48000), 20*time.Millisecond, false, 50)
			raw := make([]byte, 0, maxRTP)
			now := time.Now()
			slot := func(i int) {
				now = now.Add(20 * time.Millisecond)
				if talking {
					raw = rawPacket(raw[:0], 111, uint16(i), uint32(i*960), packets[i%50])
					h.packet(now, raw)
				}
				// The ticks with reports, one in 250, are left out of the count.
				conn.voice.Tick(pacer.Tick{Number: uint64(i) / 49 * 50, Now: now})
			}
			for i := range 100 {
				slot(i)
			}
			i := 100
			b.ReportAllocs()
			for b.Loop() {
				slot(i)
				i++
			}
		})
	}
}

// BenchmarkBargeIn measures the time from the decision to interrupt, which clears the
// source, to the last packet with sound of it, with 30 s queued.
func BenchmarkBargeIn(b *testing.B) {
	conn, w, closeAll := wired(b, Config{Pacers: 1}, codecOpus)
	defer closeAll()
	q := &queue{}
	conn.Play(q)
	long := sine(24000, 440, 30*time.Second)
	var took []time.Duration
	more := 0
	for b.Loop() {
		q.put(long)
		time.Sleep(47 * time.Millisecond)
		taken := q.clear()
		decided := time.Now()
		time.Sleep(25 * time.Millisecond)
		q.mu.Lock()
		more += q.taken - taken
		q.mu.Unlock()
		last := time.Duration(0)
		// A packet whose sound was taken before the decision may leave just after it.
		for _, p := range w.sent() {
			if d := p.at.Sub(decided); d > 0 && d < time.Millisecond && len(p.payload) > 20 {
				last = d
			}
		}
		took = append(took, last)
		w.mu.Lock()
		w.packets = w.packets[:0]
		w.mu.Unlock()
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(more)/float64(len(took)), "samples-after/op")
}
