package speech

import (
	"fmt"
	"time"

	"github.com/turnwise/turnwise/audio/vad"
)

// TurnSettings say how turns are taken. Fields that are not set have the session's
// value in a [TurnSettingsFrame], and the default in a [TurnsConfig]. Settings may be
// shared between sessions and must not be changed then.
type TurnSettings struct {
	// Start opens a turn of the user: any of the strategies may. The default is
	// voice activity and, where that missed it, a transcript.
	Start []StartStrategy
	// Stop closes it: any of the strategies may. The default is a silence of 600 ms
	// with all words there, and the recognizer's own end of turn.
	Stop []StopStrategy
	// Mute makes the bot not listen: any of the strategies may. The default is none;
	// an empty list that is not nil is none as well.
	Mute []MuteStrategy
	// Idle is how long the user may say nothing after the bot was done before a
	// [UserIdleFrame] is sent; 0 and, to turn off the session's value, a negative
	// one mean never.
	Idle time.Duration
	// Watchdog closes a turn in which nothing has happened for so long that no
	// strategy closes; the default is 5 s.
	Watchdog time.Duration
	// Noise is how long voice activity may go on without a new word before it is
	// taken for noise and the turn is closed; the default is 8 s. It counts only
	// with recognizers that tell of words while they are spoken.
	Noise time.Duration
	// Recovery says what becomes of the bot's words when the user's "speech" that
	// stopped them turns out to have no words.
	Recovery Recovery
	// FalseAlarm is how long after such a sound words may come; the default is the
	// recognizer's latency and half a second, at most 3 s.
	FalseAlarm time.Duration
	// KeepEcho takes all that comes over the bot for the user's. Otherwise words that
	// the bot itself is just saying, three or more in its order, are taken for its
	// echo in the microphone and left out, and when sounds have stopped the bot in
	// vain twice in a row, only words do, until the user has said some.
	KeepEcho bool
	// Activity says when sound counts as speech.
	Activity *vad.Params
}

// Recovery is what becomes of the bot's words after a false interruption.
type Recovery uint8

// The recoveries.
const (
	// RecoverByPause, the default, only pauses the bot while a sound may yet turn
	// out to be words, and lets it go on where it stopped when there were none. A
	// response that is still being generated is interrupted, and generated again.
	RecoverByPause Recovery = 1 + iota
	// RecoverByGeneration interrupts at once and has the response generated again.
	RecoverByGeneration
	// RecoverNever interrupts at once and leaves it at that.
	RecoverNever
)

// The defaults of [TurnSettings].
const (
	defaultSilence  = 600 * time.Millisecond
	defaultWatchdog = 5 * time.Second
	defaultNoise    = 8 * time.Second
	defaultLatency  = time.Second
	maxFalseAlarm   = 3 * time.Second
	// pauseLimit is how long the bot is paused by a sound that goes on without
	// words.
	pauseLimit = 3 * time.Second
)

// Validate names the first field that is out of range.
func (s *TurnSettings) Validate() error {
	switch {
	case s.Watchdog < 0:
		return fmt.Errorf("%w: TurnSettings.Watchdog is %s; it must not be negative", ErrConfig, s.Watchdog)
	case s.Noise < 0:
		return fmt.Errorf("%w: TurnSettings.Noise is %s; it must not be negative", ErrConfig, s.Noise)
	case s.FalseAlarm < 0:
		return fmt.Errorf("%w: TurnSettings.FalseAlarm is %s; it must not be negative", ErrConfig, s.FalseAlarm)
	case s.Recovery > RecoverNever:
		return fmt.Errorf("%w: TurnSettings.Recovery is %d; use one of the constants", ErrConfig, s.Recovery)
	}
	if s.Activity != nil {
		if err := s.Activity.Validate(); err != nil {
			return fmt.Errorf("%w: TurnSettings.Activity: %w", ErrConfig, err)
		}
	}
	return nil
}

// over returns s with base's values where s has none.
func (s TurnSettings) over(base TurnSettings) TurnSettings {
	if s.Start == nil {
		s.Start = base.Start
	}
	if s.Stop == nil {
		s.Stop = base.Stop
	}
	if s.Mute == nil {
		s.Mute = base.Mute
	}
	setDefault(&s.Idle, base.Idle)
	setDefault(&s.Watchdog, base.Watchdog)
	setDefault(&s.Noise, base.Noise)
	setDefault(&s.FalseAlarm, base.FalseAlarm)
	if s.Recovery == 0 {
		s.Recovery = base.Recovery
	}
	s.KeepEcho = s.KeepEcho || base.KeepEcho
	if s.Activity == nil {
		s.Activity = base.Activity
	}
	return s
}

// defaultTurnSettings are the settings of a session that asks for nothing else.
func defaultTurnSettings() TurnSettings {
	return TurnSettings{
		Start:    []StartStrategy{VoiceStart{}, TranscriptStart{}},
		Stop:     []StopStrategy{SpeechTimeout{}, RecognizerEnd{}},
		Mute:     []MuteStrategy{},
		Watchdog: defaultWatchdog, Noise: defaultNoise, Recovery: RecoverByPause,
	}
}
