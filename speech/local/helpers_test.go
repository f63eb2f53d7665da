//go:build unix

package local_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/wav"
	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/speech/local"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script makes a program of a few lines of shell, which finds the files of its
// folder in $D.
func script(t *testing.T, lines string) (path, dir string) {
	t.Helper()
	dir = t.TempDir()
	path = filepath.Join(dir, "program")
	text := "#!/bin/sh\nPATH=/usr/local/bin:/usr/bin:/bin\nD='" + dir + "'\n" + lines + "\n"
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path, dir
}

// put writes a file into the script's folder.
func put(t *testing.T, dir, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// got reads one.
func got(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// hanging is a program that has started another one and waits.
type hanging struct {
	program string
	pipe    string // held open by both for as long as they live
}

func newHanging(t *testing.T) *hanging {
	t.Helper()
	program, dir := script(t, `exec 3>"$D/pipe"; echo started >&3; sleep 1000 & wait`)
	h := &hanging{program: program, pipe: filepath.Join(dir, "pipe")}
	if err := syscall.Mkfifo(h.pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	return h
}

// started waits until it runs, and returns the pipe. It ends when both programs
// have.
func (h *hanging) started(t *testing.T) io.Reader {
	t.Helper()
	f, err := os.Open(h.pipe)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if _, err := io.ReadFull(f, make([]byte, len("started\n"))); err != nil {
		t.Fatal(err)
	}
	return f
}

// ramp is sound that can be told apart.
func ramp(n int) []int16 {
	s := make([]int16, n)
	for i := range s {
		s[i] = int16(i * 7 % 20000)
	}
	return s
}

// streamed is a WAV stream with the sizes that espeak-ng writes.
func streamed(rate int, samples []int16) []byte {
	b := wav.Append(nil, audio.Mono(rate), samples)
	copy(b[4:], []byte{0x24, 0xf0, 0xff, 0x7f})
	copy(b[40:], []byte{0x00, 0xf0, 0xff, 0x7f})
	return b
}

func synthesizer(t *testing.T, cfg local.SynthesizerConfig) *local.Synthesizer {
	t.Helper()
	s, err := local.NewSynthesizer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// say collects what a synthesizer emits.
func say(ctx context.Context, s speech.Synthesizer, text string) ([]int16, error) {
	var all []int16
	err := s.Synthesize(ctx, speech.Utterance{Text: text}, func(p speech.Speech) error {
		all = append(all, p.Samples...)
		return nil
	})
	return all, err
}

// wantProcess checks that a program's failure is told with these words.
func wantProcess(t *testing.T, err error, words ...string) {
	t.Helper()
	var failed *local.ProcessError
	if !errors.As(err, &failed) {
		t.Fatalf("error is %v", err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q does not contain %q", err, w)
		}
	}
	if len(err.Error()) > 1000 {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
}
