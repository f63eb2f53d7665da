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
	for r.ready() {
		for c := range r.channels {
			dst = append(dst, audio.Clip(r.compute(c)))
		}
		r.advance()
	}
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
	for r.ready() {
		for c := range r.channels {
			dst = append(dst, r.compute(c))
		}
		r.advance()
	}
	r.compact()
	return dst
}

// Flush ends the stream: it appends what was held back, so that in all
// [Filter.Frames] of the input have come out, and resets. A cut sample time at the
// end is dropped.
func (r *Resampler) Flush(dst []int16) []int16 {
	r.pad()
	for r.owed() {
		for c := range r.channels {
			dst = append(dst, audio.Clip(r.compute(c)))
		}
		r.advance()
	}
	r.Reset()
	return dst
}

// FlushFloat is Flush for a stream of floats.
func (r *Resampler) FlushFloat(dst []float32) []float32 {
	r.pad()
	for r.owed() {
		for c := range r.channels {
			dst = append(dst, r.compute(c))
		}
		r.advance()
	}
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

// pad appends the silence that the last outputs look ahead into.
func (r *Resampler) pad() {
	for c := range r.channels {
		r.channels[c] = append(r.channels[c][:r.whole()], make([]float32, r.filter.half+1)...)
	}
}

// whole is the number of complete sample times in the histories: the last channel
// is filled last.
func (r *Resampler) whole() int { return len(r.channels[len(r.channels)-1]) }

// ready reports whether the input holds all that the next output needs.
func (r *Resampler) ready() bool { return r.pos+r.filter.taps <= r.whole() }

// owed reports whether the next output lies within the stream.
func (r *Resampler) owed() bool {
	f := r.filter
	return f.up != f.down && r.out*int64(f.down) < r.in*int64(f.up)
}

// compute is the next output of a channel.
func (r *Resampler) compute(channel int) float32 {
	f := r.filter
	return dot(r.channels[channel][r.pos:r.pos+f.taps], f.coef[r.phase*f.taps:(r.phase+1)*f.taps])
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

// dot is the inner product of two slices of the same length, a multiple of eight.
// The order of additions is fixed, so equal input gives equal output.
func dot(x, c []float32) float32 {
	var s0, s1, s2, s3 float32
	for len(x) >= 8 && len(c) >= 8 {
		s0 += x[0] * c[0]
		s1 += x[1] * c[1]
		s2 += x[2] * c[2]
		s3 += x[3] * c[3]
		s0 += x[4] * c[4]
		s1 += x[5] * c[5]
		s2 += x[6] * c[6]
		s3 += x[7] * c[7]
		x, c = x[8:], c[8:]
	}
	return (s0 + s1) + (s2 + s3)
}
