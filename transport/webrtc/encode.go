package webrtc

import (
	"time"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/g711"
	"github.com/turnwise/turnwise/audio/opus"
	"github.com/turnwise/turnwise/audio/resample"
)

// settleAfter is after how many silent frames in a row an encoder's packets do not
// change any more.
const settleAfter = 25

// encoder makes packets of 20 ms frames at the output rate. It belongs to one
// goroutine at a time.
type encoder interface {
	// encode appends the packet of a frame; silent tells that the frame is.
	encode(dst []byte, frame []int16, silent bool) ([]byte, error)
	// adapt sets what the network bears: bits per second, and the share of packets
	// lost in percent.
	adapt(bitrate, loss int)
}

// newEncoder makes the encoder of a codec.
func newEncoder(c codec, cfg *Config, filters *resample.Filters) (encoder, error) {
	format := audio.Format{Rate: cfg.OutputRate, Channels: 1}
	if c == codecOpus {
		enc, err := opus.NewEncoder(voice(cfg, format))
		return &opusEncoder{enc: enc}, err
	}
	g := &g711Encoder{to: g711.AppendULaw}
	if c == codecPCMA {
		g.to = g711.AppendALaw
	}
	if cfg.OutputRate == g711.Rate {
		return g, nil
	}
	f, err := filters.Get(cfg.OutputRate, g711.Rate)
	if err != nil {
		return nil, err
	}
	g.convert = f.New(1)
	// It is fed the silence that makes it give a whole frame for every frame.
	g.convert.Append(nil, make([]int16, format.Samples(f.HoldBack()+time.Microsecond)))
	return g, nil
}

// opusSilence is a packet of 20 ms of silence that needs no encoder.
var opusSilence = [...]byte{0xf8, 0xff, 0xfe}

// opusEncoder encodes what there is to be heard. In long silences it repeats the
// packet that the encoder came to at last, which costs nothing: both ends stay in the
// state of silence, so that what follows fits on. Before anything was heard there is
// no encoder, whose state takes a third of a megabyte.
type opusEncoder struct {
	enc     opus.Encoder
	begun   bool
	silent  int // silent frames in a row
	settled [64]byte
	length  int // of settled; 0 while it is not known
}

func (o *opusEncoder) encode(dst []byte, frame []int16, silent bool) ([]byte, error) {
	switch {
	case !silent:
		o.begun, o.silent, o.length = true, 0, 0
	case !o.begun:
		return append(dst, opusSilence[:]...), nil
	case o.length > 0:
		return append(dst, o.settled[:o.length]...), nil
	default:
		o.silent++
	}
	from := len(dst)
	out, err := o.enc.Encode(dst, frame)
	if err == nil && o.silent >= settleAfter {
		if packet := out[from:]; len(packet) <= len(o.settled) {
			o.length = copy(o.settled[:], packet)
		}
	}
	return out, err
}

func (o *opusEncoder) adapt(bitrate, loss int) {
	// The values are within the bounds that were checked at the start.
	_ = o.enc.Adapt(bitrate, loss)
}

// g711Encoder encodes PCMU and PCMA.
type g711Encoder struct {
	to      func(dst []byte, samples []int16) []byte
	convert *resample.Resampler // nil at the codec's own rate
	buf     []int16
}

func (g *g711Encoder) encode(dst []byte, frame []int16, _ bool) ([]byte, error) {
	if g.convert != nil {
		g.buf = g.convert.Append(g.buf[:0], frame)
		frame = g.buf
	}
	return g.to(dst, frame), nil
}

func (*g711Encoder) adapt(int, int) {}
