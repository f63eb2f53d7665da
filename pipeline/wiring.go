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

// checkWiring finds every fault at once.
func (p *Pipeline) checkWiring() error {
	var faults []error
	wiring := make([]Wiring, len(p.procs))
	at := map[string][]int{}
	for i, proc := range p.procs {
		w, ok := proc.(Wired)
		if !ok {
			continue
		}
		wiring[i] = w.Wiring()
		if r := wiring[i].Role; r != "" {
			at[r] = append(at[r], i)
		}
	}
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: "+format, append([]any{ErrWiring}, args...)...))
	}
	rate, rateBy := 0, ""
	for i, w := range wiring {
		for _, r := range w.After {
			if others := at[r]; len(others) > 0 && others[len(others)-1] > i {
				fault("%s stands before %s; move it behind", p.names[i], p.names[others[len(others)-1]])
			}
		}
		for _, r := range w.Before {
			if others := at[r]; len(others) > 0 && others[0] < i {
				fault("%s stands behind %s; move it before", p.names[i], p.names[others[0]])
			}
		}
		for _, r := range w.Needs {
			if len(at[r]) == 0 {
				fault("%s needs a processor with the role %q in the pipeline; add one", p.names[i], r)
			}
		}
		if w.Single && slices.Index(at[w.Role], i) > 0 {
			fault("%s is the second with the role %q; remove one", p.names[i], w.Role)
		}
		if w.InRate != 0 && rate != 0 && w.InRate != rate {
			fault("%s takes audio at %d Hz but %s gives %d Hz; put a resampler between them", p.names[i], w.InRate, rateBy, rate)
		}
		if w.OutRate != 0 {
			rate, rateBy = w.OutRate, p.names[i]
		}
	}
	return errors.Join(faults...)
}
