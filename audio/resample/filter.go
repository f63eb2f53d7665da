package resample

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// ErrRates means that this package does not convert between the two rates.
var ErrRates = errors.New("resample: unsupported rates")

// Shape of the windowed sinc. The sinc reaches zeroCrossings crossings to either
// side, cuts at cutoff times half the lower rate, and is faded by a Kaiser window.
// More crossings make the edge steeper and the hold-back longer: at 8 kHz, the
// lowest of the usual rates, it is 4.5 ms.
const (
	zeroCrossings = 33.4
	cutoff        = 0.93
	kaiserBeta    = 10.2
)

// maxTaps bounds the memory of one filter: 2 MiB.
const maxTaps = 1 << 19

// Filter holds the coefficients for one pair of rates. It is immutable and safe for
// concurrent use: make one for each pair and share it among all streams.
type Filter struct {
	from, to   int
	up, down   int // to/from in lowest terms
	half, taps int // taps of a phase, and those up to its middle
	coef       []float32
}

// NewFilter computes the filter from one rate to another, both in Hz. Any two of
// 8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100 and 48000 work, and others
// as long as the filter stays small; if not the error wraps [ErrRates]. Equal rates
// give a filter that copies.
func NewFilter(from, to int) (*Filter, error) {
	const lowest, highest = 4000, 384000
	if from < lowest || to < lowest || from > highest || to > highest {
		return nil, fmt.Errorf("%w: %d Hz to %d Hz; both must be within %d to %d", ErrRates, from, to, lowest, highest)
	}
	divisor := gcd(from, to)
	f := &Filter{from: from, to: to, up: to / divisor, down: from / divisor}
	if from == to {
		return f, nil
	}
	edge := cutoff * min(1, float64(to)/float64(from)) // relative to half of from
	f.half = int(math.Ceil(zeroCrossings / edge))
	f.half += (4 - f.half%4) % 4 // the inner loop takes eight taps at a time
	f.taps = 2 * f.half
	if f.up*f.taps > maxTaps {
		return nil, fmt.Errorf("%w: %d Hz to %d Hz have too few common factors", ErrRates, from, to)
	}
	f.coef = make([]float32, f.up*f.taps)
	phase := make([]float64, f.taps)
	for p := range f.up {
		f.computePhase(phase, p, edge)
		for j, v := range phase {
			f.coef[p*f.taps+j] = float32(v)
		}
	}
	return f, nil
}

// computePhase fills dst with the taps for outputs that lie p/up after an input
// sample. Their sum is exactly 1, so that every phase passes a constant unchanged.
func (f *Filter) computePhase(dst []float64, p int, edge float64) {
	middle := float64(f.half-1) + float64(p)/float64(f.up)
	width := zeroCrossings / edge
	sum := 0.0
	for j := range dst {
		t := float64(j) - middle
		dst[j] = edge * sinc(t*edge) * kaiser(t/width)
		sum += dst[j]
	}
	for j := range dst {
		dst[j] /= sum
	}
}

// sinc is sin(πx)/πx.
func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

// kaiser is the window at x, which runs from -1 to 1, up to a factor.
func kaiser(x float64) float64 {
	if x <= -1 || x >= 1 {
		return 0
	}
	return bessel0(kaiserBeta * math.Sqrt(1-x*x))
}

// bessel0 is the modified Bessel function of the first kind, order 0, by its series.
func bessel0(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; term > sum*1e-12; k++ {
		term *= x * x / (4 * k * k)
		sum += term
	}
	return sum
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// From is the rate in Hz of what goes in.
func (f *Filter) From() int { return f.from }

// To is the rate in Hz of what comes out.
func (f *Filter) To() int { return f.to }

// HoldBack is how much of the stream is kept waiting for what follows it: the time
// between an input sample and the output sample at the same place. It is 0 for equal
// rates, else 0.8 to 5 ms.
func (f *Filter) HoldBack() time.Duration {
	return time.Duration(f.half) * time.Second / time.Duration(f.from)
}

// Frames is the number of sample times that a whole stream of n sample times turns
// into: n·to/from, rounded up.
func (f *Filter) Frames(n int) int {
	return int((int64(n)*int64(f.up) + int64(f.down) - 1) / int64(f.down))
}
