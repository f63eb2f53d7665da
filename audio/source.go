package audio

import (
	"errors"
	"fmt"
	"io"
)

// Source is a stream of samples. Decoders are Sources, and so are generators.
type Source interface {
	// Format is the shape of the stream. It never changes.
	Format() Format
	// Read fills p with up to len(p) samples and returns how many. It follows the
	// rules of [io.Reader], and in addition only ever returns whole sample times:
	// the count is a multiple of the number of channels. A p too small for one
	// sample time gives [io.ErrShortBuffer]. The end is [io.EOF].
	Read(p []int16) (int, error)
}

// ErrTooLong is returned by [ReadAll] when the stream has more samples than allowed.
var ErrTooLong = errors.New("audio: stream longer than allowed")

// ReadAll reads src to its end and returns the samples, at most limit of them, all
// channels counted. A longer stream gives the first limit samples and [ErrTooLong];
// another failure gives what was read before it, and the failure.
func ReadAll(src Source, limit int) ([]int16, error) {
	const step = 4096
	channels := src.Format().Channels
	var all []int16
	buf := make([]int16, step-step%channels)
	for {
		n, err := src.Read(buf)
		if len(all)+n > limit {
			all = append(all, buf[:limit-len(all)]...)
			return all, fmt.Errorf("%w: more than %d samples", ErrTooLong, limit)
		}
		all = append(all, buf[:n]...)
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
	}
}

// NewSource returns a Source that reads samples from memory. It does not copy or
// change them, so any number of Sources may share one slice. Samples that do not
// fill a last sample time are left out.
func NewSource(samples []int16, format Format) (Source, error) {
	if err := format.Validate(); err != nil {
		return nil, err
	}
	return &memory{rest: samples[:len(samples)-len(samples)%format.Channels], format: format}, nil
}

type memory struct {
	rest   []int16
	format Format
}

func (m *memory) Format() Format { return m.format }

func (m *memory) Read(p []int16) (int, error) {
	if len(p) < m.format.Channels {
		return 0, io.ErrShortBuffer
	}
	if len(m.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:len(p)-len(p)%m.format.Channels], m.rest)
	m.rest = m.rest[n:]
	return n, nil
}
