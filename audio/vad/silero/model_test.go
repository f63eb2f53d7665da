package silero

import (
	"bytes"
	"flag"
	"os"
	"testing"
)

// These tests look inside the package: they make and check the embedded file.

var (
	onnxPath = flag.String("onnx", "", "the model file that weights.bin is made from: dist/silero_vad_v6.onnx of the npm package @ricky0123/vad-web 0.0.31")
	update   = flag.Bool("update", false, "write weights.bin from -onnx")
)

func TestModelFile(t *testing.T) {
	if *onnxPath == "" {
		t.Skip("no model file given; use -onnx")
	}
	model, err := os.ReadFile(*onnxPath)
	if err != nil {
		t.Fatal(err)
	}
	all, err := fromONNX(model)
	if err != nil {
		t.Fatal(err)
	}
	b := appendWeights(nil, all)
	if *update {
		if err := os.WriteFile("weights.bin", b, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(b, embedded) {
		t.Errorf("weights.bin does not hold the weights of %s", *onnxPath)
	}
}

func TestEmbeddedFileIsWhole(t *testing.T) {
	all, err := parseWeights(embedded)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(appendWeights(nil, all), embedded) {
		t.Error("reading and writing changes the file")
	}
	for _, n := range []int{0, len(magic), len(embedded) - 1} {
		if _, err := parseWeights(embedded[:n]); err == nil {
			t.Errorf("%d bytes of the file are accepted", n)
		}
	}
}
