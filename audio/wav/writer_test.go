package wav_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/wav"
)

func TestWriterCompletesAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "call.wav")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	format := audio.Format{Rate: 16000, Channels: 2}
	w, err := wav.NewWriter(f, format)
	if err != nil {
		t.Fatal(err)
	}
	want := []int16{1, -1, 300, -300, 32767, -32768}
	for _, piece := range [][]int16{want[:1], want[1:4], want[4:]} {
		if err := w.Write(piece); err != nil {
			t.Fatal(err)
		}
		// The program may die here: what is on disk reads to its end.
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		n := int(w.Samples())
		if _, got := read(t, b); !slices.Equal(got, want[:n-n%2]) {
			t.Errorf("before Close the file reads as %v", got)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if err := w.Write(want); !errors.Is(err, wav.ErrClosed) {
		t.Errorf("writing after Close gives %v", err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b, wav.Append(nil, format, want)) {
		t.Errorf("file is % x", b)
	}
	r, err := wav.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if r.Samples() != 6 || r.Bits() != 16 || r.Format() != format {
		t.Errorf("%d samples of %d bits, %v", r.Samples(), r.Bits(), r.Format())
	}
}

func TestWriterStreamsThroughAPipe(t *testing.T) {
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w, err := wav.NewWriter(in, audio.Mono(8000))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write([]int16{7, 8, 9}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	r, err := wav.NewReader(out)
	if err != nil {
		t.Fatal(err)
	}
	if r.Samples() != -1 {
		t.Errorf("the header promises %d samples", r.Samples())
	}
	if got, err := audio.ReadAll(r, 10); err != nil || !slices.Equal(got, []int16{7, 8, 9}) {
		t.Errorf("got %v, %v", got, err)
	}
}

type failing struct{ after int }

func (f *failing) Write(p []byte) (int, error) {
	if f.after--; f.after < 0 {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

func TestWriterKeepsItsFailure(t *testing.T) {
	if _, err := wav.NewWriter(&failing{0}, audio.Mono(8000)); err == nil {
		t.Error("no error from the header")
	}
	w, err := wav.NewWriter(&failing{1}, audio.Mono(8000))
	if err != nil {
		t.Fatal(err)
	}
	first := w.Write([]int16{1})
	if first == nil || !errors.Is(w.Write([]int16{2}), first) || !errors.Is(w.Close(), first) {
		t.Errorf("the failure %v is not kept", first)
	}
}
