package audio_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/iotest"
	"time"

	"github.com/turnwise/turnwise/audio"
)

func noise(seed uint64, n, amplitude int) []int16 {
	r := rand.New(rand.NewPCG(seed, 1))
	s := make([]int16, n)
	for i := range s {
		s[i] = int16(r.IntN(2*amplitude+1) - amplitude)
	}
	return s
}

func sine(t *testing.T, rate int, frequency, level float64, d time.Duration) []int16 {
	t.Helper()
	tone, err := audio.NewTone(audio.Mono(rate), frequency, level)
	if err != nil {
		t.Fatal(err)
	}
	s, err := audio.ReadAll(audio.Take(tone, d), 1<<22)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFormatCountsSamplesAndTime(t *testing.T) {
	for _, c := range []struct {
		name    string
		format  audio.Format
		d       time.Duration
		samples int
	}{
		{"20 ms of mono at 16 kHz", audio.Mono(16000), 20 * time.Millisecond, 320},
		{"20 ms of stereo at 48 kHz", audio.Format{Rate: 48000, Channels: 2}, 20 * time.Millisecond, 1920},
		{"20 ms at 22.05 kHz is exact", audio.Mono(22050), 20 * time.Millisecond, 441},
		{"part of a sample time is left out", audio.Format{Rate: 8000, Channels: 2}, 130 * time.Microsecond, 2},
		{"a day does not overflow", audio.Mono(48000), 24 * time.Hour, 48000 * 86400},
		{"negative time holds nothing", audio.Mono(48000), -time.Second, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.format.Samples(c.d); got != c.samples {
				t.Errorf("Samples(%v) = %d, want %d", c.d, got, c.samples)
			}
			back := c.format.Duration(c.samples)
			if back > max(c.d, 0) || max(c.d, 0)-back > time.Second/time.Duration(c.format.Rate) {
				t.Errorf("Duration(%d) = %v, want %v less at most one sample", c.samples, back, c.d)
			}
		})
	}
}

func TestFormatRefusesWhatNoStreamHas(t *testing.T) {
	for _, f := range []audio.Format{{}, {Rate: 16000}, {Channels: 1}, {Rate: 1 << 30, Channels: 1}, {Rate: 8000, Channels: 99}} {
		if err := f.Validate(); !errors.Is(err, audio.ErrFormat) {
			t.Errorf("%+v: error %v, want ErrFormat", f, err)
		}
	}
	if err := audio.Mono(44100).Validate(); err != nil {
		t.Error(err)
	}
}

func TestByteDecoderCarriesHalfASampleOver(t *testing.T) {
	want := noise(1, 5000, math.MaxInt16)
	wire := audio.AppendBytes(nil, want)
	r := rand.New(rand.NewPCG(2, 2))
	var d audio.ByteDecoder
	var got []int16
	for rest := wire; len(rest) > 0; {
		n := min(len(rest), r.IntN(8)) // 0 included
		got = d.Append(got, rest[:n])
		rest = rest[n:]
	}
	if !slices.Equal(got, want) {
		t.Error("samples differ after odd pieces")
	}
	if d.Append(nil, []byte{1}); !d.Pending() {
		t.Error("a half sample is not reported as pending")
	}
	d.Reset()
	if got := d.Append(nil, []byte{2, 0}); d.Pending() || !slices.Equal(got, []int16{2}) {
		t.Errorf("after Reset got %v", got)
	}
}

func TestReaderGivesWholeSampleTimesWhateverThePieces(t *testing.T) {
	for _, channels := range []int{1, 2, 3} {
		want := noise(3, 3*2*channels*7, math.MaxInt16)
		wire := append(audio.AppendBytes(nil, want), 0xff) // half a sample too many
		for name, r := range map[string]io.Reader{
			"whole":         bytes.NewReader(wire),
			"byte by byte":  iotest.OneByteReader(bytes.NewReader(wire)),
			"halves":        iotest.HalfReader(bytes.NewReader(wire)),
			"data with EOF": iotest.DataErrReader(bytes.NewReader(wire)),
		} {
			src, err := audio.NewReader(r, audio.Format{Rate: 8000, Channels: channels})
			if err != nil {
				t.Fatal(err)
			}
			var got []int16
			p := make([]int16, channels*2+1)
			for {
				n, err := src.Read(p)
				if n%channels != 0 {
					t.Fatalf("%s, %d channels: read %d samples", name, channels, n)
				}
				got = append(got, p[:n]...)
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, %d channels: samples differ", name, channels)
			}
			if _, err := src.Read(p[:channels-1]); err != io.ErrShortBuffer {
				t.Errorf("too small a buffer gives %v", err)
			}
		}
	}
}

func TestReaderPassesOnAFailureAfterTheData(t *testing.T) {
	broken := errors.New("line dropped")
	src, err := audio.NewReader(io.MultiReader(bytes.NewReader([]byte{1, 0, 2, 0, 3}), iotest.ErrReader(broken)), audio.Mono(8000))
	if err != nil {
		t.Fatal(err)
	}
	got, err := audio.ReadAll(src, 100)
	if !errors.Is(err, broken) || !slices.Equal(got, []int16{1, 2}) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestReadAllStopsAtTheLimit(t *testing.T) {
	silence, err := audio.NewSilence(audio.Mono(8000))
	if err != nil {
		t.Fatal(err)
	}
	got, err := audio.ReadAll(silence, 5000)
	if !errors.Is(err, audio.ErrTooLong) || len(got) != 5000 {
		t.Errorf("got %d samples, %v", len(got), err)
	}
}

func TestMonoIsTheMeanOfTheChannels(t *testing.T) {
	for _, c := range []struct {
		name     string
		in       []int16
		channels int
		want     []int16
	}{
		{"mono stays", []int16{1, 2, 3}, 1, []int16{1, 2, 3}},
		{"stereo does not overflow", []int16{32767, 32767, -32768, -32768, 100, -100}, 2, []int16{32767, -32768, 0}},
		{"three channels, a part left over", []int16{3, 6, 9, 1, 1}, 3, []int16{6}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := audio.AppendMono(nil, c.in, c.channels); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	want := noise(4, 100, 30000)
	if got := audio.AppendMono(nil, audio.AppendSpread(nil, want, 2), 2); !slices.Equal(got, want) {
		t.Error("spreading and mixing back changes the samples")
	}
	src, err := audio.NewSource(audio.AppendSpread(nil, want, 4), audio.Format{Rate: 8000, Channels: 4})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := audio.ReadAll(audio.NewMono(src), 1000); err != nil || !slices.Equal(got, want) {
		t.Errorf("NewMono differs: %v", err)
	}
}

func TestLevelOfKnownSignals(t *testing.T) {
	square := make([]int16, 1000)
	for i := range square {
		square[i] = int16(32767 * (1 - 2*(i&1)))
	}
	for _, c := range []struct {
		name    string
		samples []int16
		want    float64
	}{
		{"nothing", nil, audio.SilenceLevel},
		{"zeros", make([]int16, 100), audio.SilenceLevel},
		{"full-scale square", square, 0},
		{"full-scale sine", sine(t, 16000, 1000, -3.0103, time.Second), -3.0103},
		{"sine at -20 dBFS", sine(t, 16000, 440, -20, time.Second), -20},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := audio.Level(c.samples); math.Abs(got-c.want) > 0.01 {
				t.Errorf("level %.3f dBFS, want %.3f", got, c.want)
			}
		})
	}
	if got := audio.Peak([]int16{5, -32768, 100}); got != 32768 {
		t.Errorf("peak %d", got)
	}
}

func TestToneIsCountedInWholeWaves(t *testing.T) {
	s := sine(t, 22050, 441, -10, 2*time.Second)
	if len(s) != 44100 {
		t.Fatalf("%d samples", len(s))
	}
	crossings := 0
	for i := 1; i < len(s); i++ {
		if s[i-1] < 0 && s[i] >= 0 {
			crossings++
		}
	}
	if crossings < 880 || crossings > 882 {
		t.Errorf("%d waves in 2 s of 441 Hz", crossings)
	}
	if _, err := audio.NewTone(audio.Mono(8000), 4000, -10); !errors.Is(err, audio.ErrFormat) {
		t.Errorf("a tone at half the rate gives %v", err)
	}
}

func TestGainAndRamp(t *testing.T) {
	s := []int16{100, -100, 30000, -30000}
	audio.Gain(s, 20*math.Log10(2))
	if !slices.Equal(s, []int16{200, -200, 32767, -32768}) {
		t.Errorf("doubled: %v", s)
	}
	stereo := audio.AppendSpread(nil, []int16{1000, 1000, 1000, 1000}, 2)
	audio.Ramp(stereo, 2, 1, 0)
	if !slices.Equal(stereo, []int16{1000, 1000, 750, 750, 500, 500, 250, 250}) {
		t.Errorf("faded: %v", stereo)
	}
}

func TestLimitBendsInsteadOfCutting(t *testing.T) {
	previous := int16(math.MinInt16)
	for x := float32(-200000); x <= 200000; x += 37 {
		y := audio.Limit(x)
		if y < previous {
			t.Fatalf("Limit falls at %g", x)
		}
		previous = y
		if x > -23197 && x < 23197 && y != audio.Clip(x) {
			t.Fatalf("Limit(%g) = %d changes a quiet sample", x, y)
		}
		if (x > 0 && y == math.MaxInt16 || x < 0 && y == math.MinInt16) && x < 100000 && x > -100000 {
			t.Fatalf("Limit(%g) reaches full scale", x)
		}
	}
}

func FuzzByteDecoder(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5}, uint8(1))
	f.Add([]byte{0xff}, uint8(3))
	f.Fuzz(func(t *testing.T, wire []byte, cut uint8) {
		var whole, pieces audio.ByteDecoder
		want := whole.Append(nil, wire)
		var got []int16
		for rest := wire; len(rest) > 0; {
			n := min(len(rest), int(cut)+1)
			got = pieces.Append(got, rest[:n])
			rest = rest[n:]
		}
		if !slices.Equal(got, want) || whole.Pending() != pieces.Pending() {
			t.Errorf("pieces of %d bytes give %v, the whole %v", cut+1, got, want)
		}
	})
}
