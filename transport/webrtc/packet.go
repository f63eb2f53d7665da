package webrtc

import "encoding/binary"

// packet is an RTP packet as it came.
type packet struct {
	kind    uint8 // the payload type
	seq     uint16
	ts      uint32
	ssrc    uint32
	payload []byte
}

// parse reads a packet; the payload is part of raw. It reports false for what is none.
func (p *packet) parse(raw []byte) bool {
	const header = 12
	if len(raw) < header || raw[0]>>6 != 2 {
		return false
	}
	end := len(raw)
	if raw[0]&0x20 != 0 { // padding, whose last byte counts it
		end -= int(raw[end-1])
	}
	at := header + 4*int(raw[0]&0x0f)
	if raw[0]&0x10 != 0 { // header extension
		if at+4 > end {
			return false
		}
		at += 4 + 4*int(binary.BigEndian.Uint16(raw[at+2:]))
	}
	if at > end {
		return false
	}
	p.kind = raw[1] & 0x7f
	p.seq = binary.BigEndian.Uint16(raw[2:])
	p.ts = binary.BigEndian.Uint32(raw[4:])
	p.ssrc = binary.BigEndian.Uint32(raw[8:])
	p.payload = raw[at:end]
	return true
}
