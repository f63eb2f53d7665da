package local

import (
	"fmt"
	"slices"
	"strings"
)

// Report is what was found on a machine. The zero value has found nothing.
type Report struct {
	// Flite and ESpeakNG speak; one is enough, and flite comes first, since it is
	// the one that recognizers understand.
	Flite, ESpeakNG Program
	// PocketSphinx listens.
	PocketSphinx Program
}

// Program is one program as it was found, or was not.
type Program struct {
	// Engine names the program.
	Engine Engine
	// Purpose is what it does, for people.
	Purpose string
	// Path is where it is; empty when it is not there.
	Path string
	// About is what it says about itself (flite: its voices, espeak-ng: its
	// version); may be empty.
	About string
	// Model is pocketsphinx's; nil when there is none.
	Model *Model
	// Missing is what is missing or wrong; empty when the program can be used.
	Missing string
	// Packages are the Debian packages that bring what is missing or wrong.
	Packages []string
}

// Found reports whether the program can be used.
func (p Program) Found() bool { return p.Path != "" && p.Missing == "" }

// String is a line for people.
func (p Program) String() string {
	if !p.Found() {
		line := fmt.Sprintf("%s (%s): missing: %s", p.Engine, p.Purpose, p.Missing)
		if p.Path != "" {
			line += "; it is at " + p.Path
		}
		return line + "; Debian: apt-get install " + strings.Join(p.Packages, " ")
	}
	line := fmt.Sprintf("%s (%s): %s", p.Engine, p.Purpose, p.Path)
	if p.About != "" {
		line += "; " + p.About
	}
	if p.Model != nil {
		line += "; model " + p.Model.Acoustic
	}
	return line
}

// CanSpeak reports whether there is a program that speaks.
func (r Report) CanSpeak() bool { return r.Flite.Found() || r.ESpeakNG.Found() }

// CanListen reports whether there is a program that listens.
func (r Report) CanListen() bool { return r.PocketSphinx.Found() }

// Install is the Debian packages that are to be installed for a call that is spoken
// on both sides; empty when nothing is missing.
func (r Report) Install() []string {
	var out []string
	if !r.CanSpeak() {
		out = append(out, r.Flite.Packages...)
	}
	if !r.CanListen() {
		out = append(out, r.PocketSphinx.Packages...)
	}
	return slices.Compact(out)
}

// String tells everything, a line for each program.
func (r Report) String() string {
	return fmt.Sprintf("%s\n%s\n%s\n", r.Flite, r.ESpeakNG, r.PocketSphinx)
}

// SynthesizerConfig is the settings for the best program that speaks. Without one
// the error wraps [ErrMissing] and says what to install.
func (r Report) SynthesizerConfig() (SynthesizerConfig, error) {
	for _, p := range []Program{r.Flite, r.ESpeakNG} {
		if p.Found() {
			return SynthesizerConfig{Engine: p.Engine, Program: p.Path}, nil
		}
	}
	return SynthesizerConfig{}, fmt.Errorf("%w: nothing speaks: %s", ErrMissing, r.Flite)
}

// Synthesizer makes a synthesizer of what was found, with the default settings.
func (r Report) Synthesizer() (*Synthesizer, error) {
	cfg, err := r.SynthesizerConfig()
	if err != nil {
		return nil, err
	}
	return NewSynthesizer(cfg)
}

// TranscriberConfig is the settings for the program that listens. Without one, or
// without its model, the error wraps [ErrMissing] and says what to install.
func (r Report) TranscriberConfig() (TranscriberConfig, error) {
	p := r.PocketSphinx
	if !p.Found() || p.Model == nil {
		return TranscriberConfig{}, fmt.Errorf("%w: nothing listens: %s", ErrMissing, p)
	}
	return TranscriberConfig{Engine: p.Engine, Program: p.Path, Model: *p.Model}, nil
}

// Transcriber makes a transcriber of what was found, with the default settings.
func (r Report) Transcriber() (*Transcriber, error) {
	cfg, err := r.TranscriberConfig()
	if err != nil {
		return nil, err
	}
	return NewTranscriber(cfg)
}
