package webrtc

import (
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/rtcp"

	"github.com/turnwise/turnwise/transport/internal/pacer"
	"github.com/turnwise/turnwise/transport/webrtc/internal/jitter"
)

const (
	// reportEvery is the distance of the reports that are sent.
	reportEvery = 5 * time.Second
	// lossEasing is the weight of the newest report in the loss that counts.
	lossEasing = 0.3
	// heavyLoss is the share of lost packets at which the bit rate is at its lowest.
	heavyLoss = 0.15
	// maxReport is the largest report that is read.
	maxReport = 1500
)

// readReports reads the client's reports until the stream is over.
func (p *peer) readReports(read func([]byte) (int, interceptor.Attributes, error)) {
	var buf [maxReport]byte
	for {
		n, _, err := read(buf[:])
		if err != nil {
			return
		}
		packets, err := rtcp.Unmarshal(buf[:n])
		if err != nil {
			continue
		}
		now := time.Now()
		for _, packet := range packets {
			switch r := packet.(type) {
			case *rtcp.SenderReport:
				if h := p.conn.hearing.Load(); h != nil {
					h.reported(r.SSRC, uint32(r.NTPTime>>16), now)
				}
				p.reports(now, r.Reports)
			case *rtcp.ReceiverReport:
				p.reports(now, r.Reports)
			}
		}
	}
}

// reports takes what the client says of the bot's voice.
func (p *peer) reports(now time.Time, list []rtcp.ReceptionReport) {
	b := p.out
	if b == nil {
		return
	}
	bound := b.bound.Load()
	for _, r := range list {
		if bound != nil && r.SSRC == bound.ssrc {
			p.conn.reported(now, r)
		}
	}
}

// reported takes what the client says of the bot's voice, and lets the encoder follow:
// the more is lost, the more of a lower bit rate goes into copies.
func (c *Conn) reported(now time.Time, r rtcp.ReceptionReport) {
	c.mu.Lock()
	loss := float64(r.FractionLost) / 256
	c.remoteLoss += (loss - c.remoteLoss) * lossEasing
	loss = c.remoteLoss
	if r.LastSenderReport != 0 {
		if units := middle(now) - r.LastSenderReport - r.Delay; units < 1<<24 { // of 1/65536 s
			c.rtt = time.Duration(units) * time.Second >> 16
		}
	}
	c.mu.Unlock()
	cfg := &c.engine.cfg
	down := min(loss/heavyLoss, 1) * float64(cfg.MaxBitrate-cfg.MinBitrate)
	c.voice.wanted.Store(tuning{bitrate: cfg.MaxBitrate - int(down)/1000*1000, loss: int(loss*100 + 0.5)}.pack())
}

// report sends the client what is known of both directions; it runs on the pacer's
// goroutine, every reportEvery.
func (c *Conn) report(now time.Time, p *peer) {
	s := &c.voice.sent
	c.voice.mu.Lock()
	out := *s
	c.voice.mu.Unlock()
	if out.count == 0 {
		return
	}
	var blocks []rtcp.ReceptionReport
	if h := c.hearing.Load(); h != nil {
		blocks = h.report(blocks, now)
	}
	ts := out.ts + uint32(now.Sub(out.at).Seconds()*float64(c.voice.codec.clockRate()))
	// What cannot be sent is not missed: another report follows.
	_ = p.writeRTCP([]rtcp.Packet{
		&rtcp.SenderReport{SSRC: out.ssrc, NTPTime: ntp(now), RTPTime: ts, PacketCount: out.count, OctetCount: out.octets, Reports: blocks},
		&rtcp.SourceDescription{Chunks: []rtcp.SourceDescriptionChunk{{
			Source: out.ssrc, Items: []rtcp.SourceDescriptionItem{{Type: rtcp.SDESCNAME, Text: "bot"}},
		}}},
	})
}

// reported notes the time of a report of the sender's.
func (h *hearing) reported(ssrc, middle uint32, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ssrc == h.ssrc {
		h.sr, h.srAt = middle, now
	}
}

// report appends what the sender is told of its stream.
func (h *hearing) report(blocks []rtcp.ReceptionReport, now time.Time) []rtcp.ReceptionReport {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.buffer == nil {
		return blocks
	}
	st := h.buffer.Stats()
	r := rtcp.ReceptionReport{
		SSRC: h.ssrc, FractionLost: fraction(h.lastRep, st), TotalLost: uint32(min(missing(st), 1<<23-1)),
		LastSequenceNumber: st.Highest, Jitter: uint32(st.Jitter.Seconds() * float64(h.codecs[h.kind].clockRate())),
	}
	if h.sr != 0 {
		r.LastSenderReport = h.sr
		r.Delay = uint32(now.Sub(h.srAt) * 65536 / time.Second)
	}
	h.lastRep = st
	return append(blocks, r)
}

// missing is how many packets have not come.
func missing(s jitter.Stats) uint64 {
	came := s.Received - s.Duplicate - s.Invalid
	return s.Expected - min(came, s.Expected)
}

// fraction is the share of packets that have not come since the last report, in 256ths.
func fraction(before, now jitter.Stats) uint8 {
	expected := now.Expected - before.Expected
	lost := missing(now) - min(missing(before), missing(now))
	if expected == 0 {
		return 0
	}
	return uint8(min(lost*256/expected, 255))
}

// ntp is a time as of RFC 3550, section 4: seconds since 1900, with 32 bits behind
// the point.
func ntp(t time.Time) uint64 {
	const since1900 = 2208988800
	return uint64(t.Unix()+since1900)<<32 | uint64(t.Nanosecond())<<32/uint64(time.Second)
}

// middle is the 32 bits of it around the point.
func middle(t time.Time) uint32 { return uint32(ntp(t) >> 16) }

// slotsPer is how many ticks there are in d.
func slotsPer(d time.Duration) uint64 { return uint64(d / pacer.Slot) }
