package audio

import (
	"errors"
	"fmt"
	"time"
)

// ErrFormat is what [Format.Validate] wraps: a rate or a channel count that no
// stream can have.
var ErrFormat = errors.New("audio: invalid format")

// Limits of a [Format].
const (
	// MinRate is the lowest sample rate in Hz.
	MinRate = 4000
	// MaxRate is the highest sample rate in Hz.
	MaxRate = 384000
	// MaxChannels is the highest number of interleaved channels.
	MaxChannels = 32
)

// Format is the shape of a stream of 16-bit samples.
type Format struct {
	// Rate is the number of samples per second in each channel.
	Rate int
	// Channels is the number of interleaved channels: 1 is mono, 2 is left, right.
	Channels int
}

// Mono is the format of a single channel at the given rate in Hz.
func Mono(rate int) Format { return Format{Rate: rate, Channels: 1} }

// Validate reports, wrapping [ErrFormat], a rate outside [MinRate] to [MaxRate] or
// a channel count outside 1 to [MaxChannels].
func (f Format) Validate() error {
	if f.Rate < MinRate || f.Rate > MaxRate {
		return fmt.Errorf("%w: rate %d Hz is not within %d to %d Hz", ErrFormat, f.Rate, MinRate, MaxRate)
	}
	if f.Channels < 1 || f.Channels > MaxChannels {
		return fmt.Errorf("%w: %d channels are not within 1 to %d", ErrFormat, f.Channels, MaxChannels)
	}
	return nil
}

// Samples is the number of samples, all channels counted, that d holds: whole
// sample times only, rounded down. 20 ms of stereo at 48 kHz is 1920.
func (f Format) Samples(d time.Duration) int {
	if d <= 0 {
		return 0
	}
	whole, part := d/time.Second, d%time.Second
	times := int64(whole)*int64(f.Rate) + int64(part)*int64(f.Rate)/int64(time.Second)
	return int(times) * f.Channels
}

// Duration is the playing time of that many samples, all channels counted. It is 0
// for an invalid format.
func (f Format) Duration(samples int) time.Duration {
	if f.Rate <= 0 || f.Channels <= 0 {
		return 0
	}
	times := int64(samples / f.Channels)
	rate := int64(f.Rate)
	return time.Duration(times/rate)*time.Second + time.Duration(times%rate)*time.Second/time.Duration(rate)
}

// String names the format, as in "16000 Hz mono".
func (f Format) String() string {
	switch f.Channels {
	case 1:
		return fmt.Sprintf("%d Hz mono", f.Rate)
	case 2:
		return fmt.Sprintf("%d Hz stereo", f.Rate)
	default:
		return fmt.Sprintf("%d Hz %d channels", f.Rate, f.Channels)
	}
}
