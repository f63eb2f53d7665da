package mp3_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/mp3"
)

// The files in testdata were made with sox and lame: 0.6 s of a 440 Hz sine at -15
// dBFS; in the stereo one the right channel has 880 Hz.

func file(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decode(t testing.TB, r io.Reader) (audio.Format, []int16) {
	t.Helper()
	d, err := mp3.NewDecoder(r)
	if err != nil {
		t.Fatal(err)
	}
	s, err := audio.ReadAll(d, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return d.Format(), s
}

// channel picks one, without the ends.
func channel(s []int16, c int) []int16 {
	var one []int16
	for i := c; i < len(s); i += 2 {
		one = append(one, s[i])
	}
	return one[len(one)/4 : len(one)*3/4]
}

func frequency(s []int16, rate int) float64 {
	first, last, n := -1, 0, 0
	for i := 1; i < len(s); i++ {
		if s[i-1] < 0 && s[i] >= 0 {
			if first < 0 {
				first = i
			} else {
				n++
			}
			last = i
		}
	}
	return float64(n) * float64(rate) / float64(last-first)
}

func TestDecoderKeepsRateChannelsAndLevel(t *testing.T) {
	for _, c := range []struct {
		name        string
		rate        int
		left, right float64
	}{
		{"mono24k.mp3", 24000, 440, 440},
		{"mono16k_vbr.mp3", 16000, 440, 440},
		{"stereo44k.mp3", 44100, 440, 880},
	} {
		t.Run(c.name, func(t *testing.T) {
			format, s := decode(t, bytes.NewReader(file(t, c.name)))
			if format != (audio.Format{Rate: c.rate, Channels: 2}) {
				t.Fatalf("format %v", format)
			}
			// The encoder pads both ends, by less than 0.2 s.
			if d := format.Duration(len(s)).Seconds(); d < 0.6 || d > 0.8 {
				t.Errorf("%.2f s of sound", d)
			}
			for i, want := range []float64{c.left, c.right} {
				one := channel(s, i)
				if f := frequency(one, c.rate); math.Abs(f/want-1) > 0.01 {
					t.Errorf("channel %d has %.1f Hz, want %.0f", i, f, want)
				}
				if level := audio.Level(one); math.Abs(level+15) > 0.5 {
					t.Errorf("channel %d has %.1f dBFS", i, level)
				}
			}
		})
	}
}

func TestMonoStreamBecomesOneChannelAgain(t *testing.T) {
	d, err := mp3.NewDecoder(bytes.NewReader(file(t, "mono24k.mp3")))
	if err != nil {
		t.Fatal(err)
	}
	s, err := audio.ReadAll(audio.NewMono(d), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if f := frequency(s[len(s)/4:len(s)*3/4], 24000); math.Abs(f/440-1) > 0.01 {
		t.Errorf("%.1f Hz", f)
	}
}

func TestStreamMayComeInAnyPieces(t *testing.T) {
	b := file(t, "stereo44k.mp3")
	_, want := decode(t, bytes.NewReader(b))
	_, got := decode(t, iotest.OneByteReader(bytes.NewReader(b)))
	if !slices.Equal(got, want) {
		t.Error("byte by byte it differs")
	}
}

// TestFirstSoundNeedsNotTheWholeStream: a service that streams is heard at once.
func TestFirstSoundNeedsNotTheWholeStream(t *testing.T) {
	b := file(t, "mono24k.mp3")
	r, w := io.Pipe()
	defer r.Close()
	go func() {
		w.Write(b[:1500]) // the rest never comes; the test ends first
	}()
	d, err := mp3.NewDecoder(r)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := d.Read(make([]int16, 1000)); n == 0 || err != nil {
		t.Errorf("%d samples, %v", n, err)
	}
}

func TestCutStreamEndsWithItsLastFrame(t *testing.T) {
	b := file(t, "mono24k.mp3")
	_, whole := decode(t, bytes.NewReader(b))
	_, part := decode(t, bytes.NewReader(b[:len(b)-50]))
	if len(part) >= len(whole) || len(part) == 0 || !slices.Equal(part, whole[:len(part)]) {
		t.Errorf("%d samples of a cut stream, %d of the whole", len(part), len(whole))
	}
}

func TestWhatIsNoMP3IsRefused(t *testing.T) {
	hugeTag := append([]byte("ID3\x04\x00\x00\x7f\x7f\x7f\x7f"), make([]byte, 100)...)
	for name, r := range map[string]io.Reader{
		"nothing":          bytes.NewReader(nil),
		"text":             bytes.NewReader([]byte("<html>502 Bad Gateway</html>")),
		"a WAV stream":     bytes.NewReader(append([]byte("RIFF\x00\x00\x00\x00WAVEfmt "), make([]byte, 5000)...)),
		"zeros for ever":   zeros{},
		"a tag of 256 MB":  bytes.NewReader(hugeTag),
		"8 kHz (MPEG 2.5)": bytes.NewReader(file(t, "mono8k_mpeg25.mp3")),
	} {
		if _, err := mp3.NewDecoder(r); !errors.Is(err, mp3.ErrFormat) {
			t.Errorf("%s: error %v, want ErrFormat", name, err)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestGarbageAfterFramesEndsTheStream(t *testing.T) {
	d, err := mp3.NewDecoder(io.MultiReader(bytes.NewReader(file(t, "mono24k.mp3")), zeros{}))
	if err != nil {
		t.Fatal(err)
	}
	if s, err := audio.ReadAll(d, 1<<20); !errors.Is(err, mp3.ErrFormat) || len(s) == 0 {
		t.Errorf("%d samples, %v", len(s), err)
	}
}

func TestFailureOfTheLineIsPassedOn(t *testing.T) {
	broken := errors.New("line dropped")
	b := file(t, "mono24k.mp3")
	for _, n := range []int{0, 5, 100, 1000} {
		d, err := mp3.NewDecoder(io.MultiReader(bytes.NewReader(b[:n]), iotest.ErrReader(broken)))
		if err == nil {
			_, err = audio.ReadAll(d, 1<<20)
		}
		if !errors.Is(err, broken) {
			t.Errorf("after %d bytes: error %v", n, err)
		}
	}
}

func FuzzDecoder(f *testing.F) {
	for _, name := range []string{"mono24k.mp3", "stereo44k.mp3", "mono16k_vbr.mp3"} {
		b := file(f, name)
		f.Add(b[:min(len(b), 1200)])
	}
	f.Add([]byte("ID3\x04\x00\x00\x00\x00\x00\x01x\xff\xfb\x90\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := mp3.NewDecoder(bytes.NewReader(b))
		if err == nil {
			_, err = audio.ReadAll(d, 1<<22)
		}
		if err != nil && !errors.Is(err, mp3.ErrFormat) && !errors.Is(err, audio.ErrTooLong) {
			t.Errorf("error %v does not wrap ErrFormat", err)
		}
	})
}

func ExampleNewDecoder() {
	f, err := os.Open("testdata/mono24k.mp3") // or the body of a response
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	d, err := mp3.NewDecoder(f)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Format(), "->", audio.NewMono(d).Format())
	// Output: 24000 Hz stereo -> 24000 Hz mono
}

func BenchmarkDecoder(b *testing.B) {
	in := file(b, "mono24k.mp3")
	b.ReportAllocs()
	for b.Loop() {
		decode(b, bytes.NewReader(in))
	}
}
