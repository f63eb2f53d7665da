package audio

import "math"

// SilenceLevel is the level in dBFS given to digital silence, and the lowest that
// [Level] returns.
const SilenceLevel = -100.0

// fullScale is the magnitude that counts as 0 dBFS.
const fullScale = 1 << 15

// Level is the root mean square of the samples in dBFS, between [SilenceLevel] and
// 0. 0 dBFS is a constant full-scale signal, so a full-scale sine has -3.01 dBFS.
// Speech from a well-set microphone has about -20 to -30 dBFS. No samples are silence.
func Level(samples []int16) float64 {
	if len(samples) == 0 {
		return SilenceLevel
	}
	var sum int64
	for _, s := range samples {
		sum += int64(s) * int64(s)
	}
	return powerLevel(float64(sum) / float64(len(samples)))
}

// powerLevel is the level of a mean square of 16-bit samples.
func powerLevel(meanSquare float64) float64 {
	if meanSquare <= 0 {
		return SilenceLevel
	}
	return max(SilenceLevel, 10*math.Log10(meanSquare/(fullScale*fullScale)))
}

// Peak is the largest magnitude of the samples, 0 to 32768.
func Peak(samples []int16) int {
	peak := 0
	for _, s := range samples {
		peak = max(peak, int(s), -int(s))
	}
	return peak
}

// Amplitude is the factor that changes a level by db decibels: 1 for 0, about 0.5
// for -6.
func Amplitude(db float64) float64 { return math.Pow(10, db/20) }
