package pipeline

import (
	"errors"
	"fmt"
	"slices"
)

// Wired is the side of a processor that declares where it may stand.
type Wired interface {
	Wiring() Wiring
}

// Wiring says what a processor is and what it needs around it. Roles are plain
// words that packages agree on, such as "llm" or "output".
type Wiring struct {
	// Role is what the processor is; empty for none.
	Role string
	// After and Before list roles that must stand upstream and downstream of it,
	// where the pipeline has them.
	After, Before []string
	// Needs lists roles that the pipeline must have.
	Needs []string
	// Single tells that there may be only one of the role.
	Single bool
	// InRate is the sample rate of the audio it takes and OutRate that of the
	// audio it makes, in Hz; 0 where it does not care.
	InRate, OutRate int
}

// wired is a processor with its wiring and its place.
type wired struct {
	name string
	Wiring
	// path is the processor's place: its number in the chain, then for each
	// section around it the branch and the number there.
	path []int
}

// upstreamOf reports whether w stands upstream of o. Neither does when they stand
// in different branches of a section.
func (w *wired) upstreamOf(o *wired) bool {
	for i := range min(len(w.path), len(o.path)) {
		if w.path[i] != o.path[i] {
			return i%2 == 0 && w.path[i] < o.path[i]
		}
	}
	return len(w.path) < len(o.path)
}

// check gathers the faults of a pipeline's wiring.
type check struct {
	all    []*wired
	faults []error
}

// checkWiring finds every fault at once.
func (p *Pipeline) checkWiring() error {
	var c check
	c.chain(p.chain, nil, rate{})
	for _, w := range c.all {
		c.neighbours(w)
	}
	return errors.Join(c.faults...)
}

func (c *check) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Errorf("%w: "+format, append([]any{ErrWiring}, args...)...))
}

// rate is a sample rate and who makes it; 0 Hz where it is not known.
type rate struct {
	hz int
	by string
}

// chain follows the audio through a chain, gathers what is declared and returns the
// rate at the end.
func (c *check) chain(parts []part, path []int, r rate) rate {
	for i := range parts {
		p := &parts[i]
		if p.branches != nil {
			r = c.section(p, append(slices.Clone(path), i), r)
			continue
		}
		d, ok := p.proc.(Wired)
		if !ok {
			continue
		}
		w := &wired{name: p.name, Wiring: d.Wiring(), path: append(slices.Clone(path), i)}
		c.all = append(c.all, w)
		if w.InRate != 0 && r.hz != 0 && w.InRate != r.hz {
			c.fault("%s takes audio at %d Hz but %s gives %d Hz; put a resampler between them", w.name, w.InRate, r.by, r.hz)
		}
		if w.OutRate != 0 {
			r = rate{hz: w.OutRate, by: w.name}
		}
	}
	return r
}

// section follows the audio through the branches. Behind them the rate is known
// when they agree.
func (c *check) section(p *part, at []int, in rate) rate {
	var out rate
	for i, branch := range p.branches {
		r := c.chain(branch, append(slices.Clone(at), i), in)
		switch {
		case i == 0:
			out = r
		case out.hz != r.hz:
			out = rate{}
		}
	}
	return out
}

// neighbours checks what w needs around it.
func (c *check) neighbours(w *wired) {
	for _, role := range w.After {
		if o := c.find(func(o *wired) bool { return o.Role == role && w.upstreamOf(o) }); o != nil {
			c.fault("%s stands before %s; move it behind", w.name, o.name)
		}
	}
	for _, role := range w.Before {
		if o := c.find(func(o *wired) bool { return o.Role == role && o.upstreamOf(w) }); o != nil {
			c.fault("%s stands behind %s; move it before", w.name, o.name)
		}
	}
	for _, role := range w.Needs {
		if c.find(func(o *wired) bool { return o.Role == role }) == nil {
			c.fault("%s needs a processor with the role %q in the pipeline; add one", w.name, role)
		}
	}
	if w.Single && w.Role != "" {
		if first := c.find(func(o *wired) bool { return o.Role == w.Role }); first != w {
			c.fault("%s is the second with the role %q, after %s; remove one", w.name, w.Role, first.name)
		}
	}
}

func (c *check) find(fits func(*wired) bool) *wired {
	for _, w := range c.all {
		if fits(w) {
			return w
		}
	}
	return nil
}
