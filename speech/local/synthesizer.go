package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/resample"
	"github.com/turnwise/turnwise/audio/wav"
	"github.com/turnwise/turnwise/speech"
)

const (
	// maxText is the longest utterance in bytes.
	maxText = 16 << 10
	// maxSpeech is the longest audio of one.
	maxSpeech = 10 * time.Minute
	// pieceSamples is how much audio is given at once, at most.
	pieceSamples = 4096
)

// SynthesizerConfig is the settings of a [Synthesizer]. Engine and Program are
// required; [Report.SynthesizerConfig] fills them in.
type SynthesizerConfig struct {
	// Engine is [Flite] or [ESpeakNG].
	Engine Engine
	// Program is the path of the program.
	Program string
	// Voice is the engine's name of the voice; the defaults are "slt" (flite; "rms"
	// is the man's voice) and "en-us" (espeak-ng).
	Voice string
	// Rate is the sample rate in Hz of the audio that is given, converted where the
	// engine's is another. The defaults are the engines' own: 16000 (flite) and
	// 22050 (espeak-ng).
	Rate int
	// Limit is how many processes may run at once; the default is 4.
	Limit int
	// Timeout bounds a process, besides the context; the default is 30 s.
	Timeout time.Duration
}

// Synthesizer speaks with a program on the machine. It implements
// [speech.Synthesizer]; any number of sessions may use it at once.
type Synthesizer struct {
	cfg    SynthesizerConfig
	runner *runner
}

var _ speech.Synthesizer = (*Synthesizer)(nil)

// NewSynthesizer makes a synthesizer. Nothing is run before the first
// [Synthesizer.Synthesize]. Errors wrap [ErrConfig] and name the field.
func NewSynthesizer(cfg SynthesizerConfig) (*Synthesizer, error) {
	voice, rate := "", 0
	switch cfg.Engine {
	case Flite:
		voice, rate = "slt", 16000
	case ESpeakNG:
		voice, rate = "en-us", 22050
	default:
		return nil, fmt.Errorf("%w: SynthesizerConfig.Engine is %q; use Flite or ESpeakNG", ErrConfig, cfg.Engine)
	}
	if cfg.Program == "" {
		return nil, fmt.Errorf("%w: SynthesizerConfig.Program is required", ErrConfig)
	}
	if cfg.Voice == "" {
		cfg.Voice = voice
	}
	if cfg.Rate == 0 {
		cfg.Rate = rate
	}
	if err := audio.Mono(cfg.Rate).Validate(); err != nil {
		return nil, fmt.Errorf("%w: SynthesizerConfig.Rate: %w", ErrConfig, err)
	}
	if err := checkVoice(cfg.Voice); err != nil {
		return nil, err
	}
	r, err := newRunner(cfg.Limit, cfg.Timeout)
	if err != nil {
		return nil, err
	}
	return &Synthesizer{cfg: cfg, runner: r}, nil
}

// Rate is the configured sample rate in Hz, or the engine's own.
func (s *Synthesizer) Rate() int { return s.cfg.Rate }

// Synthesize speaks an utterance, see [speech.Synthesizer]. espeak-ng's audio is
// emitted as it is made, flite's when it is made whole. Failures are a
// [*ProcessError]; an utterance in a language that the voice does not speak is
// refused with [ErrLanguage] (flite) or spoken with espeak-ng's voice for it.
func (s *Synthesizer) Synthesize(ctx context.Context, u speech.Utterance, emit func(speech.Speech) error) error {
	if len(u.Text) > maxText {
		return fmt.Errorf("local: the utterance has %d bytes, more than %d; give it sentence by sentence", len(u.Text), maxText)
	}
	voice, err := s.voice(u.Language)
	if err != nil {
		return err
	}
	text := strings.NewReader(speakable(u.Text))
	give := func(r io.Reader) error { return s.give(r, emit) }
	if s.cfg.Engine == ESpeakNG {
		return unwrapListener(s.runner.run(ctx, command{
			path: s.cfg.Program, args: []string{"-v", voice, "--stdin", "--stdout"}, stdin: text, read: give,
		}))
	}
	return unwrapListener(s.flite(ctx, voice, text, give))
}

// flite has flite write into a file. It cannot write into a pipe: for the second
// sentence it reads its header back, and would wait for itself for ever.
func (s *Synthesizer) flite(ctx context.Context, voice string, text io.Reader, give func(io.Reader) error) error {
	f, err := os.CreateTemp("", "turnwise-speech-*.wav")
	if err != nil {
		return fmt.Errorf("local: no file for the speech: %w", err)
	}
	defer func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}()
	err = s.runner.run(ctx, command{
		path: s.cfg.Program, args: []string{"-voice", voice, "-f", "/dev/stdin", "-o", f.Name()}, stdin: text, read: discard,
	})
	if err != nil {
		return err
	}
	if err := give(f); errors.Is(err, errListener) {
		return err
	} else if err != nil {
		return &ProcessError{Program: s.cfg.Program, Err: err}
	}
	return nil
}

// voice is the one for a language.
func (s *Synthesizer) voice(language string) (string, error) {
	switch {
	case language == "":
		return s.cfg.Voice, nil
	case s.cfg.Engine == Flite && primary(language) == "en":
		return s.cfg.Voice, nil
	case s.cfg.Engine == Flite:
		return "", fmt.Errorf("%w: flite speaks English, not %q; use espeak-ng", ErrLanguage, language)
	case primary(language) == primary(s.cfg.Voice):
		return s.cfg.Voice, nil
	case checkVoice(primary(language)) != nil:
		return "", fmt.Errorf("%w: %q is not a language tag", ErrLanguage, language)
	}
	return primary(language), nil
}

// give emits a WAV stream.
func (s *Synthesizer) give(r io.Reader, emit func(speech.Speech) error) error {
	stream, err := wav.NewReader(r)
	if err != nil {
		return err
	}
	source, err := resample.NewSource(audio.NewMono(stream), s.cfg.Rate)
	if err != nil {
		return err
	}
	left := audio.Mono(s.cfg.Rate).Samples(maxSpeech)
	for {
		piece := make([]int16, pieceSamples)
		n, err := source.Read(piece)
		if left -= n; left < 0 {
			return fmt.Errorf("%w: more than %s of speech", ErrTooLong, maxSpeech)
		}
		if n > 0 {
			if err := emit(speech.Speech{Samples: piece[:n]}); err != nil {
				return fmt.Errorf("%w: %w", errListener, err)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// speakable is text without what the programs take for commands: control
// characters, and phonemes in double brackets.
func speakable(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	for strings.Contains(text, "[[") {
		text = strings.ReplaceAll(text, "[[", "[ [")
	}
	return text + "\n"
}

// unwrapListener gives the listener its own error back.
func unwrapListener(err error) error {
	if many, ok := err.(interface{ Unwrap() []error }); ok && errors.Is(err, errListener) {
		return many.Unwrap()[1]
	}
	return err
}
