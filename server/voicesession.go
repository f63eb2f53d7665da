package server

import (
	"fmt"

	"github.com/turnwise/turnwise/audio/resample"
	"github.com/turnwise/turnwise/audio/vad"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/speech"
)

// ears are the processors that listen to a caller, in order.
func (v *Voice) ears(detector vad.Detector, filters *resample.Filters) ([]pipeline.Processor, error) {
	activity, err := speech.NewActivity(speech.ActivityConfig{Detector: detector, Filters: filters})
	if err != nil {
		return nil, fmt.Errorf("server: voice activity: %w", err)
	}
	recognition, err := speech.NewRecognition(speech.RecognitionConfig{Recognizer: v.Recognizer, Filters: filters})
	if err != nil {
		return nil, fmt.Errorf("server: recognition: %w", err)
	}
	turns, err := speech.NewTurns(speech.TurnsConfig{Settings: v.Turns, Latency: v.Recognizer.Latency()})
	if err != nil {
		return nil, fmt.Errorf("server: turn taking: %w", err)
	}
	ears := []pipeline.Processor{activity, recognition, turns}
	if v.Reprompt == nil {
		return ears, nil
	}
	reprompt, err := speech.NewReprompt(*v.Reprompt)
	if err != nil {
		return nil, fmt.Errorf("server: reprompt: %w", err)
	}
	return append(ears, reprompt), nil
}

// mouth is the processors that speak to a caller, in order; the sound goes into the
// buffer at rate Hz.
func (v *Voice) mouth(buffer *speech.Buffer, rate int, filters *resample.Filters) ([]pipeline.Processor, error) {
	synthesis, err := speech.NewSynthesis(speech.SynthesisConfig{
		Synthesizer: v.Synthesizer, Fallback: v.Fallback, Filler: v.Filler, FillerAfter: v.FillerAfter,
	})
	if err != nil {
		return nil, fmt.Errorf("server: synthesis: %w", err)
	}
	playout, err := speech.NewPlayout(speech.PlayoutConfig{Buffer: buffer, Rate: rate, Filters: filters})
	if err != nil {
		return nil, fmt.Errorf("server: playout: %w", err)
	}
	return []pipeline.Processor{synthesis, playout}, nil
}
