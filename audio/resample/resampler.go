package resample

import (
	"fmt"

	"github.com/turnwise/turnwise/audio"
)

// MaxChannels is the highest number of channels of a [Resampler].
const MaxChannels = 8

// Resampler converts one stream. It belongs to one goroutine at a time. Create it
// with [New] or [Filter.New].
type Resampler struct {
	filter   *Filter
	channels []history
	next     int // channel that the next input sample belongs to
	in, out  int64
	pos      int // in the histories: first tap of the next output
	phase    int
	made     []float32 // outputs of the running call
}

// history is the input of one channel that later outputs still need.
type history []float32

// New returns a Resampler with a filter of its own. A program with many streams
// shares filters instead; see [Filters].
func New(from, to, channels int) (*Resampler, error) {
	f, err := NewFilter(from, to)
	if err != nil {
		return nil, err
	}
	if channels < 1 || channels > MaxChannels {
		return nil, fmt.Errorf("resample: %d channels are not within 1 to %d", channels, MaxChannels)
	}
	return f.New(channels), nil
}

// New returns a Resampler for one stream with that many interleaved channels, 1 to
// [MaxChannels]; what lies outside is brought inside.
func (f *Filter) New(channels int) *Resampler {
	r := &Resampler{filter: f, channels: make([]history, max(1, min(channels, MaxChannels)))}
	r.Reset()
	return r
}

// Filter is the filter in use.
func (r *Resampler) Filter() *Filter { return r.filter }

// Channels is the number of interleaved channels.
func (r *Resampler) Channels() int { return len(r.channels) }

// Reset forgets the stream: the next sample is the first of a new one.
func (r *Resampler) Reset() {
	for c := range r.channels {
		r.channels[c] = append(r.channels[c][:0], make([]float32, max(r.filter.half-1, 0))...)
	}
	r.next, r.in, r.out, r.pos, r.phase = 0, 0, 0, 0, 0
}

// Append converts the samples of in and appends what is ready to dst, which may be
// nothing. It does not allocate once dst and the Resampler have grown to the size
// of the pieces. A sample time may be cut between two calls.
func (r *Resampler) Append(dst, in []int16) []int16 {
	if r.filter.up == r.filter.down {
		return append(dst, in...)
	}
	if len(r.channels) == 1 {
		h := r.channels[0]
		for _, s := range in {
			h = append(h, float32(s))
		}
		r.channels[0] = h
		r.in += int64(len(in))
	} else {
		for _, s := range in {
			r.push(float32(s))
		}
	}
	dst = appendClipped(dst, r.produce(r.ready()))
	r.compact()
	return dst
}

// AppendFloat is Append for float samples of any scale. One stream uses either.
func (r *Resampler) AppendFloat(dst, in []float32) []float32 {
	if r.filter.up == r.filter.down {
		return append(dst, in...)
	}
	for _, s := range in {
		r.push(s)
	}
	dst = append(dst, r.produce(r.ready())...)
	r.compact()
	return dst
}

func appendClipped(dst []int16, samples []float32) []int16 {
	for _, s := range samples {
		dst = append(dst, audio.Clip(s))
	}
	return dst
}

// Flush ends the stream: it appends what was held back, so that in all
// [Filter.Frames] of the input have come out, and resets. A cut sample time at the
// end is dropped.
func (r *Resampler) Flush(dst []int16) []int16 {
	dst = appendClipped(dst, r.produce(r.owed()))
	r.Reset()
	return dst
}

// FlushFloat is Flush for a stream of floats.
func (r *Resampler) FlushFloat(dst []float32) []float32 {
	dst = append(dst, r.produce(r.owed())...)
	r.Reset()
	return dst
}

// push takes one sample of the channel whose turn it is.
func (r *Resampler) push(s float32) {
	r.channels[r.next] = append(r.channels[r.next], s)
	if r.next++; r.next == len(r.channels) {
		r.next = 0
		r.in++
	}
}

// whole is the number of complete sample times in the histories: the last channel
// is filled last.
func (r *Resampler) whole() int { return len(r.channels[len(r.channels)-1]) }

// ready is the number of outputs for which the input holds all they need.
func (r *Resampler) ready() int {
	spare := r.whole() - r.filter.taps - r.pos
	if spare < 0 {
		return 0
	}
	return ((spare+1)*r.filter.up-r.phase-1)/r.filter.down + 1
}

// owed is the number of outputs left in a stream that ends here. It appends the
// silence that they look ahead into.
func (r *Resampler) owed() int {
	if r.filter.up == r.filter.down {
		return 0
	}
	whole := r.whole()
	for c, h := range r.channels {
		r.channels[c] = append(h[:whole], make([]float32, r.filter.half+1)...)
	}
	up, down := int64(r.filter.up), int64(r.filter.down)
	return int((r.in*up+down-1)/down - r.out)
}

// produce computes the next n outputs of all channels, interleaved. They are valid
// until the next call.
func (r *Resampler) produce(n int) []float32 {
	r.made = r.made[:0]
	for ; n > 0; n-- {
		switch {
		case len(r.channels) == 2:
			left, right := dotTwo(r.coef(r.phase), r.window(0, r.pos), r.window(1, r.pos))
			r.made = append(r.made, left, right)
		case len(r.channels) == 1 && n > 1 && r.alike():
			r.made = append(r.made, 0, 0)
			r.two((*[2]float32)(r.made[len(r.made)-2:]))
			n--
		default:
			coef := r.coef(r.phase)
			for c := range r.channels {
				r.made = append(r.made, dot(r.window(c, r.pos), coef))
			}
		}
		r.advance()
	}
	return r.made
}

// coef is the taps of a phase.
func (r *Resampler) coef(phase int) []float32 {
	return r.filter.coef[phase*r.filter.taps : (phase+1)*r.filter.taps]
}

// window is the input of a channel that an output is computed from.
func (r *Resampler) window(channel, pos int) []float32 {
	return r.channels[channel][pos : pos+r.filter.taps]
}

// alike reports whether the next two outputs have their coefficients or their window
// in common.
func (r *Resampler) alike() bool { return r.filter.up == 1 || r.phase+r.filter.down < r.filter.up }

// two computes the next two outputs of the only channel, which are alike, and goes to
// the second.
func (r *Resampler) two(out *[2]float32) {
	pos, phase := r.pos, r.phase
	r.advance()
	if r.pos == pos {
		out[0], out[1] = dotTwo(r.window(0, pos), r.coef(phase), r.coef(r.phase))
	} else {
		out[0], out[1] = dotTwo(r.coef(phase), r.window(0, pos), r.window(0, r.pos))
	}
}

// advance goes to the output after the next.
func (r *Resampler) advance() {
	r.out++
	r.phase += r.filter.down
	r.pos += r.phase / r.filter.up
	r.phase %= r.filter.up
}

// compact drops input that no output needs any more, once it is worth the copying.
func (r *Resampler) compact() {
	const worthwhile = 2048
	if r.pos < worthwhile {
		return
	}
	done := min(r.pos, r.whole())
	for c, h := range r.channels {
		r.channels[c] = h[:copy(h, h[done:])]
	}
	r.pos -= done
}
