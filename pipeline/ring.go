package pipeline

// ring is a first-in first-out queue that reuses its memory.
type ring[T any] struct {
	items      []T // its length is a power of two, or 0
	head, size int
}

// ringKeep is the capacity an empty ring may keep.
const ringKeep = 64

func (r *ring[T]) len() int { return r.size }

func (r *ring[T]) at(i int) *T { return &r.items[(r.head+i)&(len(r.items)-1)] }

func (r *ring[T]) push(v T) {
	if r.size == len(r.items) {
		r.grow()
	}
	r.items[(r.head+r.size)&(len(r.items)-1)] = v
	r.size++
}

func (r *ring[T]) grow() {
	bigger := make([]T, max(8, 2*len(r.items)))
	n := copy(bigger, r.items[r.head:])
	copy(bigger[n:], r.items[:r.head])
	r.items, r.head = bigger, 0
}

// pop takes the oldest out; the ring must not be empty.
func (r *ring[T]) pop() T {
	var zero T
	v := r.items[r.head]
	r.items[r.head] = zero
	r.head = (r.head + 1) & (len(r.items) - 1)
	if r.size--; r.size == 0 && len(r.items) > ringKeep {
		r.items, r.head = nil, 0
	}
	return v
}

// keep takes out what f refuses and leaves the rest in order.
func (r *ring[T]) keep(f func(*T) bool) {
	var zero T
	kept := 0
	for i := range r.size {
		v := r.at(i)
		if !f(v) {
			continue
		}
		if kept != i {
			*r.at(kept) = *v
		}
		kept++
	}
	for i := kept; i < r.size; i++ {
		*r.at(i) = zero
	}
	r.size = kept
}

// clear empties the ring in constant time: a large one is left to the collector.
func (r *ring[T]) clear() {
	if len(r.items) > ringKeep {
		r.items = nil
	} else {
		clear(r.items)
	}
	r.head, r.size = 0, 0
}
