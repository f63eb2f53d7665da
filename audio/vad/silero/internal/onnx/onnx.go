// Package onnx reads the constants out of an ONNX model file: as much of the format
// as it takes to get at a network's weights, and no more.
package onnx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// ErrFormat means that the bytes are not an ONNX model.
var ErrFormat = errors.New("onnx: not a readable model")

// Tensor is a constant of 32-bit floats.
type Tensor struct {
	// Name is what the graph calls it.
	Name string
	// Branch is the path of conditional branches it stands in, as in
	// "then_branch/else_branch"; empty at the top.
	Branch string
	// Dims are its dimensions.
	Dims []int
	// Data are its values, the last dimension running fastest.
	Data []float32
}

// Field numbers of the messages in the ONNX schema.
const (
	modelGraph = 7

	graphNode        = 1
	graphInitializer = 5

	nodeOutput    = 2
	nodeOperation = 4
	nodeAttribute = 5

	attributeName   = 1
	attributeTensor = 5
	attributeGraph  = 6

	tensorDims   = 1
	tensorType   = 2
	tensorFloats = 4
	tensorName   = 8
	tensorRaw    = 9

	typeFloat = 1
)

// maxDepth bounds how deeply branches may nest.
const maxDepth = 8

// Floats returns all float constants and initialisers of the model. The data is
// copied out of the file.
func Floats(model []byte) ([]Tensor, error) {
	r := &reader{}
	err := fields(model, func(number protowire.Number, value []byte, _ uint64) error {
		if number == modelGraph {
			return r.graph(value, "", 0)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r.tensors, nil
}

type reader struct{ tensors []Tensor }

func (r *reader) graph(b []byte, branch string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%w: branches nest deeper than %d", ErrFormat, maxDepth)
	}
	return fields(b, func(number protowire.Number, value []byte, _ uint64) error {
		switch number {
		case graphNode:
			return r.node(value, branch, depth)
		case graphInitializer:
			return r.tensor(value, "", branch)
		}
		return nil
	})
}

// node takes a Constant's tensor, and goes into the branches of an If.
func (r *reader) node(b []byte, branch string, depth int) error {
	var operation, output string
	var attributes [][]byte
	err := fields(b, func(number protowire.Number, value []byte, _ uint64) error {
		switch number {
		case nodeOperation:
			operation = string(value)
		case nodeOutput:
			if output == "" {
				output = string(value)
			}
		case nodeAttribute:
			attributes = append(attributes, value)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, a := range attributes {
		if err := r.attribute(a, operation, output, branch, depth); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) attribute(b []byte, operation, output, branch string, depth int) error {
	var name string
	var tensor, graph []byte
	err := fields(b, func(number protowire.Number, value []byte, _ uint64) error {
		switch number {
		case attributeName:
			name = string(value)
		case attributeTensor:
			tensor = value
		case attributeGraph:
			graph = value
		}
		return nil
	})
	if err != nil {
		return err
	}
	if graph != nil {
		if branch != "" {
			name = branch + "/" + name
		}
		return r.graph(graph, name, depth+1)
	}
	if tensor != nil && operation == "Constant" {
		return r.tensor(tensor, output, branch)
	}
	return nil
}

// tensor adds a tensor of floats; others are passed over. name, if not empty, goes
// before the tensor's own.
func (r *reader) tensor(b []byte, name, branch string) error {
	t := Tensor{Name: name, Branch: branch}
	kind := uint64(0)
	err := fields(b, func(number protowire.Number, value []byte, x uint64) error {
		switch number {
		case tensorDims:
			return t.dims(value, x)
		case tensorType:
			kind = x
		case tensorName:
			if t.Name == "" {
				t.Name = string(value)
			}
		case tensorRaw, tensorFloats: // both are packed little-endian floats
			return t.floats(value, x)
		}
		return nil
	})
	if err != nil || kind != typeFloat {
		return err
	}
	size := 1
	for _, d := range t.Dims {
		if d < 0 || d > len(t.Data) {
			return fmt.Errorf("%w: tensor %q has dimensions %v and %d values", ErrFormat, t.Name, t.Dims, len(t.Data))
		}
		size *= max(d, 1)
		if size > len(t.Data) {
			break
		}
	}
	if size != len(t.Data) {
		return fmt.Errorf("%w: tensor %q has dimensions %v and %d values", ErrFormat, t.Name, t.Dims, len(t.Data))
	}
	r.tensors = append(r.tensors, t)
	return nil
}

// dims takes dimensions, which may be packed or not.
func (t *Tensor) dims(value []byte, x uint64) error {
	if value == nil {
		t.Dims = append(t.Dims, int(x))
		return nil
	}
	for len(value) > 0 {
		d, n := protowire.ConsumeVarint(value)
		if n < 0 {
			return fmt.Errorf("%w: %w", ErrFormat, protowire.ParseError(n))
		}
		t.Dims = append(t.Dims, int(d))
		value = value[n:]
	}
	return nil
}

// floats takes values, which may be packed or not.
func (t *Tensor) floats(value []byte, x uint64) error {
	if value == nil {
		t.Data = append(t.Data, math.Float32frombits(uint32(x)))
		return nil
	}
	for ; len(value) >= 4; value = value[4:] {
		t.Data = append(t.Data, math.Float32frombits(binary.LittleEndian.Uint32(value)))
	}
	return nil
}

// fields calls visit for each field of a message: with value for fields that have
// bytes, else with nil and the number.
func fields(b []byte, visit func(number protowire.Number, value []byte, x uint64) error) error {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fmt.Errorf("%w: %w", ErrFormat, protowire.ParseError(n))
		}
		b = b[n:]
		var value []byte
		var x uint64
		switch kind {
		case protowire.BytesType:
			value, n = protowire.ConsumeBytes(b)
			if value == nil {
				value = []byte{}
			}
		case protowire.VarintType:
			x, n = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			var v uint32
			v, n = protowire.ConsumeFixed32(b)
			x = uint64(v)
		default:
			n = protowire.ConsumeFieldValue(number, kind, b)
		}
		if n < 0 {
			return fmt.Errorf("%w: %w", ErrFormat, protowire.ParseError(n))
		}
		b = b[n:]
		if err := visit(number, value, x); err != nil {
			return err
		}
	}
	return nil
}
