package server

import (
	"sync"
	"time"

	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/transport/webrtc"
)

// traffic adds up how the packets of calls fare: of those under way when somebody asks,
// and of those that are over.
type traffic struct {
	mu   sync.Mutex
	live map[*webrtc.Conn]struct{}
	past [len(packetKinds)]uint64
}

// packetKinds are what packets of calls are counted by.
var packetKinds = [...]string{
	"received", "lost", "late", "recovered", "concealed", "reordered", "duplicate", "invalid", "sent", "skipped", "failed",
}

// packets are a call's counts, in the order of packetKinds.
func packets(s webrtc.Stats) [len(packetKinds)]uint64 {
	return [...]uint64{
		s.Received, s.Lost, s.Late, s.Recovered, s.Concealed, s.Reordered, s.Duplicate, s.Invalid, s.Sent, s.Skipped, s.Failed,
	}
}

// enter counts a call from now on.
func (t *traffic) enter(c *webrtc.Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.live == nil {
		t.live = map[*webrtc.Conn]struct{}{}
	}
	t.live[c] = struct{}{}
}

// exit keeps the counts of a call that is over.
func (t *traffic) exit(c *webrtc.Conn) {
	last := packets(c.Stats())
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.live, c)
	for i, n := range last {
		t.past[i] += n
	}
}

// counts is all packets so far.
func (t *traffic) counts() []uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.past
	for c := range t.live {
		for i, n := range packets(c.Stats()) {
			all[i] += n
		}
	}
	return all[:]
}

// mean is the mean of a time over the calls that have one at present.
func (t *traffic) mean(of func(webrtc.Stats) time.Duration) (seconds float64, any bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for c := range t.live {
		if d := of(c.Stats()); d > 0 {
			seconds += d.Seconds()
			n++
		}
	}
	return seconds / float64(max(1, n)), n > 0
}

// active is the number of calls.
func (t *traffic) active() (float64, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return float64(len(t.live)), true
}

// callMetrics makes the metrics of calls.
func (m *metrics) callMetrics() {
	r := &m.registry
	bounds := []float64{.01, .05, .1, .2, .4, .6, .8, 1, 1.5, 2, 3, 5, 10}
	m.answer = r.Histogram("turnwise_answer_seconds", "How long callers waited: from the end of their speech to the first sample of the answer.", bounds...)
	var parts []string
	for _, p := range (speech.Latency{}).Parts() {
		parts = append(parts, p.Name)
	}
	m.answerPart = r.HistogramBy("turnwise_answer_part_seconds", "Where the time that callers waited went. The parts follow each other without a gap.",
		"part", parts, bounds...)
	r.Gauge("turnwise_calls_active", "Calls over WebRTC under way.", m.traffic.active)
	r.CountedBy("turnwise_call_packets_total", "Packets of calls over WebRTC: of callers' sound up to invalid, of the bot's from sent on.",
		"what", packetKinds[:], m.traffic.counts)
	r.Gauge("turnwise_call_jitter_seconds", "Mean jitter of the calls under way.", func() (float64, bool) {
		return m.traffic.mean(func(s webrtc.Stats) time.Duration { return s.Jitter })
	})
	r.Gauge("turnwise_call_rtt_seconds", "Mean time to callers and back, of the calls under way that report it.", func() (float64, bool) {
		return m.traffic.mean(func(s webrtc.Stats) time.Duration { return s.RTT })
	})
}

// answered counts an answer that a caller has begun to hear.
func (m *metrics) answered(l speech.Latency) {
	m.answer.Observe(l.Total().Seconds())
	for _, p := range l.Parts() {
		m.answerPart.Observe(p.Name, p.Took.Seconds())
	}
}
