package offline

import "sync"

// cache remembers what was worked out for a bounded number of keys. When it is
// full it forgets everything, which costs one analysis per key still in use. It is
// safe for concurrent use.
type cache[K comparable, V any] struct {
	mu    sync.RWMutex
	limit int
	known map[K]V
}

func newCache[K comparable, V any](limit int) *cache[K, V] {
	return &cache[K, V]{limit: limit, known: make(map[K]V)}
}

// get returns the value of a key, made by the function when it is not known. Two
// callers at once may both make it.
func (c *cache[K, V]) get(key K, make func() V) V {
	c.mu.RLock()
	v, ok := c.known[key]
	c.mu.RUnlock()
	if ok {
		return v
	}
	v = make()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= c.limit {
		clear(c.known)
	}
	c.known[key] = v
	return v
}
