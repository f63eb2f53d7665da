package opus

import (
	"fmt"
	"slices"
	"time"

	"github.com/turnwise/turnwise/audio"
)

// encoderBackend is an implementation of the codec. It is made at the first frame,
// as it holds hundreds of kilobytes, and most calls wait a while before they talk.
type encoderBackend interface {
	encode(frame []int16, packet []byte) (int, error)
	adapt(bitrate, loss int) error
	reset() error
}

// decoderBackend likewise. samples are per channel, and fit the output.
type decoderBackend interface {
	decode(packet []byte, out []int16) (samples int, err error)
	conceal(out []int16) (samples int, err error)
	recover(next []byte, out []int16) (samples int, err error)
	reset() error
}

type encoder struct {
	cfg     EncoderConfig
	samples int
	backend encoderBackend
}

func (e *encoder) Encode(dst []byte, frame []int16) ([]byte, error) {
	if len(frame) != e.samples {
		return dst, fmt.Errorf("%w: %d samples, want %d: %v of %v", ErrFrame, len(frame), e.samples, e.cfg.Frame, e.cfg.Format)
	}
	if e.backend == nil {
		backend, err := newEncoderBackend(e.cfg)
		if err != nil {
			return dst, fmt.Errorf("opus: make encoder: %w", err)
		}
		e.backend = backend
	}
	dst = slices.Grow(dst, MaxPacket)
	n, err := e.backend.encode(frame, dst[len(dst):len(dst)+MaxPacket])
	if err != nil {
		return dst, fmt.Errorf("opus: encode: %w", err)
	}
	return dst[:len(dst)+n], nil
}

func (e *encoder) Adapt(bitrate, loss int) error {
	if err := checkNetwork(bitrate, loss); err != nil {
		return err
	}
	e.cfg.Bitrate, e.cfg.Loss = bitrate, loss
	if e.backend == nil {
		return nil
	}
	if err := e.backend.adapt(bitrate, loss); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return nil
}

func (e *encoder) Reset() {
	if e.backend != nil && e.backend.reset() != nil {
		e.backend = nil // the next frame makes another
	}
}

type decoder struct {
	format  audio.Format
	last    time.Duration // of the packet before
	backend decoderBackend
}

func (d *decoder) Decode(dst []int16, packet []byte) ([]int16, error) {
	if packet == nil {
		return d.fill(dst, d.last, func(out []int16) (int, error) { return d.backend.conceal(out) })
	}
	duration, err := Duration(packet)
	if err != nil {
		return dst, err
	}
	out, err := d.fill(dst, duration, func(out []int16) (int, error) { return d.backend.decode(packet, out) })
	if err == nil {
		d.last = duration
	}
	return out, err
}

func (d *decoder) Recover(dst []int16, next []byte) ([]int16, error) {
	if _, err := Duration(next); err != nil {
		return dst, err
	}
	// The copy is of one frame. A lost packet of several is concealed.
	if frameDuration(next[0]>>3) != d.last {
		return d.Decode(dst, nil)
	}
	return d.fill(dst, d.last, func(out []int16) (int, error) { return d.backend.recover(next, out) })
}

// fill lets the backend append that much sound to dst. A backend that panics over a
// packet, which comes from the network, loses its state and not the call.
func (d *decoder) fill(dst []int16, duration time.Duration, run func(out []int16) (int, error)) (result []int16, err error) {
	if d.backend == nil {
		if d.backend, err = newDecoderBackend(d.format); err != nil {
			return dst, fmt.Errorf("opus: make decoder: %w", err)
		}
	}
	defer func() {
		if p := recover(); p != nil {
			d.backend = nil
			result, err = dst, fmt.Errorf("%w: the decoder failed: %v", ErrPacket, p)
		}
	}()
	size := d.format.Samples(duration)
	dst = slices.Grow(dst, size)
	n, err := run(dst[len(dst) : len(dst)+size : len(dst)+size])
	if err != nil {
		return dst, fmt.Errorf("%w: %w", ErrPacket, err)
	}
	return dst[:len(dst)+n*d.format.Channels], nil
}

func (d *decoder) Reset() {
	d.last = 20 * time.Millisecond
	if d.backend != nil && d.backend.reset() != nil {
		d.backend = nil
	}
}
