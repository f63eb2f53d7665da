package speech

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/turnwise/turnwise/audio/resample"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

const (
	// waiting is how much audio waits for a recognizer that is late.
	waiting = 10 * time.Second
	// deafAfter is how many times in a row the user may speak without a word being
	// heard before the recognizer is started afresh.
	deafAfter = 3
	// soon is how long a recognizer must have run for its end not to count as a
	// failure.
	soon = 5 * time.Second
)

// The failures of a recognizer.
var (
	// ErrNotReading tells that a recognizer does not read its audio.
	ErrNotReading = errors.New("speech: the recognizer does not read its audio")
	// ErrDeaf tells that a recognizer gives no words although the user spoke
	// several times.
	ErrDeaf = errors.New("speech: the recognizer hears nothing")

	errEndedEarly = errors.New("speech: the recognizer ended before the audio did")
)

// RecognitionConfig is a [Recognition]'s settings. Recognizer is required.
type RecognitionConfig struct {
	// Recognizer turns the audio into words.
	Recognizer Recognizer
	// PreSpeech is how much of the audio before the user's speech is kept for a
	// recognizer that has to be started for it; the default is 1 s.
	PreSpeech time.Duration
	// Backoff is the pause before a recognizer that failed is started again while
	// the user speaks; it doubles up to 16 times as much. The default is 250 ms.
	Backoff time.Duration
	// GiveUpAfter is after how many quick failures in a row the recognizer is left
	// alone for Cooldown; the defaults are 5 and 30 s.
	GiveUpAfter int
	Cooldown    time.Duration
	// UserID is set on transcriptions; may be empty.
	UserID string
	// Filters shares the filters of sample rate conversion between sessions; nil
	// makes them for this one.
	Filters *resample.Filters
}

// Recognition has a recognizer turn the microphone's audio into words and pushes
// them: InterimTranscriptionFrame, TranscriptionFrame and [EndOfTurnFrame].
//
// The recognizer is started with the session. One that ends while nobody speaks, as
// services do after a long silence, is started again when somebody does, with the
// moments before; one that fails in mid-speech is started again with what it has not
// read. One that does not read, or that hears nothing again and again, is replaced
// by a fresh start.
type Recognition struct {
	pipeline.Base
	cfg   RecognitionConfig
	mono  monoStream
	audio *Audio

	number   int // of the listening under way, or the last
	running  bool
	begun    time.Time
	cancel   context.CancelCauseFunc
	retry    *pipeline.Timer
	failures int
	usableAt time.Time

	vad      bool      // there is voice activity to go by
	speaking bool      // the user is
	unheard  time.Time // when speech began of which no final words have come; zero for none
	heard    bool      // something was heard since speech began
	deaf     int
	warned   bool
}

// NewRecognition makes the processor.
func NewRecognition(cfg RecognitionConfig) (*Recognition, error) {
	switch {
	case cfg.Recognizer == nil:
		return nil, fmt.Errorf("%w: RecognitionConfig.Recognizer is required", ErrConfig)
	case cfg.Recognizer.Rate() <= 0:
		return nil, fmt.Errorf("%w: the recognizer wants audio at %d Hz", ErrConfig, cfg.Recognizer.Rate())
	}
	setDefault(&cfg.PreSpeech, time.Second)
	setDefault(&cfg.Backoff, 250*time.Millisecond)
	setDefault(&cfg.Cooldown, 30*time.Second)
	if cfg.GiveUpAfter == 0 {
		cfg.GiveUpAfter = 5
	}
	if cfg.Filters == nil {
		cfg.Filters = &resample.Filters{}
	}
	rate := cfg.Recognizer.Rate()
	r := &Recognition{cfg: cfg, audio: NewAudio(samplesIn(cfg.PreSpeech, rate)), mono: monoStream{rate: rate, filters: cfg.Filters}}
	r.audio.keep = samplesIn(cfg.PreSpeech, rate)
	return r, nil
}

// Name is "recognition".
func (*Recognition) Name() string { return RoleRecognition }

// Wiring places it between voice activity and turn taking.
func (*Recognition) Wiring() pipeline.Wiring {
	return pipeline.Wiring{Role: RoleRecognition, Single: true, After: []string{RoleActivity}, Before: []string{RoleTurns, roleUserAggregator}}
}

// Start begins to listen.
func (r *Recognition) Start(context.Context) error {
	r.listen()
	return nil
}

// Process feeds the recognizer and passes everything on.
func (r *Recognition) Process(f frames.Frame, dir pipeline.Direction) {
	if dir == pipeline.Downstream {
		switch f := f.(type) {
		case *frames.InputAudioFrame:
			r.feed(&f.PCM)
		case *frames.VADStartedFrame:
			r.speechStarted()
		case *frames.VADStoppedFrame:
			r.speaking = false
			r.audio.Mark(SpeechStopped)
		}
	}
	r.Push(f, dir)
}

func (r *Recognition) feed(pcm *frames.PCM) {
	samples, err := r.mono.take(pcm)
	if err != nil {
		if !r.warned {
			r.warned = true
			r.trouble(frames.ErrorInvalid, "The microphone's audio cannot be used.", err)
		}
		return
	}
	if !r.audio.Write(samples) && r.running {
		r.restart(ErrNotReading)
	}
}

func (r *Recognition) speechStarted() {
	r.vad, r.speaking = true, true
	if !r.unheard.IsZero() && !r.heard {
		r.deaf++
	}
	r.unheard, r.heard = time.Now(), false
	if r.deaf >= deafAfter && r.running {
		r.deaf = 0
		r.audio.Mark(SpeechStarted)
		r.restart(ErrDeaf)
		return
	}
	r.audio.Mark(SpeechStarted)
	if !r.running && !r.retry.Active() {
		r.listen()
	}
}

// listen starts the recognizer.
func (r *Recognition) listen() {
	if wait := time.Until(r.usableAt); wait > 0 {
		r.later(wait)
		return
	}
	r.number++
	r.running, r.begun = true, time.Now()
	r.audio.setLimit(samplesIn(waiting, r.cfg.Recognizer.Rate()))
	ctx, cancel := context.WithCancelCause(r.Context(pipeline.SessionScope))
	r.cancel = cancel
	l := listening{number: r.number, in: r.audio, recognizer: r.cfg.Recognizer}
	r.Go(pipeline.SessionScope, func(j *pipeline.Job) { l.run(ctx, j) })
}

// later starts the recognizer in a while, if it is still needed then.
func (r *Recognition) later(wait time.Duration) {
	start := func() {
		if !r.running && r.needed() {
			r.listen()
		}
	}
	r.retry.Stop()
	r.retry = r.After(pipeline.SessionScope, wait, start)
}

// needed reports whether there may be words to be heard.
func (r *Recognition) needed() bool {
	return !r.vad || r.speaking || (!r.unheard.IsZero() && time.Since(r.unheard) < waiting)
}

// restart leaves the listening under way behind and starts another with the audio
// that it has not turned into words.
func (r *Recognition) restart(why error) {
	r.Logger().Warn("the recognizer is started again", "err", why)
	r.cancel(why)
	r.ended(why)
}

// ended decides what follows the end of a listening.
func (r *Recognition) ended(err error) {
	r.audio = r.audio.successor()
	if r.vad && r.needed() && !r.heard {
		r.audio.rewind(r.speaking)
	}
	r.running = false
	if time.Since(r.begun) < soon || errors.Is(err, ErrNotReading) {
		r.failures++
	} else {
		r.failures = 0
	}
	if r.failures >= r.cfg.GiveUpAfter {
		r.failures = 0
		r.usableAt = time.Now().Add(r.cfg.Cooldown)
		r.trouble(frames.ErrorServer, "The speech recognition is out of order for now.",
			fmt.Errorf("%w: the recognizer failed %d times, rests for %s, at last: %w", ErrUnusable, r.cfg.GiveUpAfter, r.cfg.Cooldown, orEnded(err)))
	}
	if !r.needed() {
		r.audio.rest(samplesIn(r.cfg.PreSpeech, r.cfg.Recognizer.Rate()))
		return
	}
	wait := time.Duration(0)
	if r.failures > 0 {
		wait = r.cfg.Backoff << min(r.failures-1, 4)
	}
	r.later(max(wait, time.Until(r.usableAt)))
}

// Receive takes what the recognizer heard.
func (r *Recognition) Receive(f frames.Frame) {
	switch f := f.(type) {
	case *heardFrame:
		if f.number == r.number {
			r.transcript(&f.transcript)
		}
	case *listenedFrame:
		if f.number == r.number && r.running {
			r.Logger().Debug("the recognizer has ended", "err", f.err)
			r.ended(f.err)
		}
	}
}

func (r *Recognition) transcript(t *Transcript) {
	if t.Text != "" {
		r.failures, r.deaf, r.heard = 0, 0, true
		if t.Final {
			r.unheard = time.Time{}
			r.Push(&frames.TranscriptionFrame{Text: t.Text, UserID: r.cfg.UserID, Time: time.Now()}, pipeline.Downstream)
		} else {
			r.Push(&frames.InterimTranscriptionFrame{Text: t.Text, UserID: r.cfg.UserID, Time: time.Now()}, pipeline.Downstream)
		}
	}
	if t.EndOfTurn {
		r.Push(&EndOfTurnFrame{}, pipeline.Downstream)
	}
}

// Stop lets the recognizer go.
func (r *Recognition) Stop() { r.audio.Close() }

// trouble reports an error to the client and the log.
func (r *Recognition) trouble(category frames.ErrorCategory, public string, err error) {
	r.Push(&frames.ErrorFrame{Category: category, Source: r.Name(), Err: err, Public: public}, pipeline.Upstream)
}

// heardFrame brings a transcript to the loop. It is a system frame because words must
// not wait behind what the bot has to say.
type heardFrame struct {
	frames.SystemFrame
	number     int
	transcript Transcript
}

// listenedFrame tells that a listening has ended.
type listenedFrame struct {
	frames.SystemFrame
	number int
	err    error
}

// listening is one run of a recognizer.
type listening struct {
	number     int
	in         *Audio
	recognizer Recognizer
}

func (l *listening) run(ctx context.Context, j *pipeline.Job) {
	err := l.recognize(ctx, func(t Transcript) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return j.Post(&heardFrame{number: l.number, transcript: t})
	})
	_ = j.Post(&listenedFrame{number: l.number, err: err})
}

func (l *listening) recognize(ctx context.Context, emit func(Transcript) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("speech: the recognizer panicked: %v\n%s", r, debug.Stack())
		}
	}()
	return l.recognizer.Recognize(ctx, l.in, emit)
}

// orEnded is err, or an error for a recognizer that ended without one.
func orEnded(err error) error {
	if err == nil {
		return errEndedEarly
	}
	return err
}
