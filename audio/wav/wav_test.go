package wav_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/g711"
	"github.com/turnwise/turnwise/audio/wav"
)

// chunk is one chunk of a made-up file; sizes may lie.
type chunk struct {
	id   string
	size int // -1: the body's
	body []byte
}

func file(riffSize uint32, chunks ...chunk) []byte {
	b := binary.LittleEndian.AppendUint32([]byte("RIFF"), riffSize)
	b = append(b, "WAVE"...)
	for _, c := range chunks {
		size := c.size
		if size < 0 {
			size = len(c.body)
		}
		b = append(b, c.id...)
		b = binary.LittleEndian.AppendUint32(b, uint32(size))
		b = append(b, c.body...)
		if len(c.body)%2 == 1 {
			b = append(b, 0)
		}
	}
	return b
}

func fmtChunk(tag, channels, rate, bits int) chunk {
	le := binary.LittleEndian
	b := le.AppendUint16(nil, uint16(tag))
	b = le.AppendUint16(b, uint16(channels))
	b = le.AppendUint32(b, uint32(rate))
	b = le.AppendUint32(b, uint32(rate*channels*bits/8))
	b = le.AppendUint16(b, uint16(channels*bits/8))
	b = le.AppendUint16(b, uint16(bits))
	return chunk{"fmt ", -1, b}
}

func extensible(tag, channels, rate, bits int) chunk {
	c := fmtChunk(0xfffe, channels, rate, bits)
	le := binary.LittleEndian
	c.body = le.AppendUint16(c.body, 22)
	c.body = le.AppendUint16(c.body, uint16(bits))
	c.body = le.AppendUint32(c.body, 3)
	c.body = le.AppendUint16(c.body, uint16(tag))
	c.body = append(c.body, "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"...)
	return c
}

func cut(b []byte, n int) []byte { return b[:len(b)-n] }

func data(body []byte) chunk { return chunk{"data", -1, body} }

func read(t *testing.T, b []byte) (audio.Format, []int16) {
	t.Helper()
	r, err := wav.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	s, err := audio.ReadAll(r, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return r.Format(), s
}

func floats(bits int, values ...float64) []byte {
	var b []byte
	for _, v := range values {
		if bits == 32 {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		} else {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
	}
	return b
}

func TestReaderTakesEveryEncoding(t *testing.T) {
	for _, c := range []struct {
		name string
		fmt  chunk
		body []byte
		want []int16
	}{
		{"8-bit unsigned", fmtChunk(1, 1, 8000, 8), []byte{0, 128, 255}, []int16{-32768, 0, 32512}},
		{"16-bit", fmtChunk(1, 1, 8000, 16), []byte{0xff, 0x7f, 0, 0x80, 1, 0}, []int16{32767, -32768, 1}},
		{"24-bit is rounded", fmtChunk(1, 1, 48000, 24), []byte{0x7f, 1, 0, 0x80, 1, 0, 0xff, 0xff, 0x7f, 0, 0, 0x80}, []int16{1, 2, 32767, -32768}},
		{"32-bit is rounded", fmtChunk(1, 1, 48000, 32), []byte{0xff, 0x7f, 5, 0, 0, 0x80, 5, 0, 0, 0, 0, 0x80}, []int16{5, 6, -32768}},
		{"32-bit float", fmtChunk(3, 1, 44100, 32), floats(32, 0, 0.5, -1, 2, math.NaN(), math.Inf(-1)), []int16{0, 16384, -32768, 32767, 0, -32768}},
		{"64-bit float", fmtChunk(3, 1, 44100, 64), floats(64, -0.25, 1), []int16{-8192, 32767}},
		{"µ-law", fmtChunk(7, 1, 8000, 8), []byte{0xff, 0x80}, []int16{g711.DecodeULaw(0xff), g711.DecodeULaw(0x80)}},
		{"A-law", fmtChunk(6, 1, 8000, 8), []byte{0xd5, 0x55}, []int16{g711.DecodeALaw(0xd5), g711.DecodeALaw(0x55)}},
		{"extensible integers", extensible(1, 2, 48000, 16), []byte{1, 0, 2, 0}, []int16{1, 2}},
		{"extensible floats", extensible(3, 1, 48000, 32), floats(32, 0.5), []int16{16384}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := file(0, c.fmt, data(c.body))
			_, got := read(t, b)
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
			r, err := wav.NewReader(iotest.OneByteReader(bytes.NewReader(b)))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := audio.ReadAll(r, 100); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("byte by byte: %v, %v", got, err)
			}
		})
	}
}

func TestReaderToleratesWhatIsMet(t *testing.T) {
	pcm := []byte{1, 0, 2, 0, 3, 0}
	mono := fmtChunk(1, 1, 22050, 16)
	for _, c := range []struct {
		name string
		in   []byte
		want []int16
	}{
		{"espeak-ng's made-up sizes", file(0x7ffff024, mono, chunk{"data", 0x7ffff000, pcm}), []int16{1, 2, 3}},
		{"ffmpeg's unknown sizes", file(0xffffffff, mono, chunk{"LIST", -1, []byte("INFO")}, chunk{"data", 0xffffffff, pcm}), []int16{1, 2, 3}},
		{"zero sizes of a pipe", file(0, mono, chunk{"data", 0, pcm}), []int16{1, 2, 3}},
		{"a header that was never completed", file(36, mono, chunk{"data", 0, pcm}), []int16{1, 2, 3}},
		{"an empty recording with tags after it", file(60, mono, data(nil), chunk{"LIST", -1, []byte("INFOISFT")}), nil},
		{"an odd chunk before the sound", file(0, chunk{"junk", -1, []byte{9, 9, 9}}, mono, chunk{"fact", -1, []byte{1}}, data(pcm)), []int16{1, 2, 3}},
		{"chunks after the sound", file(0, mono, data(pcm), chunk{"LIST", -1, []byte("INFOxxxx")}), []int16{1, 2, 3}},
		{"a stream cut short", file(0, mono, chunk{"data", 1000, pcm}), []int16{1, 2, 3}},
		{"half a sample at the end", cut(file(0, mono, chunk{"data", 1000, pcm}), 1), []int16{1, 2}},
		{"RF64", append([]byte("RF64"), file(0xffffffff, chunk{"ds64", -1, make([]byte, 28)}, mono, chunk{"data", 0xffffffff, pcm})[4:]...), []int16{1, 2, 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			format, got := read(t, c.in)
			if !slices.Equal(got, c.want) || format != audio.Mono(22050) {
				t.Errorf("got %v at %v, want %v", got, format, c.want)
			}
		})
	}
}

func TestReaderRefusesWhatItCannotRead(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []byte
		want error
	}{
		{"nothing", nil, wav.ErrFormat},
		{"MP3", []byte("ID3\x04\x00\x00\x00\x00\x00\x00\x00\x00"), wav.ErrFormat},
		{"only the first header", []byte("RIFF\x00\x00\x00\x00WAVE"), wav.ErrFormat},
		{"sound before fmt", file(0, data([]byte{1, 2})), wav.ErrFormat},
		{"a short fmt chunk", file(0, chunk{"fmt ", -1, make([]byte, 14)}), wav.ErrFormat},
		{"no channels", file(0, fmtChunk(1, 0, 8000, 16), data(nil)), audio.ErrFormat},
		{"a rate of 0", file(0, fmtChunk(1, 1, 0, 16), data(nil)), audio.ErrFormat},
		{"ADPCM", file(0, fmtChunk(2, 1, 8000, 4), data(nil)), wav.ErrUnsupported},
		{"13-bit samples", file(0, fmtChunk(1, 1, 8000, 13), data(nil)), wav.ErrUnsupported},
		{"a huge chunk before the sound", file(0, chunk{"junk", 0x7fffffff, nil}), wav.ErrFormat},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := wav.NewReader(bytes.NewReader(c.in)); !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
}

func TestReaderPassesOnAFailureOfTheLine(t *testing.T) {
	broken := errors.New("line dropped")
	b := file(0, fmtChunk(1, 1, 8000, 16), chunk{"data", 100, []byte{1, 0, 2, 0}})
	r, err := wav.NewReader(io.MultiReader(bytes.NewReader(b), iotest.ErrReader(broken)))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := audio.ReadAll(r, 100); !errors.Is(err, broken) || !slices.Equal(got, []int16{1, 2}) {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := wav.NewReader(io.MultiReader(bytes.NewReader(b[:20]), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("a failure in the header gives %v", err)
	}
}

func TestSoxReadsAndWritesTheSame(t *testing.T) {
	if _, err := exec.LookPath("sox"); err != nil {
		t.Skip("sox is not installed")
	}
	dir := t.TempDir()
	tone, err := audio.NewTone(audio.Format{Rate: 22050, Channels: 2}, 300, -12)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]int16, 2000)
	if _, err := tone.Read(want); err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(dir, "in.wav")
	if err := os.WriteFile(source, wav.Append(nil, tone.Format(), want), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-b", "16"}, {"-b", "24"}, {"-b", "32"}, {"-e", "floating-point", "-b", "32"}, {"-e", "floating-point", "-b", "64"}} {
		target := filepath.Join(dir, "out.wav")
		if out, err := exec.Command("sox", append(append([]string{source}, args...), target)...).CombinedOutput(); err != nil {
			t.Fatalf("sox: %v\n%s", err, out)
		}
		b, err := os.ReadFile(target)
		if err != nil {
			t.Fatal(err)
		}
		if _, got := read(t, b); !slices.Equal(got, want) {
			t.Errorf("%v: samples differ", args)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add(file(36, fmtChunk(1, 1, 8000, 16), data([]byte{1, 0, 2, 0})))
	f.Add(file(0x7ffff024, fmtChunk(1, 1, 22050, 16), chunk{"data", 0x7ffff000, []byte{1, 0, 2}}))
	f.Add(file(0, extensible(3, 2, 48000, 32), chunk{"odd ", -1, []byte{1}}, data(floats(32, 0.5, math.NaN()))))
	f.Add(file(0, fmtChunk(7, 2, 8000, 8), data([]byte{1, 2, 3})))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := wav.NewReader(bytes.NewReader(b))
		if err != nil {
			return
		}
		got, err := audio.ReadAll(r, 1<<20)
		if err != nil {
			t.Fatalf("a stream in memory fails: %v", err)
		}
		if len(got) > len(b) || len(got)%r.Format().Channels != 0 {
			t.Fatalf("%d samples of %v out of %d bytes", len(got), r.Format(), len(b))
		}
		// What was read can be written and read again.
		again, err := wav.NewReader(bytes.NewReader(wav.Append(nil, r.Format(), got)))
		if err != nil {
			t.Fatal(err)
		}
		if back, err := audio.ReadAll(again, 1<<20); err != nil || !slices.Equal(back, got) {
			t.Fatalf("written and read again it differs: %v", err)
		}
	})
}

func ExampleNewReader() {
	prompt := wav.Append(nil, audio.Mono(16000), make([]int16, 8000))
	r, err := wav.NewReader(bytes.NewReader(prompt))
	if err != nil {
		fmt.Println(err)
		return
	}
	pcm, err := audio.ReadAll(r, 16000*60)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Format(), r.Format().Duration(len(pcm)))
	// Output: 16000 Hz mono 500ms
}

func ExampleWriter() {
	var recording bytes.Buffer // a file would have its header completed by Close
	w, err := wav.NewWriter(&recording, audio.Mono(8000))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := w.Write([]int16{1, 2, 3}); err != nil {
		fmt.Println(err)
		return
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(recording.Len(), "bytes,", w.Samples(), "samples")
	// Output: 50 bytes, 3 samples
}

func BenchmarkReader20ms(b *testing.B) {
	silence := make([]byte, 640)
	p := make([]int16, 320)
	in := &endless{header: wav.Append(nil, audio.Mono(16000), nil), body: silence}
	r, err := wav.NewReader(in)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Read(p); err != nil {
			b.Fatal(err)
		}
	}
}

type endless struct{ header, body []byte }

func (e *endless) Read(p []byte) (int, error) {
	if len(e.header) > 0 {
		n := copy(p, e.header)
		e.header = e.header[n:]
		return n, nil
	}
	return copy(p, e.body), nil
}
