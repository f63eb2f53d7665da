package peer

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/wav"
)

// Speech is a text as flite speaks it, as loud as a person, and its sample rate. A test
// without flite ends as Missing says.
func Speech(t testing.TB, text string) (samples []int16, rate int) {
	t.Helper()
	flite := Program(t, "flite")
	path := filepath.Join(t.TempDir(), "speech.wav")
	// Of flite's voices this is the one that recognizers understand best.
	if out, err := exec.Command(flite, "-voice", "rms", "-o", path, "-t", text).CombinedOutput(); err != nil {
		t.Fatalf("flite: %v\n%s", err, out)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in, err := wav.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	rate = in.Format().Rate
	samples, err = audio.ReadAll(in, audio.Mono(rate).Samples(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	loudest := 1
	for _, s := range samples {
		loudest = max(loudest, int(s), -int(s))
	}
	for i, s := range samples {
		samples[i] = int16(int(s) * 20000 / loudest)
	}
	return samples, rate
}
