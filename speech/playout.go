package speech

import (
	"errors"
	"fmt"
	"time"

	"github.com/turnwise/turnwise/audio/resample"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// RoleOutput is the role of the playout in a pipeline's wiring.
const RoleOutput = "playout"

// ErrConfig is wrapped by every error about a configuration of this package.
var ErrConfig = errors.New("speech: invalid configuration")

// PlayoutConfig is a [Playout]'s settings. Buffer and Rate are required.
type PlayoutConfig struct {
	// Buffer takes the audio; the transport sends from it.
	Buffer *Buffer
	// Rate is the sample rate in Hz at which the transport sends, mono.
	Rate int
	// Ahead is how much audio may wait before synthesizers are held, which are when
	// the segment under way is complete; the default is 4 s.
	Ahead time.Duration
	// Tail is how long the session's end waits behind the last sample, so that
	// what is on its way through the network is heard; the default is 200 ms,
	// negative means none.
	Tail time.Duration
	// Filters shares the filters of sample rate conversion between sessions; nil
	// makes them for this one.
	Filters *resample.Filters
	// OnLatency is told how long the user waited for each answer. It runs on the
	// session loop and must not block. May be nil.
	OnLatency func(Latency)
}

// Playout is where the bot's speech meets the clock. It keeps the ledger of what is
// on its way to the user, and lets words and frames pass on when they have been
// heard: what is behind it sees what the user really heard. An interruption stops
// the sound and drops the rest in the same step.
type Playout struct {
	pipeline.Base
	cfg     PlayoutConfig
	ledger  ledger
	convert *resample.Resampler // nil while audio has the right rate
	from    int                 // the rate that convert takes

	state    BotState // as it was last reported
	owing    int      // responses that have begun and not been heard to their end
	calls    int
	more     bool // the line under way has another segment
	speaking bool
	paused   bool
	holding  bool

	starting bool   // audio is queued of which nothing has been taken
	startAt  uint64 // where it begins
	silentAt time.Time

	journey   *journey
	journeyAt uint64 // where the answer begins; valid once its audio has come

	advanceOnLoop func()
}

// NewPlayout makes a playout.
func NewPlayout(cfg PlayoutConfig) (*Playout, error) {
	switch {
	case cfg.Buffer == nil:
		return nil, fmt.Errorf("%w: PlayoutConfig.Buffer is required", ErrConfig)
	case cfg.Rate <= 0:
		return nil, fmt.Errorf("%w: PlayoutConfig.Rate is %d; give the transport's sample rate", ErrConfig, cfg.Rate)
	case cfg.Ahead < 0:
		return nil, fmt.Errorf("%w: PlayoutConfig.Ahead is %s; it must not be negative", ErrConfig, cfg.Ahead)
	}
	setDefault(&cfg.Ahead, 4*time.Second)
	setDefault(&cfg.Tail, 200*time.Millisecond)
	if cfg.Filters == nil {
		cfg.Filters = &resample.Filters{}
	}
	p := &Playout{cfg: cfg, ledger: ledger{rate: cfg.Rate}}
	p.advanceOnLoop = p.advance
	return p, nil
}

// Name is "playout".
func (*Playout) Name() string { return RoleOutput }

// Wiring declares the output.
func (*Playout) Wiring() pipeline.Wiring { return pipeline.Wiring{Role: RoleOutput, Single: true} }

// Process enters what has its place behind speech in the ledger and passes on the
// rest.
func (p *Playout) Process(f frames.Frame, dir pipeline.Direction) {
	_, live := f.(*frames.InputAudioFrame)
	switch {
	case dir == pipeline.Upstream || live:
		p.Push(f, dir)
		return
	case f.Class().IsSystem():
		p.system(f)
		return
	}
	switch f := f.(type) {
	case *SegmentStartFrame:
		p.ledger.begin(f)
	case *SegmentWordsFrame:
		p.ledger.words(f.Words)
	case *SegmentEndFrame:
		p.flushResampler()
		p.ledger.finish(f.Said, f.Failed)
		p.more = f.Continues
	case *frames.OutputAudioFrame:
		p.play(f)
	case *frames.LLMResponseStartFrame:
		p.owing++
		p.ledger.frame(f)
	case *frames.EndFrame:
		p.ExtendEnd(durationOf(p.cfg.Buffer.Queued(), p.cfg.Rate) + p.cfg.Tail)
		p.ledger.frame(f)
	default:
		p.ledger.frame(f)
	}
	p.advance()
}

// system handles frames that wait for nothing.
func (p *Playout) system(f frames.Frame) {
	switch f := f.(type) {
	case *PauseFrame:
		p.pause(f.On)
		return
	case *journeyFrame:
		p.journey, p.journeyAt = f.journey, 0
		return
	case *frames.FunctionCallsStartedFrame:
		p.calls += len(f.Calls)
	case *frames.FunctionCallResultFrame:
		p.calls = max(0, p.calls-1)
	}
	p.Push(f, pipeline.Downstream)
	p.report(false)
}

// play queues audio.
func (p *Playout) play(f *frames.OutputAudioFrame) {
	if f.Channels > 1 || f.Rate <= 0 {
		p.Fail(fmt.Errorf("speech: playout takes mono audio with a rate, not %d channels at %d Hz", f.Channels, f.Rate))
		return
	}
	if f.Rate == p.cfg.Rate {
		p.flushResampler()
		p.append(f.Samples)
		return
	}
	if p.convert == nil || p.from != f.Rate {
		p.flushResampler()
		filter, err := p.cfg.Filters.Get(f.Rate, p.cfg.Rate)
		if err != nil {
			p.Fail(fmt.Errorf("speech: playout cannot take audio at %d Hz: %w", f.Rate, err))
			return
		}
		p.convert, p.from = filter.New(1), f.Rate
	}
	room := int(int64(len(f.Samples))*int64(p.cfg.Rate)/int64(f.Rate)) + 1
	p.append(p.convert.Append(make([]int16, 0, room), f.Samples))
}

// flushResampler lets out what a resampler holds back: the stream ends here.
func (p *Playout) flushResampler() {
	if p.convert != nil {
		p.append(p.convert.Flush(nil))
	}
}

func (p *Playout) append(samples []int16) {
	if len(samples) == 0 {
		return
	}
	if !p.speaking && !p.starting {
		p.starting, p.startAt = true, p.ledger.end
	}
	if j := p.journey; j != nil && !j.sentence.IsZero() && j.audio.IsZero() {
		pass(&j.audio)
		p.journeyAt = p.ledger.end
	}
	p.cfg.Buffer.Append(samples)
	p.ledger.audio(len(samples))
}

// advance releases what has been heard and waits for what comes next.
func (p *Playout) advance() {
	for {
		played := p.cfg.Buffer.Played()
		p.began(played)
		p.ledger.due(played, p)
		p.ended(played)
		p.updateHold(played)
		if p.cfg.Buffer.watch(p.next(played), p.reached) {
			break
		}
	}
	p.report(false)
}

// reached runs on the goroutine that reads the buffer.
func (p *Playout) reached() { p.Do(p.advanceOnLoop) }

// next is the position at which something is to be done next; 0 for none.
func (p *Playout) next(played uint64) uint64 {
	at := p.ledger.next(played)
	sooner := func(x uint64) {
		if x > played && (at == 0 || x < at) {
			at = x
		}
	}
	if p.starting {
		sooner(p.startAt + 1)
	}
	if p.journey != nil && !p.journey.audio.IsZero() {
		sooner(p.journeyAt + 1)
	}
	if p.speaking {
		sooner(p.ledger.end)
	}
	if p.holding {
		sooner(p.ledger.end - p.low() + 1)
	}
	return at
}

// began tells that the first sample of speech has been taken.
func (p *Playout) began(played uint64) {
	if p.starting && played > p.startAt {
		p.starting, p.speaking = false, true
		p.Push(&frames.BotStartedSpeakingFrame{}, pipeline.Downstream)
	}
	j := p.journey
	if j == nil || j.audio.IsZero() || played <= p.journeyAt {
		return
	}
	p.journey = nil
	at := p.cfg.Buffer.passedAt()
	if at.Before(j.audio) {
		at = time.Now() // taken before anybody watched
	}
	l := j.latency(at)
	if p.cfg.OnLatency != nil {
		p.cfg.OnLatency(l)
	}
	p.Push(&LatencyFrame{Latency: l}, pipeline.Downstream)
}

// ended tells that the bot's turn has been heard to its end.
func (p *Playout) ended(played uint64) {
	if p.speaking && played >= p.ledger.end && p.owing == 0 && !p.more && p.ledger.open == nil {
		p.stopped(false)
	}
}

func (p *Playout) stopped(interrupted bool) {
	p.speaking = false
	p.silentAt = time.Now()
	p.Push(&frames.BotStoppedSpeakingFrame{Interrupted: interrupted}, pipeline.Downstream)
}

// updateHold makes synthesizers wait while enough audio is queued. A segment that has
// been begun is let in to its end, because only then its length is known, by which
// words without times are estimated.
func (p *Playout) updateHold(played uint64) {
	queued := p.ledger.end - played
	switch {
	case !p.holding && queued > 2*p.low() && p.ledger.open == nil:
		p.holding = true
	case p.holding && queued < p.low():
		p.holding = false
	default:
		return
	}
	p.Hold(p.holding)
}

// low is how much queued audio ends a hold.
func (p *Playout) low() uint64 { return uint64(samplesIn(p.cfg.Ahead, p.cfg.Rate)/2) + 1 }
