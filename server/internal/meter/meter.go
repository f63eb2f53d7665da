// Package meter counts what happens and writes it in the text format that
// Prometheus scrapes.
//
// It is here, instead of the usual client library, for what that does when a
// program starts: with the protocol buffers it brings along it takes a third of
// the time in which a server is to be ready. Label values are known beforehand, so
// that counting is one atomic addition and no client can make the series grow.
package meter

import (
	"bufio"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// ContentType is the media type of what [Registry.Write] writes.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Registry is a list of metrics in the order they were made. Metrics are made
// before the first use; from then on everything is safe for concurrent use.
type Registry struct {
	metrics []metric
}

// metric is something that can be written.
type metric interface{ write(w *bufio.Writer) }

// head begins a metric.
type head struct{ name, help, kind string }

func (h head) write(w *bufio.Writer) {
	text := strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(h.help)
	_, _ = w.WriteString("# HELP " + h.name + " " + text + "\n# TYPE " + h.name + " " + h.kind + "\n")
}

// sample writes a value; labels are names, each with its value behind it.
func sample(w *bufio.Writer, name string, v float64, labels ...string) {
	_, _ = w.WriteString(name)
	if len(labels) > 0 {
		quote := strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
		before := "{"
		for i := 0; i < len(labels); i += 2 {
			_, _ = w.WriteString(before + labels[i] + `="` + quote.Replace(labels[i+1]) + `"`)
			before = ","
		}
		_ = w.WriteByte('}')
	}
	_, _ = w.WriteString(" " + strconv.FormatFloat(v, 'g', -1, 64) + "\n")
}

// Write writes all metrics.
func (r *Registry) Write(w io.Writer) error {
	b := bufio.NewWriter(w) // keeps the first error
	for _, m := range r.metrics {
		m.write(b)
	}
	return b.Flush()
}

// Counter only goes up.
type Counter struct {
	head
	n atomic.Uint64
}

// Counter makes a counter.
func (r *Registry) Counter(name, help string) *Counter {
	c := &Counter{head: head{name, help, "counter"}}
	r.metrics = append(r.metrics, c)
	return c
}

// Add counts n.
func (c *Counter) Add(n uint64) { c.n.Add(n) }

func (c *Counter) write(w *bufio.Writer) {
	c.head.write(w)
	sample(w, c.name, float64(c.n.Load()))
}

// CounterBy is a counter for each value of a label.
type CounterBy struct {
	head
	label string
	n     map[string]*atomic.Uint64
	order []string
}

// Other is the value under which unknown ones are counted.
const Other = "other"

// CounterBy makes a counter for each of the values and for [Other].
func (r *Registry) CounterBy(name, help, label string, values ...string) *CounterBy {
	c := &CounterBy{head: head{name, help, "counter"}, label: label, n: make(map[string]*atomic.Uint64, len(values)+1)}
	for _, v := range append(values, Other) {
		c.n[v] = &atomic.Uint64{}
		c.order = append(c.order, v)
	}
	r.metrics = append(r.metrics, c)
	return c
}

// Add counts n for a value.
func (c *CounterBy) Add(value string, n uint64) {
	v, known := c.n[value]
	if !known {
		v = c.n[Other]
	}
	v.Add(n)
}

func (c *CounterBy) write(w *bufio.Writer) {
	c.head.write(w)
	for _, v := range c.order {
		sample(w, c.name, float64(c.n[v].Load()), c.label, v)
	}
}

// Gauge goes up and down.
type Gauge struct {
	head
	read func() (float64, bool)
}

// Gauge makes a gauge that is read when it is written; false leaves it out.
func (r *Registry) Gauge(name, help string, read func() (v float64, ok bool)) {
	r.metrics = append(r.metrics, &Gauge{head{name, help, "gauge"}, read})
}

func (g *Gauge) write(w *bufio.Writer) {
	if v, ok := g.read(); ok {
		g.head.write(w)
		sample(w, g.name, v)
	}
}

// Histogram sorts values into buckets.
type Histogram struct {
	head
	bounds []float64
	counts []atomic.Uint64 // one more than bounds
	sum    atomic.Uint64   // bits of a float64
}

// Histogram makes a histogram with buckets up to each of the bounds, which rise.
func (r *Registry) Histogram(name, help string, bounds ...float64) *Histogram {
	h := newHistogram(head{name, help, "histogram"}, bounds)
	r.metrics = append(r.metrics, h)
	return h
}

func newHistogram(h head, bounds []float64) *Histogram {
	return &Histogram{head: h, bounds: bounds, counts: make([]atomic.Uint64, len(bounds)+1)}
}

// Observe takes one value in.
func (h *Histogram) Observe(v float64) {
	i := 0
	for i < len(h.bounds) && v > h.bounds[i] {
		i++
	}
	h.counts[i].Add(1)
	for {
		old := h.sum.Load()
		if h.sum.CompareAndSwap(old, math.Float64bits(math.Float64frombits(old)+v)) {
			return
		}
	}
}

func (h *Histogram) write(w *bufio.Writer) {
	h.head.write(w)
	h.samples(w)
}

// samples writes the values without the head.
func (h *Histogram) samples(w *bufio.Writer, labels ...string) {
	total := uint64(0)
	for i := range h.counts {
		total += h.counts[i].Load()
		bound := "+Inf"
		if i < len(h.bounds) {
			bound = strconv.FormatFloat(h.bounds[i], 'g', -1, 64)
		}
		sample(w, h.name+"_bucket", float64(total), slices.Concat(labels, []string{"le", bound})...)
	}
	sample(w, h.name+"_sum", math.Float64frombits(h.sum.Load()), labels...)
	sample(w, h.name+"_count", float64(total), labels...)
}
