package pipeline

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Pipeline is a chain of processors whose wiring has been checked. It can run
// once.
type Pipeline struct {
	procs []Processor
	names []string
	used  bool
}

// ErrWiring is wrapped by every error of [New].
var ErrWiring = errors.New("pipeline: wrong wiring")

// New chains processors, the first being nearest to the user's input. It checks
// the wiring that processors declare (see [Wired]) and fails with an error that
// says what to move.
func New(procs ...Processor) (*Pipeline, error) {
	p := &Pipeline{procs: procs, names: make([]string, len(procs))}
	taken := make(map[string]int, len(procs))
	seen := make(map[Processor]bool, len(procs))
	for i, proc := range procs {
		if proc == nil {
			return nil, fmt.Errorf("%w: processor %d is nil", ErrWiring, i+1)
		}
		if seen[proc] {
			return nil, fmt.Errorf("%w: %s stands in the pipeline twice", ErrWiring, nameOf(proc))
		}
		seen[proc] = true
		if proc.base().node != nil {
			return nil, fmt.Errorf("%w: %s belongs to another pipeline already", ErrWiring, nameOf(proc))
		}
		name := nameOf(proc)
		taken[name]++
		if n := taken[name]; n > 1 {
			name = fmt.Sprintf("%s#%d", name, n)
		}
		p.names[i] = name
	}
	if err := p.checkWiring(); err != nil {
		return nil, err
	}
	return p, nil
}

// MustNew is [New] for wiring that is fixed in the program; it panics on an error.
func MustNew(procs ...Processor) *Pipeline {
	p, err := New(procs...)
	if err != nil {
		panic(err)
	}
	return p
}

// String prints the chain.
func (p *Pipeline) String() string { return strings.Join(p.names, " → ") }

// nameOf is what a processor calls itself, or the name of its type.
func nameOf(proc Processor) string {
	if n, ok := proc.(Named); ok {
		return n.Name()
	}
	_, name := typeName(proc)
	return name
}

// typeName is a processor's package path and type name.
func typeName(proc Processor) (pkg, name string) {
	t := reflect.TypeOf(proc)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath(), t.Name()
}
