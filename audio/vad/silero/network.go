package silero

import "math"

// lanes is how many outputs the inner loop computes at a time.
const lanes = 4

// block holds the weights of four outputs: for each pair of inputs a row, with the
// four weights of the first input and then those of the second.
type block [][2 * lanes]float32

// pair is two inputs.
type pair = [2]float32

// accumulate adds to four sums the products of each input with its weights. Most of
// the time goes here. Four sums and eight products just fit the registers, adding
// two products first halves the chain of additions, and rows of a fixed size need no
// bounds checks: each of these gave a factor.
func accumulate(sums *[lanes]float32, rows block, x []pair) {
	rows = rows[:len(x)]
	s0, s1, s2, s3 := sums[0], sums[1], sums[2], sums[3]
	for i := range x {
		a, b := x[i][0], x[i][1]
		r := &rows[i]
		s0 += a*r[0] + b*r[4]
		s1 += a*r[1] + b*r[5]
		s2 += a*r[2] + b*r[6]
		s3 += a*r[3] + b*r[7]
	}
	*sums = [lanes]float32{s0, s1, s2, s3}
}

// set puts the weight of an input for an output into the block.
func (b block) set(input, lane int, weight float32) {
	b[input/2][input%2*lanes+lane] = weight
}

// network is the model for one rate with its weights laid out for accumulate. It is
// immutable, and shared by all detectors.
type network struct {
	shape   shape
	fourier *fourier
	conv    [4]convolution
	cells   []block // for each cell its four gates; inputs: the encoder's, the state
	bias    [][lanes]float32
	out     []float32
	outBias float32
}

// convolution spans three columns, padded with one of zeros at both ends.
type convolution struct {
	width  int // pairs in an input column
	stride int
	blocks []block // inputs: the first column, the second, the third
	bias   [][lanes]float32
}

func newNetwork(s shape, w *weights) *network {
	n := &network{shape: s, fourier: newFourier(s.fft), out: w.out, outBias: w.outBias}
	for i, stride := range [4]int{1, 2, 2, 1} {
		n.conv[i] = newConvolution(w.conv[i], stride)
	}
	for cell := range hidden {
		rows, bias := make(block, hidden), [lanes]float32{}
		for gate := range gates {
			from := gate*hidden + cell
			bias[gate] = w.bias[from]
			for i := range hidden {
				rows.set(i, gate, w.input[from*hidden+i])
				rows.set(hidden+i, gate, w.state[from*hidden+i])
			}
		}
		n.cells = append(n.cells, rows)
		n.bias = append(n.bias, bias)
	}
	return n
}

func newConvolution(w convWeights, stride int) convolution {
	c := convolution{width: (w.in + 1) / 2, stride: stride}
	for first := 0; first < w.out; first += lanes {
		rows, bias := make(block, 3*c.width), [lanes]float32{}
		for lane := range lanes {
			bias[lane] = w.bias[first+lane]
			for i := range w.in {
				for tap := range 3 {
					rows.set(tap*2*c.width+i, lane, w.kernel[((first+lane)*w.in+i)*3+tap])
				}
			}
		}
		c.blocks = append(c.blocks, rows)
		c.bias = append(c.bias, bias)
	}
	return c
}

// run writes the output columns to dst and returns how many there are. Columns lie
// one after the other. What is negative becomes zero.
func (c *convolution) run(dst, src []pair, columns int) int {
	const half = lanes / 2
	size := len(c.blocks) * half
	results := (columns-1)/c.stride + 1
	for b, rows := range c.blocks {
		for t := range results {
			// Columns outside are zeros; they and their weights are left out.
			first := t*c.stride - 1
			from, to := max(0, -first), min(3, columns-first)
			sums := c.bias[b]
			accumulate(&sums, rows[from*c.width:to*c.width], src[(first+from)*c.width:(first+to)*c.width])
			out := dst[t*size+b*half : t*size+b*half+half]
			out[0] = pair{max(sums[0], 0), max(sums[1], 0)}
			out[1] = pair{max(sums[2], 0), max(sums[3], 0)}
		}
	}
	return results
}

// widest is the number of pairs in the widest column: the bins of the longest
// transform.
const widest = (maxFFT/2 + 2) / 2

// memory is what a detector remembers between windows, and its working space.
type memory struct {
	samples [maxFFT * 5 / 2]float32 // context, window, mirrored end
	cell    [hidden]float32
	in      [hidden]pair // what the encoder says, then the state
	a, b    [widest * columns]pair
	work    spectrum
}

// step takes the window that stands in m.samples behind the context and returns
// the probability of speech.
func (n *network) step(m *memory) float32 {
	s := n.shape
	context, end := s.context(), s.context()+s.window()
	for i := range s.pad() {
		m.samples[end+i] = m.samples[end-2-i]
	}
	width := n.conv[0].width
	for t := 0; t < columns; t += 2 {
		x := m.samples[t*s.hop():]
		n.fourier.magnitudes(m.a[t*width:], m.a[(t+1)*width:], x[:s.fft], x[s.hop():s.hop()+s.fft], &m.work)
	}
	copy(m.samples[:context], m.samples[end-context:end])

	count := n.conv[0].run(m.b[:], m.a[:], columns)
	count = n.conv[1].run(m.a[:], m.b[:], count)
	count = n.conv[2].run(m.b[:], m.a[:], count)
	n.conv[3].run(m.in[:hidden/2], m.b[:], count)
	return n.recur(m)
}

// recur is the LSTM and the output layer.
func (n *network) recur(m *memory) float32 {
	var state [hidden / 2]pair
	sum := n.outBias
	for i, rows := range n.cells {
		g := n.bias[i]
		accumulate(&g, rows, m.in[:])
		cell := sigmoid(g[1])*m.cell[i] + sigmoid(g[0])*tanh(g[2])
		h := sigmoid(g[3]) * tanh(cell)
		m.cell[i], state[i/2][i%2] = cell, h
		sum += n.out[i] * max(h, 0)
	}
	copy(m.in[hidden/2:], state[:])
	return sigmoid(sum)
}

func sigmoid(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }

// tanh by one exponential; where that overflows the result is still right.
func tanh(x float32) float32 { return float32(1 - 2/(math.Exp(2*float64(x))+1)) }
