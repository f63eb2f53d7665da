package resample_test

import (
	"testing"
	"time"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/g711"
	"github.com/turnwise/turnwise/audio/resample"
)

// TestFormatsAreHonouredEndToEnd: what comes as 48 kHz stereo or over an 8 kHz
// telephone line, and goes through every rate in use, is still 440 Hz.
func TestFormatsAreHonouredEndToEnd(t *testing.T) { // RT45
	const frequency = 440.0
	convert := func(s []int16, from, to int) []int16 {
		r, err := resample.New(from, to, 1)
		if err != nil {
			t.Fatal(err)
		}
		var out []int16
		for ; len(s) >= from/50; s = s[from/50:] {
			out = r.Append(out, s[:from/50])
		}
		return r.Flush(out)
	}
	generate := func(format audio.Format) []int16 {
		src, err := audio.NewTone(format, frequency, -15)
		if err != nil {
			t.Fatal(err)
		}
		s, err := audio.ReadAll(audio.Take(src, time.Second), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	browser := audio.Format{Rate: 48000, Channels: 2}
	phone := audio.Mono(g711.Rate)
	for name, mono := range map[string]struct {
		samples []int16
		rate    int
	}{
		"a browser's stereo":    {audio.AppendMono(nil, generate(browser), 2), browser.Rate},
		"a telephone's µ-law":   {g711.AppendFromULaw(nil, g711.AppendULaw(nil, generate(phone))), phone.Rate},
		"a telephone's A-law":   {g711.AppendFromALaw(nil, g711.AppendALaw(nil, generate(phone))), phone.Rate},
		"a synthesizer's 22.05": {generate(audio.Mono(22050)), 22050},
	} {
		for _, to := range rates() {
			out := mono.samples
			if to != mono.rate {
				out = convert(out, mono.rate, to)
			}
			if len(out) != to {
				t.Errorf("%s at %d Hz: %d samples in a second", name, to, len(out))
			}
			x := make([]float32, len(out)*8/10)
			for i := range x {
				x[i] = float32(out[i+len(out)/10]) / 32768
			}
			// A sine of exactly this frequency explains all but companding noise;
			// 1 % beside it, over 0.8 s, nothing would fit.
			if _, rest := fit(x, to, frequency); rest > -36 {
				t.Errorf("%s at %d Hz: all but 440 Hz is %.1f dB", name, to, rest)
			}
		}
	}
}
