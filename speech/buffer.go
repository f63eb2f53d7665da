package speech

import "sync"

// Buffer is the audio on its way to the user: the session loop fills it, and the
// transport's pacer takes from it what is to be sent next. It is the one thing the
// two share, so an interruption stops the sound at once and knows to the sample
// what was sent.
type Buffer struct {
	mu     sync.Mutex
	chunks [][]int16
	head   int // samples of the first chunk that have been taken
	queued int
	played uint64
}

// Append puts mono samples in; they belong to the buffer from then on.
func (b *Buffer) Append(samples []int16) {
	if len(samples) == 0 {
		return
	}
	b.mu.Lock()
	b.chunks = append(b.chunks, samples)
	b.queued += len(samples)
	b.mu.Unlock()
}

// Read takes up to len(dst) samples, the next ones to be sent. It returns how many
// there were; the pacer sends silence for the rest.
func (b *Buffer) Read(dst []int16) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for n < len(dst) && len(b.chunks) > 0 {
		first := b.chunks[0][b.head:]
		taken := copy(dst[n:], first)
		n += taken
		b.head += taken
		if taken == len(first) {
			b.chunks[0] = nil
			b.chunks = b.chunks[1:]
			b.head = 0
		}
	}
	if len(b.chunks) == 0 {
		b.chunks = nil
	}
	b.queued -= n
	b.played += uint64(n)
	return n
}

// Clear drops everything that has not been taken.
func (b *Buffer) Clear() {
	b.mu.Lock()
	b.chunks, b.head, b.queued = nil, 0, 0
	b.mu.Unlock()
}

// Played is how many samples have been taken since the beginning.
func (b *Buffer) Played() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.played
}

// Queued is how many samples wait.
func (b *Buffer) Queued() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.queued
}
