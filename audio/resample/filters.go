package resample

import "sync"

// Filters computes each filter once and hands it to all who ask. The zero value is
// ready, and safe for concurrent use. A filter takes 2 to 150 KB and stays as long
// as the Filters does.
type Filters struct {
	mu   sync.Mutex
	made map[rates]*Filter
}

type rates struct{ from, to int }

// Get returns the filter from one rate to another, as [NewFilter] does.
func (s *Filters) Get(from, to int) (*Filter, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.made[rates{from, to}]; f != nil {
		return f, nil
	}
	f, err := NewFilter(from, to)
	if err != nil {
		return nil, err
	}
	if s.made == nil {
		s.made = make(map[rates]*Filter)
	}
	s.made[rates{from, to}] = f
	return f, nil
}
