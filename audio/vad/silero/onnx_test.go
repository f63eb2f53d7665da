package silero

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// These tests write the embedded weights as a model file and read them back.

func message(number protowire.Number, parts ...[]byte) []byte {
	b := protowire.AppendTag(nil, number, protowire.BytesType)
	return protowire.AppendBytes(b, slices.Concat(parts...))
}

func integer(number protowire.Number, x uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), x)
}

// constant is a graph's node for a constant tensor of floats.
func constant(name string, data []float32, dims ...int) []byte {
	var raw []byte
	for _, v := range data {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	var packed []byte
	for _, d := range dims {
		packed = protowire.AppendVarint(packed, uint64(d))
	}
	tensor := message(5, message(1, packed), integer(2, 1), message(9, raw))
	return message(1, message(2, []byte(name)), message(4, []byte("Constant")), message(5, message(1, []byte("value")), tensor))
}

// conditional is a graph's If node.
func conditional(then, otherwise []byte) []byte {
	return message(1, message(4, []byte("If")),
		message(5, message(1, []byte("then_branch")), message(6, then)),
		message(5, message(1, []byte("else_branch")), message(6, otherwise)))
}

// branchOf is the graph for one rate. Constants whose names contain leaveOut are
// left out.
func branchOf(s shape, w *weights, leaveOut string) []byte {
	basis := make([]float32, 2*s.bins()*s.fft)
	for k := range s.bins() {
		for i := range s.fft {
			sin, cos := math.Sincos(2 * math.Pi * float64(k*i) / float64(s.fft))
			basis[k*s.fft+i] = float32(hann(i, s.fft) * cos)
			basis[(k+s.bins())*s.fft+i] = float32(-hann(i, s.fft) * sin)
		}
	}
	zero := make([]float32, gates*hidden)
	var graph []byte
	add := func(name string, data []float32, dims ...int) {
		if leaveOut == "" || !strings.Contains(name, leaveOut) {
			graph = append(graph, constant("some/prefix_"+name, data, dims...)...)
		}
	}
	add("stft.forward_basis_buffer", basis, 2*s.bins(), 1, s.fft)
	for i, c := range w.conv {
		add(fmt.Sprintf("encoder.%d.reparam_conv.weight", i), c.kernel, c.out, c.in, 3)
		add(fmt.Sprintf("encoder.%d.reparam_conv.bias", i), c.bias, c.out)
	}
	add("decoder.rnn.weight_ih", w.input, gates*hidden, hidden)
	add("decoder.rnn.weight_hh", w.state, gates*hidden, hidden)
	add("decoder.rnn.bias_ih", w.bias, gates*hidden)
	add("decoder.rnn.bias_hh", zero, gates*hidden)
	add("decoder.decoder.2.weight", w.out, 1, hidden, 1)
	add("decoder.decoder.2.bias", []float32{w.outBias}, 1)
	return graph
}

func modelFile(t testing.TB, leaveOut string) []byte {
	t.Helper()
	all, err := parseWeights(embedded)
	if err != nil {
		t.Fatal(err)
	}
	s := shapes()
	return slices.Concat(integer(1, 8), // a version, as real files have
		message(7, conditional(branchOf(s[0], all[0], leaveOut), branchOf(s[1], all[1], leaveOut))))
}

func TestModelFileIsLoadedByPath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.onnx")
	if err := os.WriteFile(path, modelFile(t, ""), 0o600); err != nil {
		t.Fatal(err)
	}
	model, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, rate := range []int{RateWide, RateTelephone} {
		loaded, err := model.Detector(rate)
		if err != nil {
			t.Fatal(err)
		}
		own, err := New().Detector(rate)
		if err != nil {
			t.Fatal(err)
		}
		window := make([]int16, own.Window())
		for i := range window {
			window[i] = int16(i * 7919)
		}
		for range 5 {
			if a, b := loaded.Confidence(window), own.Confidence(window); a != b {
				t.Errorf("%d Hz: %v from the file, %v embedded", rate, a, b)
			}
		}
	}
}

func TestModelFileWithAMissingPartNamesIt(t *testing.T) {
	for _, part := range []string{"stft.forward_basis_buffer", "encoder.2.reparam_conv.bias", "decoder.rnn.weight_hh", "decoder.decoder.2.bias"} {
		_, err := Parse(modelFile(t, part))
		if !errors.Is(err, ErrModel) || !strings.Contains(err.Error(), part) {
			t.Errorf("without %s: %v", part, err)
		}
	}
}

func TestModelFileOfAnotherShapeIsRefused(t *testing.T) {
	if _, err := Parse(message(7, conditional(constant("x_stft.forward_basis_buffer", make([]float32, 8), 8), nil))); !errors.Is(err, ErrModel) {
		t.Errorf("a short basis gives %v", err)
	}
	all, err := parseWeights(embedded)
	if err != nil {
		t.Fatal(err)
	}
	s := shapes()
	branch := branchOf(s[0], all[0], "stft")
	branch = append(branch, constant("stft.forward_basis_buffer", make([]float32, 258*256), 258, 1, 256)...)
	if _, err := Parse(message(7, conditional(branch, branchOf(s[1], all[1], "")))); !errors.Is(err, ErrModel) || !strings.Contains(err.Error(), "Hann") {
		t.Errorf("another first layer gives %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte{})
	f.Add(message(7, conditional(constant("stft.forward_basis_buffer", []float32{1, 2}, 2, 1), constant("x", nil, 0))))
	f.Add(message(7, message(5, integer(1, 3), integer(2, 1), message(8, []byte("w")), message(4, make([]byte, 12)))))
	f.Add([]byte("\x3a\x03\x0a\x01\x2a"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := Parse(b); err != nil && !errors.Is(err, ErrModel) {
			t.Errorf("error %v does not wrap ErrModel", err)
		}
	})
}
