package speech

import (
	"context"
	"io"
	"sync"
)

// maxPending bounds the audio that waits for a recognizer, in samples: ten seconds
// at 16 kHz.
const maxPending = 10 * 16000

// Audio is the microphone as a recognizer sees it: a bounded queue between the
// session loop, which fills it without waiting, and the recognizer, which reads
// it. When the recognizer is late the oldest audio goes, counted.
type Audio struct {
	mu      sync.Mutex
	queue   []AudioEvent
	samples int
	dropped int
	closed  bool
	ready   chan struct{}
}

// AudioEvent is what comes from the microphone: samples, or a mark between them.
type AudioEvent struct {
	// Samples is mono audio. It belongs to the reader.
	Samples []int16
	// Mark is set on events without samples.
	Mark AudioMark
}

// AudioMark tells what voice activity found at a place in the audio.
type AudioMark uint8

// The marks.
const (
	// SpeechStarted: the user began to speak a moment before. The samples that
	// follow include that moment.
	SpeechStarted AudioMark = 1 + iota
	// SpeechStopped: the user has stopped. A recognizer that holds words back
	// should finish them.
	SpeechStopped
)

// NewAudio makes an empty queue.
func NewAudio() *Audio { return &Audio{ready: make(chan struct{}, 1)} }

// Write puts samples in, which then belong to the reader. It never waits.
func (a *Audio) Write(samples []int16) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	a.queue = append(a.queue, AudioEvent{Samples: samples})
	a.samples += len(samples)
	for a.samples > maxPending {
		a.dropOldest()
	}
	a.signal()
}

// Mark puts a mark in. Marks are never dropped.
func (a *Audio) Mark(m AudioMark) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.queue = append(a.queue, AudioEvent{Mark: m})
		a.signal()
	}
}

// Close ends the audio: the reader gets what is left and then [io.EOF].
func (a *Audio) Close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	a.signal()
}

// Dropped is the number of samples that were dropped because the reader was late.
func (a *Audio) Dropped() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.dropped
}

// Next waits for what comes next. It fails with [io.EOF] at the end of the audio
// and with the context's error. One goroutine reads.
func (a *Audio) Next(ctx context.Context) (AudioEvent, error) {
	for {
		a.mu.Lock()
		if len(a.queue) > 0 {
			e := a.queue[0]
			a.queue[0] = AudioEvent{}
			a.queue = a.queue[1:]
			a.samples -= len(e.Samples)
			a.mu.Unlock()
			return e, nil
		}
		closed := a.closed
		a.mu.Unlock()
		if closed {
			return AudioEvent{}, io.EOF
		}
		select {
		case <-a.ready:
		case <-ctx.Done():
			return AudioEvent{}, ctx.Err()
		}
	}
}

// dropOldest drops the oldest samples; a.mu is held.
func (a *Audio) dropOldest() {
	for i, e := range a.queue {
		if e.Mark == 0 {
			a.samples -= len(e.Samples)
			a.dropped += len(e.Samples)
			a.queue = append(a.queue[:i], a.queue[i+1:]...)
			return
		}
	}
}

// signal wakes the reader; a.mu is held.
func (a *Audio) signal() {
	select {
	case a.ready <- struct{}{}:
	default:
	}
}
