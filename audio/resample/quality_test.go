package resample_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/resample"
)

// What every pair of rates must keep, in dB.
const (
	maxGainError  = 0.01
	maxAlias      = -100.0
	maxDistortion = -105.0 // THD+N of the float path
	// Rounding to 16 bits is 98 dB below a full-scale sine, 92 below the tone at half
	// scale used here, and it happens twice: at the input and at the output.
	maxDistortion16 = -88.8
	passBand        = 0.85 // of half the lower rate
	stopBand        = 1.03
)

func rates() []int { return []int{8000, 16000, 22050, 24000, 44100, 48000} }

func eachPair(t *testing.T, test func(t *testing.T, f *resample.Filter)) {
	for _, from := range rates() {
		for _, to := range rates() {
			if from == to {
				continue
			}
			t.Run(fmt.Sprintf("%d to %d", from, to), func(t *testing.T) {
				t.Parallel()
				f, err := resample.NewFilter(from, to)
				if err != nil {
					t.Fatal(err)
				}
				test(t, f)
			})
		}
	}
}

// tone is a sine of amplitude 1/2.
func tone(rate int, frequency float64, n int) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = float32(0.5 * math.Sin(2*math.Pi*frequency*float64(i)/float64(rate)))
	}
	return s
}

// fit finds the sine of the given frequency that fits x best, and returns its
// amplitude relative to 1/2 in dB and the power of the rest relative to it in dB.
func fit(x []float32, rate int, frequency float64) (gain, rest float64) {
	var cc, ss, cs, xc, xs float64
	w := 2 * math.Pi * frequency / float64(rate)
	for i, v := range x {
		s, c := math.Sincos(w * float64(i))
		cc, ss, cs = cc+c*c, ss+s*s, cs+c*s
		xc, xs = xc+float64(v)*c, xs+float64(v)*s
	}
	det := cc*ss - cs*cs
	a, b := (xc*ss-xs*cs)/det, (xs*cc-xc*cs)/det
	var power float64
	for i, v := range x {
		s, c := math.Sincos(w * float64(i))
		d := float64(v) - a*c - b*s
		power += d * d
	}
	amplitude := math.Hypot(a, b)
	return 20 * math.Log10(amplitude/0.5), 10 * math.Log10(2*power/float64(len(x))/(amplitude*amplitude)+1e-30)
}

// settled converts half a second of a tone and leaves out both ends.
func settled(f *resample.Filter, frequency float64) []float32 {
	out := f.New(1).AppendFloat(nil, tone(f.From(), frequency, f.From()/2))
	return out[f.To()/20 : len(out)-f.To()/20]
}

func TestPassBandIsFlatAndClean(t *testing.T) {
	eachPair(t, func(t *testing.T, f *resample.Filter) {
		edge := passBand * float64(min(f.From(), f.To())) / 2
		worstGain, worstRest := 0.0, math.Inf(-1)
		for _, frequency := range []float64{60, 440, 997, edge / 2, 0.8 * edge, edge} {
			gain, rest := fit(settled(f, frequency), f.To(), frequency)
			worstGain = max(worstGain, math.Abs(gain))
			worstRest = max(worstRest, rest)
		}
		if worstGain > maxGainError {
			t.Errorf("gain is off by %.4f dB", worstGain)
		}
		if worstRest > maxDistortion {
			t.Errorf("distortion and noise %.1f dB", worstRest)
		}
		t.Logf("gain ±%.5f dB, distortion and noise %.1f dB, held back %v", worstGain, worstRest, f.HoldBack())
	})
}

func TestNothingFoldsBack(t *testing.T) {
	eachPair(t, func(t *testing.T, f *resample.Filter) {
		lower, half := stopBand*float64(f.To())/2, float64(f.From())/2
		if lower >= half {
			t.Skip("no frequency of the input is too high for the output")
		}
		worst := math.Inf(-1)
		for _, share := range []float64{0, 0.03, 0.1, 0.3, 0.6, 0.9} {
			out := settled(f, lower+share*(half-lower)*0.99)
			var power float64
			for _, v := range out {
				power += float64(v) * float64(v)
			}
			worst = max(worst, 10*math.Log10(power/float64(len(out))/0.125+1e-30))
		}
		if worst > maxAlias {
			t.Errorf("a tone too high comes through at %.1f dB", worst)
		}
		t.Logf("alias %.1f dB", worst)
	})
}

func TestSixteenBitsAddOnlyTheirRounding(t *testing.T) {
	eachPair(t, func(t *testing.T, f *resample.Filter) {
		in := make([]int16, f.From()/2)
		for i, v := range tone(f.From(), 997, len(in)) {
			in[i] = audio.Clip(v * 32768)
		}
		out := f.New(1).Append(nil, in)
		out = out[f.To()/20 : len(out)-f.To()/20]
		x := make([]float32, len(out))
		for i, v := range out {
			x[i] = float32(v) / 32768
		}
		gain, rest := fit(x, f.To(), 997)
		if math.Abs(gain) > maxGainError || rest > maxDistortion16 {
			t.Errorf("gain %.4f dB, distortion and noise %.1f dB", gain, rest)
		}
		t.Logf("distortion and noise %.1f dB", rest)
	})
}

// TestOutputStandsWhereTheInputStood: a click comes out at its own time, to a
// fraction of a sample, so that two tracks stay aligned.
func TestOutputStandsWhereTheInputStood(t *testing.T) {
	eachPair(t, func(t *testing.T, f *resample.Filter) {
		const frequency = 100
		out := settled(f, frequency)
		offset := f.To() / 20
		var re, im float64
		for i, v := range out[:f.To()/4] {
			s, c := math.Sincos(2 * math.Pi * frequency * float64(i+offset) / float64(f.To()))
			re, im = re+float64(v)*s, im+float64(v)*c
		}
		shift := math.Atan2(im, re) / (2 * math.Pi * frequency)
		if math.Abs(shift) > 1e-6 {
			t.Errorf("shifted by %.3g s", shift)
		}
	})
}
