package webrtc

import (
	"sync"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/transport/webrtc/internal/jitter"
)

const (
	// maxConceal is how many packets in a row are made up; what is missing beyond
	// them is silent.
	maxConceal = 5
	// piece is the most sound of a silence that is passed on at once.
	piece = 20 * time.Millisecond
)

// hearing is one track of the caller's sound. Packets come on the track's goroutine,
// and the pacer asks now and then whether something has been waited for long enough.
type hearing struct {
	cfg     *Config
	engine  *Engine
	codecs  map[uint8]codec // by payload type
	deliver func(*frames.InputAudioFrame)

	mu      sync.Mutex
	kind    uint8 // the payload type in use
	dec     decoder
	buffer  *jitter.Buffer
	frame   frames.InputAudioFrame // used again: queueing copies
	row     int                    // packets made up in a row
	past    jitter.Stats           // of the codecs used before
	own     Stats                  // Recovered, Concealed and Invalid
	ssrc    uint32
	sr      uint32    // the middle of the NTP time of the caller's last report
	srAt    time.Time // when it came
	lastRep jitter.Stats
}

func newHearing(e *Engine, codecs map[uint8]codec, deliver func(*frames.InputAudioFrame)) *hearing {
	h := &hearing{cfg: &e.cfg, engine: e, codecs: codecs, deliver: deliver}
	h.frame.Rate, h.frame.Channels = InputRate, 1
	return h
}

// packet takes a packet as it came.
func (h *hearing) packet(now time.Time, raw []byte) {
	var p packet
	h.mu.Lock()
	defer h.mu.Unlock()
	if !p.parse(raw) {
		h.own.Invalid++
		return
	}
	if len(p.payload) == 0 {
		return // padding alone, sent to probe the network
	}
	if (h.dec == nil || p.kind != h.kind) && !h.use(p.kind) {
		return
	}
	h.ssrc = p.ssrc
	h.buffer.Put(now, p.seq, p.ts, p.payload)
	h.drain(now)
}

// tick passes on what has been waited for long enough.
func (h *hearing) tick(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.buffer != nil {
		h.drain(now)
	}
}

// muted tells that the caller's microphone was switched off: what follows is silence.
func (h *hearing) muted() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.buffer != nil {
		h.buffer.Quiet()
	}
}

// use goes over to the codec of a payload type. It reports false for one that was not
// agreed on, such as keypad tones.
func (h *hearing) use(kind uint8) bool {
	c := h.codecs[kind]
	if c == codecNone {
		return false
	}
	dec, err := newDecoder(c, &h.engine.filters)
	if err != nil {
		return false
	}
	if h.buffer != nil {
		h.past = sum(h.past, h.buffer.Stats())
	}
	h.kind, h.dec, h.lastRep = kind, dec, jitter.Stats{}
	h.buffer = jitter.New(jitter.Config{
		ClockRate: c.clockRate(), Duration: dec.duration, Quiet: dec.quiet,
		MinHold: h.cfg.MinHold, MaxHold: h.cfg.MaxHold,
	})
	return true
}

// drain passes on all that is in order.
func (h *hearing) drain(now time.Time) {
	for {
		item := h.buffer.Next(now)
		out := h.frame.Samples[:0]
		switch item.Kind {
		case jitter.None:
			return
		case jitter.Packet:
			out = h.decode(out, item)
		case jitter.Lost:
			out = h.replace(out, item)
		case jitter.Silence:
			h.silence(item.Duration)
			continue
		}
		h.pass(out)
	}
}

// decode is a packet's sound.
func (h *hearing) decode(dst []int16, item jitter.Item) []int16 {
	out, err := h.dec.decode(dst, item.Payload)
	if err != nil {
		h.own.Invalid++
		return h.conceal(dst, item.Duration)
	}
	h.row = 0
	return out
}

// replace is the sound in the place of a lost packet.
func (h *hearing) replace(dst []int16, item jitter.Item) []int16 {
	if item.Payload != nil && item.Duration > 0 {
		if out, ok := h.dec.restore(dst, item.Payload); ok {
			h.own.Recovered++
			h.row = 0
			return out
		}
	}
	return h.conceal(dst, item.Duration)
}

func (h *hearing) conceal(dst []int16, d time.Duration) []int16 {
	if d <= 0 {
		return dst
	}
	h.own.Concealed++
	if h.row++; h.row > maxConceal {
		return h.dec.silence(dst, d)
	}
	return h.dec.conceal(dst, d)
}

// silence passes on silence, in pieces like packets.
func (h *hearing) silence(d time.Duration) {
	for d > 0 {
		n := min(d, piece)
		h.pass(h.dec.silence(h.frame.Samples[:0], n))
		d -= n
	}
}

func (h *hearing) pass(samples []int16) {
	h.frame.Samples = samples
	if len(samples) > 0 {
		h.deliver(&h.frame)
	}
}

// add adds what was heard to a call's statistics.
func (h *hearing) add(s *Stats) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.past
	if h.buffer != nil {
		all = sum(all, h.buffer.Stats())
	}
	s.Received += all.Received
	s.Lost += all.Lost
	s.Late += all.Late
	s.Duplicate += all.Duplicate
	s.Reordered += all.Reordered
	s.Filled += all.Filled
	s.Jitter, s.Hold = all.Jitter, all.Hold
	s.Invalid += all.Invalid + h.own.Invalid
	s.Recovered += h.own.Recovered
	s.Concealed += h.own.Concealed
}

// sum adds counts; what is no count is b's.
func sum(a, b jitter.Stats) jitter.Stats {
	b.Received += a.Received
	b.Lost += a.Lost
	b.Late += a.Late
	b.Duplicate += a.Duplicate
	b.Reordered += a.Reordered
	b.Invalid += a.Invalid
	b.Filled += a.Filled
	return b
}
