package audio

import (
	"fmt"
	"io"
	"math"
	"time"
)

// Tone is an endless sine wave: a [Source] for tests, beeps and ringing tones.
// Create it with [NewTone].
type Tone struct {
	format    Format
	amplitude float64
	frequency float64
	position  int64
}

// NewTone returns a sine of the given frequency in Hz, the same in all channels,
// with the given level in dBFS. As a full-scale sine has -3.01 dBFS, that is the
// loudest. The frequency must be above 0 and below half the rate.
func NewTone(format Format, frequency, level float64) (*Tone, error) {
	if err := format.Validate(); err != nil {
		return nil, err
	}
	if frequency <= 0 || frequency >= float64(format.Rate)/2 {
		return nil, fmt.Errorf("%w: a tone of %g Hz needs a rate above %g Hz, not %d", ErrFormat, frequency, 2*frequency, format.Rate)
	}
	amplitude := min(Amplitude(level)*math.Sqrt2*fullScale, math.MaxInt16)
	return &Tone{format: format, amplitude: amplitude, frequency: frequency}, nil
}

// Format implements [Source].
func (t *Tone) Format() Format { return t.format }

// Read implements [Source]. It always fills all whole sample times of p.
func (t *Tone) Read(p []int16) (int, error) {
	n := len(p) - len(p)%t.format.Channels
	if n == 0 {
		return 0, io.ErrShortBuffer
	}
	for i := 0; i < n; i += t.format.Channels {
		// Whole turns are taken off before the sine, so that precision does not
		// fade in a long stream.
		turns := t.frequency * float64(t.position) / float64(t.format.Rate)
		s := Clip(float32(t.amplitude * math.Sin(2*math.Pi*(turns-math.Floor(turns)))))
		for c := range t.format.Channels {
			p[i+c] = s
		}
		t.position++
	}
	return n, nil
}

// NewSilence returns an endless [Source] of zeros.
func NewSilence(format Format) (Source, error) {
	if err := format.Validate(); err != nil {
		return nil, err
	}
	return silence{format}, nil
}

type silence struct{ format Format }

func (s silence) Format() Format { return s.format }

func (s silence) Read(p []int16) (int, error) {
	n := len(p) - len(p)%s.format.Channels
	if n == 0 {
		return 0, io.ErrShortBuffer
	}
	clear(p[:n])
	return n, nil
}

// Take returns a [Source] that ends after the first d of src, exact to the sample
// time, or where src ends.
func Take(src Source, d time.Duration) Source {
	return &take{src: src, left: src.Format().Samples(d)}
}

type take struct {
	src  Source
	left int
}

func (t *take) Format() Format { return t.src.Format() }

func (t *take) Read(p []int16) (int, error) {
	if t.left == 0 {
		return 0, io.EOF
	}
	n, err := t.src.Read(p[:min(len(p), t.left)])
	t.left -= n
	return n, err
}
