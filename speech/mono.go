package speech

import (
	"fmt"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/resample"
	"github.com/turnwise/turnwise/frames"
)

// monoStream brings microphone audio of any shape to mono at one rate, as one stream.
type monoStream struct {
	rate    int
	filters *resample.Filters
	from    int // the rate that convert takes
	convert *resample.Resampler
	mixed   []int16
	out     []int16
}

// take converts the next piece. What it returns is valid until the next call.
func (m *monoStream) take(pcm *frames.PCM) ([]int16, error) {
	samples := pcm.Samples
	if pcm.Channels > 1 {
		m.mixed = audio.AppendMono(m.mixed[:0], samples, pcm.Channels)
		samples = m.mixed
	}
	if pcm.Rate == m.rate {
		m.convert = nil
		return samples, nil
	}
	if m.convert == nil || m.from != pcm.Rate {
		filter, err := m.filters.Get(pcm.Rate, m.rate)
		if err != nil {
			return nil, fmt.Errorf("speech: microphone audio at %d Hz cannot be used: %w", pcm.Rate, err)
		}
		m.convert, m.from = filter.New(1), pcm.Rate
	}
	m.out = m.convert.Append(m.out[:0], samples)
	return m.out, nil
}
