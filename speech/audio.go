package speech

import (
	"context"
	"io"
	"sync"
)

const (
	// maxPiece is the most samples that [Audio.Next] gives at once.
	maxPiece = 4096
	// maxMarks bounds the marks that wait; only a reader that never reads gets there.
	maxMarks = 256
)

// Audio is the microphone as a recognizer sees it: a bounded queue between the
// session loop, which fills it without waiting, and the recognizer, which reads
// it. When the recognizer is late the oldest audio goes, counted.
type Audio struct {
	mu    sync.Mutex
	ring  []int16
	begin uint64 // the oldest sample in the ring; positions count from the stream's start
	read  uint64 // the next sample for the reader
	end   uint64 // behind the newest sample
	limit int    // how many samples may wait
	keep  int    // how many that were read are kept for a successor
	marks []placedMark

	dropped int
	closed  bool
	ready   chan struct{}
	piece   []int16 // what the reader has
}

// placedMark is a mark with the sample it stands before.
type placedMark struct {
	at   uint64
	mark AudioMark
}

// AudioEvent is what comes from the microphone: samples, or a mark between them.
type AudioEvent struct {
	// Samples is mono audio. It is valid until the next call of [Audio.Next].
	Samples []int16
	// Mark is set on events without samples.
	Mark AudioMark
}

// AudioMark tells what voice activity found at a place in the audio.
type AudioMark uint8

// The marks.
const (
	// SpeechStarted: the user has begun to speak, a moment (200 ms or so) before
	// this place. A recognizer that listens between the marks only keeps the last
	// moments of the audio, as [Segmented] does.
	SpeechStarted AudioMark = 1 + iota
	// SpeechStopped: the user has stopped, a moment before this place. A recognizer
	// that holds words back should finish them.
	SpeechStopped
)

// NewAudio makes an empty queue in which up to limit samples wait.
func NewAudio(limit int) *Audio {
	return &Audio{limit: max(limit, 1), ready: make(chan struct{}, 1)}
}

// Write puts samples in; they are copied. It never waits. It reports false when the
// oldest samples had to go.
func (a *Audio) Write(samples []int16) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || len(samples) == 0 {
		return true
	}
	skipped := max(0, len(samples)-a.limit)
	a.dropped += skipped
	a.end += uint64(skipped)
	samples = samples[skipped:]
	a.reserve(len(samples))
	for len(samples) > 0 {
		at := int(a.end % uint64(len(a.ring)))
		n := copy(a.ring[at:], samples)
		samples = samples[n:]
		a.end += uint64(n)
	}
	full := a.trim() || skipped > 0
	a.signal()
	return !full
}

// Mark puts a mark in. Marks are not dropped with the audio around them.
func (a *Audio) Mark(m AudioMark) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	if len(a.marks) >= maxMarks {
		a.marks = append(a.marks[:0], a.marks[2:]...)
	}
	a.marks = append(a.marks, placedMark{at: a.end, mark: m})
	a.signal()
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
		if err := ctx.Err(); err != nil {
			return AudioEvent{}, err
		}
		e, ok, closed := a.take()
		switch {
		case ok:
			return e, nil
		case closed:
			return AudioEvent{}, io.EOF
		}
		select {
		case <-a.ready:
		case <-ctx.Done():
			return AudioEvent{}, ctx.Err()
		}
	}
}

// take takes out the next event, if there is one.
func (a *Audio) take() (e AudioEvent, ok, closed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.marks) > 0 && a.marks[0].at <= a.read {
		m := a.marks[0].mark
		a.marks = append(a.marks[:0], a.marks[1:]...)
		return AudioEvent{Mark: m}, true, false
	}
	upTo := min(a.end, a.read+maxPiece)
	if len(a.marks) > 0 {
		upTo = min(upTo, a.marks[0].at)
	}
	if upTo == a.read {
		return AudioEvent{}, false, a.closed
	}
	a.piece = a.copyOut(a.piece[:0], a.read, upTo)
	a.read = upTo
	a.trim()
	return AudioEvent{Samples: a.piece}, true, false
}

// copyOut appends samples of the ring to dst; a.mu is held.
func (a *Audio) copyOut(dst []int16, from, to uint64) []int16 {
	for from < to {
		at := int(from % uint64(len(a.ring)))
		n := min(len(a.ring)-at, int(to-from))
		dst = append(dst, a.ring[at:at+n]...)
		from += uint64(n)
	}
	return dst
}

// reserve makes room for n more samples; a.mu is held.
func (a *Audio) reserve(n int) {
	need := int(a.end-a.begin) + n
	if need <= len(a.ring) {
		return
	}
	size := max(1024, len(a.ring))
	for size < need {
		size *= 2
	}
	old := a.ring
	a.ring = make([]int16, size)
	for at := a.begin; at < a.end; {
		to := int(at % uint64(size))
		from := int(at % uint64(len(old)))
		n := min(size-to, len(old)-from, int(a.end-at))
		copy(a.ring[to:to+n], old[from:from+n])
		at += uint64(n)
	}
}

// trim lets the oldest samples go where more wait than may; a.mu is held. It reports
// whether that cost the reader any.
func (a *Audio) trim() bool {
	late := false
	if waiting := int(a.end - a.read); waiting > a.limit {
		a.dropped += waiting - a.limit
		a.read = a.end - uint64(a.limit)
		late = true
	}
	a.begin = max(a.begin, a.read-min(a.read, uint64(a.keep)))
	return late
}

// setLimit changes how many samples may wait. What goes because of that does not
// count as dropped.
func (a *Audio) setLimit(limit int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	dropped := a.dropped
	a.limit = max(limit, 1)
	a.trim()
	a.dropped = dropped
}

// rest keeps only the last samples, up to limit, as long as nobody reads.
func (a *Audio) rest(limit int) {
	a.setLimit(limit)
	a.mu.Lock()
	a.marks = nil
	a.mu.Unlock()
}

// successor closes the queue and returns one that goes on with what was not read.
func (a *Audio) successor() *Audio {
	a.mu.Lock()
	defer a.mu.Unlock()
	next := &Audio{
		ring: a.ring, begin: a.begin, read: a.read, end: a.end, limit: a.limit, keep: a.keep,
		marks: a.marks, dropped: a.dropped, ready: make(chan struct{}, 1),
	}
	next.signal()
	a.ring, a.marks, a.read, a.begin, a.closed = nil, nil, a.end, a.end, true
	a.signal()
	return next
}

// rewind lets the kept samples be read once more, as speech that is still going on or
// is over.
func (a *Audio) rewind(speaking bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.marks) == 0 && !speaking {
		a.marks = append(a.marks, placedMark{at: a.end, mark: SpeechStopped})
	}
	if len(a.marks) == 0 || a.marks[0].mark == SpeechStopped {
		a.marks = append([]placedMark{{at: a.begin, mark: SpeechStarted}}, a.marks...)
	}
	a.read = a.begin
	a.signal()
}

// signal wakes the reader.
func (a *Audio) signal() {
	select {
	case a.ready <- struct{}{}:
	default:
	}
}
