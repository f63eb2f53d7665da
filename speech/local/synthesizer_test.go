//go:build unix

package local_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/wav"
	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/speech/local"
)

const sentence = `It's "half past" $(seven); [[ok]]? --stdout`

func TestESpeakGetsTheTextThroughStandardInputAndIsReadToItsEnd(t *testing.T) {
	program, dir := script(t, `printf '%s\n' "$@" >"$D/args"; env >"$D/env"; cat >"$D/text"; cat "$D/sound"`)
	want := ramp(30000)
	put(t, dir, "sound", streamed(22050, want))
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	s := synthesizer(t, local.SynthesizerConfig{Engine: local.ESpeakNG, Program: program})
	samples, err := say(t.Context(), s, sentence)
	if err != nil || !slices.Equal(samples, want) {
		t.Errorf("got %d samples of %d, %v", len(samples), len(want), err)
	}
	if args := got(t, dir, "args"); args != "-v\nen-us\n--stdin\n--stdout\n" {
		t.Errorf("arguments are %q", args)
	}
	if text := got(t, dir, "text"); text != "It's \"half past\" $(seven); [ [ok]]? --stdout\n" {
		t.Errorf("text is %q", text)
	}
	if strings.Contains(got(t, dir, "env"), "sk-secret") {
		t.Error("the program was given this program's secrets")
	}
	if s.Rate() != 22050 {
		t.Errorf("rate is %d", s.Rate())
	}
}

func TestFliteWritesAFileThatIsRemoved(t *testing.T) {
	program, dir := script(t, `printf '%s\n' "$@" >"$D/args"; cat >"$D/text"; cp "$D/sound" "$6"`)
	want := ramp(20000)
	put(t, dir, "sound", wav.Append(nil, audio.Mono(16000), want))
	t.Setenv("TMPDIR", t.TempDir())
	s := synthesizer(t, local.SynthesizerConfig{Engine: local.Flite, Program: program, Voice: "rms"})
	samples, err := say(t.Context(), s, "Hello.\x00\nThere.")
	if err != nil || !slices.Equal(samples, want) {
		t.Errorf("got %d samples of %d, %v", len(samples), len(want), err)
	}
	args := strings.Fields(got(t, dir, "args"))
	if len(args) != 6 || !slices.Equal(args[:5], []string{"-voice", "rms", "-f", "/dev/stdin", "-o"}) {
		t.Fatalf("arguments are %q", args)
	}
	if left, err := filepath.Glob(filepath.Dir(args[5]) + "/*"); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if text := got(t, dir, "text"); text != "Hello.  There.\n" {
		t.Errorf("text is %q", text)
	}
}

func TestAudioComesWhileTheProgramStillSpeaks(t *testing.T) {
	program, dir := script(t, `cat "$D/sound"; cat "$D/gate" >/dev/null; cat "$D/rest"`)
	put(t, dir, "sound", streamed(22050, ramp(6000)))
	put(t, dir, "rest", audio.AppendBytes(nil, ramp(100)))
	gate := filepath.Join(dir, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	s := synthesizer(t, local.SynthesizerConfig{Engine: local.ESpeakNG, Program: program})
	n := 0
	err := s.Synthesize(t.Context(), speech.Utterance{Text: "x"}, func(p speech.Speech) error {
		if n == 0 { // the program waits for this
			put(t, dir, "gate", nil)
		}
		n += len(p.Samples)
		return nil
	})
	if err != nil || n != 6100 {
		t.Errorf("%d samples, %v", n, err)
	}
}

func TestAnotherRateIsConverted(t *testing.T) {
	program, dir := script(t, `cat "$D/sound"`)
	put(t, dir, "sound", streamed(22050, ramp(22050)))
	s := synthesizer(t, local.SynthesizerConfig{Engine: local.ESpeakNG, Program: program, Rate: 24000})
	samples, err := say(t.Context(), s, "x")
	if err != nil || len(samples) < 23990 || len(samples) > 24010 {
		t.Errorf("a second has %d samples, %v", len(samples), err)
	}
}

func TestWhatAProgramDoesWrong(t *testing.T) {
	for name, c := range map[string]struct {
		lines string
		words []string
	}{
		"it complains":          {"echo 'no such voice' >&2; exit 3", []string{"exit status 3", "no such voice"}},
		"it complains for ever": {"yes 'all is lost' | head -c 3000000 >&2; echo 'the end' >&2; exit 1", []string{"exit status 1", "the end"}},
		"it writes garbage":     {"head -c 100000 /dev/zero", []string{"not a WAV stream"}},
		"it never stops":        {"yes garbage", []string{"not a WAV stream"}},
		"it writes nothing":     {"exit 0", []string{"not a WAV stream"}},
		"it dies":               {"kill -9 $$", []string{"killed"}},
	} {
		t.Run(name, func(t *testing.T) {
			program, _ := script(t, c.lines)
			for _, engine := range []local.Engine{local.ESpeakNG, local.Flite} {
				s := synthesizer(t, local.SynthesizerConfig{Engine: engine, Program: program})
				words := c.words
				if engine == local.Flite && name == "it never stops" {
					words = []string{"too much output"}
				}
				if engine == local.Flite && name == "it writes garbage" {
					words = []string{"too much output"}
				}
				_, err := say(t.Context(), s, "hello")
				wantProcess(t, err, append(words, program)...)
			}
		})
	}
	t.Run("it is not there", func(t *testing.T) {
		s := synthesizer(t, local.SynthesizerConfig{Engine: local.Flite, Program: "/nonexistent/flite"})
		_, err := say(t.Context(), s, "hello")
		if wantProcess(t, err); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("it fails after some sound", func(t *testing.T) {
		program, dir := script(t, `cat "$D/sound"; echo broken >&2; exit 1`)
		put(t, dir, "sound", streamed(22050, ramp(100)))
		s := synthesizer(t, local.SynthesizerConfig{Engine: local.ESpeakNG, Program: program})
		samples, err := say(t.Context(), s, "hello")
		if wantProcess(t, err, "broken"); len(samples) != 100 {
			t.Errorf("%d samples", len(samples))
		}
	})
}

func TestCancellingKillsTheProgramAndWhatItStarted(t *testing.T) {
	for _, engine := range []local.Engine{local.ESpeakNG, local.Flite} {
		h := newHanging(t)
		s := synthesizer(t, local.SynthesizerConfig{Engine: engine, Program: h.program})
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := say(ctx, s, "hello")
			done <- err
		}()
		alive := h.started(t)
		interrupted := errors.New("interrupted")
		cancel(interrupted)
		if err := <-done; !errors.Is(err, interrupted) {
			t.Errorf("%s: error is %v", engine, err)
		}
		// This would wait for the child that sleeps.
		if _, err := io.ReadAll(alive); err != nil {
			t.Error(err)
		}
	}
}

func TestAHangingProgramEndsAfterItsTime(t *testing.T) {
	h := newHanging(t)
	s := synthesizer(t, local.SynthesizerConfig{Engine: local.ESpeakNG, Program: h.program, Timeout: 200 * time.Millisecond})
	_, err := say(t.Context(), s, "hello")
	if wantProcess(t, err, "200ms"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v", err)
	}
}

func TestTheListenersFailureEndsTheProgram(t *testing.T) {
	program, dir := script(t, `cat "$D/sound"; sleep 1000`)
	put(t, dir, "sound", streamed(22050, ramp(9000)))
	s := synthesizer(t, local.SynthesizerConfig{Engine: local.ESpeakNG, Program: program})
	gone := errors.New("gone")
	n := 0
	err := s.Synthesize(t.Context(), speech.Utterance{Text: "x"}, func(speech.Speech) error { n++; return gone })
	if err != gone || n != 1 {
		t.Errorf("%v after %d pieces", err, n)
	}
}

func TestOnlySoManyProgramsRunAtOnce(t *testing.T) {
	program, dir := script(t, `
mkdir "$D/run.$$"; set -- "$D"/run.*; echo $# >>"$D/counts"; sleep 0.05; rmdir "$D/run.$$"; cat "$D/sound"`)
	put(t, dir, "sound", streamed(22050, ramp(10)))
	s := synthesizer(t, local.SynthesizerConfig{Engine: local.ESpeakNG, Program: program, Limit: 2})
	var wg sync.WaitGroup
	for range 12 {
		wg.Go(func() {
			if _, err := say(t.Context(), s, "x"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	counts := strings.Fields(got(t, dir, "counts"))
	if len(counts) != 12 || slices.ContainsFunc(counts, func(n string) bool { return n != "1" && n != "2" }) {
		t.Errorf("at the same time ran: %v", counts)
	}
}

func TestACallThatWaitsForItsTurnCanBeCancelled(t *testing.T) {
	h := newHanging(t)
	s := synthesizer(t, local.SynthesizerConfig{Engine: local.ESpeakNG, Program: h.program, Limit: 1})
	first, endFirst := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := say(first, s, "hello")
		done <- err
	}()
	h.started(t)
	second, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := say(second, s, "hello"); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	endFirst()
	<-done
}

func TestLanguages(t *testing.T) {
	program, dir := script(t, `printf '%s ' "$@" >"$D/args"; cat "$D/sound"`)
	put(t, dir, "sound", streamed(22050, ramp(10)))
	voice := func(e local.Engine, language string) (string, error) {
		s := synthesizer(t, local.SynthesizerConfig{Engine: e, Program: program})
		err := s.Synthesize(t.Context(), speech.Utterance{Text: "x", Language: language}, func(speech.Speech) error { return nil })
		if err != nil {
			return "", err
		}
		return strings.Fields(got(t, dir, "args"))[1], nil
	}
	for language, want := range map[string]string{"": "en-us", "en-GB": "en-us", "de": "de", "fr-CA": "fr"} {
		if v, err := voice(local.ESpeakNG, language); err != nil || v != want {
			t.Errorf("espeak-ng speaks %q with %q, %v", language, v, err)
		}
	}
	if _, err := voice(local.ESpeakNG, "../x"); !errors.Is(err, local.ErrLanguage) {
		t.Errorf("error is %v", err)
	}
	if _, err := voice(local.Flite, "de-DE"); !errors.Is(err, local.ErrLanguage) {
		t.Errorf("error is %v", err)
	}
}

func TestSynthesizerConfigErrorsNameTheField(t *testing.T) {
	good := local.SynthesizerConfig{Engine: local.Flite, Program: "/bin/true"}
	for name, c := range map[string]struct {
		change func(*local.SynthesizerConfig)
		want   string
	}{
		"no engine":            {func(c *local.SynthesizerConfig) { c.Engine = "" }, "Engine"},
		"an engine that hears": {func(c *local.SynthesizerConfig) { c.Engine = local.PocketSphinx }, "Engine"},
		"no program":           {func(c *local.SynthesizerConfig) { c.Program = "" }, "Program"},
		"a voice to download":  {func(c *local.SynthesizerConfig) { c.Voice = "http://host.test/x.flitevox" }, "Voice"},
		"a voice as option":    {func(c *local.SynthesizerConfig) { c.Voice = "-o" }, "Voice"},
		"an odd rate":          {func(c *local.SynthesizerConfig) { c.Rate = 17 }, "Rate"},
		"a negative limit":     {func(c *local.SynthesizerConfig) { c.Limit = -1 }, "Limit"},
		"a negative time":      {func(c *local.SynthesizerConfig) { c.Timeout = -1 }, "Timeout"},
	} {
		cfg := good
		c.change(&cfg)
		if _, err := local.NewSynthesizer(cfg); !errors.Is(err, local.ErrConfig) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	s := synthesizer(t, good)
	if _, err := say(t.Context(), s, strings.Repeat("word ", 4000)); err == nil || !strings.Contains(err.Error(), "sentence by sentence") {
		t.Errorf("a very long utterance: %v", err)
	}
}
