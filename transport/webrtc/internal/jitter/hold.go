package jitter

import "time"

const (
	// reviewEvery is after how many packets the hold is brought down: 10 s.
	reviewEvery = 500
	// margin is added to what packets have needed.
	margin = 10 * time.Millisecond
)

// holding is how long packets are held behind a missing one. It follows what the
// network needs: at once up, when a packet came too late, and slowly down.
type holding struct {
	min, max, now time.Duration

	packets int
	needed  time.Duration // the longest wait that was worth it since the last review
}

func newHolding(least, most time.Duration) holding {
	return holding{min: least, max: most, now: least}
}

// tooShort tells that a packet that was given up came so long after it was missed.
func (h *holding) tooShort(late time.Duration) {
	if late+margin > 2*h.max {
		return // an odd one; no hold within the bounds would have helped
	}
	h.needed = max(h.needed, late)
	h.now = min(max(h.now, late+margin), h.max)
}

// enough tells that a missing packet came in time, after so long.
func (h *holding) enough(wait time.Duration) { h.needed = max(h.needed, wait) }

// packet counts a packet, and now and then comes down towards what was needed.
func (h *holding) packet() {
	if h.packets++; h.packets < reviewEvery {
		return
	}
	if want := max(h.min, h.needed+margin); want < h.now {
		h.now -= (h.now - want + 1) / 2
	}
	h.packets, h.needed = 0, 0
}

// transit measures the jitter as RFC 3550 says, section 6.4.1.
type transit struct {
	known  bool
	at     time.Time
	ts     int64
	spread float64 // in units of the timestamps
}

func (t *transit) packet(now time.Time, ts int64, rate int) {
	if t.known {
		d := now.Sub(t.at).Seconds()*float64(rate) - float64(ts-t.ts)
		if d < 0 {
			d = -d
		}
		t.spread += (d - t.spread) / 16
	}
	t.known, t.at, t.ts = true, now, ts
}

// restart forgets the packet before.
func (t *transit) restart() { t.known = false }

func (t *transit) jitter(rate int) time.Duration {
	return time.Duration(t.spread / float64(rate) * float64(time.Second))
}
