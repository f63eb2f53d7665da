package speech

import (
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// What leaves the playout: text that has been heard, frames that have become due,
// and what an interruption cuts off.

// spoken passes on the text of a segment that has been heard.
func (p *Playout) spoken(s *segment, from int) {
	if s.text == "" {
		return
	}
	if s.said > from && s.response != 0 {
		p.Push(&frames.LLMTextFrame{Text: s.text[from:s.said], Response: s.response}, pipeline.Downstream)
	}
	if s.said > from {
		p.Push(&saidFrame{text: s.text[from:s.said]}, pipeline.Upstream)
	}
	p.Push(&SpokenFrame{
		Segment: s.number, Response: s.response, Text: s.text, From: from, To: s.said, Done: s.done,
	}, pipeline.Downstream)
}

// arrived passes on a frame before which everything has been heard.
func (p *Playout) arrived(f frames.Frame) {
	switch f := f.(type) {
	case *frames.LLMResponseEndFrame:
		p.owing = max(0, p.owing-1)
	case *frames.EndFrame:
		p.end(f)
		return
	}
	p.Push(f, pipeline.Downstream)
}

// end passes on the end of the session when the last sound has had time to arrive.
func (p *Playout) end(f *frames.EndFrame) {
	if p.speaking {
		p.stopped(false)
	}
	wait := p.cfg.Tail
	if p.silentAt.IsZero() || wait < 0 {
		wait = 0
	} else {
		wait -= time.Since(p.silentAt)
	}
	if wait <= 0 {
		p.Push(f, pipeline.Downstream)
		return
	}
	p.After(pipeline.SessionScope, wait, func() { p.Push(f, pipeline.Downstream) })
}

// pause stops the sound, or lets it go on.
func (p *Playout) pause(on bool) {
	if on == p.paused {
		return
	}
	p.paused = on
	played := p.cfg.Buffer.Pause(on)
	if on {
		p.advance()
		if p.speaking {
			p.stopped(true)
			p.starting, p.startAt = p.ledger.end > played, played
			p.Push(&pausedFrame{left: durationOf(int(p.ledger.end-played), p.cfg.Rate)}, pipeline.Upstream)
		}
	}
	p.advance()
}

// report tells turn taking what the bot does, when that has changed.
func (p *Playout) report(cut bool) {
	now := BotState{
		Speaking: p.speaking,
		Busy:     p.speaking || p.starting || p.owing > 0 || p.calls > 0 || p.more || !p.ledger.empty(),
		Calling:  p.calls > 0,
		Cut:      cut,
	}
	if now == p.state {
		return
	}
	p.state = now
	p.state.Cut = false
	p.Push(&BotStateFrame{BotState: now}, pipeline.Upstream)
}

// Interrupt stops the sound. What was heard up to here is reported, the rest is
// dropped.
func (p *Playout) Interrupt(f *frames.InterruptionFrame) {
	played := p.cfg.Buffer.Clear()
	f.Heard = append(f.Heard, p.ledger.heard(played)...)
	cut := p.owing > 0
	p.paused, p.starting, p.more, p.owing, p.journey = false, false, false, 0, nil
	if p.convert != nil {
		p.convert.Reset()
	}
	dropped, unheard := p.ledger.cut(played)
	for _, f := range dropped {
		pipeline.Drop(f)
	}
	if p.speaking {
		p.stopped(true)
	}
	p.advance()
	p.report(cut || unheard)
}

// Stop drops what is left.
func (p *Playout) Stop() {
	p.cfg.Buffer.watch(0, nil)
	for _, e := range p.ledger.entries[p.ledger.first:] {
		if e.frame != nil {
			pipeline.Drop(e.frame)
		}
	}
	p.ledger.cut(p.cfg.Buffer.Clear())
}

// setDefault gives a duration that was left open its default.
func setDefault(d *time.Duration, value time.Duration) {
	if *d == 0 {
		*d = value
	}
}
