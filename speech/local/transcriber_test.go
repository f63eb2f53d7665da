//go:build unix

package local_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/speech/local"
)

func transcriber(t *testing.T, engine local.Engine, program string) *local.Transcriber {
	t.Helper()
	tr, err := local.NewTranscriber(local.TranscriberConfig{
		Engine: engine, Program: program, Model: local.Model{Acoustic: "/m/hmm", Language: "/m/lm", Dictionary: "/m/dict"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

const modelArgs = "-hmm /m/hmm -lm /m/lm -dict /m/dict -dither yes "

func TestTheRecognizerGetsRawSamplesThroughStandardInput(t *testing.T) {
	for _, c := range []struct {
		engine       local.Engine
		answer, args string
	}{
		{local.PocketSphinxContinuous, "printf 'a table \\nfor four\\n\\n'", modelArgs + "-infile /dev/stdin "},
		{local.PocketSphinx, `printf '{"b":0,"d":1,"t":"a table","w":[]}\n{"t":" for four"}\n'`, modelArgs + "single - "},
	} {
		program, dir := script(t, `printf '%s ' "$@" >"$D/args"; cat >"$D/sound"; `+c.answer)
		tr := transcriber(t, c.engine, program)
		words, err := tr.Transcribe(t.Context(), ramp(16000), 16000)
		if err != nil || words != "a table for four" {
			t.Errorf("%s: heard %q, %v", c.engine, words, err)
		}
		if args := got(t, dir, "args"); args != c.args {
			t.Errorf("%s: arguments are %q", c.engine, args)
		}
		if got(t, dir, "sound") != string(audio.AppendBytes(nil, ramp(16000))) {
			t.Errorf("%s: the samples arrived otherwise", c.engine)
		}
		if _, err := tr.Transcribe(t.Context(), ramp(8000), 8000); err != nil {
			t.Error(err)
		}
		if n := len(got(t, dir, "sound")) / 2; n < 15990 || n > 16010 {
			t.Errorf("%s: a second at 8 kHz became %d samples", c.engine, n)
		}
	}
}

func TestNoSamplesStartNoProgram(t *testing.T) {
	if words, err := transcriber(t, local.PocketSphinx, "/nonexistent").Transcribe(t.Context(), nil, 16000); err != nil || words != "" {
		t.Errorf("%q, %v", words, err)
	}
}

func TestAProgramThatDoesNotReadItsInput(t *testing.T) {
	program, _ := script(t, "exec 0<&-; echo yes")
	words, err := transcriber(t, local.PocketSphinxContinuous, program).Transcribe(t.Context(), ramp(160000), 16000)
	if err != nil || words != "yes" {
		t.Errorf("%q, %v", words, err)
	}
}

func TestWhatARecognizerDoesWrong(t *testing.T) {
	for name, c := range map[string]struct {
		lines string
		words []string
	}{
		"no model": {
			`echo 'INFO: a' >&2; echo 'ERROR: "acmod.c", line 78: no mdef' >&2; yes 'INFO: b' | head -n 50 >&2; exit 1`,
			[]string{"exit status 1", "no mdef"},
		},
		"it talks for ever":      {"yes yes", []string{"too much output"}},
		"not JSON":               {"echo hello", []string{"JSON"}},
		"JSON of something else": {"echo '{}'", []string{"JSON"}},
	} {
		program, _ := script(t, c.lines)
		_, err := transcriber(t, local.PocketSphinx, program).Transcribe(t.Context(), ramp(1600), 16000)
		if wantProcess(t, err, append(c.words, program)...); strings.Contains(err.Error(), "INFO") {
			t.Errorf("%s: %q is full of what nobody asked for", name, err)
		}
	}
}

func TestCancellingATranscription(t *testing.T) {
	h := newHanging(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := transcriber(t, local.PocketSphinxContinuous, h.program).Transcribe(ctx, ramp(1600), 16000)
		done <- err
	}()
	alive := h.started(t)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	if _, err := io.ReadAll(alive); err != nil {
		t.Error(err)
	}
}

func TestTranscriberErrors(t *testing.T) {
	model := local.Model{Acoustic: "a", Language: "b", Dictionary: "c"}
	for want, cfg := range map[string]local.TranscriberConfig{
		"Engine":  {Engine: local.Flite, Program: "x", Model: model},
		"Program": {Engine: local.PocketSphinx, Model: model},
		"Model":   {Engine: local.PocketSphinx, Program: "x", Model: local.Model{Acoustic: "a"}},
		"Limit":   {Engine: local.PocketSphinx, Program: "x", Model: model, Limit: -1},
	} {
		if _, err := local.NewTranscriber(cfg); !errors.Is(err, local.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v", want, err)
		}
	}
	tr := transcriber(t, local.PocketSphinx, "/nonexistent")
	if _, err := tr.Transcribe(t.Context(), ramp(10), 1); !errors.Is(err, audio.ErrFormat) {
		t.Errorf("an impossible rate: %v", err)
	}
	if _, err := tr.Transcribe(t.Context(), make([]int16, 8000*301), 8000); err == nil || !strings.Contains(err.Error(), "5m0s") {
		t.Errorf("very long audio: %v", err)
	}
}
