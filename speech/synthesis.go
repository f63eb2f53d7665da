package speech

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// Roles of other packages' processors that those of this one stand next to.
const (
	roleService        = "llm service"
	roleUserAggregator = "user aggregator"
)

// RoleSynthesis is the role of the synthesis in a pipeline's wiring.
const RoleSynthesis = "synthesis"

// Splitter cuts the bot's text, as it streams in, into pieces to be synthesized one
// by one. [NewSplitter] makes one.
type Splitter interface {
	// Write adds text and returns the pieces that are complete now, with the
	// space around them: joined they are the text as it was written.
	Write(text string) []string
	// Late is asked when the text has not gone on for a while. It returns what may
	// be spoken without knowing the rest: a sentence that looks complete or, with
	// partial, whole words. The rest stays; empty means nothing.
	Late(partial bool) string
	// Flush returns what is left; the splitter starts afresh.
	Flush() string
}

// TextCleaner makes text speakable: without markup, with symbols in words. It gets a
// text piece by piece and may remember what a piece has opened. [NewCleaner] makes
// one.
type TextCleaner interface {
	// Clean returns what is to be said; empty where there is nothing.
	Clean(piece string) string
	// Reset tells that another text begins.
	Reset()
}

// SynthesisConfig is a [Synthesis]'s settings. Synthesizer is required.
type SynthesisConfig struct {
	// Synthesizer speaks.
	Synthesizer Synthesizer
	// Fallback speaks when Synthesizer has failed; may be nil.
	Fallback Synthesizer
	// Splitter makes a splitter for the session; nil means [NewSplitter] with its
	// defaults.
	Splitter func() Splitter
	// Cleaner makes a cleaner for the session; nil means [NewCleaner] with its
	// defaults.
	Cleaner func() TextCleaner
	// FirstAudio is how long the first audio of a piece may take, and Between how
	// long the next may; both are 2.5 s by default.
	FirstAudio, Between time.Duration
	// GiveUpAfter is after how many failures in a row Synthesizer is left alone,
	// for Cooldown; the defaults are 3 and 30 s. Negative means never.
	GiveUpAfter int
	Cooldown    time.Duration
	// Filler gives a line, such as "One moment.", that is spoken when nothing else
	// has been ready for so long as FillerAfter after the user's turn. The line does
	// not enter the conversation. Nil, or an empty line, says nothing.
	Filler      func() string
	FillerAfter time.Duration
}

const (
	// lateSentence is how long after its last text a sentence that looks complete
	// is spoken, and latePart how long after that a part of one is.
	lateSentence = 250 * time.Millisecond
	latePart     = 1250 * time.Millisecond
)

// The failures of a synthesizer.
var (
	// ErrNoAudio tells that a synthesizer returned without any audio.
	ErrNoAudio = errors.New("speech: the synthesizer gave no audio")
	// ErrLateAudio tells that a synthesizer gave no audio in time.
	ErrLateAudio = errors.New("speech: the synthesizer gave no audio in time")
	// ErrUnusable tells that a synthesizer or recognizer is left alone after
	// repeated failures.
	ErrUnusable = errors.New("speech: left alone after repeated failures")
)

// Synthesis turns the bot's text into audio, piece by piece, in order. Behind it
// text travels as segments with their audio, and comes out as text again where it
// has been heard, at the [Playout].
//
// A piece that cannot be spoken is tried with the fallback; one that breaks off goes
// on there, or once more with the same synthesizer, from where it stopped. When all
// fail, the rest of the response is given up with an error frame, so that the turn
// ends, and what was not heard does not enter the conversation.
type Synthesis struct {
	pipeline.Base
	cfg      SynthesisConfig
	split    Splitter
	clean    TextCleaner
	answer   *answer
	before   string
	pace     pace // of the lane, one of whose jobs runs at a time
	failures int
	usableAt time.Time
	journey  *journey
	filler   *pipeline.Timer
	late     *pipeline.Timer
	patient  bool // the text has been late for lateSentence already
}

// answer is a response or a line.
type answer struct {
	response uint64
	silent   bool // it wants no speech

	// The rest belongs to the lane, one of whose jobs runs at a time.

	dead     bool // a piece of it could not be spoken
	fallback bool // the first synthesizer failed at one
}

// NewSynthesis makes the processor.
func NewSynthesis(cfg SynthesisConfig) (*Synthesis, error) {
	if cfg.Synthesizer == nil {
		return nil, fmt.Errorf("%w: SynthesisConfig.Synthesizer is required", ErrConfig)
	}
	setDefault(&cfg.FirstAudio, 2500*time.Millisecond)
	setDefault(&cfg.Between, 2500*time.Millisecond)
	setDefault(&cfg.Cooldown, 30*time.Second)
	if cfg.GiveUpAfter == 0 {
		cfg.GiveUpAfter = 3
	}
	if cfg.Splitter == nil {
		cfg.Splitter = func() Splitter { return NewSplitter(SplitterConfig{}) }
	}
	if cfg.Cleaner == nil {
		cfg.Cleaner = func() TextCleaner { return NewCleaner(CleanerConfig{}) }
	}
	return &Synthesis{cfg: cfg, split: cfg.Splitter(), clean: cfg.Cleaner()}, nil
}

// Name is "synthesis".
func (*Synthesis) Name() string { return RoleSynthesis }

// Wiring places it between the model service and the playout.
func (*Synthesis) Wiring() pipeline.Wiring {
	return pipeline.Wiring{
		Role: RoleSynthesis, Single: true, Needs: []string{RoleOutput},
		After: []string{roleService}, Before: []string{RoleOutput},
	}
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
		s.begin(&answer{response: f.Response, silent: f.SkipSpeech})
		s.Push(&GenerationFrame{Response: f.Response}, pipeline.Upstream)
	case *frames.LLMTextFrame:
		if s.text(f) {
			return
		}
	case *frames.LLMResponseEndFrame:
		s.flush()
		s.answer = nil
		s.late.Stop()
		s.Push(&GenerationFrame{Response: f.Response, Over: true}, pipeline.Upstream)
	case *frames.SpeakFrame:
		s.line(f.Text, f.Response)
	case *journeyFrame:
		s.journey = f.journey
		s.armFiller()
	}
	s.Push(f, dir)
}

// begin makes a the answer that is being given.
func (s *Synthesis) begin(a *answer) {
	s.flush()
	s.answer, s.before = a, ""
	s.clean.Reset()
}

// text takes a piece of a response; it reports whether it is to be spoken.
func (s *Synthesis) text(f *frames.LLMTextFrame) bool {
	if s.answer == nil || s.answer.response != f.Response {
		s.begin(&answer{response: f.Response})
	}
	if s.answer.silent {
		return false
	}
	if s.journey != nil {
		pass(&s.journey.token)
	}
	for _, piece := range s.split.Write(f.Text) {
		s.speak(piece, false)
	}
	s.awaitText(true)
	return true
}

// awaitText has what there is of a sentence spoken when its text does not go on.
func (s *Synthesis) awaitText(begin bool) {
	wait := lateSentence
	if s.patient = !begin; s.patient {
		wait = latePart
	}
	if s.late == nil {
		s.late = s.After(pipeline.SessionScope, wait, s.textLate)
	} else {
		s.late.Reset(wait)
	}
}

func (s *Synthesis) textLate() {
	if s.answer == nil {
		return
	}
	if piece := s.split.Late(s.patient); piece != "" {
		s.speak(piece, false)
	} else if !s.patient {
		s.awaitText(false)
	}
}

// flush speaks what is left of a response's text.
func (s *Synthesis) flush() {
	if rest := s.split.Flush(); rest != "" && s.answer != nil {
		s.speak(rest, false)
	}
}

// line speaks a fixed line, between two pieces of a response if one is being given.
func (s *Synthesis) line(text string, response uint64) {
	outer := s.answer
	s.begin(&answer{response: response})
	if s.journey != nil {
		pass(&s.journey.token)
	}
	pieces := s.split.Write(text)
	if rest := s.split.Flush(); rest != "" || len(pieces) == 0 {
		pieces = append(pieces, rest)
	}
	for i, piece := range pieces {
		s.speak(piece, i < len(pieces)-1)
	}
	s.answer, s.before = outer, ""
}

// Interrupt forgets the text of the old turn; its jobs are cancelled with it.
func (s *Synthesis) Interrupt(*frames.InterruptionFrame) {
	s.split.Flush()
	s.clean.Reset()
	s.late.Stop()
	s.answer, s.journey, s.before = nil, nil, ""
}

// speak queues a piece for the lane.
func (s *Synthesis) speak(text string, continues bool) {
	p := &piece{cfg: &s.cfg, pace: &s.pace, answer: s.answer, text: text, continues: continues}
	p.utterance = Utterance{Text: strings.TrimSpace(s.clean.Clean(text)), Before: s.before}
	if !speakable(p.utterance.Text) {
		// Nothing to be heard, such as a row of symbols: it counts as heard with
		// what is before it.
		s.Queue(pipeline.TurnScope, p.skip)
		return
	}
	if s.journey != nil {
		pass(&s.journey.token)
		pass(&s.journey.sentence)
	}
	s.before = p.utterance.Text
	p.unusable = time.Now().Before(s.usableAt)
	s.Queue(pipeline.TurnScope, p.run)
}

// armFiller has a line spoken if the answer is late.
func (s *Synthesis) armFiller() {
	if s.cfg.Filler == nil || s.cfg.FillerAfter <= 0 {
		return
	}
	j := s.journey
	s.filler.Stop()
	s.filler = s.After(pipeline.TurnScope, s.cfg.FillerAfter, func() {
		if s.journey == j && j.sentence.IsZero() {
			if text := s.cfg.Filler(); text != "" {
				s.line(text, 0)
			}
		}
	})
}

// Receive passes on what jobs post and counts failures.
func (s *Synthesis) Receive(f frames.Frame) {
	r, ok := f.(*synthesized)
	if !ok {
		s.pass(f)
		return
	}
	if r.abandoned {
		s.Logger().Warn("a synthesizer ignores that it was cancelled; it was left behind")
	}
	s.count(r)
	if r.first > 0 {
		s.Push(&frames.MetricsFrame{Processor: s.Name(), TTFB: r.first, Characters: r.chars}, pipeline.Downstream)
	}
	if r.err != nil {
		s.trouble("The voice failed; a part of the answer was not spoken.", r.err)
	}
}

// pass passes on a segment's frames.
func (s *Synthesis) pass(f frames.Frame) {
	a, ok := f.(*audioPost)
	if !ok {
		s.Push(f, pipeline.Downstream)
		return
	}
	credits := a.credits
	s.Push(&a.OutputAudioFrame, pipeline.Downstream)
	<-credits // there is one: the job put it there before it posted
}

// count makes a synthesizer that fails again and again unusable for a while.
func (s *Synthesis) count(r *synthesized) {
	switch {
	case r.failed == nil:
		if r.first > 0 && !r.fallback {
			s.failures = 0
		}
		return
	case r.err == nil:
		s.Logger().Warn("a synthesizer failed; another one took over", "err", r.failed)
	}
	if s.failures++; s.cfg.GiveUpAfter > 0 && s.failures >= s.cfg.GiveUpAfter {
		s.failures = 0
		s.usableAt = time.Now().Add(s.cfg.Cooldown)
		s.trouble("The voice is out of order for now.",
			fmt.Errorf("%w: the synthesizer failed %d times, rests for %s, at last: %w", ErrUnusable, s.cfg.GiveUpAfter, s.cfg.Cooldown, r.failed))
	}
}

// trouble reports an error to the client and the log.
func (s *Synthesis) trouble(public string, err error) {
	category := frames.ErrorServer
	if errors.Is(err, ErrLateAudio) {
		category = frames.ErrorTimeout
	}
	s.Push(&frames.ErrorFrame{Category: category, Source: s.Name(), Err: err, Public: public}, pipeline.Upstream)
}
