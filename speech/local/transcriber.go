package local

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/resample"
	"github.com/turnwise/turnwise/speech"
)

const (
	// listenRate is what pocketsphinx's models are made for, in Hz.
	listenRate = 16000
	// maxWords bounds what it answers, in bytes.
	maxWords = 64 << 10
	// maxHeard is the longest audio that it is given.
	maxHeard = 5 * time.Minute
)

// TranscriberConfig is the settings of a [Transcriber]. Engine, Program and Model are
// required; [Report.TranscriberConfig] fills them in.
type TranscriberConfig struct {
	// Engine is [PocketSphinxContinuous] or [PocketSphinx].
	Engine Engine
	// Program is the path of the program.
	Program string
	// Model is where its model is.
	Model Model
	// Limit is how many processes may run at once; the default is 4.
	Limit int
	// Timeout bounds a process, besides the context; the default is 30 s.
	Timeout time.Duration
}

// Model is the paths of a pocketsphinx model. All are required.
type Model struct {
	// Acoustic is the folder of the acoustic model.
	Acoustic string
	// Language is the file of the language model. A small one, for the words that
	// are expected, understands better and answers sooner.
	Language string
	// Dictionary is the file of the words and how they sound.
	Dictionary string
}

// modelIn is Debian's layout.
func modelIn(folder string) Model {
	return Model{
		Acoustic:   filepath.Join(folder, "en-us"),
		Language:   filepath.Join(folder, "en-us.lm.bin"),
		Dictionary: filepath.Join(folder, "cmudict-en-us.dict"),
	}
}

// Transcriber understands English with pocketsphinx. It implements
// [speech.Transcriber]; any number of sessions may use it at once.
//
// It answers about a second after it is asked, plus a third of the speech's
// length.
type Transcriber struct {
	cfg    TranscriberConfig
	runner *runner
}

var _ speech.Transcriber = (*Transcriber)(nil)

// NewTranscriber makes a transcriber. Nothing is run before the first
// [Transcriber.Transcribe]. Errors wrap [ErrConfig] and name the field.
func NewTranscriber(cfg TranscriberConfig) (*Transcriber, error) {
	switch {
	case cfg.Engine != PocketSphinxContinuous && cfg.Engine != PocketSphinx:
		return nil, fmt.Errorf("%w: TranscriberConfig.Engine is %q; use PocketSphinxContinuous or PocketSphinx", ErrConfig, cfg.Engine)
	case cfg.Program == "":
		return nil, fmt.Errorf("%w: TranscriberConfig.Program is required", ErrConfig)
	case cfg.Model.Acoustic == "" || cfg.Model.Language == "" || cfg.Model.Dictionary == "":
		return nil, fmt.Errorf("%w: TranscriberConfig.Model: Acoustic, Language and Dictionary are required", ErrConfig)
	}
	r, err := newRunner(cfg.Limit, cfg.Timeout)
	if err != nil {
		return nil, err
	}
	return &Transcriber{cfg: cfg, runner: r}, nil
}

// Transcribe returns the words of mono samples at rate Hz, in small letters; empty
// where none were heard. Failures of the program are a [*ProcessError].
func (t *Transcriber) Transcribe(ctx context.Context, samples []int16, rate int) (string, error) {
	if len(samples) == 0 {
		return "", nil
	}
	sound, err := listenable(samples, rate)
	if err != nil {
		return "", err
	}
	var out []byte
	err = t.runner.run(ctx, command{
		path: t.cfg.Program, args: t.args(), stdin: bytes.NewReader(sound),
		read: func(r io.Reader) (err error) {
			out, err = io.ReadAll(io.LimitReader(r, maxWords+1))
			if err == nil && len(out) > maxWords {
				err = fmt.Errorf("%w: more than %d bytes of words", ErrTooLong, maxWords)
			}
			return err
		},
	})
	if err != nil {
		return "", err
	}
	if t.cfg.Engine == PocketSphinxContinuous {
		return strings.Join(strings.Fields(strings.ToValidUTF8(string(out), "")), " "), nil
	}
	words, err := jsonWords(out)
	if err != nil {
		return "", &ProcessError{Program: t.cfg.Program, Err: err}
	}
	return words, nil
}

// args ask for raw samples from standard input. Dithering keeps digital silence
// from confusing the program.
func (t *Transcriber) args() []string {
	args := []string{
		"-hmm", t.cfg.Model.Acoustic, "-lm", t.cfg.Model.Language, "-dict", t.cfg.Model.Dictionary, "-dither", "yes",
	}
	if t.cfg.Engine == PocketSphinxContinuous {
		return append(args, "-infile", "/dev/stdin")
	}
	return append(args, "single", "-")
}

// listenable is the samples as the program wants them.
func listenable(samples []int16, rate int) ([]byte, error) {
	format := audio.Mono(rate)
	if err := format.Validate(); err != nil {
		return nil, fmt.Errorf("local: audio to be transcribed: %w", err)
	}
	if d := format.Duration(len(samples)); d > maxHeard {
		return nil, fmt.Errorf("local: %s of audio to be transcribed are more than %s", d, maxHeard)
	}
	if rate != listenRate {
		r, err := resample.New(rate, listenRate, 1)
		if err != nil {
			return nil, fmt.Errorf("local: audio to be transcribed: %w", err)
		}
		samples = r.Flush(r.Append(nil, samples))
	}
	return audio.AppendBytes(make([]byte, 0, 2*len(samples)), samples), nil
}

// jsonWords joins the texts of pocketsphinx 5, which writes an object per
// utterance.
func jsonWords(out []byte) (string, error) {
	var words []string
	decoder := json.NewDecoder(bytes.NewReader(out))
	for {
		var heard struct {
			Text *string `json:"t"`
		}
		err := decoder.Decode(&heard)
		if err == io.EOF {
			return strings.Join(words, " "), nil
		}
		if err != nil || heard.Text == nil {
			return "", fmt.Errorf("its answer is not an utterance in JSON with a text %q", "t")
		}
		words = append(words, strings.Fields(*heard.Text)...)
	}
}
