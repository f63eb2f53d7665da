package pipeline

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Pipeline is a chain of processors whose wiring has been checked. It can run
// once.
type Pipeline struct {
	chain []part
	count int // processors, with those in branches
	used  bool
}

// part is a link of a chain: a processor, or a parallel section.
type part struct {
	proc     Processor
	name     string
	branches [][]part // of a section
	end      string   // the name of its join
}

// ErrWiring is wrapped by every error of [New].
var ErrWiring = errors.New("pipeline: wrong wiring")

// New chains processors, the first being nearest to the user's input. It checks
// the wiring that processors declare (see [Wired]) and fails with an error that
// says what to move.
func New(procs ...Processor) (*Pipeline, error) {
	s := survey{taken: make(map[string]int, len(procs)), seen: make(map[Processor]bool, len(procs))}
	chain, err := s.chain(procs)
	if err != nil {
		return nil, err
	}
	p := &Pipeline{chain: chain, count: s.count}
	if err := p.checkWiring(); err != nil {
		return nil, err
	}
	return p, nil
}

// survey names the processors of a pipeline and finds those that cannot stand in
// it.
type survey struct {
	taken    map[string]int
	seen     map[Processor]bool
	count    int
	sections int
}

func (s *survey) chain(procs []Processor) ([]part, error) {
	parts := make([]part, len(procs))
	for i, proc := range procs {
		if isNil(proc) {
			return nil, fmt.Errorf("%w: processor %d is nil", ErrWiring, s.count+1)
		}
		if s.seen[proc] {
			return nil, fmt.Errorf("%w: %s stands in the pipeline twice", ErrWiring, nameOf(proc))
		}
		s.seen[proc] = true
		if proc.base().node != nil {
			return nil, fmt.Errorf("%w: %s belongs to another pipeline already", ErrWiring, nameOf(proc))
		}
		parts[i] = part{proc: proc, name: s.name(proc)}
		if k, ok := proc.(*fork); ok {
			if err := s.section(k, &parts[i]); err != nil {
				return nil, err
			}
		}
	}
	return parts, nil
}

func (s *survey) section(k *fork, p *part) error {
	if len(k.branches) == 0 {
		return fmt.Errorf("%w: %s has no branches; nothing could pass it", ErrWiring, p.name)
	}
	if s.sections == maxParallels {
		return fmt.Errorf("%w: more than %d parallel sections", ErrWiring, maxParallels)
	}
	k.gate = s.sections
	s.sections++
	for _, branch := range k.branches {
		parts, err := s.chain(branch)
		if err != nil {
			return err
		}
		p.branches = append(p.branches, parts)
	}
	p.end = s.name(k.join)
	return nil
}

// name finds a name that no other processor has.
func (s *survey) name(proc Processor) string {
	s.count++
	name := nameOf(proc)
	s.taken[name]++
	if n := s.taken[name]; n > 1 {
		name += "#" + strconv.Itoa(n)
	}
	return name
}

// isNil reports whether proc is nil or a nil pointer.
func isNil(proc Processor) bool {
	if proc == nil {
		return true
	}
	v := reflect.ValueOf(proc)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// MustNew is [New] for wiring that is fixed in the program; it panics on an error.
func MustNew(procs ...Processor) *Pipeline {
	p, err := New(procs...)
	if err != nil {
		panic(err)
	}
	return p
}

// String prints the chain: "a → b → c", and a parallel section as "(a → b | c)".
func (p *Pipeline) String() string {
	var b strings.Builder
	printChain(&b, p.chain)
	return b.String()
}

func printChain(b *strings.Builder, parts []part) {
	for i, p := range parts {
		if i > 0 {
			b.WriteString(" → ")
		}
		if p.branches == nil {
			b.WriteString(p.name)
			continue
		}
		b.WriteByte('(')
		for k, branch := range p.branches {
			if k > 0 {
				b.WriteString(" | ")
			}
			printChain(b, branch)
		}
		b.WriteByte(')')
	}
}

// nameOf is what a processor calls itself, or the name of its type.
func nameOf(proc any) string {
	if n, ok := proc.(Named); ok {
		return n.Name()
	}
	_, name := typeName(proc)
	return name
}

// typeName is a processor's package path and type name.
func typeName(proc any) (pkg, name string) {
	t := reflect.TypeOf(proc)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath(), t.Name()
}
