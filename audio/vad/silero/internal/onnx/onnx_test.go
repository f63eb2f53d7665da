package onnx_test

import (
	"errors"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/turnwise/turnwise/audio/vad/silero/internal/onnx"
)

func message(number protowire.Number, parts ...[]byte) []byte {
	b := protowire.AppendTag(nil, number, protowire.BytesType)
	return protowire.AppendBytes(b, slices.Concat(parts...))
}

func integer(number protowire.Number, x uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), x)
}

func float(number protowire.Number, bits uint32) []byte {
	return protowire.AppendFixed32(protowire.AppendTag(nil, number, protowire.Fixed32Type), bits)
}

const one, two = 0x3f800000, 0x40000000

var oneTwo = []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40} // read only

func TestTensorsAreFoundHoweverTheyAreWritten(t *testing.T) {
	constant := func(tensor ...[]byte) []byte {
		return message(1, message(2, []byte("w")), message(4, []byte("Constant")), message(5, message(5, tensor...)))
	}
	for name, graph := range map[string][]byte{
		"raw bytes":          constant(message(1, []byte{2}), integer(2, 1), message(9, oneTwo)),
		"packed floats":      constant(message(1, []byte{1, 2}), integer(2, 1), message(4, oneTwo)),
		"floats one by one":  constant(integer(1, 2), integer(2, 1), float(4, one), float(4, two)),
		"an initialiser":     message(5, integer(1, 2), integer(2, 1), message(8, []byte("w")), message(9, oneTwo)),
		"after other fields": slices.Concat(integer(99, 5), message(2, []byte("graph name")), constant(integer(1, 2), integer(2, 1), message(9, oneTwo))),
	} {
		tensors, err := onnx.Floats(message(7, graph))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(tensors) != 1 || tensors[0].Name != "w" || !slices.Equal(tensors[0].Data, []float32{1, 2}) {
			t.Errorf("%s: %+v", name, tensors)
		}
	}
}

func TestTensorsSayTheirBranch(t *testing.T) {
	leaf := message(5, integer(1, 2), integer(2, 1), message(8, []byte("w")), message(9, oneTwo))
	inner := message(1, message(5, message(1, []byte("else_branch")), message(6, leaf)))
	outer := message(1, message(5, message(1, []byte("then_branch")), message(6, inner)))
	tensors, err := onnx.Floats(message(7, outer))
	if err != nil || len(tensors) != 1 || tensors[0].Branch != "then_branch/else_branch" {
		t.Errorf("%+v, %v", tensors, err)
	}
}

func TestOtherTypesArePassedOver(t *testing.T) {
	int64s := message(5, integer(1, 1), integer(2, 7), message(9, make([]byte, 8)))
	if tensors, err := onnx.Floats(message(7, int64s)); err != nil || len(tensors) != 0 {
		t.Errorf("%+v, %v", tensors, err)
	}
}

func TestBrokenModelsAreRefused(t *testing.T) {
	deep := message(5, integer(1, 2), integer(2, 1), message(9, oneTwo))
	for range 50 {
		deep = message(1, message(5, message(6, deep)))
	}
	for name, model := range map[string][]byte{
		"a cut message":               {0x3a, 0x7f, 0x01},
		"a bad tag":                   {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
		"more values than dimensions": message(7, message(5, integer(1, 1), integer(2, 1), message(9, oneTwo))),
		"dimensions without values":   message(7, message(5, integer(1, 1<<40), integer(1, 1<<40), integer(2, 1))),
		"negative dimensions":         message(7, message(5, integer(1, 1<<63), integer(2, 1), message(9, oneTwo))),
		"branches without end":        message(7, deep),
		"a cut dimension":             message(7, message(5, message(1, []byte{0x80}), integer(2, 1))),
		"text":                        []byte("hello, world"),
	} {
		if _, err := onnx.Floats(model); !errors.Is(err, onnx.ErrFormat) {
			t.Errorf("%s: error %v, want ErrFormat", name, err)
		}
	}
}
