package wav

import (
	"fmt"
	"io"

	"github.com/turnwise/turnwise/audio"
)

// Reader reads the samples of a WAV stream; it is an [audio.Source]. Create it with
// [NewReader].
type Reader struct {
	r      io.Reader
	header header
	decode func(dst []int16, b []byte)
	buf    []byte
	have   int   // bytes in buf not yet given away: less than one sample time
	left   int64 // bytes of sound not yet read; -1: until the stream ends
	err    error
}

// NewReader reads the header from r, and nothing beyond it. The error wraps
// [ErrFormat], [ErrUnsupported] or r's own failure.
func NewReader(r io.Reader) (*Reader, error) {
	h, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	return &Reader{r: r, header: h, decode: sampleDecoder(h.tag, h.bits), left: h.size}, nil
}

// Format implements [audio.Source]: the stream's own rate and channels.
func (r *Reader) Format() audio.Format { return r.header.format }

// Bits is the number of bits of a sample in the stream, whatever their encoding.
func (r *Reader) Bits() int { return r.header.bits }

// Samples is the number of samples that the header promises, all channels counted,
// or -1 if it does not know. A stream that ends early has fewer.
func (r *Reader) Samples() int64 {
	if r.header.size < 0 {
		return -1
	}
	return r.header.size / int64(r.header.bits/8)
}

// Read implements [audio.Source]. A stream that ends before the size in its header
// ends with [io.EOF] all the same; what follows the sound is not read.
func (r *Reader) Read(p []int16) (int, error) {
	width := r.header.bits / 8
	unit := width * r.header.format.Channels
	want := len(p) / r.header.format.Channels * unit
	if want == 0 {
		return 0, io.ErrShortBuffer
	}
	if len(r.buf) < want {
		grown := make([]byte, want)
		copy(grown, r.buf[:r.have])
		r.buf = grown
	}
	for r.have < unit {
		if r.err != nil {
			return 0, r.err
		}
		r.fill(want)
	}
	whole := r.have - r.have%unit
	r.decode(p[:whole/width], r.buf[:whole])
	r.have = copy(r.buf, r.buf[whole:r.have])
	return whole / width, nil
}

// fill reads once, up to want bytes in the buffer and never past the sound.
func (r *Reader) fill(want int) {
	room := r.buf[r.have:want]
	if r.left >= 0 && int64(len(room)) > r.left {
		room = room[:r.left]
	}
	if len(room) == 0 {
		r.err = io.EOF
		return
	}
	n, err := r.r.Read(room)
	r.have += n
	if r.left >= 0 {
		r.left -= int64(n)
	}
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		r.err = fmt.Errorf("wav: %w", err)
	} else if err != nil {
		r.err = io.EOF
	}
}
