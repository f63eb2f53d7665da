package silero

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/turnwise/turnwise/audio/vad/silero/internal/onnx"
)

// ErrModel means that a file does not hold a model this package can run.
var ErrModel = errors.New("silero: unusable model")

// shape holds the sizes of the network for one sample rate; all follow from the
// length of its Fourier transform.
type shape struct {
	rate int
	fft  int
}

func shapes() [2]shape { return [2]shape{{16000, 256}, {8000, 128}} }

func (s shape) bins() int    { return s.fft/2 + 1 }
func (s shape) hop() int     { return s.fft / 2 }
func (s shape) context() int { return s.fft / 4 } // samples kept of the window before
func (s shape) pad() int     { return s.fft / 4 } // mirrored samples at the end
func (s shape) window() int  { return 2 * s.fft }

// Sizes that both rates share.
const (
	columns = 4   // Fourier transforms in one window
	hidden  = 128 // LSTM cells
	gates   = 4
)

// weights are the parameters for one rate, as they stand in the file.
type weights struct {
	conv         [4]convWeights
	input, state []float32 // LSTM: [gates·hidden][hidden]
	bias         []float32 // [gates·hidden], both of the file's added
	out          []float32 // [hidden]
	outBias      float32
}

// convWeights are those of a convolution over three columns: kernel[out][in][3].
type convWeights struct {
	in, out int
	kernel  []float32
	bias    []float32
}

// layers returns weights with room for the parameters of a shape.
func (s shape) layers() *weights {
	w := &weights{
		input: make([]float32, gates*hidden*hidden),
		state: make([]float32, gates*hidden*hidden),
		bias:  make([]float32, gates*hidden),
		out:   make([]float32, hidden),
	}
	in := s.bins()
	for i, out := range [4]int{128, 64, 64, hidden} {
		w.conv[i] = convWeights{in: in, out: out, kernel: make([]float32, out*in*3), bias: make([]float32, out)}
		in = out
	}
	return w
}

// tensors lists all parameters in the order of the embedded file.
func (w *weights) tensors() [][]float32 {
	var all [][]float32
	for _, c := range w.conv {
		all = append(all, c.kernel, c.bias)
	}
	return append(all, w.input, w.state, w.bias, w.out)
}

// magic begins the embedded file.
const magic = "silero-f32-1\n"

// appendWeights appends the embedded form of the weights for both rates.
func appendWeights(dst []byte, all [2]*weights) []byte {
	dst = append(dst, magic...)
	for _, w := range all {
		for _, t := range append(w.tensors(), []float32{w.outBias}) {
			for _, v := range t {
				dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
			}
		}
	}
	return dst
}

// parseWeights reads what appendWeights wrote.
func parseWeights(b []byte) ([2]*weights, error) {
	var all [2]*weights
	rest, ok := strings.CutPrefix(string(b), magic)
	if !ok {
		return all, fmt.Errorf("%w: not a weights file", ErrModel)
	}
	next := func(t []float32) {
		for i := range t {
			t[i] = math.Float32frombits(uint32(rest[0]) | uint32(rest[1])<<8 | uint32(rest[2])<<16 | uint32(rest[3])<<24)
			rest = rest[4:]
		}
	}
	for i, s := range shapes() {
		w := s.layers()
		size := 4
		for _, t := range w.tensors() {
			size += 4 * len(t)
		}
		if len(rest) < size {
			return all, fmt.Errorf("%w: weights file ends early", ErrModel)
		}
		for _, t := range w.tensors() {
			next(t)
		}
		var bias [1]float32
		next(bias[:])
		w.outBias = bias[0]
		all[i] = w
	}
	return all, nil
}

// fromONNX finds the weights in a model file: those for 16 kHz stand in the branch
// taken for that rate, those for 8 kHz in the other.
func fromONNX(model []byte) ([2]*weights, error) {
	var all [2]*weights
	tensors, err := onnx.Floats(model)
	if err != nil {
		return all, fmt.Errorf("%w: %w", ErrModel, err)
	}
	for i, s := range shapes() {
		b := branch{tensors: tensors, path: [2]string{"then_branch", "else_branch"}[i]}
		if all[i], err = b.weights(s); err != nil {
			return all, fmt.Errorf("%w: weights for %d Hz: %w", ErrModel, s.rate, err)
		}
	}
	return all, nil
}

// branch is the part of a model that serves one rate.
type branch struct {
	tensors []onnx.Tensor
	path    string
}

// fill copies the tensor whose name ends in suffix.
func (b branch) fill(dst []float32, suffix string) error {
	for _, t := range b.tensors {
		if t.Branch == b.path && strings.HasSuffix(t.Name, suffix) {
			if len(t.Data) != len(dst) {
				return fmt.Errorf("%s has %d values, want %d", suffix, len(t.Data), len(dst))
			}
			copy(dst, t.Data)
			return nil
		}
	}
	return fmt.Errorf("%s is missing", suffix)
}

func (b branch) weights(s shape) (*weights, error) {
	w := s.layers()
	basis := make([]float32, 2*s.bins()*s.fft)
	var inputBias, stateBias [gates * hidden]float32
	var outBias [1]float32
	parts := []struct {
		dst  []float32
		name string
	}{
		{basis, "stft.forward_basis_buffer"},
		{w.input, "decoder.rnn.weight_ih"},
		{w.state, "decoder.rnn.weight_hh"},
		{inputBias[:], "decoder.rnn.bias_ih"},
		{stateBias[:], "decoder.rnn.bias_hh"},
		{w.out, "decoder.decoder.2.weight"},
		{outBias[:], "decoder.decoder.2.bias"},
	}
	for i, c := range w.conv {
		parts = append(parts, struct {
			dst  []float32
			name string
		}{c.kernel, fmt.Sprintf("encoder.%d.reparam_conv.weight", i)}, struct {
			dst  []float32
			name string
		}{c.bias, fmt.Sprintf("encoder.%d.reparam_conv.bias", i)})
	}
	for _, p := range parts {
		if err := b.fill(p.dst, p.name); err != nil {
			return nil, err
		}
	}
	for i := range w.bias {
		w.bias[i] = inputBias[i] + stateBias[i]
	}
	w.outBias = outBias[0]
	return w, checkBasis(basis, s)
}

// checkBasis makes sure that the model's first layer is what is run in its place: a
// Fourier transform behind a Hann window.
func checkBasis(basis []float32, s shape) error {
	const tolerance = 1e-5
	for k := range s.bins() {
		for i := range s.fft {
			sin, cos := math.Sincos(2 * math.Pi * float64(k*i%s.fft) / float64(s.fft))
			window := hann(i, s.fft)
			real, imag := basis[k*s.fft+i], basis[(k+s.bins())*s.fft+i]
			if math.Abs(float64(real)-window*cos) > tolerance || math.Abs(float64(imag)+window*sin) > tolerance {
				return errors.New("its first layer is not a Fourier transform behind a Hann window")
			}
		}
	}
	return nil
}

func hann(i, n int) float64 { return 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/float64(n)) }
