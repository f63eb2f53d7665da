package speech

import (
	"strings"
	"time"
)

// Signal is something that turn taking has noticed.
type Signal uint8

// The signals.
const (
	// SignalNone: time has passed, or the bot's state has changed.
	SignalNone Signal = iota
	// SignalVoiceStarted and SignalVoiceStopped are voice activity's.
	SignalVoiceStarted
	SignalVoiceStopped
	// SignalInterim and SignalFinal are words.
	SignalInterim
	SignalFinal
	// SignalEndOfTurn is the recognizer's.
	SignalEndOfTurn
)

// TurnState is what strategies decide by. They must not change it.
type TurnState struct {
	// Signal is what has just happened, at Now.
	Signal Signal
	Now    time.Time
	// Transcript is the words that came with SignalInterim and SignalFinal.
	Transcript string

	// Speaking tells that voice activity finds the user speaking. Otherwise
	// SpeechEnd is when they last stopped, and SilentSince when that was noticed,
	// zero when the turn was opened without voice activity.
	Speaking               bool
	SpeechEnd, SilentSince time.Time
	// Text is the final words of the open turn, and Interim the words behind them
	// that may still change.
	Text, Interim string
	// LastWords is when words last came, and LastFinal when final ones did.
	LastWords, LastFinal time.Time
	// EndOfTurn tells that the recognizer has found the turn's end.
	EndOfTurn bool
	// Judged tells that an [EndOfTurnModel] has judged the speech so far, and
	// Finished how probable it found the turn to be over.
	Judged   bool
	Finished float64

	// Latency is how long final words may take after the end of speech.
	Latency time.Duration
	// Bot is what the bot does, and BotTurns how many turns it has finished.
	Bot      BotState
	BotTurns int
}

// Complete reports whether the final words of the last speech have come.
func (s *TurnState) Complete() bool {
	return s.Interim == "" && s.Text != "" && !s.LastFinal.Before(s.SpeechEnd)
}

// silence is when the silence of the turn began.
func (s *TurnState) silence() time.Time {
	if s.SilentSince.IsZero() {
		return s.LastWords
	}
	return s.SilentSince
}

// wordsBy is when the final words of the last speech should have come.
func (s *TurnState) wordsBy() time.Time {
	if s.Complete() {
		return s.LastFinal
	}
	end := s.SpeechEnd
	if s.SilentSince.IsZero() {
		end = s.LastWords
	}
	return end.Add(s.Latency)
}

// Start is a start strategy's answer.
type Start uint8

// The answers.
const (
	// StartNot leaves things as they are.
	StartNot Start = iota
	// StartQuietly opens a turn and leaves the bot talking.
	StartQuietly
	// StartInterrupting opens a turn and interrupts the bot; also when a turn is
	// open already that has left it talking.
	StartInterrupting
)

// StartStrategy decides when a turn of the user begins. Implementations keep no
// state, so that one value serves many sessions.
type StartStrategy interface {
	// Starts is asked at every signal while no turn is open, or one that has left
	// the bot talking.
	Starts(s *TurnState) Start
}

// VoiceStart opens a turn when voice activity finds speech.
type VoiceStart struct {
	// Quiet leaves the bot talking, so that another strategy decides about that.
	Quiet bool
}

// Starts implements [StartStrategy].
func (v VoiceStart) Starts(s *TurnState) Start {
	switch {
	case s.Signal != SignalVoiceStarted:
		return StartNot
	case v.Quiet:
		return StartQuietly
	}
	return StartInterrupting
}

// TranscriptStart opens a turn when words come, even where voice activity missed
// them.
type TranscriptStart struct {
	// FinalOnly waits for final words.
	FinalOnly bool
}

// Starts implements [StartStrategy].
func (t TranscriptStart) Starts(s *TurnState) Start {
	if s.Signal == SignalFinal || (s.Signal == SignalInterim && !t.FinalOnly) {
		return StartInterrupting
	}
	return StartNot
}

// MinWordsStart opens a turn when, while the bot speaks, so many words have come in
// one transcript; one word otherwise. It is used without [VoiceStart], or with its
// quiet form.
type MinWordsStart struct {
	// Words is the number; 0 means 3.
	Words int
}

// Starts implements [StartStrategy].
func (m MinWordsStart) Starts(s *TurnState) Start {
	if s.Signal != SignalInterim && s.Signal != SignalFinal {
		return StartNot
	}
	need := m.Words
	switch {
	case !s.Bot.Speaking:
		need = 1
	case need <= 0:
		need = 3
	}
	if countWords(s.Transcript) < need {
		return StartNot
	}
	return StartInterrupting
}

// countWords counts words; in scripts without spaces a letter counts as one.
func countWords(text string) int {
	n := 0
	for i := 0; i < len(text); {
		end := wordEnd(text, i)
		if speakable(text[i:end]) {
			n++
		}
		i = end
	}
	return n
}

// StopStrategy decides when a turn of the user is over. Implementations keep no
// state, so that one value serves many sessions.
type StopStrategy interface {
	// Stops says in how long the turn is over if nothing else happens before, 0 or
	// less for now; or that the strategy has nothing to say as things are. It is
	// asked at every signal while a turn is open, and when the time that it gave
	// has passed.
	Stops(s *TurnState) (wait time.Duration, ok bool)
}

// SpeechTimeout closes a turn after a silence, when the words should all have come:
// when the recognizer has given final ones since, or its latency has passed.
type SpeechTimeout struct {
	// Silence is how long it lasts from when voice activity notices it; 0 means
	// 600 ms.
	Silence time.Duration
}

// Stops implements [StopStrategy].
func (t SpeechTimeout) Stops(s *TurnState) (time.Duration, bool) {
	if s.Speaking || s.Text == "" {
		return 0, false
	}
	silence := t.Silence
	if silence == 0 {
		silence = defaultSilence
	}
	return max(s.silence().Add(silence).Sub(s.Now), s.wordsBy().Sub(s.Now)), true
}

// Name is what a closed turn says it was closed by.
func (SpeechTimeout) Name() string { return "silence" }

// RecognizerEnd closes a turn when the recognizer says that it is over.
type RecognizerEnd struct{}

// Stops implements [StopStrategy].
func (RecognizerEnd) Stops(s *TurnState) (time.Duration, bool) {
	return 0, s.EndOfTurn && s.Text != "" && !s.Speaking
}

// Name is what a closed turn says it was closed by.
func (RecognizerEnd) Name() string { return "recognizer" }

// ModelEnd has an end-of-turn model judge each silence. A turn that the model finds
// finished is closed when the words have come, another one after a long silence.
type ModelEnd struct {
	// Model judges. Required.
	Model EndOfTurnModel
	// Threshold is the probability from which a turn counts as finished; 0 means
	// 0.5.
	Threshold float64
	// Unfinished is the silence that ends a turn that does not sound finished; 0
	// means 3 s.
	Unfinished time.Duration
	// Late is the silence that ends a turn that the model has not judged; 0 means
	// 1 s.
	Late time.Duration
}

// Stops implements [StopStrategy].
func (m ModelEnd) Stops(s *TurnState) (time.Duration, bool) {
	if s.Speaking || s.Text == "" {
		return 0, false
	}
	threshold, silence := m.Threshold, time.Duration(0)
	if threshold == 0 {
		threshold = 0.5
	}
	switch {
	case !s.Judged:
		silence = m.Late
		setDefault(&silence, time.Second)
	case s.Finished < threshold:
		silence = m.Unfinished
		setDefault(&silence, 3*time.Second)
	}
	return max(s.silence().Add(silence).Sub(s.Now), s.wordsBy().Sub(s.Now)), true
}

// Name is what a closed turn says it was closed by.
func (ModelEnd) Name() string { return "model" }

// MuteStrategy decides when the bot does not listen. Implementations keep no state,
// so that one value serves many sessions.
type MuteStrategy interface {
	// Mutes is asked whenever something has changed.
	Mutes(s *TurnState) bool
}

// MuteWhileBotSpeaks lets nobody interrupt the bot.
type MuteWhileBotSpeaks struct{}

// Mutes implements [MuteStrategy].
func (MuteWhileBotSpeaks) Mutes(s *TurnState) bool { return s.Bot.Speaking }

// MuteFirstSpeech lets nobody interrupt the first thing the bot says.
type MuteFirstSpeech struct{}

// Mutes implements [MuteStrategy].
func (MuteFirstSpeech) Mutes(s *TurnState) bool { return s.Bot.Speaking && s.BotTurns == 0 }

// MuteUntilFirstBotTurn does not listen before the bot has finished its first turn.
type MuteUntilFirstBotTurn struct{}

// Mutes implements [MuteStrategy].
func (MuteUntilFirstBotTurn) Mutes(s *TurnState) bool { return s.BotTurns == 0 }

// MuteDuringCalls does not listen while functions run.
type MuteDuringCalls struct{}

// Mutes implements [MuteStrategy].
func (MuteDuringCalls) Mutes(s *TurnState) bool { return s.Bot.Calling }

// join is two pieces of what was said as one.
func join(a, b string) string {
	return strings.TrimSpace(a + " " + strings.TrimSpace(b))
}
