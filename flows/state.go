package flows

import (
	"maps"
	"sync"
)

// State holds a flow's variables. It is safe for concurrent use; values handed in
// belong to it and must not be changed afterwards.
type State struct {
	mu       sync.RWMutex
	values   map[string]any
	onChange func(name string)
}

// NewState makes a state with initial values, which are copied from the map; nil
// starts with none.
func NewState(initial map[string]any) *State {
	s := &State{values: make(map[string]any, len(initial))}
	maps.Copy(s.values, initial)
	return s
}

// Set gives a variable a value.
func (s *State) Set(name string, value any) {
	s.mu.Lock()
	s.values[name] = value
	tell := s.onChange
	s.mu.Unlock()
	if tell != nil {
		tell(name)
	}
}

// Get is a variable's value and whether it has one.
func (s *State) Get(name string) (any, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	v, ok := s.values[name]
	return v, ok
}

// Delete takes a variable away. It reports whether there was one.
func (s *State) Delete(name string) bool {
	s.mu.Lock()
	_, had := s.values[name]
	delete(s.values, name)
	tell := s.onChange
	s.mu.Unlock()
	if had && tell != nil {
		tell(name)
	}
	return had
}

// Snapshot is a copy of all variables, for display. The values themselves are
// shared.
func (s *State) Snapshot() map[string]any {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return maps.Clone(s.values)
}

// watch sets who is told of changes.
func (s *State) watch(onChange func(name string)) {
	s.mu.Lock()
	s.onChange = onChange
	s.mu.Unlock()
}

// Key is a variable of one type. Keys are plain values, usually package variables
// or fields of what builds the flow:
//
//	var partySize = flows.NewKey[int]("party_size")
//
//	partySize.Set(fm.State(), 4)
//	n, ok := partySize.Get(fm.State())
type Key[T any] struct{ name string }

// NewKey makes the key of the variable of that name.
func NewKey[T any](name string) Key[T] { return Key[T]{name} }

// Name is the variable's.
func (k Key[T]) Name() string { return k.name }

// Set gives the variable a value.
func (k Key[T]) Set(s *State, value T) { s.Set(k.name, value) }

// Get is the variable's value. It reports false when it has none, or one of
// another type.
func (k Key[T]) Get(s *State) (T, bool) {
	v, _ := s.Get(k.name)
	t, ok := v.(T)
	return t, ok
}

// Value is the variable's value, or the type's zero value.
func (k Key[T]) Value(s *State) T {
	v, _ := k.Get(s)
	return v
}

// Delete takes the variable away. It reports whether there was one.
func (k Key[T]) Delete(s *State) bool { return s.Delete(k.name) }
