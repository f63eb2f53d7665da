//go:build unix

package local_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/turnwise/turnwise/speech/local"
)

// machine is a finder for a machine with these programs, and a model if wanted.
func machine(t *testing.T, model bool, programs map[string]string) local.Finder {
	t.Helper()
	folder := t.TempDir()
	if model {
		if err := os.Mkdir(filepath.Join(folder, "en-us"), 0o700); err != nil {
			t.Fatal(err)
		}
		put(t, folder, "en-us.lm.bin", nil)
		put(t, folder, "cmudict-en-us.dict", nil)
	}
	return local.Finder{Models: []string{"/nonexistent", folder}, LookPath: func(name string) (string, error) {
		lines, ok := programs[name]
		if !ok {
			return "", exec.ErrNotFound
		}
		path, _ := script(t, lines)
		return path, nil
	}}
}

func TestAMachineWithNothing(t *testing.T) {
	r := machine(t, false, nil).Find(t.Context())
	if r.CanSpeak() || r.CanListen() {
		t.Errorf("found: %s", r)
	}
	if want := []string{"flite", "pocketsphinx", "pocketsphinx-en-us"}; !slices.Equal(r.Install(), want) {
		t.Errorf("to install: %v", r.Install())
	}
	for _, want := range []string{"apt-get install flite\n", "apt-get install espeak-ng\n", "apt-get install pocketsphinx pocketsphinx-en-us\n"} {
		if !strings.Contains(r.String(), want) {
			t.Errorf("%q is not in\n%s", want, r)
		}
	}
	_, err := r.Synthesizer()
	_, err2 := r.Transcriber()
	if !errors.Is(err, local.ErrMissing) || !errors.Is(err2, local.ErrMissing) || !strings.Contains(err2.Error(), "pocketsphinx-en-us") {
		t.Errorf("errors are %v, %v", err, err2)
	}
}

func TestAMachineWithAll(t *testing.T) {
	r := machine(t, true, map[string]string{
		"flite": "echo 'Voices available: kal slt'", "espeak-ng": "echo 'eSpeak NG 1.51'", "pocketsphinx_continuous": "", "pocketsphinx": "",
	}).Find(t.Context())
	if !r.CanSpeak() || !r.CanListen() || len(r.Install()) != 0 {
		t.Errorf("found: %s", r)
	}
	if !strings.Contains(r.String(), "kal slt") || !strings.Contains(r.String(), "1.51") || strings.Contains(r.String(), "missing") {
		t.Errorf("it says\n%s", r)
	}
	voice, err := r.SynthesizerConfig()
	if err != nil || voice.Engine != local.Flite || voice.Program != r.Flite.Path {
		t.Errorf("speaks with %+v, %v", voice, err)
	}
	ears, err := r.TranscriberConfig()
	if err != nil || ears.Engine != local.PocketSphinxContinuous || ears.Model != *r.PocketSphinx.Model {
		t.Errorf("listens with %+v, %v", ears, err)
	}
}

func TestAMachineWithParts(t *testing.T) {
	t.Run("a program that does not work", func(t *testing.T) {
		r := machine(t, true, map[string]string{"flite": "echo 'no library' >&2; exit 127", "espeak-ng": "", "pocketsphinx": ""}).Find(t.Context())
		if r.Flite.Found() || !strings.Contains(r.Flite.String(), "no library") || !strings.Contains(r.Flite.String(), "flite") {
			t.Errorf("flite: %s", r.Flite)
		}
		if cfg, err := r.SynthesizerConfig(); err != nil || cfg.Engine != local.ESpeakNG {
			t.Errorf("speaks with %+v, %v", cfg, err)
		}
		if cfg, err := r.TranscriberConfig(); err != nil || cfg.Engine != local.PocketSphinx {
			t.Errorf("listens with %+v, %v", cfg, err)
		}
	})
	t.Run("a recognizer without its model", func(t *testing.T) {
		r := machine(t, false, map[string]string{"pocketsphinx_continuous": ""}).Find(t.Context())
		if r.CanListen() || !slices.Equal(r.PocketSphinx.Packages, []string{"pocketsphinx-en-us"}) || !strings.Contains(r.PocketSphinx.Missing, "no model") {
			t.Errorf("%+v", r.PocketSphinx)
		}
	})
	t.Run("a model without a recognizer", func(t *testing.T) {
		r := machine(t, true, nil).Find(t.Context())
		if r.CanListen() || !slices.Equal(r.PocketSphinx.Packages, []string{"pocketsphinx"}) {
			t.Errorf("%+v", r.PocketSphinx)
		}
	})
}
