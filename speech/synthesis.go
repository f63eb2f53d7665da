package speech

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// Splitter cuts the bot's text, as it streams in, into pieces to be synthesized one
// by one.
type Splitter interface {
	// Write adds text and returns the pieces that are complete now, with the
	// space around them: joined they are the text as it was written.
	Write(text string) []string
	// Flush returns what is left; the splitter starts afresh.
	Flush() string
}

// SynthesisConfig is a [Synthesis]'s settings. Synthesizer and Splitter are
// required.
type SynthesisConfig struct {
	// Synthesizer speaks.
	Synthesizer Synthesizer
	// Fallback speaks when Synthesizer has failed; may be nil.
	Fallback Synthesizer
	// Splitter makes a splitter for a session.
	Splitter func() Splitter
	// Clean makes text speakable: without markup, with symbols in words. Nil
	// leaves it as it is.
	Clean func(text string) string
	// FirstAudio is how long the first audio of a piece may take; the default is
	// 3 s. Between is the same for the pause between two pieces of audio.
	FirstAudio, Between time.Duration
	// GiveUpAfter is after how many failures in a row the fallback is used from
	// the start, for Cooldown; the defaults are 3 and 30 s.
	GiveUpAfter int
	Cooldown    time.Duration
}

// The failures of a synthesizer.
var (
	errNoAudio   = errors.New("speech: the synthesizer gave no audio")
	errLateAudio = errors.New("speech: the synthesizer gave no audio in time")
)

// Synthesis turns the bot's text into audio, piece by piece, in order. Behind it
// text travels as segments with their audio, and comes out as text again where it
// has been heard, at the [Playout].
type Synthesis struct {
	pipeline.Base
	cfg      SynthesisConfig
	split    Splitter
	response uint64 // whose text the splitter holds
	silent   bool   // the response wants no speech
	before   string
	failures int
	usableAt time.Time
}

// NewSynthesis makes the processor.
func NewSynthesis(cfg SynthesisConfig) (*Synthesis, error) {
	if cfg.Synthesizer == nil || cfg.Splitter == nil {
		return nil, errors.New("speech: a synthesis needs a Synthesizer and a Splitter")
	}
	set := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	set(&cfg.FirstAudio, 3*time.Second)
	set(&cfg.Between, 3*time.Second)
	set(&cfg.Cooldown, 30*time.Second)
	if cfg.GiveUpAfter == 0 {
		cfg.GiveUpAfter = 3
	}
	if cfg.Clean == nil {
		cfg.Clean = func(text string) string { return text }
	}
	return &Synthesis{cfg: cfg, split: cfg.Splitter()}, nil
}

// Name is "synthesis".
func (*Synthesis) Name() string { return "synthesis" }

// Wiring places it before the playout.
func (*Synthesis) Wiring() pipeline.Wiring {
	return pipeline.Wiring{Role: "synthesis", Single: true, Before: []string{RoleOutput}, Needs: []string{RoleOutput}}
}

// Process takes text to be spoken and passes on the rest; what comes behind a piece
// being synthesized waits for it.
func (s *Synthesis) Process(f frames.Frame, dir pipeline.Direction) {
	if dir == pipeline.Upstream {
		s.Push(f, dir)
		return
	}
	switch f := f.(type) {
	case *frames.LLMResponseStartFrame:
		s.response, s.silent, s.before = f.Response, f.SkipSpeech, ""
	case *frames.LLMTextFrame:
		if !s.silent {
			for _, piece := range s.split.Write(f.Text) {
				s.speak(piece, f.Response)
			}
			return
		}
	case *frames.LLMResponseEndFrame:
		if rest := s.split.Flush(); rest != "" {
			s.speak(rest, f.Response)
		}
		s.silent = false
	case *frames.SpeakFrame:
		s.before = ""
		s.speak(f.Text, f.Response)
	}
	s.Push(f, dir)
}

// Interrupt forgets the text of the old turn; its jobs are cancelled with it.
func (s *Synthesis) Interrupt(*frames.InterruptionFrame) {
	s.split.Flush()
	s.before, s.silent = "", false
}

// speak queues a piece for the lane.
func (s *Synthesis) speak(text string, response uint64) {
	u := Utterance{Text: strings.TrimSpace(s.cfg.Clean(text)), Before: s.before}
	s.before = text
	if u.Text == "" {
		// Nothing to be heard, such as a row of symbols: it counts as heard with
		// what is before it.
		s.Queue(pipeline.TurnScope, func(j *pipeline.Job) {
			_ = j.Post(&SegmentStartFrame{Text: text, Response: response, Rate: s.cfg.Synthesizer.Rate()})
			_ = j.Post(&SegmentEndFrame{})
		})
		return
	}
	voices := s.voices()
	p := piece{cfg: s.cfg, text: text, response: response, utterance: u, voices: voices}
	s.Queue(pipeline.TurnScope, p.run)
}

// voices are the synthesizers to try, in order.
func (s *Synthesis) voices() []Synthesizer {
	switch {
	case s.cfg.Fallback == nil:
		return []Synthesizer{s.cfg.Synthesizer}
	case time.Now().Before(s.usableAt):
		return []Synthesizer{s.cfg.Fallback}
	}
	return []Synthesizer{s.cfg.Synthesizer, s.cfg.Fallback}
}

// synthesized reports to the loop how a piece went.
type synthesized struct {
	frames.UninterruptibleFrame
	failed bool // the first synthesizer did
	err    error
	first  time.Duration
	chars  int
}

// Receive passes on what jobs post and counts failures.
func (s *Synthesis) Receive(f frames.Frame) {
	r, ok := f.(*synthesized)
	if !ok {
		s.Push(f, pipeline.Downstream)
		return
	}
	s.count(r)
	if r.first > 0 {
		s.Push(&frames.MetricsFrame{Processor: s.Name(), TTFB: r.first, Characters: r.chars}, pipeline.Downstream)
	}
	if r.err != nil {
		s.Push(&frames.ErrorFrame{Category: frames.ErrorServer, Source: s.Name(), Err: r.err,
			Public: "The voice failed; a part of the answer was not spoken."}, pipeline.Upstream)
	}
}

func (s *Synthesis) count(r *synthesized) {
	if !r.failed {
		s.failures = 0
		return
	}
	if s.failures++; s.failures >= s.cfg.GiveUpAfter {
		s.failures = 0
		s.usableAt = time.Now().Add(s.cfg.Cooldown)
	}
}

// piece is one piece of text on its way through the lane.
type piece struct {
	cfg       SynthesisConfig
	text      string
	response  uint64
	utterance Utterance
	voices    []Synthesizer
}

// run synthesizes the piece; when a synthesizer fails before any audio has come,
// the next is tried.
func (p piece) run(j *pipeline.Job) {
	report := &synthesized{chars: len(p.utterance.Text)}
	begun := time.Now()
	var err error
	for i, voice := range p.voices {
		var spoke bool
		spoke, err = p.try(j, voice, func() { report.first = time.Since(begun) })
		if err == nil || j.Context().Err() != nil || spoke {
			break
		}
		if i == 0 {
			report.failed = true
		}
	}
	if j.Context().Err() != nil {
		return
	}
	if err != nil {
		report.err = fmt.Errorf("speech: a piece of %d characters failed: %w", report.chars, err)
	}
	_ = j.Post(&SegmentEndFrame{Failed: err != nil})
	_ = j.Post(report)
}

// try speaks with one synthesizer. A synthesizer that gives nothing in time is
// given up even if it does not notice.
func (p piece) try(j *pipeline.Job, voice Synthesizer, first func()) (spoke bool, err error) {
	ctx, cancel := context.WithCancelCause(j.Context())
	defer cancel(nil)
	late := time.AfterFunc(p.cfg.FirstAudio, func() { cancel(errLateAudio) })
	defer late.Stop()
	if err := j.Post(&SegmentStartFrame{Text: p.text, Response: p.response, Rate: voice.Rate()}); err != nil {
		return false, err
	}
	emit := func(sp Speech) error {
		late.Stop()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if len(sp.Words) > 0 {
			if err := j.Post(&SegmentWordsFrame{Words: sp.Words}); err != nil {
				return err
			}
		}
		if len(sp.Samples) > 0 {
			if !spoke {
				first()
			}
			spoke = true
			f := &frames.OutputAudioFrame{Response: p.response, PCM: frames.PCM{Samples: sp.Samples, Rate: voice.Rate(), Channels: 1}}
			if err := j.Post(f); err != nil {
				return err
			}
		}
		late.Reset(p.cfg.Between)
		return nil
	}
	err = safeSynthesize(ctx, voice, p.utterance, emit)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if err == nil && !spoke {
		err = errNoAudio
	}
	if err != nil && !spoke {
		_ = j.Post(&SegmentEndFrame{Failed: true})
	}
	return spoke, err
}

func safeSynthesize(ctx context.Context, voice Synthesizer, u Utterance, emit func(Speech) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("speech: the synthesizer panicked: %v", r)
		}
	}()
	return voice.Synthesize(ctx, u, emit)
}
