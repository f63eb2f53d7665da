package webrtc

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/rtp"

	"github.com/turnwise/turnwise/audio/opus"
	"github.com/turnwise/turnwise/transport/internal/pacer"
)

// AudioSource gives the sound that is sent to the caller. *speech.Buffer is one.
type AudioSource interface {
	// Read fills dst with mono samples at [Config].OutputRate and returns how many
	// there were; the rest is sent as silence. It is called every 20 ms, on a
	// goroutine that serves other calls too, and must not block.
	Read(dst []int16) int
}

// speaking sends the bot's sound: one packet in each slot of the pacer's. All of it but
// what is said to be shared belongs to the pacer's goroutine.
type speaking struct {
	conn   *Conn
	source atomic.Pointer[AudioSource] // shared

	frame  []int16
	buf    []byte
	header rtp.Header
	base   uint32 // the timestamp of slot 0
	codec  codec
	enc    encoder
	talks  bool // the packet before was no silence
	fresh  bool // the next packet is the first after a break
	tuned  tuning

	wanted atomic.Uint64 // shared: a tuning

	mu   sync.Mutex // guards what follows, which is shared
	sent sentStats
}

// sentStats is what the statistics and reports need to know.
type sentStats struct {
	packets, bytes, skipped, failed uint64
	octets, count                   uint32 // of the present stream
	ts                              uint32
	at                              time.Time
	ssrc                            uint32
}

// tuning is what the network bears.
type tuning struct{ bitrate, loss int }

func (t tuning) pack() uint64 { return uint64(t.bitrate)<<8 | uint64(t.loss) }

func unpack(v uint64) tuning { return tuning{bitrate: int(v >> 8), loss: int(v & 0xff)} }

func newSpeaking(c *Conn) *speaking {
	cfg := &c.engine.cfg
	s := &speaking{
		conn: c, fresh: true, base: rand.Uint32(),
		frame: make([]int16, cfg.OutputRate/50), buf: make([]byte, 0, opus.MaxPacket),
		tuned: tuning{bitrate: cfg.MaxBitrate},
	}
	s.header = rtp.Header{Version: 2, SequenceNumber: uint16(rand.Uint32())}
	s.wanted.Store(s.tuned.pack())
	return s
}

// Tick implements [pacer.Stream].
func (s *speaking) Tick(t pacer.Tick) {
	s.conn.tick(t)
	p := s.conn.live.Load()
	if p == nil || p.out == nil {
		s.fresh = true
		return
	}
	b := p.out.bound.Load()
	if b == nil {
		s.fresh = true
		return
	}
	if !s.use(b.codec) {
		return
	}
	n := s.read()
	s.send(t, b, n)
}

// use goes over to a codec.
func (s *speaking) use(c codec) bool {
	if s.enc == nil || s.codec != c {
		enc, err := newEncoder(c, &s.conn.engine.cfg, &s.conn.engine.filters)
		if err != nil {
			s.conn.logger().Error("the bot's voice cannot be encoded", "err", err)
			return false
		}
		s.codec, s.enc = c, enc
	}
	if want := unpack(s.wanted.Load()); want != s.tuned {
		s.tuned = want
		s.enc.adapt(want.bitrate, want.loss)
	}
	return true
}

// read takes the next 20 ms from the source and returns how much of it is sound.
func (s *speaking) read() int {
	n := 0
	if src := s.source.Load(); src != nil {
		n = (*src).Read(s.frame)
	}
	clear(s.frame[n:])
	return n
}

// send encodes and sends the frame, n samples of which are sound.
func (s *speaking) send(t pacer.Tick, b *binding, n int) {
	var err error
	if s.buf, err = s.enc.encode(s.buf[:0], s.frame, n == 0); err != nil {
		s.note(t, b, err)
		return
	}
	h := &s.header
	h.PayloadType, h.SSRC = b.kind, b.ssrc
	h.Timestamp = s.base + uint32(t.Number)*uint32(s.codec.clockRate()/50)
	h.Marker = s.fresh || t.Skipped > 0 || n > 0 && !s.talks
	h.SequenceNumber++
	s.talks, s.fresh = n > 0, false
	_, err = b.writer.WriteRTP(h, s.buf)
	s.note(t, b, err)
}

// note keeps the statistics.
func (s *speaking) note(t pacer.Tick, b *binding, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := &s.sent
	st.skipped += t.Skipped
	if err != nil {
		st.failed++
		return
	}
	if st.ssrc != b.ssrc {
		st.ssrc, st.octets, st.count = b.ssrc, 0, 0
	}
	st.packets++
	st.bytes += uint64(len(s.buf))
	st.count++
	st.octets += uint32(len(s.buf))
	st.ts, st.at = s.header.Timestamp, t.Now
}

// add adds what was sent to a call's statistics.
func (s *speaking) add(out *Stats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out.Sent, out.SentBytes = s.sent.packets, s.sent.bytes
	out.Skipped, out.Failed = s.sent.skipped, s.sent.failed
	out.Bitrate = unpack(s.wanted.Load()).bitrate
}
