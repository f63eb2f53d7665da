package speech

import (
	"sync"
	"time"
)

// Buffer is the audio on its way to the user: the session loop fills it, and the
// transport's pacer takes from it what is to be sent next. It is the one thing the
// two share, so an interruption stops the sound at once and knows to the sample
// what was sent. Its methods may be called from any goroutine and never wait for
// long.
//
// Positions are counts of samples since the session began. The zero value is an
// empty buffer.
type Buffer struct {
	mu     sync.Mutex
	chunks [][]int16
	first  int // of the chunks that are left
	head   int // samples of the first chunk that have been taken
	queued int
	played uint64
	paused bool

	watched uint64 // the position that somebody waits for; 0 for none
	passed  time.Time
	notify  func()
}

// Append puts mono samples in; they belong to the buffer from then on.
func (b *Buffer) Append(samples []int16) {
	if len(samples) == 0 {
		return
	}
	b.mu.Lock()
	if len(b.chunks) == cap(b.chunks) && b.first > len(b.chunks)/2 {
		b.compact()
	}
	b.chunks = append(b.chunks, samples)
	b.queued += len(samples)
	b.mu.Unlock()
}

// compact moves the chunks that are left to the front; b.mu is held.
func (b *Buffer) compact() {
	n := copy(b.chunks, b.chunks[b.first:])
	clear(b.chunks[n:])
	b.chunks, b.first = b.chunks[:n], 0
}

// Read takes up to len(dst) samples, the next ones to be sent. It returns how many
// there were; the pacer sends silence for the rest. What has been read counts as
// heard.
func (b *Buffer) Read(dst []int16) int {
	b.mu.Lock()
	n := b.read(dst)
	var notify func()
	if b.watched != 0 && b.played >= b.watched {
		b.watched, b.passed = 0, time.Now()
		notify = b.notify
	}
	b.mu.Unlock()
	if notify != nil {
		notify()
	}
	return n
}

func (b *Buffer) read(dst []int16) int {
	if b.paused {
		return 0
	}
	n := 0
	for n < len(dst) && b.first < len(b.chunks) {
		chunk := b.chunks[b.first][b.head:]
		taken := copy(dst[n:], chunk)
		n += taken
		b.head += taken
		if taken == len(chunk) {
			b.chunks[b.first] = nil
			b.first++
			b.head = 0
		}
	}
	if b.first == len(b.chunks) {
		b.chunks, b.first = b.chunks[:0], 0
	}
	b.queued -= n
	b.played += uint64(n)
	return n
}

// Clear drops everything that has not been taken and lifts a pause. It returns the
// position that was reached.
func (b *Buffer) Clear() (played uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.chunks, b.first, b.head, b.queued = nil, 0, 0, 0
	b.paused = false
	return b.played
}

// Pause stops the sound, or lets it go on where it stopped. It returns the position.
func (b *Buffer) Pause(on bool) (played uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.paused = on
	return b.played
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

// watch has notify called, once, by the goroutine that reads, when the position is
// reached. It reports false, and calls nothing, when it has been reached already.
// One position is watched at a time; 0 watches none.
func (b *Buffer) watch(position uint64, notify func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if position != 0 && position <= b.played {
		return false
	}
	b.watched, b.notify = position, notify
	return true
}

// passedAt is when the last watched position was reached.
func (b *Buffer) passedAt() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.passed
}
