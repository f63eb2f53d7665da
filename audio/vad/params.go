package vad

import (
	"errors"
	"fmt"
	"time"
)

// Params say when sound counts as speech. The zero value of a field takes its
// default; see [DefaultParams].
type Params struct {
	// Confidence is what the detector must give at least, above 0 up to 1.
	Confidence float64
	// Start is how long speech must last before it counts: coughs and clicks are
	// shorter. It is rounded to whole windows, at least one.
	Start time.Duration
	// Stop is how long a silence must last before speech counts as over. A longer
	// one answers later, a shorter one cuts people off who pause. It is rounded to
	// whole windows, at least one.
	Stop time.Duration
	// MinVolume is the volume, above 0 up to 1, that speech must have at least; see
	// [Volume]. It keeps people who talk in the background out. A negative value
	// turns the check off.
	MinVolume float64
	// Smoothing is the share of the earlier volume that each window keeps, 0 up to
	// but not including 1. A negative value means none.
	Smoothing float64
}

// DefaultParams are the settings that suit a conversation: confidence 0.7, 200 ms to
// start, 200 ms to stop, volume 0.6 with a smoothing of 0.2.
func DefaultParams() Params {
	return Params{Confidence: 0.7, Start: 200 * time.Millisecond, Stop: 200 * time.Millisecond, MinVolume: 0.6, Smoothing: 0.2}
}

// ErrParams is what [Params.Validate] wraps.
var ErrParams = errors.New("vad: invalid parameter")

// withDefaults fills in zero fields.
func (p Params) withDefaults() Params {
	d := DefaultParams()
	if p.Confidence == 0 {
		p.Confidence = d.Confidence
	}
	if p.Start == 0 {
		p.Start = d.Start
	}
	if p.Stop == 0 {
		p.Stop = d.Stop
	}
	if p.MinVolume == 0 {
		p.MinVolume = d.MinVolume
	}
	if p.Smoothing == 0 {
		p.Smoothing = d.Smoothing
	}
	return p
}

// Validate reports, wrapping [ErrParams], the field that is out of range.
func (p Params) Validate() error {
	switch {
	case p.Confidence < 0 || p.Confidence > 1:
		return fmt.Errorf("%w: Confidence is %g; use 0 to 1", ErrParams, p.Confidence)
	case p.Start < 0 || p.Start > maxWait:
		return fmt.Errorf("%w: Start is %v; use 0 to %v", ErrParams, p.Start, maxWait)
	case p.Stop < 0 || p.Stop > maxWait:
		return fmt.Errorf("%w: Stop is %v; use 0 to %v", ErrParams, p.Stop, maxWait)
	case p.MinVolume > 1:
		return fmt.Errorf("%w: MinVolume is %g; use 0 to 1", ErrParams, p.MinVolume)
	case p.Smoothing >= 1:
		return fmt.Errorf("%w: Smoothing is %g; use 0 up to 1", ErrParams, p.Smoothing)
	}
	return nil
}

// maxWait is the longest Start and Stop.
const maxWait = time.Minute

// Volume turns a level in dBFS into 0 to 1: -10 dBFS and above is 1, each 10 dB less
// is 0.1 less. Ordinary speech has 0.7 to 0.9, and 0.6 is -50 dBFS.
func Volume(level float64) float64 { return max(0, min(1, (level+110)/100)) }
