package audio

import (
	"encoding/binary"
	"io"
)

// AppendBytes appends the samples to dst as little-endian 16-bit bytes.
func AppendBytes(dst []byte, samples []int16) []byte {
	for _, s := range samples {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(s))
	}
	return dst
}

// ByteDecoder turns little-endian 16-bit bytes, cut anywhere, into samples. A byte
// left over at the end of one piece is the first half of the next piece's first
// sample: dropping it would turn everything after it into noise. The zero value is
// ready.
type ByteDecoder struct {
	half    byte
	pending bool
}

// Append appends the samples that p completes to dst.
func (d *ByteDecoder) Append(dst []int16, p []byte) []int16 {
	if d.pending && len(p) > 0 {
		dst = append(dst, int16(uint16(d.half)|uint16(p[0])<<8))
		d.pending = false
		p = p[1:]
	}
	for len(p) >= 2 {
		dst = append(dst, int16(binary.LittleEndian.Uint16(p)))
		p = p[2:]
	}
	if len(p) == 1 {
		d.half, d.pending = p[0], true
	}
	return dst
}

// Pending reports whether half a sample waits for its other byte.
func (d *ByteDecoder) Pending() bool { return d.pending }

// Reset forgets a half sample: the next byte begins a sample.
func (d *ByteDecoder) Reset() { *d = ByteDecoder{} }

// NewReader returns a [Source] that reads little-endian 16-bit samples of the given
// format from r: what speech services call raw PCM. r may cut its pieces anywhere;
// bytes are carried over until they make a sample time. Bytes that do not fill a
// last sample time are dropped at the end.
func NewReader(r io.Reader, format Format) (Source, error) {
	if err := format.Validate(); err != nil {
		return nil, err
	}
	return &reader{r: r, format: format}, nil
}

type reader struct {
	r      io.Reader
	format Format
	buf    []byte
	have   int // bytes in buf not yet given away: less than one sample time
	err    error
}

func (r *reader) Format() Format { return r.format }

func (r *reader) Read(p []int16) (int, error) {
	unit := 2 * r.format.Channels
	want := len(p) / r.format.Channels * unit
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
		var n int
		n, r.err = r.r.Read(r.buf[r.have:want])
		r.have += n
	}
	whole := r.have - r.have%unit
	for i := range whole / 2 {
		p[i] = int16(binary.LittleEndian.Uint16(r.buf[2*i:]))
	}
	r.have = copy(r.buf, r.buf[whole:r.have])
	return whole / 2, nil
}
