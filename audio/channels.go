package audio

import "io"

// AppendMono appends the mean of each sample time's channels to dst: stereo, or
// more, to mono. Samples that do not fill a last sample time are left out. With one
// channel it copies.
func AppendMono(dst, samples []int16, channels int) []int16 {
	switch channels {
	case 1:
		return append(dst, samples...)
	case 2:
		for ; len(samples) >= 2; samples = samples[2:] {
			dst = append(dst, int16((int32(samples[0])+int32(samples[1]))>>1))
		}
		return dst
	}
	for ; len(samples) >= channels; samples = samples[channels:] {
		var sum int32
		for _, s := range samples[:channels] {
			sum += int32(s)
		}
		dst = append(dst, int16(sum/int32(channels)))
	}
	return dst
}

// AppendSpread appends each sample of a mono stream to dst as often as there are
// channels: mono to stereo, or more.
func AppendSpread(dst, mono []int16, channels int) []int16 {
	for _, s := range mono {
		for range channels {
			dst = append(dst, s)
		}
	}
	return dst
}

// NewMono returns a [Source] with the channels of src mixed to one, as [AppendMono]
// does. A src with one channel is returned as it is.
func NewMono(src Source) Source {
	if src.Format().Channels == 1 {
		return src
	}
	return &mono{src: src}
}

type mono struct {
	src Source
	buf []int16
}

func (m *mono) Format() Format { return Mono(m.src.Format().Rate) }

func (m *mono) Read(p []int16) (int, error) {
	if len(p) == 0 {
		return 0, io.ErrShortBuffer
	}
	channels := m.src.Format().Channels
	if need := len(p) * channels; len(m.buf) < need {
		m.buf = make([]int16, need)
	}
	n, err := m.src.Read(m.buf[:len(p)*channels])
	return len(AppendMono(p[:0], m.buf[:n], channels)), err
}
