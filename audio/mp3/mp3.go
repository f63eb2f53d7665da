// Package mp3 decodes MP3 streams, which many speech services answer with.
package mp3

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/hajimehoshi/go-mp3"

	"github.com/turnwise/turnwise/audio"
)

// ErrFormat means that the stream is not MP3, is broken, or has a rate below 16 kHz,
// which this package does not decode.
var ErrFormat = errors.New("mp3: not a readable MP3 stream")

const (
	// maxTag is how long an ID3 tag may be; it is passed over, not kept.
	maxTag = 16 << 20
	// maxGarbage is how much may stand between two frames. A frame has at most
	// 1441 bytes.
	maxGarbage = 64 << 10
)

// Decoder decodes an MP3 stream as it comes in; it is an [audio.Source]. Create it
// with [NewDecoder].
//
// It always has two channels: mono streams come with both the same. [audio.NewMono]
// makes one of them again.
type Decoder struct {
	in     *input
	source audio.Source
}

// NewDecoder reads r up to the end of the first frame, for the rate stands there. The
// error wraps [ErrFormat], or r's own failure.
func NewDecoder(r io.Reader) (*Decoder, error) {
	in := &input{r: bufio.NewReader(r), left: maxGarbage}
	if err := in.skipTags(); err != nil {
		return nil, err
	}
	frames, err := in.open()
	if err != nil {
		return nil, err
	}
	source, err := audio.NewReader(&guarded{in, frames}, audio.Format{Rate: frames.SampleRate(), Channels: 2})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return &Decoder{in: in, source: source}, nil
}

// Format implements [audio.Source]: the stream's rate, and always two channels.
func (d *Decoder) Format() audio.Format { return d.source.Format() }

// Read implements [audio.Source]. What follows the last whole frame is not decoded.
func (d *Decoder) Read(p []int16) (int, error) { return d.source.Read(p) }

// input is what the decoding library reads from. It has no Seek, since with one the
// library would read the whole stream first to learn its length.
type input struct {
	r    *bufio.Reader
	left int   // bytes it may read before the next frame
	err  error // r's failure, other than its end
}

func (in *input) Read(p []byte) (int, error) {
	if in.left == 0 {
		return 0, errGarbage
	}
	n, err := in.r.Read(p[:min(len(p), in.left)])
	in.left -= n
	if err != nil && err != io.EOF {
		in.err = err
	}
	return n, err
}

var errGarbage = fmt.Errorf("no frame within %d bytes", maxGarbage)

// skipTags passes over ID3 tags. The library would make room for a whole one, of a
// size that the stream names.
func (in *input) skipTags() error {
	for {
		head, err := in.r.Peek(10)
		if err != nil || string(head[:3]) != "ID3" {
			return nil // a stream too short is found out by the library
		}
		size := 10
		for i, b := range head[6:] {
			size += int(b&0x7f) << (7 * (3 - i))
		}
		if size > maxTag {
			return fmt.Errorf("%w: a tag of %d bytes", ErrFormat, size)
		}
		if _, err := in.r.Discard(size); err != nil && err != io.EOF {
			return fmt.Errorf("mp3: %w", err)
		}
	}
}

// open decodes the first frame.
func (in *input) open() (frames *mp3.Decoder, err error) {
	defer in.catch(&err)
	frames, err = mp3.NewDecoder(in)
	if err == io.EOF {
		err = errors.New("it has no frame")
	}
	return frames, err
}

// catch turns the library's failure, which may be a panic, into this package's.
func (in *input) catch(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", ErrFormat, p)
		return
	}
	switch {
	case *err == nil:
		in.left = maxGarbage
	case *err == io.EOF && in.err == nil:
	case in.err != nil:
		*err = fmt.Errorf("mp3: %w", in.err)
	default:
		*err = fmt.Errorf("%w: %w", ErrFormat, *err)
	}
}

// guarded reads from the library.
type guarded struct {
	in     *input
	frames *mp3.Decoder
}

func (g *guarded) Read(p []byte) (n int, err error) {
	defer g.in.catch(&err)
	return g.frames.Read(p)
}
