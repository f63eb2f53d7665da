//go:build unix

package local_test

import (
	"strings"
	"testing"
	"time"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/speech/local"
	"github.com/turnwise/turnwise/test/peer"
)

// installed is what is on this machine, which must be all.
func installed(t *testing.T) local.Report {
	t.Helper()
	r := local.Find(t.Context())
	if !r.CanSpeak() || !r.CanListen() || !r.ESpeakNG.Found() || !r.Flite.Found() {
		peer.Missing(t, "a program that speaks or listens:\n"+r.String())
	}
	return r
}

func TestWhatFliteSaysPocketsphinxUnderstands(t *testing.T) {
	r := installed(t)
	cfg, err := r.SynthesizerConfig()
	if err != nil {
		t.Fatal(err)
	}
	ears, err := r.Transcriber()
	if err != nil {
		t.Fatal(err)
	}
	const said = "Please tell me the weather forecast for tomorrow in Paris."
	for _, voice := range []string{"slt", "rms"} {
		cfg.Voice, cfg.Rate = voice, 16000
		samples, err := say(t.Context(), synthesizer(t, cfg), said)
		if err != nil {
			t.Fatal(err)
		}
		heard, err := ears.Transcribe(t.Context(), samples, cfg.Rate)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Fields(strings.ToLower(strings.TrimSuffix(said, ".")))
		if wrong := distance(want, strings.Fields(heard)); wrong > 2 {
			t.Errorf("%s: of %d words %d are wrong: %q", voice, len(want), wrong, heard)
		} else {
			t.Logf("%s: %d words wrong: %q", voice, wrong, heard)
		}
	}
}

func TestRealVoicesSpeakSeveralSentences(t *testing.T) {
	r := installed(t)
	for _, p := range []local.Program{r.Flite, r.ESpeakNG} {
		s := synthesizer(t, local.SynthesizerConfig{Engine: p.Engine, Program: p.Path})
		samples, err := say(t.Context(), s, "Your table is booked. It is for four. See you at eight; don't be late -- ever.")
		if err != nil {
			t.Fatal(err)
		}
		d := audio.Mono(s.Rate()).Duration(len(samples))
		if level := audio.Level(samples); d < 3*time.Second || d > 12*time.Second || level < -40 {
			t.Errorf("%s: %s of sound, level %.0f dB", p.Engine, d, level)
		}
	}
}

func TestRealProgramsSayWhatIsWrong(t *testing.T) {
	r := installed(t)
	s := synthesizer(t, local.SynthesizerConfig{Engine: local.ESpeakNG, Program: r.ESpeakNG.Path, Voice: "nosuchvoice"})
	_, err := say(t.Context(), s, "hello")
	wantProcess(t, err, "voice does not exist")

	cfg, err := r.TranscriberConfig()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Model.Acoustic = "/nonexistent"
	ears, err := local.NewTranscriber(cfg)
	if err != nil {
		t.Fatal(err)
	}
	_, err = ears.Transcribe(t.Context(), ramp(16000), 16000)
	wantProcess(t, err, "/nonexistent")
}

func TestRealRecognizerHearsNothingInSilence(t *testing.T) {
	ears, err := installed(t).Transcriber()
	if err != nil {
		t.Fatal(err)
	}
	if words, err := ears.Transcribe(t.Context(), make([]int16, 32000), 16000); err != nil || words != "" {
		t.Errorf("heard %q, %v", words, err)
	}
}

// distance is how many words must be changed, left out or put in.
func distance(want, got []string) int {
	row := make([]int, len(got)+1)
	for j := range row {
		row[j] = j
	}
	for i, w := range want {
		diagonal := row[0]
		row[0] = i + 1
		for j, g := range got {
			change := diagonal
			if w != g {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(got)]
}
