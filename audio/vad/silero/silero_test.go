package silero_test

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/vad"
	"github.com/turnwise/turnwise/audio/vad/silero"
	"github.com/turnwise/turnwise/audio/wav"
)

// The recordings in testdata were made for these tests with the synthesizer flite:
// silence, speech, a pause, noise, speech in noise, a tone, quiet speech. The
// vectors are what the reference runtime (onnxruntime 1.30.0) gives for them, window
// by window.

func recording(t testing.TB, name string) (audio.Format, []int16) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	r, err := wav.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	s, err := audio.ReadAll(r, 1<<22)
	if err != nil {
		t.Fatal(err)
	}
	return r.Format(), s
}

func vector(t testing.TB, name string) []float64 {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var v []float64
	for lines := bufio.NewScanner(f); lines.Scan(); {
		x, err := strconv.ParseFloat(lines.Text(), 64)
		if err != nil {
			t.Fatal(err)
		}
		v = append(v, x)
	}
	return v
}

func detector(t testing.TB, m *silero.Model, rate int) *silero.Detector {
	t.Helper()
	d, err := m.Detector(rate)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// run gives the confidence of every window.
func run(d *silero.Detector, s []int16) []float64 {
	var v []float64
	for ; len(s) >= d.Window(); s = s[d.Window():] {
		v = append(v, float64(d.Confidence(s)))
	}
	return v
}

func worst(t testing.TB, got, want []float64) float64 {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d windows, want %d", len(got), len(want))
	}
	w := 0.0
	for i := range got {
		w = max(w, math.Abs(got[i]-want[i]))
	}
	return w
}

func TestConfidenceIsTheReferences(t *testing.T) {
	model := silero.New()
	for _, c := range []struct{ name, speech, vector string }{
		{"at 16 kHz", "speech16k.wav", "v6_16k.txt"},
		{"at 8 kHz", "speech8k.wav", "v6_8k.txt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			format, s := recording(t, c.speech)
			d := detector(t, model, format.Rate)
			want := vector(t, c.vector)
			w := worst(t, run(d, s), want)
			if w > 1e-4 {
				t.Errorf("differs by %.2g", w)
			}
			t.Logf("largest difference %.2g in %d windows", w, len(want))
			d.Reset()
			if w := worst(t, run(d, s), want); w > 1e-4 {
				t.Errorf("after Reset it differs by %.2g", w)
			}
		})
	}
}

var version5 = flag.String("v5", "", "dist/silero_vad_v5.onnx of the npm package @ricky0123/vad-web 0.0.31")

func TestConfidenceOfAnotherModelFileIsItsReferences(t *testing.T) {
	if *version5 == "" {
		t.Skip("no version 5 model file given; use -v5")
	}
	model, err := silero.Open(*version5)
	if err != nil {
		t.Fatal(err)
	}
	for speech, reference := range map[string]string{"speech16k.wav": "v5_16k.txt", "speech8k.wav": "v5_8k.txt"} {
		format, s := recording(t, speech)
		if w := worst(t, run(detector(t, model, format.Rate), s), vector(t, reference)); w > 1e-4 {
			t.Errorf("%s: differs by %.2g", speech, w)
		}
	}
}

func TestSpeechIsToldFromTheRest(t *testing.T) {
	_, s := recording(t, "speech16k.wav")
	v := run(detector(t, silero.New(), silero.RateWide), s)
	share := func(from, to float64) float64 {
		a, b := int(from/0.032), int(to/0.032)
		n := 0
		for _, x := range v[a:b] {
			if x >= 0.7 {
				n++
			}
		}
		return float64(n) / float64(b-a)
	}
	if x := share(0, 0.5); x != 0 {
		t.Errorf("silence is speech for %.0f %%", 100*x)
	}
	if x := share(3.5, 4.4); x > 0.1 {
		t.Errorf("noise is speech for %.0f %%", 100*x)
	}
	if x := share(0.8, 3.4); x < 0.8 {
		t.Errorf("speech is speech for only %.0f %%", 100*x)
	}
}

// TestUtterancesAreHeard: two sentences and a quiet one, with silence, noise and a
// tone between and around them.
func TestUtterancesAreHeard(t *testing.T) {
	_, s := recording(t, "speech16k.wav")
	m, err := vad.NewMachine(detector(t, silero.New(), silero.RateWide), vad.Params{})
	if err != nil {
		t.Fatal(err)
	}
	var starts, stops []float64
	for ; len(s) > 0; s = s[min(len(s), 320):] {
		for _, e := range m.Feed(s[:min(len(s), 320)]) {
			if e.Started() {
				starts = append(starts, e.Since.Seconds())
			}
			if e.Stopped() {
				stops = append(stops, e.Since.Seconds())
			}
		}
	}
	t.Logf("started %.2f, stopped %.2f", starts, stops)
	if len(starts) < 2 || starts[0] < 0.5 || starts[0] > 1 {
		t.Fatalf("speech starts at %.2f", starts)
	}
	for _, at := range append(starts, stops...) {
		if at > 3.6 && at < 4.4 {
			t.Errorf("the noise at 3.6 to 4.4 s has an edge of speech at %.2f", at)
		}
	}
}

func TestDetectorsDoNotMix(t *testing.T) {
	_, s := recording(t, "speech16k.wav")
	model := silero.New()
	want := run(detector(t, model, silero.RateWide), s)
	a, b := detector(t, model, silero.RateWide), detector(t, model, silero.RateWide)
	for i := range want {
		window := s[i*a.Window():]
		if got := float64(a.Confidence(window)); got != want[i] {
			t.Fatalf("window %d: %v beside another stream, %v alone", i, got, want[i])
		}
		b.Confidence(s[:b.Window()])
	}
}

func TestOtherRatesAreRefused(t *testing.T) {
	for _, rate := range []int{0, 24000, 48000} {
		if _, err := silero.New().Detector(rate); err == nil {
			t.Errorf("%d Hz is accepted", rate)
		}
	}
}

func TestOpenRefusesWhatIsNoModel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.onnx")
	for name, content := range map[string]string{
		"empty": "", "text": "hello", "a cut message": "\x3a\xff\x01",
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := silero.Open(path); !errors.Is(err, silero.ErrModel) {
			t.Errorf("%s: error %v, want ErrModel", name, err)
		}
	}
	if _, err := silero.Open(path + ".missing"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file gives %v", err)
	}
}

func TestConfidenceAllocatesNothing(t *testing.T) {
	d := detector(t, silero.New(), silero.RateWide)
	window := make([]int16, d.Window())
	if n := testing.AllocsPerRun(50, func() { d.Confidence(window) }); n != 0 {
		t.Errorf("%v allocations a window", n)
	}
}

func BenchmarkConfidence(b *testing.B) {
	model := silero.New()
	for name, rate := range map[string]int{"16kHz": 16000, "8kHz": 8000} {
		b.Run(name, func(b *testing.B) {
			_, s := recording(b, map[int]string{16000: "speech16k.wav", 8000: "speech8k.wav"}[rate])
			d := detector(b, model, rate)
			at := 0
			b.ReportAllocs()
			for b.Loop() {
				if at+d.Window() > len(s) {
					at = 0
				}
				d.Confidence(s[at:])
				at += d.Window()
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		silero.New()
	}
}
