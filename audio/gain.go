package audio

import "math"

// Clip rounds x, in units of 16-bit samples, to the nearest sample and cuts it at
// the ends of the range.
func Clip(x float32) int16 {
	if x >= math.MaxInt16 {
		return math.MaxInt16
	}
	if x <= math.MinInt16 {
		return math.MinInt16
	}
	if x < 0 {
		return int16(x - 0.5)
	}
	return int16(x + 0.5)
}

// kneeLevel is where [Limit] begins to bend, in units of 16-bit samples: -3 dBFS.
const kneeLevel = 23197

// Limit rounds x, in units of 16-bit samples, to a sample without ever cutting it
// hard: up to -3 dBFS the value is kept, above it the curve bends smoothly and
// nears, but never passes, full scale. A sum of streams that is too loud then
// sounds compressed instead of crackling.
func Limit(x float32) int16 {
	if x > kneeLevel {
		return Clip(bend(x))
	}
	if x < -kneeLevel {
		return Clip(-bend(-x))
	}
	return Clip(x)
}

func bend(x float32) float32 {
	const room = math.MaxInt16 - kneeLevel
	over := (x - kneeLevel) / room
	return kneeLevel + room*(over/(1+over))
}

// Gain changes the samples' level by db decibels, in place. What would pass the ends
// of the range is cut there; see [Limit] for a softer way.
func Gain(samples []int16, db float64) {
	factor := float32(Amplitude(db))
	for i, s := range samples {
		samples[i] = Clip(float32(s) * factor)
	}
}

// Ramp multiplies the samples, in place, by a factor that runs evenly from one
// value to another over their length: 1 to 0 fades out, 0 to 1 fades in. The
// factor is the same for all channels of a sample time. A few milliseconds of it
// keep a cut from being heard as a click.
func Ramp(samples []int16, channels int, from, to float32) {
	times := len(samples) / channels
	if times == 0 {
		return
	}
	step := (to - from) / float32(times)
	for t := range times {
		factor := from + step*float32(t)
		for c := range channels {
			i := t*channels + c
			samples[i] = Clip(float32(samples[i]) * factor)
		}
	}
}
