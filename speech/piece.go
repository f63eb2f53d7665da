package speech

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// grace is how long a synthesizer that was cancelled may take to return before it is
// left behind.
const grace = 250 * time.Millisecond

// ahead is how many pieces of audio a synthesizer may be ahead of the session loop.
const ahead = 4

// audioPost brings audio to the loop, which returns the credit when it has taken it:
// so a hold further on is felt before much has been made.
type audioPost struct {
	frames.OutputAudioFrame
	credits chan struct{}
}

// piece is one piece of text on its way through the lane.
type piece struct {
	cfg       *SynthesisConfig
	pace      *pace // the lane's
	answer    *answer
	text      string
	utterance Utterance
	continues bool
	unusable  bool // the first synthesizer was, when the piece was queued
}

// synthesized reports to the loop how a piece went.
type synthesized struct {
	frames.UninterruptibleFrame
	failed    error // of the first synthesizer
	fallback  bool  // the first synthesizer was not asked
	err       error // of the piece
	first     time.Duration
	chars     int
	abandoned bool // a synthesizer did not return
}

// skip passes on text that makes no sound.
func (p *piece) skip(j *pipeline.Job) {
	if !p.answer.dead {
		_ = j.Post(&SegmentStartFrame{Text: p.text, Response: p.answer.response})
		_ = j.Post(&SegmentEndFrame{Continues: p.continues})
	}
}

// run synthesizes the piece. When a synthesizer fails, the next one goes on from
// there.
func (p *piece) run(j *pipeline.Job) {
	if p.answer.dead {
		return
	}
	err, text, u := error(ErrUnusable), p.text, p.utterance
	voices := p.voices()
	report := &synthesized{chars: len(u.Text), fallback: len(voices) == 0 || voices[0] != p.cfg.Synthesizer}
	for n := 0; n < len(voices); n++ {
		t := take{job: j, cfg: p.cfg, voice: voices[n], utterance: u, segment: segment{
			text: text, spoken: u.Text, response: p.answer.response, rate: voices[n].Rate(), pace: p.pace.perSecond(),
		}}
		err = t.run()
		report.abandoned = report.abandoned || t.abandoned
		if j.Context().Err() != nil {
			break
		}
		if t.first > 0 && report.first == 0 {
			report.first = t.first
		}
		said := t.said(err)
		_ = j.Post(&SegmentEndFrame{Failed: err != nil, Said: said, Continues: p.continues || said < len(text)})
		if err == nil {
			p.pace.learn(&t.segment)
			break
		}
		if n == 0 && !report.fallback {
			report.failed, p.answer.fallback = err, true
		}
		text = text[said:]
		u.Before, u.Text = u.Text, strings.TrimSpace(p.cfg.Cleaner().Clean(text))
		if !speakable(u.Text) {
			err = nil
			break
		}
		if len(voices) == 1 && n == 0 && t.first > 0 {
			voices = append(voices, voices[0])
		}
	}
	p.finish(j, report, err)
}

// finish reports how it went. A response is given up when a piece of it could not be
// spoken, except for one that there may be nothing to say for.
func (p *piece) finish(j *pipeline.Job, report *synthesized, err error) {
	if j.Context().Err() != nil {
		err = nil
	}
	if err != nil {
		p.answer.dead = !errors.Is(err, ErrNoAudio)
		report.err = fmt.Errorf("speech: a piece of %d characters was not spoken: %w", report.chars, err)
		_ = j.Post(&SegmentEndFrame{}) // nothing continues
	}
	_ = j.Post(report)
}

// voices are the synthesizers to try, in order.
func (p *piece) voices() []Synthesizer {
	var out []Synthesizer
	if !p.unusable && !(p.answer.fallback && p.cfg.Fallback != nil) {
		out = append(out, p.cfg.Synthesizer)
	}
	if p.cfg.Fallback != nil {
		out = append(out, p.cfg.Fallback)
	}
	return out
}

// take is one try of a piece with one synthesizer.
type take struct {
	job       *pipeline.Job
	cfg       *SynthesisConfig
	voice     Synthesizer
	utterance Utterance
	segment   segment // what it has said so far
	first     time.Duration
	abandoned bool

	ctx    context.Context
	out    chan Speech
	ended  chan error
	posted chan struct{} // holds a token for each piece of audio on its way to the loop
	silent *time.Timer   // fires when audio is late
}

// run speaks. A synthesizer that gives nothing in time is given up, even if it does
// not notice.
func (t *take) run() error {
	start := &SegmentStartFrame{Text: t.segment.text, Spoken: t.utterance.Text, Response: t.segment.response, Pace: t.segment.pace}
	if err := t.job.Post(start); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(t.job.Context())
	t.ctx, t.out, t.ended = ctx, make(chan Speech), make(chan error, 1)
	t.posted = make(chan struct{}, ahead)
	t.silent = time.NewTimer(t.cfg.FirstAudio)
	begun := time.Now()
	go func() { t.ended <- safeSynthesize(ctx, t.voice, t.utterance, t.emit) }()
	for {
		select {
		case sp := <-t.out:
			if t.first == 0 && len(sp.Samples) > 0 {
				t.first = max(time.Since(begun), 1)
			}
			if err := t.pass(sp); err != nil {
				return t.leave(cancel, err)
			}
		case err := <-t.ended:
			t.silent.Stop()
			cancel(nil)
			if err == nil && t.first == 0 {
				return ErrNoAudio
			}
			return err
		case <-t.silent.C:
			return t.leave(cancel, ErrLateAudio)
		case <-ctx.Done():
			return t.leave(cancel, context.Cause(ctx))
		}
	}
}

// emit is what the synthesizer calls, on its own goroutine.
func (t *take) emit(sp Speech) error {
	select {
	case t.out <- sp:
		return nil
	case <-t.ctx.Done():
		return context.Cause(t.ctx)
	}
}

// pass hands on what the synthesizer gave. The time that the listener takes does not
// count against it.
func (t *take) pass(sp Speech) error {
	t.silent.Stop()
	if len(sp.Words) > 0 {
		t.segment.words(sp.Words)
		if err := t.job.Post(&SegmentWordsFrame{Words: sp.Words}); err != nil {
			return err
		}
	}
	if len(sp.Samples) > 0 {
		t.segment.length += uint64(len(sp.Samples))
		if err := t.post(sp.Samples); err != nil {
			return err
		}
	}
	if t.first == 0 {
		t.silent.Reset(t.cfg.FirstAudio)
	} else {
		t.silent.Reset(t.cfg.Between)
	}
	return nil
}

// post sends audio to the loop, when that has taken what was sent before.
func (t *take) post(samples []int16) error {
	select {
	case t.posted <- struct{}{}:
	case <-t.ctx.Done():
		return context.Cause(t.ctx)
	}
	f := &audioPost{credits: t.posted}
	f.Response = t.segment.response
	f.PCM = frames.PCM{Samples: samples, Rate: t.voice.Rate(), Channels: 1}
	return t.job.Post(f)
}

// leave cancels the synthesizer and gives it a moment to return.
func (t *take) leave(cancel context.CancelCauseFunc, err error) error {
	t.silent.Stop()
	cancel(err)
	wait := time.NewTimer(grace)
	defer wait.Stop()
	select {
	case <-t.ended:
	case <-wait.C:
		t.abandoned = true
	}
	return err
}

// said is how many bytes of the text the audio holds.
func (t *take) said(err error) int {
	switch {
	case err == nil:
		return len(t.segment.text)
	case t.first == 0:
		return 0
	}
	return t.segment.heard(t.segment.length)
}

func safeSynthesize(ctx context.Context, voice Synthesizer, u Utterance, emit func(Speech) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("speech: the synthesizer panicked: %v\n%s", r, debug.Stack())
		}
	}()
	return voice.Synthesize(ctx, u, emit)
}
