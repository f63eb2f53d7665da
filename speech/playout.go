package speech

import (
	"errors"
	"fmt"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// RoleOutput is the role of the playout in a pipeline's wiring.
const RoleOutput = "playout"

// PlayoutConfig is a [Playout]'s settings.
type PlayoutConfig struct {
	// Buffer takes the audio; the transport sends from it.
	Buffer *Buffer
	// Rate is the sample rate in Hz at which the transport sends.
	Rate int
	// Ahead is how much audio waits before synthesizers are held; the default is
	// 4 s.
	Ahead time.Duration
	// Resample converts mono audio of another rate; nil fails on one. It is
	// given one call's worth of a stream after the other and may hold samples
	// back; end tells that the stream ends here and everything is to come out.
	Resample func(from, to int) (convert func(in []int16, end bool) []int16)
}

// Playout is where the bot's speech meets the clock. It keeps the ledger of what is
// on its way to the user, and lets words and frames pass on when they have been
// heard: what is behind it sees what the user really heard. An interruption stops
// the sound and drops the rest in the same step.
type Playout struct {
	pipeline.Base
	cfg      PlayoutConfig
	ledger   ledger
	timer    *pipeline.Timer
	speaking bool
	holding  bool
	convert  func([]int16, bool) []int16
	from     int // the rate that convert takes
	idleAt   uint64
}

// NewPlayout makes a playout.
func NewPlayout(cfg PlayoutConfig) (*Playout, error) {
	if cfg.Buffer == nil || cfg.Rate <= 0 {
		return nil, errors.New("speech: a playout needs a Buffer and a Rate")
	}
	if cfg.Ahead == 0 {
		cfg.Ahead = 4 * time.Second
	}
	return &Playout{cfg: cfg, ledger: ledger{rate: cfg.Rate}}, nil
}

// Name is "playout".
func (*Playout) Name() string { return "playout" }

// Wiring declares the output.
func (*Playout) Wiring() pipeline.Wiring { return pipeline.Wiring{Role: RoleOutput, Single: true} }

// Process enters what has its place behind speech in the ledger and passes on the
// rest.
func (p *Playout) Process(f frames.Frame, dir pipeline.Direction) {
	if dir == pipeline.Upstream || f.Class().IsSystem() {
		p.Push(f, dir)
		return
	}
	switch f := f.(type) {
	case *frames.InputAudioFrame:
		p.Push(f, dir)
		return
	case *SegmentStartFrame:
		p.ledger.open(f.Text, f.Response)
	case *SegmentWordsFrame:
		p.ledger.words(f.Words)
	case *SegmentEndFrame:
		p.flushResampler()
		p.ledger.close(f.Failed)
	case *frames.OutputAudioFrame:
		p.play(f)
	default:
		p.ledger.frame(f)
	}
	p.advance()
}

// play queues audio.
func (p *Playout) play(f *frames.OutputAudioFrame) {
	if f.Channels > 1 {
		p.Fail(fmt.Errorf("speech: playout takes mono audio, not %d channels", f.Channels))
		return
	}
	samples := f.Samples
	if f.Rate != p.cfg.Rate {
		if p.convert == nil || p.from != f.Rate {
			p.flushResampler()
			if p.cfg.Resample == nil {
				p.Fail(fmt.Errorf("speech: playout at %d Hz got audio at %d Hz and has no resampler", p.cfg.Rate, f.Rate))
				return
			}
			p.convert, p.from = p.cfg.Resample(f.Rate, p.cfg.Rate), f.Rate
		}
		samples = p.convert(samples, false)
	}
	p.append(samples)
}

func (p *Playout) append(samples []int16) {
	if len(samples) == 0 {
		return
	}
	if !p.speaking {
		p.speaking = true
		p.Push(&frames.BotStartedSpeakingFrame{}, pipeline.Downstream)
	}
	p.syncEnd()
	p.cfg.Buffer.Append(samples)
	p.ledger.audio(len(samples))
}

// syncEnd lets new audio begin where the buffer really is.
func (p *Playout) syncEnd() {
	if played := p.cfg.Buffer.Played(); p.ledger.end < played {
		p.ledger.end = played
	}
}

// flushResampler lets out what a resampler holds back.
func (p *Playout) flushResampler() {
	if p.convert != nil {
		p.append(p.convert(nil, true))
		p.convert = nil
	}
}

// advance releases what has been heard and sets the timer for what comes next.
func (p *Playout) advance() {
	played := p.cfg.Buffer.Played()
	p.ledger.due(played, func(f frames.Frame) { p.Push(f, pipeline.Downstream) })
	p.updateHold()
	if p.speaking && played >= p.ledger.end && p.ledger.current() == nil {
		p.stopped(false)
	}
	next, any := p.ledger.next(played)
	if p.speaking && !any {
		next, any = max(p.ledger.end, played+1), true
	}
	if !any {
		p.timer.Stop()
		return
	}
	wait := 5 * time.Millisecond
	if next > played {
		wait = max(wait, time.Duration(next-played)*time.Second/time.Duration(p.cfg.Rate))
	}
	if p.timer == nil {
		p.timer = p.After(pipeline.SessionScope, wait, p.advance)
	} else {
		p.timer.Reset(wait)
	}
}

func (p *Playout) stopped(interrupted bool) {
	p.speaking = false
	p.Push(&frames.BotStoppedSpeakingFrame{Interrupted: interrupted}, pipeline.Downstream)
}

// updateHold makes synthesizers wait while enough audio is queued.
func (p *Playout) updateHold() {
	queued := p.cfg.Buffer.Queued()
	ahead := samples(p.cfg.Ahead, p.cfg.Rate)
	switch {
	case !p.holding && queued > ahead:
		p.holding = true
		p.Hold(true)
	case p.holding && queued < ahead/2:
		p.holding = false
		p.Hold(false)
	}
}

// Interrupt stops the sound. What was heard up to here passes on, the rest is
// dropped.
func (p *Playout) Interrupt(f *frames.InterruptionFrame) {
	p.cfg.Buffer.Clear()
	played := p.cfg.Buffer.Played()
	f.Heard = append(f.Heard, p.ledger.heardText(played)...)
	for _, f := range p.ledger.cutOff(played) {
		if d, ok := f.(frames.Droppable); ok {
			d.Dropped()
		}
	}
	p.convert = nil
	if p.speaking {
		p.stopped(true)
	}
	p.advance()
}

// Stop drops what is left.
func (p *Playout) Stop() {
	p.cfg.Buffer.Clear()
	for _, f := range p.ledger.cutOff(p.cfg.Buffer.Played()) {
		if d, ok := f.(frames.Droppable); ok {
			d.Dropped()
		}
	}
}
