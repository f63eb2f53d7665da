package jitter_test

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/turnwise/turnwise/transport/webrtc/internal/jitter"
)

const (
	rate     = 48000
	duration = 20 * time.Millisecond
	ticks    = 960
	minHold  = 40 * time.Millisecond
	maxHold  = 400 * time.Millisecond
)

// Payloads of the test are a number and whether silence follows.
func payload(n int, quiet bool) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(n))
	if quiet {
		return append(b, 1)
	}
	return append(b, 0)
}

func number(p []byte) int { return int(binary.BigEndian.Uint32(p)) }

func config() jitter.Config {
	return jitter.Config{
		ClockRate: rate, MinHold: minHold, MaxHold: maxHold,
		Quiet: func(p []byte) bool { return p[4] == 1 },
		Duration: func(p []byte) time.Duration {
			if len(p) != 5 {
				return 0
			}
			return duration
		},
	}
}

// arrival is a packet on its way.
type arrival struct {
	at time.Duration
	n  int
}

// out is a piece that came out of the buffer.
type out struct {
	kind jitter.Kind
	n    int // of a packet, or of the one from which a lost one can be recovered; -1 if none
	at   time.Duration
	d    time.Duration
	held time.Duration
}

// bench is a buffer with a clock that only moves when told.
type bench struct {
	b     *jitter.Buffer
	begin time.Time
	now   time.Duration
	out   []out
	first uint16 // sequence number of packet 0
	start uint32 // and its timestamp
	quiet map[int]bool
}

func newBench() *bench {
	return &bench{b: jitter.New(config()), begin: time.Unix(1789000000, 0), first: 65000, start: 1<<32 - 5000, quiet: map[int]bool{}}
}

// to moves the clock, with the pacer's ticks on the way.
func (b *bench) to(at time.Duration) {
	for next := b.now.Truncate(duration) + duration; next <= at; next += duration {
		b.now = next
		b.drain()
	}
	b.now = at
}

func (b *bench) drain() {
	for {
		item := b.b.Next(b.begin.Add(b.now))
		if item.Kind == jitter.None {
			return
		}
		o := out{kind: item.Kind, n: -1, at: b.now, d: item.Duration, held: item.Held}
		if item.Payload != nil {
			o.n = number(item.Payload)
		}
		b.out = append(b.out, o)
	}
}

// put has packet n arrive now; its time is that of slot n.
func (b *bench) put(n int) bool { return b.putAt(n, n) }

// putAt has packet n arrive with the time of another slot.
func (b *bench) putAt(n, slot int) bool {
	ok := b.b.Put(b.begin.Add(b.now), b.first+uint16(n), b.start+uint32(slot*ticks), payload(n, b.quiet[n]))
	b.drain()
	return ok
}

// network plays arrivals in the order of their times.
func (b *bench) network(list []arrival) {
	slices.SortStableFunc(list, func(x, y arrival) int { return int(x.at - y.at) })
	for _, a := range list {
		b.to(a.at)
		b.put(a.n)
	}
	b.to(b.now + maxHold + 2*duration)
}

// kinds counts pieces.
func (b *bench) kinds(from int) map[jitter.Kind]int {
	c := map[jitter.Kind]int{}
	for _, o := range b.out[from:] {
		c[o.kind]++
	}
	return c
}

// order fails the test unless packets came out in their order, each once.
func (b *bench) order(t *testing.T) {
	t.Helper()
	last := -1
	for _, o := range b.out {
		if o.kind != jitter.Packet {
			continue
		}
		if o.n <= last {
			t.Fatalf("packet %d came out after packet %d", o.n, last)
		}
		last = o.n
	}
}
