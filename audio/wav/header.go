package wav

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/turnwise/turnwise/audio"
)

// Errors that reading a header wraps.
var (
	// ErrFormat means that the stream is not a WAV stream, or a broken one.
	ErrFormat = errors.New("wav: not a WAV stream")
	// ErrUnsupported means a WAV stream in an encoding this package does not read.
	ErrUnsupported = errors.New("wav: unsupported encoding")
)

// Encoding tags of the fmt chunk.
const (
	tagPCM        = 1
	tagFloat      = 3
	tagALaw       = 6
	tagULaw       = 7
	tagExtensible = 0xfffe
)

// Sizes that a header may carry.
const (
	// maxHeader is how much may stand before the sound. Real files carry cover
	// art there; more than this is an attack or not a WAV stream.
	maxHeader = 16 << 20
	// unknownSize and above mean that the writer did not know the length.
	// espeak-ng writes 0x7ffff000, ffmpeg and sox write 0xffffffff.
	unknownSize = 0x7fff0000
)

// header is what the chunks before the sound say.
type header struct {
	format audio.Format
	tag    uint16
	bits   int
	// size is the number of bytes of sound; -1: to the end of the stream.
	size int64
}

// headerReader counts what has been read, to keep within maxHeader.
type headerReader struct {
	r    io.Reader
	read int64
}

func (h *headerReader) full(p []byte) error {
	n, err := io.ReadFull(h.r, p)
	h.read += int64(n)
	if err != nil {
		return short(err, "ends in its header")
	}
	return nil
}

func (h *headerReader) skip(n int64) error {
	if h.read+n > maxHeader {
		return fmt.Errorf("%w: more than %d bytes before the sound", ErrFormat, maxHeader)
	}
	k, err := io.CopyN(io.Discard, h.r, n)
	h.read += k
	if err != nil {
		return short(err, "ends in its header")
	}
	return nil
}

// short turns the end of the stream into ErrFormat and keeps other failures.
func short(err error, what string) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%w: %s", ErrFormat, what)
	}
	return fmt.Errorf("wav: %w", err)
}

// readHeader reads up to the first byte of sound.
func readHeader(r io.Reader) (header, error) {
	in := &headerReader{r: r}
	var start [12]byte
	if err := in.full(start[:]); err != nil {
		return header{}, err
	}
	magic := string(start[:4])
	if magic != "RIFF" && magic != "RF64" || string(start[8:]) != "WAVE" {
		return header{}, fmt.Errorf("%w: it begins with %q", ErrFormat, start[:])
	}
	riffSize := binary.LittleEndian.Uint32(start[4:])

	var h header
	for {
		var chunk [8]byte
		if err := in.full(chunk[:]); err != nil {
			return header{}, err
		}
		size := int64(binary.LittleEndian.Uint32(chunk[4:]))
		switch string(chunk[:4]) {
		case "fmt ":
			if err := h.readFormat(in, size); err != nil {
				return header{}, err
			}
		case "data":
			if h.format.Rate == 0 {
				return header{}, fmt.Errorf("%w: sound without a fmt chunk before it", ErrFormat)
			}
			h.size = soundSize(size, riffSize, in.read)
			return h, nil
		default:
			if err := in.skip(size + size&1); err != nil {
				return header{}, err
			}
		}
	}
}

// soundSize is the size of the sound, or -1 when the header does not tell. A size
// of 0 is a writer's placeholder where the file's size is one too, or ends here.
func soundSize(size int64, riffSize uint32, read int64) int64 {
	placeholder := riffSize == 0 || riffSize >= unknownSize || int64(riffSize) <= read-8
	if size >= unknownSize || size == 0 && placeholder {
		return -1
	}
	return size
}

// readFormat reads a fmt chunk.
func (h *header) readFormat(in *headerReader, size int64) error {
	const basic, extended = 16, 40
	if size < basic {
		return fmt.Errorf("%w: a fmt chunk of %d bytes", ErrFormat, size)
	}
	var b [extended]byte
	known := min(size, extended)
	if err := in.full(b[:known]); err != nil {
		return err
	}
	if err := in.skip(size - known + size&1); err != nil {
		return err
	}
	h.tag = binary.LittleEndian.Uint16(b[0:])
	h.format.Channels = int(binary.LittleEndian.Uint16(b[2:]))
	h.format.Rate = int(binary.LittleEndian.Uint32(b[4:]))
	h.bits = int(binary.LittleEndian.Uint16(b[14:]))
	if h.tag == tagExtensible && known == extended {
		h.tag = binary.LittleEndian.Uint16(b[24:])
	}
	if err := h.format.Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if sampleDecoder(h.tag, h.bits) == nil {
		return fmt.Errorf("%w: encoding %#x with %d bits; convert to 16-bit PCM", ErrUnsupported, h.tag, h.bits)
	}
	return nil
}

// headerSize is the length of the headers that this package writes.
const headerSize = 44

// appendHeader appends the header of 16-bit PCM with that many bytes of sound; -1
// writes the sizes of a stream of unknown length.
func appendHeader(dst []byte, format audio.Format, size int64) []byte {
	riff, data := uint32(0xffffffff), uint32(0xffffffff)
	if size >= 0 && size <= 0xffffffff-headerSize {
		riff, data = uint32(size)+headerSize-8, uint32(size)
	}
	le := binary.LittleEndian
	dst = append(dst, "RIFF"...)
	dst = le.AppendUint32(dst, riff)
	dst = append(dst, "WAVEfmt "...)
	dst = le.AppendUint32(dst, 16)
	dst = le.AppendUint16(dst, tagPCM)
	dst = le.AppendUint16(dst, uint16(format.Channels))
	dst = le.AppendUint32(dst, uint32(format.Rate))
	dst = le.AppendUint32(dst, uint32(format.Rate*format.Channels*2))
	dst = le.AppendUint16(dst, uint16(format.Channels*2))
	dst = le.AppendUint16(dst, 16)
	dst = append(dst, "data"...)
	return le.AppendUint32(dst, data)
}

// IsWAV reports whether data begins like a WAV stream; 12 bytes are enough to tell.
func IsWAV(data []byte) bool {
	return len(data) >= 12 && bytes.Equal(data[8:12], []byte("WAVE")) &&
		(bytes.Equal(data[:4], []byte("RIFF")) || bytes.Equal(data[:4], []byte("RF64")))
}
