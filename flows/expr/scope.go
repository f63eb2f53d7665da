package expr

import (
	"maps"
	"slices"
	"strings"
)

// Scope tells which names an expression may use and of what type they are. The zero
// Scope has none. Scopes are values: With and Without give new ones.
type Scope struct {
	names map[string]Type
	gone  map[string]string
}

// NewScope makes a scope of names and their types. The map is copied.
func NewScope(names map[string]Type) Scope { return Scope{names: maps.Clone(names)} }

// With is the scope with one name more, or with another type for it.
func (s Scope) With(name string, t Type) Scope {
	names := maps.Clone(s.names)
	if names == nil {
		names = map[string]Type{}
	}
	names[name] = t
	gone := s.gone
	if _, was := gone[name]; was {
		gone = maps.Clone(gone)
		delete(gone, name)
	}
	return Scope{names, gone}
}

// Without is the scope without a name. Whoever uses it is told why it is not there:
// "result is there after a call only".
func (s Scope) Without(name, why string) Scope {
	names, gone := maps.Clone(s.names), maps.Clone(s.gone)
	delete(names, name)
	if gone == nil {
		gone = map[string]string{}
	}
	gone[name] = why
	return Scope{names, gone}
}

// Type is the type of a name, and whether there is one.
func (s Scope) Type(name string) (Type, bool) {
	t, ok := s.names[name]
	return t, ok
}

// Names are the names, sorted.
func (s Scope) Names() []string { return slices.Sorted(maps.Keys(s.names)) }

// nearest is the name most like the one that was meant, "" when none is near.
func nearest(name string, names []string) string {
	best, least := "", len(name)/3+2
	for _, n := range names {
		if d := distance(strings.ToLower(name), strings.ToLower(n)); d < least {
			best, least = n, d
		}
	}
	return best
}

// distance counts the edits between two words, an exchange of neighbours as one.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > 64 || len(y) > 64 {
		return 64
	}
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}
