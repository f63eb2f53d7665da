package meter

import "bufio"

// HistogramBy is a histogram for each value of a label.
type HistogramBy struct {
	head
	label string
	of    map[string]*Histogram
	order []string
}

// HistogramBy makes a histogram for each of the values, with buckets up to each of the
// bounds, which rise.
func (r *Registry) HistogramBy(name, help, label string, values []string, bounds ...float64) *HistogramBy {
	h := &HistogramBy{head: head{name, help, "histogram"}, label: label, of: map[string]*Histogram{}, order: values}
	for _, v := range values {
		h.of[v] = newHistogram(h.head, bounds)
	}
	r.metrics = append(r.metrics, h)
	return h
}

// Observe takes in a measurement of a value that the histogram was made with.
func (h *HistogramBy) Observe(value string, v float64) { h.of[value].Observe(v) }

func (h *HistogramBy) write(w *bufio.Writer) {
	h.head.write(w)
	for _, v := range h.order {
		h.of[v].samples(w, h.label, v)
	}
}

// CountedBy makes counters, one for each of the values, that are read when they are
// written: read returns them in the order of the values.
func (r *Registry) CountedBy(name, help, label string, values []string, read func() []uint64) {
	r.metrics = append(r.metrics, &countedBy{head{name, help, "counter"}, label, values, read})
}

type countedBy struct {
	head
	label  string
	values []string
	read   func() []uint64
}

func (c *countedBy) write(w *bufio.Writer) {
	c.head.write(w)
	counts := c.read()
	for i, v := range c.values {
		sample(w, c.name, float64(counts[i]), c.label, v)
	}
}
