package webrtc

import (
	"time"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/g711"
	"github.com/turnwise/turnwise/audio/opus"
	"github.com/turnwise/turnwise/audio/resample"
)

// decoder makes sound at InputRate, mono, of a stream's packets. It belongs to one
// goroutine at a time.
type decoder interface {
	// duration is the playing time of a payload; 0 for a broken one.
	duration(payload []byte) time.Duration
	// quiet reports whether a payload says that the sender may stop sending.
	quiet(payload []byte) bool
	// decode appends a packet's sound.
	decode(dst []int16, payload []byte) ([]int16, error)
	// restore appends the sound of the lost packet before next, if next has it.
	restore(dst []int16, next []byte) ([]int16, bool)
	// conceal appends d of sound in the place of a lost packet.
	conceal(dst []int16, d time.Duration) []int16
	// silence appends d of silence.
	silence(dst []int16, d time.Duration) []int16
}

// samplesIn is the number of samples that sessions get for d.
func samplesIn(d time.Duration) int { return int(d * InputRate / time.Second) }

// newDecoder makes the decoder of a codec.
func newDecoder(c codec, filters *resample.Filters) (decoder, error) {
	if c == codecOpus {
		d, err := opus.NewDecoder(audio.Format{Rate: InputRate, Channels: 1})
		return &opusDecoder{d}, err
	}
	f, err := filters.Get(g711.Rate, InputRate)
	if err != nil {
		return nil, err
	}
	from := g711.AppendFromULaw
	if c == codecPCMA {
		from = g711.AppendFromALaw
	}
	return &g711Decoder{from: from, convert: f.New(1)}, nil
}

type opusDecoder struct{ dec opus.Decoder }

func (*opusDecoder) duration(payload []byte) time.Duration {
	d, err := opus.Duration(payload)
	if err != nil {
		return 0
	}
	return d
}

func (*opusDecoder) quiet(payload []byte) bool { return opus.Silent(payload) }

func (o *opusDecoder) decode(dst []int16, payload []byte) ([]int16, error) {
	return o.dec.Decode(dst, payload)
}

func (o *opusDecoder) restore(dst []int16, next []byte) ([]int16, bool) {
	if !hasCopy(next) {
		return dst, false
	}
	out, err := o.dec.Recover(dst, next)
	return out, err == nil
}

// hasCopy reports whether an Opus packet carries a copy of the one before it: RFC 6716
// says in section 4.2.4 that the bit follows those that tell of speech, one for each
// frame.
func hasCopy(packet []byte) bool {
	if len(packet) < 2 || packet[0] >= 0x80 || packet[0]&3 != 0 {
		return false // without a speech layer, or with several frames
	}
	frames := [...]int{1, 1, 2, 3}[packet[0]>>3&3]
	if packet[0] >= 0x60 { // hybrid: 10 or 20 ms
		frames = 1
	}
	return packet[1]&(0x80>>frames) != 0
}

func (o *opusDecoder) conceal(dst []int16, d time.Duration) []int16 {
	want := len(dst) + samplesIn(d)
	out, err := o.dec.Decode(dst, nil)
	if err != nil || len(out) < want {
		return append(out, make([]int16, want-len(out))...)
	}
	return out[:want]
}

func (*opusDecoder) silence(dst []int16, d time.Duration) []int16 {
	return append(dst, make([]int16, samplesIn(d))...)
}

// g711Decoder decodes PCMU and PCMA.
type g711Decoder struct {
	from    func(dst []int16, codes []byte) []int16
	convert *resample.Resampler
	last    []int16 // what was decoded last, at the codec's rate
}

func (*g711Decoder) duration(payload []byte) time.Duration {
	return time.Duration(len(payload)) * time.Second / g711.Rate
}

func (*g711Decoder) quiet([]byte) bool { return false }

func (g *g711Decoder) decode(dst []int16, payload []byte) ([]int16, error) {
	g.last = g.from(g.last[:0], payload)
	return g.convert.Append(dst, g.last), nil
}

func (*g711Decoder) restore(dst []int16, _ []byte) ([]int16, bool) { return dst, false }

// conceal repeats the last packet at half the level, so that it fades.
func (g *g711Decoder) conceal(dst []int16, d time.Duration) []int16 {
	n := int(d * g711.Rate / time.Second)
	for i := range g.last {
		g.last[i] /= 2
	}
	for n > 0 && len(g.last) > 0 {
		piece := g.last[:min(n, len(g.last))]
		dst = g.convert.Append(dst, piece)
		n -= len(piece)
	}
	return dst
}

func (g *g711Decoder) silence(dst []int16, d time.Duration) []int16 {
	n := int(d * g711.Rate / time.Second)
	g.last = append(g.last[:0], make([]int16, n)...)
	return g.convert.Append(dst, g.last)
}
