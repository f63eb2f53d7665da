package resample

import (
	"io"

	"github.com/turnwise/turnwise/audio"
)

// NewSource returns a [audio.Source] that reads src and gives it at another rate,
// with the same channels.
func NewSource(src audio.Source, rate int) (audio.Source, error) {
	format := src.Format()
	if format.Rate == rate {
		return src, nil
	}
	r, err := New(format.Rate, rate, format.Channels)
	if err != nil {
		return nil, err
	}
	format.Rate = rate
	return &source{src: src, r: r, format: format}, nil
}

type source struct {
	src    audio.Source
	r      *Resampler
	format audio.Format
	in     []int16
	ready  []int16 // converted
	given  int     // of ready, already read
	err    error
}

func (s *source) Format() audio.Format { return s.format }

func (s *source) Read(p []int16) (int, error) {
	p = p[:len(p)-len(p)%s.format.Channels]
	if len(p) == 0 {
		return 0, io.ErrShortBuffer
	}
	for s.given == len(s.ready) {
		if s.err != nil {
			return 0, s.err
		}
		s.fill(len(p))
	}
	n := copy(p, s.ready[s.given:])
	s.given += n
	return n, nil
}

// fill converts one piece of about that many samples.
func (s *source) fill(n int) {
	if len(s.in) < n {
		s.in = make([]int16, n)
	}
	k, err := s.src.Read(s.in[:n])
	s.ready, s.given = s.r.Append(s.ready[:0], s.in[:k]), 0
	s.err = err
	if err == io.EOF {
		s.ready = s.r.Flush(s.ready)
	}
}
