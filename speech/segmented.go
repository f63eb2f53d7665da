package speech

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Transcriber turns a finished piece of speech into text. [NewSegmented] makes a
// Recognizer of it. Implementations must be safe for use by many sessions at once.
type Transcriber interface {
	// Transcribe returns the words of mono samples at rate Hz; empty where there
	// are none. It must not keep the samples.
	Transcribe(ctx context.Context, samples []int16, rate int) (string, error)
}

// SegmentedConfig is the settings of a [Segmented]. Transcriber is required; it needs
// voice activity in the pipeline to know where speech is.
type SegmentedConfig struct {
	Transcriber Transcriber
	// Rate is the sample rate in Hz that the transcriber is given; the default is
	// 16 kHz.
	Rate int
	// Latency is how long a transcription takes in 99 of 100 cases; the default is
	// 2 s.
	Latency time.Duration
	// Before and After are how much audio around the speech is given with it, so
	// that no syllable is cut; the defaults are 500 ms and 100 ms.
	Before, After time.Duration
	// Min is the least speech that is worth a transcription, voice activity's own
	// delays included; the default is 100 ms, negative means any.
	Min time.Duration
	// Max is where a long speech is cut and transcribed in pieces; the default is
	// 25 s.
	Max time.Duration
	// Deadline bounds a transcription, which is tried twice; the default is 15 s.
	Deadline time.Duration
}

// Segmented is a [Recognizer] of a [Transcriber]: it cuts the audio into pieces of
// speech and has each transcribed, in order, while it goes on listening.
type Segmented struct{ cfg SegmentedConfig }

// NewSegmented makes a recognizer.
func NewSegmented(cfg SegmentedConfig) (*Segmented, error) {
	if cfg.Transcriber == nil {
		return nil, fmt.Errorf("%w: SegmentedConfig.Transcriber is required", ErrConfig)
	}
	if cfg.Rate == 0 {
		cfg.Rate = 16000
	}
	setDefault(&cfg.Latency, 2*time.Second)
	setDefault(&cfg.Before, 500*time.Millisecond)
	setDefault(&cfg.After, 100*time.Millisecond)
	setDefault(&cfg.Min, 100*time.Millisecond)
	setDefault(&cfg.Max, 25*time.Second)
	setDefault(&cfg.Deadline, 15*time.Second)
	if cfg.Rate < 0 || cfg.Max < time.Second || cfg.Before < 0 || cfg.After < 0 {
		return nil, fmt.Errorf("%w: SegmentedConfig: Rate, Before and After must not be negative, Max at least 1 s", ErrConfig)
	}
	return &Segmented{cfg: cfg}, nil
}

// Rate is the configured one.
func (s *Segmented) Rate() int { return s.cfg.Rate }

// Latency is the configured one.
func (s *Segmented) Latency() time.Duration { return s.cfg.Latency }

// maxWaitingPieces bounds the pieces that wait for a transcriber; then listening
// waits too, and the audio queue's own bound counts.
const maxWaitingPieces = 4

// Recognize implements [Recognizer].
func (s *Segmented) Recognize(ctx context.Context, in *Audio, emit func(Transcript) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	pieces := make(chan []int16, maxWaitingPieces)
	done := make(chan error, 1)
	go func() { done <- s.transcribeAll(ctx, pieces, emit) }()
	c := cutter{cfg: &s.cfg, give: func(samples []int16) error {
		select {
		case pieces <- samples:
			return nil
		case err := <-done:
			done <- err
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}}
	err := c.run(ctx, in, done)
	close(pieces)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// transcribeAll has the pieces transcribed one by one.
func (s *Segmented) transcribeAll(ctx context.Context, pieces <-chan []int16, emit func(Transcript) error) error {
	for samples := range pieces {
		text, err := s.transcribe(ctx, samples)
		if err != nil && ctx.Err() == nil {
			text, err = s.transcribe(ctx, samples)
		}
		if err != nil {
			return fmt.Errorf("speech: a piece of %s was not transcribed: %w", durationOf(len(samples), s.cfg.Rate), err)
		}
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if err := emit(Transcript{Text: text, Final: true}); err != nil {
			return err
		}
	}
	return nil
}

func (s *Segmented) transcribe(ctx context.Context, samples []int16) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Deadline)
	defer cancel()
	return s.cfg.Transcriber.Transcribe(ctx, samples, s.cfg.Rate)
}

// cutter cuts audio into pieces of speech.
type cutter struct {
	cfg  *SegmentedConfig
	give func(samples []int16) error

	speaking bool
	piece    []int16 // the speech under way; before it, the last moments of silence
	lead     int     // samples of the piece from before its mark
	trailing int     // samples still to come behind the end of the speech
}

// run cuts until the audio ends or the transcribing does.
func (c *cutter) run(ctx context.Context, in *Audio, done chan error) error {
	for {
		e, err := in.Next(ctx)
		if err != nil {
			return errors.Join(err, c.end(err))
		}
		select {
		case err := <-done:
			done <- err
			return err
		default:
		}
		if err := c.event(e); err != nil {
			return err
		}
	}
}

// end gives what was begun when the audio has ended.
func (c *cutter) end(err error) error {
	if errors.Is(err, io.EOF) && (c.speaking || c.trailing > 0) {
		return c.finish()
	}
	return nil
}

func (c *cutter) event(e AudioEvent) error {
	switch {
	case e.Mark == SpeechStarted:
		if !c.speaking && c.trailing == 0 {
			c.lead = len(c.piece)
		}
		c.speaking, c.trailing = true, 0
		return nil
	case e.Mark == SpeechStopped:
		if !c.speaking {
			return nil
		}
		c.speaking = false
		if c.trailing = samplesIn(c.cfg.After, c.cfg.Rate); c.trailing == 0 {
			return c.finish()
		}
		return nil
	}
	return c.samples(e.Samples)
}

func (c *cutter) samples(s []int16) error {
	if c.trailing > 0 {
		n := min(c.trailing, len(s))
		c.piece = append(c.piece, s[:n]...)
		s = s[n:]
		if c.trailing -= n; c.trailing > 0 {
			return nil
		}
		if err := c.finish(); err != nil {
			return err
		}
	}
	c.piece = append(c.piece, s...)
	if !c.speaking {
		c.forget()
		return nil
	}
	if len(c.piece) < samplesIn(c.cfg.Max, c.cfg.Rate) {
		return nil
	}
	return c.finish()
}

// forget keeps only the moments before a speech that may begin.
func (c *cutter) forget() {
	keep := samplesIn(c.cfg.Before, c.cfg.Rate)
	if len(c.piece) > 2*keep {
		n := copy(c.piece, c.piece[len(c.piece)-keep:])
		c.piece = c.piece[:n]
	}
}

// finish gives the piece to be transcribed, unless there is too little in it.
func (c *cutter) finish() error {
	piece := c.piece
	if extra := c.lead - samplesIn(c.cfg.Before, c.cfg.Rate); extra > 0 {
		piece, c.lead = piece[extra:], c.lead-extra
	}
	speech := len(piece) - c.lead - samplesIn(c.cfg.After, c.cfg.Rate)
	c.piece, c.lead, c.trailing = nil, 0, 0
	if speech < samplesIn(c.cfg.Min, c.cfg.Rate) {
		return nil
	}
	return c.give(piece)
}
