package vad

import (
	"fmt"
	"time"

	"github.com/turnwise/turnwise/audio"
)

// How an [Energy] detector tells speech by its level, in dB and dB per second.
const (
	energyWindow   = 32 * time.Millisecond
	energyStart    = -60.0 // dBFS; the background assumed at first
	energyFaint    = -55.0 // dBFS; what is fainter is never speech
	energyUnsure   = 4.0   // above the background: confidence 0
	energySure     = 14.0  // above the background: confidence 1
	energyRise     = 1.5   // how fast the background follows upwards
	energyFallback = 60.0  // and downwards
)

// Energy takes for speech what is clearly louder than the background. It costs next
// to nothing and hears every noise as speech, music above all: a fallback for
// machines on which a model is too much, and for tests.
type Energy struct {
	rate       int
	window     int
	background float64
}

// NewEnergy returns an energy detector for the given rate in Hz.
func NewEnergy(rate int) (*Energy, error) {
	format := audio.Mono(rate)
	if err := format.Validate(); err != nil {
		return nil, fmt.Errorf("vad: %w", err)
	}
	return &Energy{rate: rate, window: format.Samples(energyWindow), background: energyStart}, nil
}

// Rate implements [Detector].
func (e *Energy) Rate() int { return e.rate }

// Window implements [Detector]: 32 ms.
func (e *Energy) Window() int { return e.window }

// Confidence implements [Detector]. It is 0.7 or more from 11 dB above the background
// on. The background follows the level quickly down, and slowly up.
func (e *Energy) Confidence(window []int16) float32 {
	level := audio.Level(window[:e.window])
	above := level - e.background
	seconds := energyWindow.Seconds()
	e.background = max(e.background-energyFallback*seconds, min(e.background+energyRise*seconds, level))
	if level < energyFaint {
		return 0
	}
	return float32(max(0, min(1, (above-energyUnsure)/(energySure-energyUnsure))))
}

// Reset implements [Detector].
func (e *Energy) Reset() { e.background = energyStart }
