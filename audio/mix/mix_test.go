package mix_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/mix"
	"github.com/turnwise/turnwise/audio/resample"
)

var mono = audio.Mono(16000)

func mixer(t testing.TB, cfg mix.Config) *mix.Mixer {
	t.Helper()
	m, err := mix.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func tone(t testing.TB, format audio.Format, frequency, level float64, d time.Duration) []int16 {
	t.Helper()
	src, err := audio.NewTone(format, frequency, level)
	if err != nil {
		t.Fatal(err)
	}
	s := make([]int16, format.Samples(d))
	if _, err := src.Read(s); err != nil {
		t.Fatal(err)
	}
	return s
}

func loop(t testing.TB, samples []int16, format audio.Format) audio.Source {
	t.Helper()
	l, err := mix.NewLoop(samples, format)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func play(t testing.TB, m *mix.Mixer, track mix.Track) {
	t.Helper()
	if err := m.Play(track); err != nil {
		t.Fatal(err)
	}
}

func run(t testing.TB, m *mix.Mixer, samples []int16) {
	t.Helper()
	for ; len(samples) > 0; samples = samples[min(len(samples), 320):] {
		if err := m.Mix(samples[:min(len(samples), 320)]); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWithoutABackgroundNothingChanges(t *testing.T) {
	in := tone(t, mono, 440, -3.02, time.Second)
	got := slices.Clone(in)
	run(t, mixer(t, mix.Config{Format: mono}), got)
	if !slices.Equal(got, in) {
		t.Error("samples differ")
	}
}

func TestLoopRepeatsToTheSample(t *testing.T) {
	for _, channels := range []int{1, 2} {
		format := audio.Format{Rate: 16000, Channels: channels}
		piece := make([]int16, 37*channels)
		for i := range piece {
			piece[i] = int16(i + 1)
		}
		l := loop(t, piece, format)
		r := rand.New(rand.NewPCG(1, 1))
		var got []int16
		for len(got) < 1000 {
			p := make([]int16, channels*(1+r.IntN(90)))
			n, err := l.Read(p)
			if err != nil || n != len(p) {
				t.Fatal(n, err)
			}
			got = append(got, p...)
		}
		for i, v := range got {
			if v != piece[i%len(piece)] {
				t.Fatalf("%d channels: sample %d is %d, want %d", channels, i, v, piece[i%len(piece)])
			}
		}
	}
	if _, err := mix.NewLoop(nil, mono); !errors.Is(err, mix.ErrEmpty) {
		t.Errorf("an empty loop gives %v", err)
	}
}

func TestHoldMusicPlaysAtItsGain(t *testing.T) {
	m := mixer(t, mix.Config{Format: mono})
	play(t, m, mix.Track{Source: loop(t, tone(t, mono, 440, -10, time.Second), mono), Gain: -12})
	out := make([]int16, mono.Samples(2*time.Second))
	run(t, m, out)
	if level := audio.Level(out[8000:]); math.Abs(level+22) > 0.1 {
		t.Errorf("level %.2f dBFS, want -22", level)
	}
	if level := audio.Level(out[:80]); level > -35 {
		t.Errorf("the first 5 ms have %.1f dBFS: not faded in", level)
	}
}

func TestBackgroundStepsBackForSpeech(t *testing.T) {
	m := mixer(t, mix.Config{Format: mono})
	play(t, m, mix.Track{Source: loop(t, tone(t, mono, 1000, -20, time.Second), mono), Duck: 15})
	second := mono.Samples(time.Second)
	speech := make([]int16, 4*second)
	copy(speech[second:], tone(t, mono, 200, -20, 2*time.Second))
	out := slices.Clone(speech)
	run(t, m, out)
	for i := range out {
		out[i] -= speech[i] // what was added
	}
	for _, c := range []struct {
		when     string
		from, to float64
		want     float64
	}{
		{"before speech", 0.5, 0.99, -20},
		{"during speech", 1.1, 2.9, -35},
		{"in the hold after it", 3.05, 3.35, -35},
		{"after it", 3.85, 4, -20},
	} {
		if level := audio.Level(out[int(c.from*16000):int(c.to*16000)]); math.Abs(level-c.want) > 0.7 {
			t.Errorf("%s: %.1f dBFS, want %.0f", c.when, level, c.want)
		}
	}
}

func TestOutputDoesNotDependOnPieces(t *testing.T) {
	format := audio.Format{Rate: 24000, Channels: 2}
	background := tone(t, format, 333, -12, 700*time.Millisecond)
	speech := slices.Concat(make([]int16, 9600), tone(t, format, 200, -9, 300*time.Millisecond), make([]int16, 20000))
	mixAll := func(next func() int) []int16 {
		m := mixer(t, mix.Config{Format: format, Hold: 100 * time.Millisecond})
		play(t, m, mix.Track{Source: loop(t, background, format), Gain: -6, Duck: 10})
		out := slices.Clone(speech)
		for rest := out; len(rest) > 0; {
			n := min(len(rest), next())
			if err := m.Mix(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		return out
	}
	want := mixAll(func() int { return len(speech) })
	r := rand.New(rand.NewPCG(2, 2))
	if got := mixAll(func() int { return 2 * r.IntN(500) }); !slices.Equal(got, want) {
		t.Error("samples differ")
	}
}

func TestSumIsNeverCutHard(t *testing.T) {
	m := mixer(t, mix.Config{Format: mono})
	play(t, m, mix.Track{Source: loop(t, tone(t, mono, 700, -3.02, time.Second), mono)})
	out := tone(t, mono, 500, -3.02, time.Second)
	run(t, m, out)
	for i, s := range out {
		if s == math.MaxInt16 || s == math.MinInt16 {
			t.Fatalf("sample %d is at full scale", i)
		}
	}
	if audio.Peak(out) < 25000 {
		t.Error("the test does not reach the limiter")
	}
}

func TestStoppedBackgroundFadesOutAndEnds(t *testing.T) {
	m := mixer(t, mix.Config{Format: mono, Fade: 100 * time.Millisecond})
	source := &counting{Source: loop(t, tone(t, mono, 440, -10, time.Second), mono)}
	play(t, m, mix.Track{Source: source})
	run(t, m, make([]int16, 16000))
	m.Stop()
	if m.Playing() {
		t.Error("a stopped background plays")
	}
	out := make([]int16, 16000)
	run(t, m, out)
	if level := audio.Level(out[:160]); level < -14 {
		t.Errorf("right after Stop: %.1f dBFS", level)
	}
	if p := audio.Peak(out[1920:]); p != 0 {
		t.Errorf("after the fade there are samples of %d", p)
	}
	if source.samples > 16000+1920 {
		t.Errorf("%d samples were read", source.samples)
	}
}

type counting struct {
	audio.Source
	samples int
}

func (c *counting) Read(p []int16) (int, error) {
	n, err := c.Source.Read(p)
	c.samples += n
	return n, err
}

func TestNextBackgroundFadesInWhileTheLastFadesOut(t *testing.T) {
	m := mixer(t, mix.Config{Format: mono, Fade: 100 * time.Millisecond})
	play(t, m, mix.Track{Source: loop(t, tone(t, mono, 400, -20, time.Second), mono)})
	run(t, m, make([]int16, 16000))
	play(t, m, mix.Track{Source: loop(t, tone(t, mono, 900, -20, time.Second), mono)})
	out := make([]int16, 16000)
	run(t, m, out)
	for at := 0; at+400 <= 3200; at += 400 {
		if level := audio.Level(out[at : at+400]); level < -24 || level > -16 {
			t.Errorf("at %d: %.1f dBFS", at, level)
		}
	}
}

type failing struct{ err error }

func (f *failing) Format() audio.Format { return mono }
func (f *failing) Read(p []int16) (int, error) {
	p[0] = 1000
	return 1, f.err
}

func TestEndAndFailureOfABackgroundLeaveTheStreamGood(t *testing.T) {
	broken := errors.New("file vanished")
	for _, c := range []struct{ err, want error }{{io.EOF, nil}, {broken, broken}} {
		m := mixer(t, mix.Config{Format: mono})
		play(t, m, mix.Track{Source: &failing{c.err}})
		in := tone(t, mono, 200, -20, 20*time.Millisecond)
		out := slices.Clone(in)
		if err := m.Mix(out); !errors.Is(err, c.want) {
			t.Errorf("Mix gives %v, want %v", err, c.want)
		}
		if !slices.Equal(out[1:], in[1:]) || m.Playing() {
			t.Errorf("%v: the stream has changed, or the background still plays", c.err)
		}
		if err := m.Mix(out); err != nil {
			t.Errorf("the failure comes twice: %v", err)
		}
	}
}

func TestWhatCannotBeMixedIsRefused(t *testing.T) {
	for field, cfg := range map[string]mix.Config{
		"rate":      {},
		"Threshold": {Format: mono, Threshold: 5},
		"Hold":      {Format: mono, Hold: time.Hour},
		"Fade":      {Format: mono, Fade: -1},
	} {
		if _, err := mix.New(cfg); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: error %v", field, err)
		}
	}
	m := mixer(t, mix.Config{Format: mono})
	for name, track := range map[string]mix.Track{
		"no source":     {},
		"another rate":  {Source: loop(t, []int16{1}, audio.Mono(8000))},
		"negative duck": {Source: loop(t, []int16{1}, mono), Duck: -3},
	} {
		if err := m.Play(track); err == nil || m.Playing() {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestResampledToneStaysCleanAndAligned: a track at another rate, converted in pieces
// and mixed, is still the sine it was, where it was.
func TestResampledToneStaysCleanAndAligned(t *testing.T) { // RT46
	source, err := audio.NewTone(audio.Mono(44100), 440, -15)
	if err != nil {
		t.Fatal(err)
	}
	converted, err := resample.NewSource(source, 16000)
	if err != nil {
		t.Fatal(err)
	}
	m := mixer(t, mix.Config{Format: mono, Fade: time.Millisecond})
	play(t, m, mix.Track{Source: converted})
	out := make([]int16, 16000)
	run(t, m, out)
	var re, im, power float64
	body := out[4000:12000] // 220 waves
	for i, v := range body {
		s, c := math.Sincos(2 * math.Pi * 440 * float64(i+4000) / 16000)
		re, im, power = re+float64(v)*s, im+float64(v)*c, power+float64(v)*float64(v)
	}
	n := float64(len(body))
	sine := (re*re + im*im) * 2 / n
	if distortion := 10 * math.Log10((power-sine)/sine); distortion > -75 {
		t.Errorf("distortion and noise %.1f dB", distortion)
	}
	if shift := math.Atan2(im, re) / (2 * math.Pi * 440); math.Abs(shift) > 1e-5 {
		t.Errorf("shifted by %.3g s", shift)
	}
}

func TestMixAllocatesNothing(t *testing.T) {
	m := mixer(t, mix.Config{Format: mono})
	play(t, m, mix.Track{Source: loop(t, make([]int16, 1000), mono), Duck: 12})
	s := make([]int16, 320)
	run(t, m, s)
	if n := testing.AllocsPerRun(100, func() {
		if err := m.Mix(s); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a piece", n)
	}
}

func Example() {
	format := audio.Mono(24000)
	hum := make([]int16, 24000) // a recording of the room
	background, err := mix.NewLoop(hum, format)
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := mix.New(mix.Config{Format: format})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := m.Play(mix.Track{Source: background, Gain: -20, Duck: 10}); err != nil {
		fmt.Println(err)
		return
	}
	piece := make([]int16, 480) // the next 20 ms of speech, or silence
	if err := m.Mix(piece); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Playing())
	// Output: true
}

func BenchmarkMix20ms(b *testing.B) {
	format := audio.Mono(24000)
	m := mixer(b, mix.Config{Format: format})
	play(b, m, mix.Track{Source: loop(b, tone(b, format, 300, -20, time.Second), format), Gain: -6, Duck: 12})
	in := tone(b, format, 200, -20, 20*time.Millisecond)
	s := make([]int16, len(in))
	b.ReportAllocs()
	for b.Loop() {
		copy(s, in)
		if err := m.Mix(s); err != nil {
			b.Fatal(err)
		}
	}
}
