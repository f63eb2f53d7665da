package audio_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/turnwise/turnwise/audio"
)

func newNormaliser(t testing.TB, cfg audio.NormaliserConfig) *audio.Normaliser {
	t.Helper()
	n, err := audio.NewNormaliser(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestNormaliserBringsSpeakersToTheTarget(t *testing.T) {
	for _, c := range []struct {
		name string
		in   float64
		want float64
	}{
		{"a quiet speaker is raised", -45, -20},
		{"a loud one is lowered", -6, -20},
		{"a right one stays", -20, -20},
		{"a whisper is raised by no more than the largest gain", -55, -25},
		{"background is left alone", -70, -70},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newNormaliser(t, audio.NormaliserConfig{Format: audio.Mono(16000)})
			s := sine(t, 16000, 300, c.in, 4*time.Second)
			n.Process(s)
			if got := audio.Level(s[3*16000:]); math.Abs(got-c.want) > 0.5 {
				t.Errorf("level %.1f dBFS after 3 s, want %.1f", got, c.want)
			}
		})
	}
}

func TestNormaliserHoldsItsGainThroughAPause(t *testing.T) {
	n := newNormaliser(t, audio.NormaliserConfig{Format: audio.Mono(16000)})
	n.Process(sine(t, 16000, 300, -40, 3*time.Second))
	before := n.Gain()
	n.Process(noise(5, 5*16000, 10)) // about -75 dBFS
	if n.Gain() != before {
		t.Errorf("gain went from %.1f to %.1f dB in a pause", before, n.Gain())
	}
	n.Reset()
	if n.Gain() != 0 {
		t.Errorf("gain %.1f dB after Reset", n.Gain())
	}
}

func TestNormaliserDoesNotCrackleWhenALoudSpeakerFollows(t *testing.T) {
	n := newNormaliser(t, audio.NormaliserConfig{Format: audio.Mono(16000)})
	n.Process(sine(t, 16000, 300, -50, 4*time.Second))
	loud := sine(t, 16000, 300, -6, time.Second)
	n.Process(loud)
	if audio.Peak(loud) >= math.MaxInt16 {
		t.Error("the output reaches full scale")
	}
	if got := audio.Level(loud[8000:]); math.Abs(got+20) > 1 {
		t.Errorf("level %.1f dBFS half a second later, want -20", got)
	}
}

func TestNormaliserDoesNotDependOnPieces(t *testing.T) {
	format := audio.Format{Rate: 22050, Channels: 2}
	whole := noise(6, 2*22050, 4000)
	pieces := slices.Clone(whole)
	newNormaliser(t, audio.NormaliserConfig{Format: format}).Process(whole)
	n := newNormaliser(t, audio.NormaliserConfig{Format: format})
	r := rand.New(rand.NewPCG(7, 7))
	for rest := pieces; len(rest) > 0; {
		k := min(len(rest), 1+r.IntN(900))
		n.Process(rest[:k])
		rest = rest[k:]
	}
	if !slices.Equal(whole, pieces) {
		t.Error("samples differ")
	}
}

func TestNormaliserRefusesWhatCannotWork(t *testing.T) {
	for name, cfg := range map[string]audio.NormaliserConfig{
		"no format":          {},
		"target above 0":     {Format: audio.Mono(8000), Target: 3},
		"gain of 100 dB":     {Format: audio.Mono(8000), MaxGain: 100},
		"floor above target": {Format: audio.Mono(8000), Target: -40, Floor: -30},
	} {
		if _, err := audio.NewNormaliser(cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func BenchmarkNormaliser20ms(b *testing.B) {
	n := newNormaliser(b, audio.NormaliserConfig{Format: audio.Mono(16000)})
	in := noise(8, 320, 3000)
	s := make([]int16, len(in))
	b.ReportAllocs()
	for b.Loop() {
		copy(s, in)
		n.Process(s)
	}
}
