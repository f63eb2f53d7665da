// Package silero runs the Silero voice activity model, version 6, in plain Go.
//
// The weights are part of the program, under the MIT licence (see NOTICE); another
// model file of version 5 or 6 can be loaded by path with [Open]. The results differ
// from the reference runtime's by less than 0.0001.
//
//	model := silero.New()                   // once for the program
//	detector, err := model.Detector(16000)  // for each stream
package silero

import (
	_ "embed"
	"fmt"
	"os"
)

//go:generate go test -run TestModelFile -onnx silero_vad_v6.onnx -update .

//go:embed weights.bin
var embedded []byte

// Rates that the model knows, in Hz.
const (
	// RateWide is 16 kHz, the rate to prefer.
	RateWide = 16000
	// RateTelephone is 8 kHz.
	RateTelephone = 8000
)

// Model holds the weights. It is immutable and safe for concurrent use: make one and
// share it, as it takes 2 MB where a detector takes 10 KB.
type Model struct{ wide, telephone *network }

// New returns the model whose weights come with this package. It takes a few
// milliseconds.
func New() *Model {
	all, err := parseWeights(embedded)
	if err != nil {
		// The file is part of the program, and a test reads it.
		panic(err)
	}
	return newModel(all)
}

// maxFile is the largest model file that is read; the known ones have 2.3 MB.
const maxFile = 64 << 20

// Open loads a model from an .onnx file of the version 5 or 6 layout. The error
// wraps [ErrModel] if the file is not one.
func Open(path string) (*Model, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("silero: open model: %w", err)
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%w: %s has %d bytes, more than %d", ErrModel, path, info.Size(), maxFile)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("silero: open model: %w", err)
	}
	m, err := Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// Parse is Open for a file's content.
func Parse(onnx []byte) (*Model, error) {
	all, err := fromONNX(onnx)
	if err != nil {
		return nil, err
	}
	return newModel(all), nil
}

func newModel(all [2]*weights) *Model {
	s := shapes()
	return &Model{wide: newNetwork(s[0], all[0]), telephone: newNetwork(s[1], all[1])}
}

// Detector returns a detector for one stream of mono sound at 16000 or 8000 Hz.
// Streams of other rates are resampled first.
func (m *Model) Detector(rate int) (*Detector, error) {
	switch rate {
	case RateWide:
		return &Detector{network: m.wide}, nil
	case RateTelephone:
		return &Detector{network: m.telephone}, nil
	}
	return nil, fmt.Errorf("silero: a rate of %d Hz; resample to %d or %d Hz", rate, RateWide, RateTelephone)
}

// Detector is the model at work on one stream: a Detector of package vad. It does not
// allocate, and is used by one goroutine at a time.
type Detector struct {
	network *network
	memory  memory
}

// Rate is the sample rate in Hz.
func (d *Detector) Rate() int { return d.network.shape.rate }

// Window is the number of samples that each decision takes: 32 ms.
func (d *Detector) Window() int { return d.network.shape.window() }

// Confidence takes the next [Detector.Window] samples of the stream and returns the
// probability, 0 to 1, that they hold speech. It panics if window has fewer.
func (d *Detector) Confidence(window []int16) float32 {
	size := d.Window()
	in := d.memory.samples[d.network.shape.context():]
	for i, s := range window[:size] {
		in[i] = float32(s) * (1.0 / 32768)
	}
	return d.network.step(&d.memory)
}

// Reset forgets the stream.
func (d *Detector) Reset() { d.memory = memory{} }
