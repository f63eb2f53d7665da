package server

import (
	"fmt"
	"time"

	"github.com/turnwise/turnwise/audio/vad"
	"github.com/turnwise/turnwise/audio/vad/silero"
	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/transport/webrtc"
)

// Voice is what a server needs to be called with a microphone. Recognizer and
// Synthesizer are required, unless Missing says why there are none.
type Voice struct {
	// Recognizer hears all callers, and Synthesizer speaks to them.
	Recognizer  speech.Recognizer
	Synthesizer speech.Synthesizer
	// Fallback speaks when Synthesizer fails; may be nil.
	Fallback speech.Synthesizer
	// Detector makes a voice activity detector for a caller; nil means the Silero
	// model that comes with the program.
	Detector func() (vad.Detector, error)
	// Turns says how turns are taken; the zero value has the defaults of
	// [speech.TurnSettings].
	// A node may have settings of its own, see [flows.NodeConfig].Turns.
	Turns speech.TurnSettings
	// Reprompt is said to callers who say nothing for as long as Turns.Idle, or that
	// of the node; nil says nothing.
	Reprompt *speech.RepromptConfig
	// Filler gives a line that is spoken when an answer takes longer than FillerAfter,
	// see [speech.SynthesisConfig]; nil says nothing.
	Filler      func() string
	FillerAfter time.Duration
	// Background makes the sound under a call, such as that of a *mix.Mixer of package
	// audio/mix: mono samples at rate Hz, 20 ms at a time. Nil has none.
	Background func(rate int) (speech.Background, error)
	// WebRTC is the settings of calls; the zero value is usable. Its Logger is the
	// server's when it is nil.
	WebRTC webrtc.Config
	// Note describes the voices to users, in a sentence; may be empty.
	Note string
	// Missing says, in a sentence or two for users, why the bot cannot be called and
	// what would change that. The rest is not looked at then.
	Missing string
	// failure is the reason for Missing that is for the log; may be nil.
	failure error
}

// Validate names the first field that is missing.
func (v *Voice) Validate() error {
	switch {
	case v.Missing != "":
		return nil
	case v.Recognizer == nil:
		return fmt.Errorf("%w: Voice.Recognizer is required", ErrConfig)
	case v.Synthesizer == nil:
		return fmt.Errorf("%w: Voice.Synthesizer is required", ErrConfig)
	}
	if err := v.Turns.Validate(); err != nil {
		return fmt.Errorf("%w: Voice.Turns: %w", ErrConfig, err)
	}
	if v.Reprompt != nil {
		if _, err := speech.NewReprompt(*v.Reprompt); err != nil {
			return fmt.Errorf("%w: Voice.Reprompt: %w", ErrConfig, err)
		}
	}
	return nil
}

// VoiceInfo tells users whether the bot can be called.
type VoiceInfo struct {
	// Available tells that it can. Note then describes the voices, and else says
	// why it cannot; either may be empty.
	Available bool   `json:"available"`
	Note      string `json:"note,omitempty"`
}

// info is what users are told of the voice.
func (v *Voice) info() VoiceInfo {
	if v.Missing != "" {
		return VoiceInfo{Note: v.Missing}
	}
	return VoiceInfo{Available: true, Note: v.Note}
}

// unusable is a voice that was set up wrongly; the reason is for the log.
func unusable() *Voice {
	return &Voice{Missing: "The voice of this bot could not be set up. The operator finds the reason in the log."}
}

// sileroDetectors makes detectors that share the weights.
func sileroDetectors() func() (vad.Detector, error) {
	model := silero.New()
	return func() (vad.Detector, error) {
		d, err := model.Detector(silero.RateWide)
		if err != nil {
			return nil, err
		}
		return d, nil
	}
}
