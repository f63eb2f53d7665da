package speech

import (
	"fmt"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// TurnsConfig is the settings of [Turns]. The zero value is usable.
type TurnsConfig struct {
	// Settings are those of the session; what is not set has its default. A
	// [TurnSettingsFrame] replaces them for a while.
	Settings TurnSettings
	// Latency is the recognizer's, see [Recognizer]; 0 means that it is not known
	// and is taken to be a second.
	Latency time.Duration
	// OnTurn is told of each turn of the user when it is closed, and OnIdle each
	// time the user has said nothing for too long, with how often in a row. They run
	// on the session loop and must not block; what they want to say they queue. May
	// be nil.
	OnTurn func(*UserTurnFrame)
	OnIdle func(count int)
}

// Turns decides when a turn of the user begins and ends. It takes voice activity,
// words, and what the bot is doing, asks its strategies, and pushes
// UserStartedSpeakingFrame, which interrupts the bot, and UserStoppedSpeakingFrame.
// There is one of each for a turn, whatever happens.
//
// While the bot does not listen, because a mute strategy or a [MuteFrame] says so,
// the user's audio, words and voice activity are dropped here.
type Turns struct {
	pipeline.Base
	cfg      TurnsConfig
	base     TurnSettings // the session's
	settings TurnSettings // in force

	turn       *userTurn // nil while none is open
	cause      frames.Frame
	voice      bool // voice activity finds speech
	speechEnd  time.Time
	silent     time.Time // when the end of speech was noticed
	lastWords  time.Time
	lastFinal  time.Time
	interims   bool // the recognizer tells of words while they are spoken
	promoted   string
	mutedUntil time.Time // words that come before were spoken while nobody listened

	bot        BotState
	botTurns   int
	generating bool
	wasBusy    bool // the bot was, at the last interruption
	muted      bool
	mutedBy    bool // by a frame
	started    bool // somebody has said something
	idleCount  int

	check *pipeline.Timer
	idle  *pipeline.Timer
	judge judge
	echo  echo
}

// userTurn is the turn that is open.
type userTurn struct {
	begun       time.Time
	text        string
	interim     string
	activity    time.Time // something of it came last
	voiced      bool      // voice activity has been part of it
	endOfTurn   bool
	interrupted bool // the bot was
	disturbed   bool // it had something to say then, or was paused
	cut         bool // it was heard in part, or not at all
	paused      bool // the bot waits whether there are words
	pausedAt    time.Time
	over        bool // the bot was speaking when it was opened
	midway      bool // it was paused far from its end
}

// NewTurns makes the processor.
func NewTurns(cfg TurnsConfig) (*Turns, error) {
	if err := cfg.Settings.Validate(); err != nil {
		return nil, err
	}
	if cfg.Latency < 0 {
		return nil, fmt.Errorf("%w: TurnsConfig.Latency is %s; it must not be negative", ErrConfig, cfg.Latency)
	}
	setDefault(&cfg.Latency, defaultLatency)
	base := cfg.Settings.over(defaultTurnSettings())
	setDefault(&base.FalseAlarm, min(cfg.Latency+500*time.Millisecond, maxFalseAlarm))
	t := &Turns{cfg: cfg, base: base}
	t.apply(nil)
	return t, nil
}

// Name is "turn taking".
func (*Turns) Name() string { return RoleTurns }

// Wiring places it behind those that listen and before the user's side of the
// conversation.
func (*Turns) Wiring() pipeline.Wiring {
	return pipeline.Wiring{
		Role: RoleTurns, Single: true,
		After: []string{RoleActivity, RoleRecognition}, Before: []string{roleUserAggregator, roleService, RoleSynthesis, RoleOutput},
	}
}

// Process takes signals and passes on what is not held back by muting.
func (t *Turns) Process(f frames.Frame, dir pipeline.Direction) {
	if dir == pipeline.Upstream {
		t.upstream(f)
		t.Push(f, dir)
		return
	}
	switch f := f.(type) {
	case *frames.InputAudioFrame:
		t.judge.hear(f)
		if !t.muted {
			t.Push(f, dir)
		}
	case *frames.VADStartedFrame:
		t.signal(f, SignalVoiceStarted, "")
	case *frames.VADStoppedFrame:
		t.signal(f, SignalVoiceStopped, "")
	case *frames.InterimTranscriptionFrame:
		t.signal(f, SignalInterim, f.Text)
	case *frames.TranscriptionFrame:
		t.signal(f, SignalFinal, f.Text)
	case *EndOfTurnFrame:
		t.signal(f, SignalEndOfTurn, "")
	case *TurnSettingsFrame:
		t.apply(f.Settings)
		t.Push(f, dir)
		t.changed()
	case *MuteFrame:
		t.mutedBy = f.On
		t.Push(f, dir)
		t.changed()
	case *frames.StartFrame:
		t.Push(f, dir)
		t.changed()
	case *frames.UserTextFrame:
		t.started, t.idleCount = true, 0
		t.Push(f, dir)
		t.changed()
	default:
		t.Push(f, dir)
	}
}

// apply puts settings in force; nil is the session's own.
func (t *Turns) apply(s *TurnSettings) {
	t.settings = t.base
	if s != nil {
		if err := s.Validate(); err != nil {
			t.Logger().Error("turn settings are ignored", "err", err)
			return
		}
		t.settings = s.over(t.base)
	}
	t.judge.model = nil
	for _, st := range t.settings.Stop {
		if m, ok := st.(ModelEnd); ok && m.Model != nil {
			t.judge.model = m.Model
		}
	}
}

// signal takes in what has been noticed, opens or closes a turn, and passes the
// frame on.
func (t *Turns) signal(f frames.Frame, sig Signal, words string) {
	if t.cause == f {
		// The interruption that it caused is over.
		t.cause = nil
		t.open(true)
		t.take(f, sig, words)
		return
	}
	if t.cause != nil {
		// It comes behind the one that interrupts.
		t.Base.Interrupt(interruptionReason, f, pipeline.Downstream)
		return
	}
	if !t.listens(f, sig) || ((sig == SignalInterim || sig == SignalFinal) && t.stale(sig, words)) || t.echoes(sig, words) {
		return
	}
	start := t.starts(sig, words)
	if t.tried(sig) {
		start = min(start, StartQuietly)
	}
	switch {
	case start == StartInterrupting && t.mayPause(sig):
		t.open(false)
		t.pause()
	case start == StartInterrupting && (t.turn == nil || !t.turn.interrupted):
		t.cause = f
		t.Base.Interrupt(interruptionReason, f, pipeline.Downstream)
		return
	case start == StartQuietly && t.turn == nil:
		t.open(false)
	}
	t.take(f, sig, words)
}

// interruptionReason is what interruptions by turn taking give as their reason.
const interruptionReason = "user speech"

// starts asks the start strategies.
func (t *Turns) starts(sig Signal, words string) Start {
	if told := sig == SignalInterim || sig == SignalFinal; (t.turn != nil && t.turn.interrupted) || (told && !speakable(words)) {
		return StartNot
	}
	if t.turn != nil && t.turn.paused && speakable(words) {
		return StartInterrupting
	}
	s := t.state(sig)
	s.Transcript = words
	answer := StartNot
	for _, st := range t.settings.Start {
		answer = max(answer, st.Starts(&s))
	}
	return answer
}

// state is what strategies see.
func (t *Turns) state(sig Signal) TurnState {
	s := TurnState{
		Signal: sig, Now: time.Now(),
		Speaking: t.voice, SpeechEnd: t.speechEnd,
		LastWords: t.lastWords, LastFinal: t.lastFinal,
		Latency: t.cfg.Latency, Bot: t.bot, BotTurns: t.botTurns,
	}
	s.Judged, s.Finished = t.judge.judged, t.judge.finished
	if u := t.turn; u != nil {
		s.Text, s.Interim, s.EndOfTurn = u.text, u.interim, u.endOfTurn
		if u.voiced {
			s.SilentSince = t.silent
		}
	}
	return s
}

// take notes a signal of the open turn, passes its frame on and decides whether the
// turn is over.
func (t *Turns) take(f frames.Frame, sig Signal, words string) {
	now := time.Now()
	if u := t.turn; u != nil {
		u.note(sig, words, now)
	} else if sig == SignalInterim || sig == SignalFinal {
		return // a murmur while the bot speaks, of which no strategy makes a turn
	}
	switch sig {
	case SignalVoiceStarted:
		t.voice = true
		t.judge.forget()
	case SignalVoiceStopped:
		t.voice, t.silent = false, now
		t.speechEnd = now.Add(-f.(*frames.VADStoppedFrame).Ago)
		t.askModel()
	case SignalInterim:
		t.lastWords, t.interims = now, true
	case SignalFinal:
		t.lastWords, t.lastFinal = now, now
	}
	t.Push(f, pipeline.Downstream)
	t.decide()
	t.watchIdle()
}

// note takes a signal into the turn.
func (u *userTurn) note(sig Signal, words string, now time.Time) {
	u.activity = now
	switch sig {
	case SignalVoiceStarted, SignalVoiceStopped:
		u.voiced = true
		u.endOfTurn = u.endOfTurn && sig == SignalVoiceStopped
	case SignalInterim:
		u.interim = words
		u.endOfTurn = false
	case SignalFinal:
		u.text, u.interim = join(u.text, words), ""
	case SignalEndOfTurn:
		u.endOfTurn = true
	}
}

// decide closes the turn if it is over, or looks again when it may be.
func (t *Turns) decide() {
	if t.turn == nil || t.cause != nil {
		t.check.Stop()
		return
	}
	wait, by := t.limits()
	s := t.state(SignalNone)
	for _, st := range t.settings.Stop {
		if w, ok := st.Stops(&s); ok && w < wait {
			wait, by = w, stopName(st)
		}
	}
	if wait <= 0 {
		t.over(by)
		return
	}
	if t.check == nil {
		t.check = t.After(pipeline.SessionScope, wait, t.decide)
	} else {
		t.check.Reset(wait)
	}
}

// stopName is what a turn says it was closed by.
func stopName(st StopStrategy) string {
	if n, ok := st.(interface{ Name() string }); ok {
		return n.Name()
	}
	return fmt.Sprintf("%T", st)
}
