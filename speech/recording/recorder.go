// Package recording writes calls to WAV files: the caller on the left, on the right
// what was really played to them, aligned to the moment it was.
//
// A [Recorder] listens in two places: in front of a pipeline, where the caller's sound
// comes in, and at the source from which the transport takes the bot's. The transport's
// pace is the recording's clock, so that both sides stay aligned in however long a
// call. Neither place ever waits for the disk: what is to be written goes through a
// bounded queue to a goroutine of the recorder's.
package recording

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/resample"
	"github.com/turnwise/turnwise/audio/wav"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

const (
	// slot is what is recorded at a time.
	slot = 20 * time.Millisecond
	// queueSlots bounds what waits for the disk: five seconds.
	queueSlots = 250
	// maxAhead bounds what either side may be ahead of the clock, as the caller is after
	// a network's hiccup: two seconds.
	maxAhead = 2 * time.Second
	// maxLate is how far the clock may lag behind real time until silence is put in
	// for what was missed.
	maxLate = 200 * time.Millisecond
)

// ErrConfig is wrapped by every error about a configuration.
var ErrConfig = errors.New("recording: wrong configuration")

// Config is what is recorded. Output and Rate are required.
type Config struct {
	// Output takes the WAV stream, such as an *os.File. It is written by one
	// goroutine, and not closed. When it can seek, the sizes in its header are right
	// after [Recorder.Close]; before, and always in a pipe, readers read to the end.
	Output io.Writer
	// Rate is the sample rate in Hz of the source that the transport reads, and of
	// the recording.
	Rate int
	// OnError is told, once, why nothing more is written. It runs on the recorder's
	// goroutine. May be nil.
	OnError func(error)
}

// Source is what a transport reads the bot's sound from. *speech.Buffer is one.
type Source interface {
	// Read fills dst with mono samples and returns how many there were.
	Read(dst []int16) int
}

// Recorder records one call.
type Recorder struct {
	cfg    Config
	blocks chan *block
	free   chan *block
	done   chan struct{}

	mu      sync.Mutex
	closed  bool
	caller  []int16 // what came in and has no slot yet, at callerRate
	rate    int     // callerRate
	bot     []int16 // what was read and has no slot yet
	origin  time.Time
	slots   int64
	dropped uint64
	err     error
}

// block is a slot of both sides; the caller's at a rate of its own.
type block struct {
	caller []int16
	rate   int
	bot    []int16
	// silence is how many slots of silence come before it.
	silence int64
}

// New begins a recording. Close has to be called.
func New(cfg Config) (*Recorder, error) {
	if cfg.Output == nil {
		return nil, fmt.Errorf("%w: Output is missing", ErrConfig)
	}
	format := audio.Format{Rate: cfg.Rate, Channels: 2}
	if err := format.Validate(); err != nil {
		return nil, fmt.Errorf("%w: Rate: %w", ErrConfig, err)
	}
	out, err := wav.NewWriter(cfg.Output, format)
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	r := &Recorder{cfg: cfg, blocks: make(chan *block, queueSlots), free: make(chan *block, queueSlots), done: make(chan struct{})}
	go r.write(out)
	return r, nil
}

// Dropped counts the slots that were left out, and recorded as silence, since the disk
// was too slow.
func (r *Recorder) Dropped() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dropped
}

// Listen makes the processor that hears the caller. It stands in front of a pipeline
// and passes everything on.
func (r *Recorder) Listen() pipeline.Processor {
	return pipeline.Func("recording", func(p *pipeline.Base, f frames.Frame, dir pipeline.Direction) {
		if a, ok := f.(*frames.InputAudioFrame); ok && dir == pipeline.Downstream {
			r.hear(a.PCM)
		}
		p.Push(f, dir)
	})
}

// hear takes the caller's sound.
func (r *Recorder) hear(pcm frames.PCM) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.origin.IsZero() { // the clock has not begun
		return
	}
	if r.rate != pcm.Rate {
		r.caller, r.rate = r.caller[:0], pcm.Rate
	}
	r.caller = audio.AppendMono(r.caller, pcm.Samples, max(1, pcm.Channels))
	if over := len(r.caller) - audio.Mono(r.rate).Samples(maxAhead); over > 0 {
		r.caller = append(r.caller[:0], r.caller[over:]...)
	}
}

// Play wraps the source that the transport reads, every 20 ms or sooner. A transport that
// reads ahead is recorded at the time at which it plays.
func (r *Recorder) Play(source Source) Source { return &played{r: r, source: source} }

type played struct {
	r      *Recorder
	source Source
}

// Read reads the source and takes down what it gave.
func (p *played) Read(dst []int16) int {
	n := p.source.Read(dst)
	p.r.take(dst, n)
	return n
}

// take takes down what was read of the bot: n of the samples, for which there was room
// in dst. The reader may be ahead of what is played.
func (r *Recorder) take(dst []int16, n int) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	if r.origin.IsZero() {
		r.origin = now
	}
	due := int64(now.Sub(r.origin)/slot) + 1 - r.slots
	silence := int64(0)
	if len(r.bot) == 0 && due-1 > int64(maxLate/slot) {
		due, silence = 1, due-1 // nothing was read for a while
	}
	per := audio.Mono(r.cfg.Rate).Samples(slot)
	r.bot = append(r.bot, dst[:n]...)
	// Where the source has run dry there is silence up to now, unless the reader is ahead.
	for range min(len(dst)-n, int(due)*per-len(r.bot)) {
		r.bot = append(r.bot, 0)
	}
	for ; due > 0 && len(r.bot) >= per; due-- {
		r.queue(per, silence)
		silence = 0
	}
	if over := len(r.bot) - audio.Mono(r.cfg.Rate).Samples(maxAhead); over > 0 {
		r.bot = append(r.bot[:0], r.bot[over:]...)
	}
}

// queue has the next slot of both sides written, of the bot's per samples, with silent
// slots before it. The lock is held.
func (r *Recorder) queue(per int, silence int64) {
	b := r.block()
	b.silence = silence
	b.bot = append(b.bot[:0], r.bot[:per]...)
	r.bot = append(r.bot[:0], r.bot[per:]...)
	b.rate = r.rate
	mine := 0
	if r.rate > 0 {
		mine = min(len(r.caller), audio.Mono(r.rate).Samples(slot))
	}
	b.caller = append(b.caller[:0], r.caller[:mine]...)
	r.caller = append(r.caller[:0], r.caller[mine:]...)
	select {
	case r.blocks <- b:
		r.slots += b.silence + 1
	default: // silence is put in for it later
		r.dropped++
	}
}

func (r *Recorder) block() *block {
	select {
	case b := <-r.free:
		return b
	default:
		return &block{}
	}
}

// write writes what is queued until the recording is closed.
func (r *Recorder) write(out *wav.Writer) {
	defer close(r.done)
	w := &writer{out: out, rate: r.cfg.Rate}
	var failed error
	for b := range r.blocks {
		if failed == nil {
			if failed = w.block(b); failed != nil && r.cfg.OnError != nil {
				r.cfg.OnError(fmt.Errorf("recording: %w", failed))
			}
		}
		select {
		case r.free <- b:
		default:
		}
	}
	err := errors.Join(failed, out.Close())
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

// Close writes what is queued and ends the recording. What is heard and played
// afterwards is not recorded. It returns what went wrong with the writing.
func (r *Recorder) Close() error {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.blocks)
	}
	r.mu.Unlock()
	<-r.done
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// writer turns blocks into interleaved samples.
type writer struct {
	out    *wav.Writer
	rate   int
	from   int                 // the rate that resampler was made for
	change *resample.Resampler // nil when the rates are equal
	caller []int16
	both   []int16
}

func (w *writer) block(b *block) error {
	per := len(b.bot)
	for range b.silence {
		if err := w.slot(nil, make([]int16, per)); err != nil {
			return err
		}
	}
	return w.slot(b, b.bot)
}

// slot writes one slot.
func (w *writer) slot(b *block, bot []int16) error {
	if b != nil && len(b.caller) > 0 {
		if err := w.convert(b); err != nil {
			return err
		}
	}
	w.both = w.both[:0]
	for i, s := range bot {
		var c int16
		if i < len(w.caller) {
			c = w.caller[i]
		}
		w.both = append(w.both, c, s)
	}
	w.caller = append(w.caller[:0], w.caller[min(len(bot), len(w.caller)):]...)
	return w.out.Write(w.both)
}

// convert brings the caller's sound to the recording's rate.
func (w *writer) convert(b *block) error {
	if b.rate == w.rate {
		w.caller = append(w.caller, b.caller...)
		return nil
	}
	if w.from != b.rate {
		change, err := resample.New(b.rate, w.rate, 1)
		if err != nil {
			return err
		}
		w.from, w.change = b.rate, change
	}
	w.caller = w.change.Append(w.caller, b.caller)
	return nil
}
