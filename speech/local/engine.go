package local

import (
	"fmt"
	"regexp"
	"strings"
)

// Engine is a program that this package can run.
type Engine string

// The engines.
const (
	// Flite speaks English, 16 kHz; an utterance is ready when it is made whole.
	Flite Engine = "flite"
	// ESpeakNG speaks many languages, 22.05 kHz, streaming. Recognizers do not
	// understand it well.
	ESpeakNG Engine = "espeak-ng"
	// PocketSphinxContinuous listens: the program of pocketsphinx up to 0.8, as in
	// Debian 12.
	PocketSphinxContinuous Engine = "pocketsphinx_continuous"
	// PocketSphinx listens: the program of pocketsphinx 5.
	PocketSphinx Engine = "pocketsphinx"
)

// checkVoice allows names only: flite would take an address and load it.
func checkVoice(voice string) error {
	if !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+-]{0,63}$`).MatchString(voice) {
		return fmt.Errorf("%w: SynthesizerConfig.Voice %q is not the name of a voice, such as %q", ErrConfig, voice, "slt")
	}
	return nil
}

// primary is the language itself of a BCP 47 tag, in small letters.
func primary(tag string) string {
	language, _, _ := strings.Cut(strings.ToLower(tag), "-")
	return language
}
