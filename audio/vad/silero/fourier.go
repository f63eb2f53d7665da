package silero

import "math"

// fourier computes the magnitudes of windowed Fourier transforms of one length, a
// power of two. It is immutable after newFourier.
type fourier struct {
	n        int
	window   []float32
	cos, sin []float32 // of the n/2 twiddle factors
	reversed []uint16  // bit-reversed index
}

func newFourier(n int) *fourier {
	f := &fourier{n: n, window: make([]float32, n), cos: make([]float32, n/2), sin: make([]float32, n/2), reversed: make([]uint16, n)}
	for i := range n {
		f.window[i] = float32(hann(i, n))
	}
	for i := range n / 2 {
		s, c := math.Sincos(-2 * math.Pi * float64(i) / float64(n))
		f.cos[i], f.sin[i] = float32(c), float32(s)
	}
	for i := range n {
		for bit := 1; bit < n; bit <<= 1 {
			f.reversed[i] <<= 1
			if i&bit != 0 {
				f.reversed[i] |= 1
			}
		}
	}
	return f
}

// maxFFT is the longest transform in use.
const maxFFT = 256

// spectrum is the working space of a transform.
type spectrum struct{ re, im [maxFFT]float32 }

// magnitudes writes those of the windowed a and b, both n long, to ma and mb: n/2+1
// values each, and a zero to make them even. Two real signals share one complex
// transform.
func (f *fourier) magnitudes(ma, mb []pair, a, b []float32, s *spectrum) {
	n := f.n
	re, im := s.re[:n], s.im[:n]
	for i, r := range f.reversed {
		re[r] = a[i] * f.window[i]
		im[r] = b[i] * f.window[i]
	}
	f.transform(re, im)
	half := n / 2
	for k := 0; k <= half; k++ {
		m := (n - k) & (n - 1)
		ra, ia := re[k]+re[m], im[k]-im[m]
		rb, ib := im[k]+im[m], re[m]-re[k]
		ma[k/2][k%2] = 0.5 * float32(math.Sqrt(float64(ra*ra+ia*ia)))
		mb[k/2][k%2] = 0.5 * float32(math.Sqrt(float64(rb*rb+ib*ib)))
	}
	ma[half/2][1], mb[half/2][1] = 0, 0
}

// transform is the in-place transform of what stands in bit-reversed order.
func (f *fourier) transform(re, im []float32) {
	n := len(re)
	for size := 1; size < n; size *= 2 {
		step := n / (2 * size)
		for start := 0; start < n; start += 2 * size {
			r0, i0 := re[start:start+size], im[start:start+size]
			r1, i1 := re[start+size:start+2*size], im[start+size:start+2*size]
			i0, r1, i1 = i0[:len(r0)], r1[:len(r0)], i1[:len(r0)]
			twiddle := 0
			for j := range r0 {
				c, s := f.cos[twiddle], f.sin[twiddle]
				twiddle += step
				tr := r1[j]*c - i1[j]*s
				ti := r1[j]*s + i1[j]*c
				r1[j], i1[j] = r0[j]-tr, i0[j]-ti
				r0[j], i0[j] = r0[j]+tr, i0[j]+ti
			}
		}
	}
}
