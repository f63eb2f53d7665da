// Package opus encodes and decodes Opus, the codec of WebRTC.
//
// It hides which implementation does the work. By default that is a pure-Go one.
// Built with the tags libopus and nolibopusfile, and cgo, it is the C library, which
// takes about a fifth less time:
//
//	go build -tags "libopus nolibopusfile" ./...
//
// An encoder or decoder holds 250 to 350 KB, but only from its first packet on.
package opus

import (
	"errors"
	"fmt"
	"time"

	"github.com/turnwise/turnwise/audio"
)

// Errors of this package. All wrap more detail.
var (
	// ErrConfig names a setting that Opus does not have.
	ErrConfig = errors.New("opus: invalid setting")
	// ErrFrame means that a frame has not the length the encoder was made for.
	ErrFrame = errors.New("opus: wrong frame size")
	// ErrPacket means a packet that is not valid Opus. The decoder can go on: conceal
	// the packet and decode the next.
	ErrPacket = errors.New("opus: invalid packet")
)

// Encoder turns frames into packets. It keeps state from frame to frame: each stream
// has its own, used by one goroutine at a time.
type Encoder interface {
	// Encode appends the packet of one frame to dst. The frame has exactly the
	// samples that the configured duration has, or the error wraps ErrFrame. There
	// is no allocation if dst has room for MaxPacket more bytes. See Silent for
	// packets that need not be sent.
	Encode(dst []byte, frame []int16) ([]byte, error)
	// Adapt sets what the network reports: the bit rate to use, in bits per second,
	// and the share of packets lost, in percent. It takes effect with the next
	// frame. The error wraps ErrConfig.
	Adapt(bitrate, loss int) error
	// Reset begins a new stream.
	Reset()
}

// Decoder turns packets into samples. It keeps state from packet to packet: each
// stream has its own, used by one goroutine at a time. Packets may have any
// duration, 2.5 to 120 ms, and any bandwidth and number of channels; the output
// always has the decoder's format. Decoding a packet does not allocate if dst has room
// for the result, MaxSamples at most.
type Decoder interface {
	// Decode appends the samples of a packet to dst. A nil packet is a lost one:
	// what is appended continues the sound, fading out, for as long as the packet
	// before had lasted (20 ms at first). The error wraps ErrPacket and leaves dst
	// as it was.
	Decode(dst []int16, packet []byte) ([]int16, error)
	// Recover appends the samples of the lost packet before next: from the copy that
	// next carries if it was encoded with FEC, else as Decode does for a nil packet.
	// Afterwards next itself is decoded as usual.
	Recover(dst []int16, next []byte) ([]int16, error)
	// Reset begins a new stream.
	Reset()
}

const (
	// MaxPacket is the most bytes a packet of an [Encoder] has.
	MaxPacket = 1275
	// ClockRate is the rate of RTP timestamps for Opus in Hz, whatever the rate of
	// the samples.
	ClockRate = 48000

	maxDuration = 120 * time.Millisecond
)

// MaxSamples is the most samples, all channels counted, that one packet decodes to in
// the given format: 120 ms.
func MaxSamples(format audio.Format) int { return format.Samples(maxDuration) }

// EncoderConfig sets up an [Encoder]. Zero fields other than Format take their
// defaults.
type EncoderConfig struct {
	// Format is that of the frames: a rate of 8000, 12000, 16000, 24000 or 48000 Hz
	// with one or two channels. Required.
	Format audio.Format
	// Frame is the duration of a frame: 2.5, 5, 10, 20, 40 or 60 ms. Default 20 ms.
	Frame time.Duration
	// Bitrate in bits per second, 6000 to 510000. Default 32000 for each channel.
	Bitrate int
	// Complexity trades time for quality, 1 to 10. Default 5.
	Complexity int
	// Music tunes the encoder for music rather than speech.
	Music bool
	// DTX stops sending in silence: see Silent.
	DTX bool
	// FEC adds to packets a coarse copy of the one before, from which a decoder
	// recovers a lost one. It works for speech at up to about 40 kbit/s a channel,
	// once Adapt or Loss says that packets are being lost.
	FEC bool
	// Loss is the share of packets lost, in percent, at first.
	Loss int
}

// withDefaults fills in zero fields.
func (c EncoderConfig) withDefaults() EncoderConfig {
	if c.Frame == 0 {
		c.Frame = 20 * time.Millisecond
	}
	if c.Bitrate == 0 {
		c.Bitrate = 32000 * c.Format.Channels
	}
	if c.Complexity == 0 {
		c.Complexity = 5
	}
	return c
}

// Validate reports, wrapping [ErrConfig], the field that is out of range.
func (c EncoderConfig) Validate() error {
	c = c.withDefaults()
	if err := checkFormat(c.Format); err != nil {
		return err
	}
	if !validFrame(c.Frame) {
		return fmt.Errorf("%w: Frame is %v; use 2.5, 5, 10, 20, 40 or 60 ms", ErrConfig, c.Frame)
	}
	if c.Complexity < 1 || c.Complexity > 10 {
		return fmt.Errorf("%w: Complexity is %d; use 1 to 10", ErrConfig, c.Complexity)
	}
	return checkNetwork(c.Bitrate, c.Loss)
}

func validFrame(d time.Duration) bool {
	for _, valid := range [...]time.Duration{2500, 5000, 10000, 20000, 40000, 60000} {
		if d == valid*time.Microsecond {
			return true
		}
	}
	return false
}

func checkFormat(f audio.Format) error {
	switch f.Rate {
	case 8000, 12000, 16000, 24000, 48000:
	default:
		return fmt.Errorf("%w: a rate of %d Hz; use 8000, 12000, 16000, 24000 or 48000, or resample", ErrConfig, f.Rate)
	}
	if f.Channels != 1 && f.Channels != 2 {
		return fmt.Errorf("%w: %d channels; use 1 or 2", ErrConfig, f.Channels)
	}
	return nil
}

func checkNetwork(bitrate, loss int) error {
	if bitrate < 6000 || bitrate > 510000 {
		return fmt.Errorf("%w: a bit rate of %d; use 6000 to 510000", ErrConfig, bitrate)
	}
	if loss < 0 || loss > 100 {
		return fmt.Errorf("%w: a loss of %d %%; use 0 to 100", ErrConfig, loss)
	}
	return nil
}

// NewEncoder returns an encoder. The error wraps [ErrConfig].
func NewEncoder(cfg EncoderConfig) (Encoder, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	return &encoder{cfg: cfg, samples: cfg.Format.Samples(cfg.Frame)}, nil
}

// NewDecoder returns a decoder whose output has the given format, with the rates and
// channels that [EncoderConfig] has. Decoding straight to the rate that is needed
// saves a resampler. The error wraps [ErrConfig].
func NewDecoder(format audio.Format) (Decoder, error) {
	if err := checkFormat(format); err != nil {
		return nil, err
	}
	return &decoder{format: format, last: 20 * time.Millisecond}, nil
}
