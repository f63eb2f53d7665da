package wav

import (
	"errors"
	"fmt"
	"io"

	"github.com/turnwise/turnwise/audio"
)

// ErrClosed is returned for writing to a closed [Writer].
var ErrClosed = errors.New("wav: writer is closed")

// Writer writes 16-bit samples as a WAV stream. What was written is always a
// readable stream, also when the program dies before Close: until then the header
// says that the length is unknown. Create it with [NewWriter].
type Writer struct {
	w      io.Writer
	seeker io.WriteSeeker // nil when w cannot seek
	start  int64          // where the header stands in seeker
	format audio.Format
	size   int64
	buf    []byte
	err    error
}

// NewWriter writes a header to w at its present position. If w can seek, like a
// file, Close writes the real sizes into it; if not, like a pipe, readers read to
// the end. The Writer does not buffer and does not close w.
func NewWriter(w io.Writer, format audio.Format) (*Writer, error) {
	if err := format.Validate(); err != nil {
		return nil, fmt.Errorf("wav: %w", err)
	}
	out := &Writer{w: w, format: format}
	if s, ok := w.(io.WriteSeeker); ok {
		// A pipe is an *os.File too, and says only here that it cannot seek.
		if start, err := s.Seek(0, io.SeekCurrent); err == nil {
			out.seeker, out.start = s, start
		}
	}
	if _, err := w.Write(appendHeader(nil, format, -1)); err != nil {
		return nil, fmt.Errorf("wav: write header: %w", err)
	}
	return out, nil
}

// Format is the format given to NewWriter.
func (w *Writer) Format() audio.Format { return w.format }

// Samples is the number of samples written, all channels counted.
func (w *Writer) Samples() int64 { return w.size / 2 }

// Write writes the samples at once. After a failure it returns that failure.
func (w *Writer) Write(samples []int16) error {
	if w.err != nil {
		return w.err
	}
	w.buf = audio.AppendBytes(w.buf[:0], samples)
	n, err := w.w.Write(w.buf)
	w.size += int64(n)
	if err != nil {
		w.err = fmt.Errorf("wav: write: %w", err)
	}
	return w.err
}

// Close completes the header where w can seek, and leaves w at the end of the
// stream, open. A stream of 4 GiB or more keeps the sizes of an unknown length. A
// second Close does nothing.
func (w *Writer) Close() error {
	if errors.Is(w.err, ErrClosed) {
		return nil
	}
	err := w.err
	w.err = ErrClosed
	if w.seeker == nil || err != nil {
		return err
	}
	if _, err := w.seeker.Seek(w.start, io.SeekStart); err != nil {
		return fmt.Errorf("wav: complete header: %w", err)
	}
	if _, err := w.seeker.Write(appendHeader(nil, w.format, w.size)); err != nil {
		return fmt.Errorf("wav: complete header: %w", err)
	}
	if _, err := w.seeker.Seek(0, io.SeekEnd); err != nil {
		return fmt.Errorf("wav: complete header: %w", err)
	}
	return nil
}

// Append appends a whole WAV stream, header and samples, to dst: for services that
// take a file in a request. The format must be valid and the samples fewer than
// 2 GiB.
func Append(dst []byte, format audio.Format, samples []int16) []byte {
	return audio.AppendBytes(appendHeader(dst, format, int64(2*len(samples))), samples)
}
