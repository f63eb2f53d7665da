package opus

import (
	"fmt"
	"time"
)

// Duration is the playing time of a packet, as its first bytes say. The error wraps
// [ErrPacket].
func Duration(packet []byte) (time.Duration, error) {
	if len(packet) == 0 {
		return 0, fmt.Errorf("%w: it is empty", ErrPacket)
	}
	frames := time.Duration(1)
	switch packet[0] & 3 {
	case 1, 2:
		frames = 2
	case 3:
		if len(packet) < 2 {
			return 0, fmt.Errorf("%w: it ends before its frame count", ErrPacket)
		}
		frames = time.Duration(packet[1] & 0x3f)
	}
	d := frames * frameDuration(packet[0]>>3)
	if d == 0 || d > maxDuration {
		return 0, fmt.Errorf("%w: it lasts %v", ErrPacket, d)
	}
	return d, nil
}

// frameDuration is that of one frame with the given configuration number: the upper
// five bits of a packet.
func frameDuration(config byte) time.Duration {
	switch {
	case config < 12: // speech: 10, 20, 40, 60 ms
		return [...]time.Duration{10, 20, 40, 60}[config&3] * time.Millisecond
	case config < 16: // hybrid: 10, 20 ms
		return (10 << (config & 1)) * time.Millisecond
	default: // music: 2.5, 5, 10, 20 ms
		return (2500 << (config & 3)) * time.Microsecond
	}
}

// Silent reports whether a packet holds nothing but the notice that there is silence,
// and so need not be sent: what an encoder with DTX gives in long silences. The
// decoder at the other end conceals, quietly.
func Silent(packet []byte) bool { return len(packet) <= 2 }
