package mix

import (
	"errors"
	"io"

	"github.com/turnwise/turnwise/audio"
)

// ErrEmpty is returned for a loop without samples.
var ErrEmpty = errors.New("mix: a loop needs at least one sample time")

// NewLoop returns an endless [audio.Source] that plays the samples over and over,
// without a gap or a repeated sample where the end meets the beginning: hold music, a
// room's hum. The samples are shared, not copied, so one recording in memory serves
// any number of calls. A part of a sample time at the end is left out.
func NewLoop(samples []int16, format audio.Format) (audio.Source, error) {
	if err := format.Validate(); err != nil {
		return nil, err
	}
	samples = samples[:len(samples)-len(samples)%format.Channels]
	if len(samples) == 0 {
		return nil, ErrEmpty
	}
	return &loop{samples: samples, format: format}, nil
}

type loop struct {
	samples []int16
	format  audio.Format
	pos     int
}

func (l *loop) Format() audio.Format { return l.format }

func (l *loop) Read(p []int16) (int, error) {
	p = p[:len(p)-len(p)%l.format.Channels]
	if len(p) == 0 {
		return 0, io.ErrShortBuffer
	}
	for n := 0; n < len(p); {
		k := copy(p[n:], l.samples[l.pos:])
		n += k
		l.pos = (l.pos + k) % len(l.samples)
	}
	return len(p), nil
}
