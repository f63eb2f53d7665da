// Package resample changes the sample rate of a stream of sound.
//
// A [Resampler] is a polyphase windowed-sinc filter that works on a stream in
// pieces of any size: the output is the same, sample for sample, however the input
// is cut, and runs without drift, because positions are counted in whole numbers.
// Output sample k stands exactly at input time k·from/to; nothing is shifted, only
// held back, by [Filter.HoldBack], at most 5 ms.
//
// Up to 0.85 of the lower rate's half (3.4 kHz for a telephone, 6.8 kHz at 16 kHz)
// the gain is within 0.01 dB of 1; what lies above 1.03 of it is at least 100 dB
// down, so that nothing audible folds back.
//
//	f, err := resample.NewFilter(24000, 16000) // once; about 1 ms
//	r := f.New(1)                              // for each stream
//	pcm16k = r.Append(pcm16k[:0], pcm24k)      // for each piece
package resample
