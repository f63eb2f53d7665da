package frames

import "time"

// UserStartedSpeakingFrame opens a user turn. It interrupts the bot unless Quiet
// is set.
type UserStartedSpeakingFrame struct {
	SystemFrame
	// Quiet leaves the bot talking.
	Quiet bool
}

// Interrupts implements [Interrupting].
func (f *UserStartedSpeakingFrame) Interrupts() (string, bool) { return "user speech", !f.Quiet }

// UserStoppedSpeakingFrame closes a user turn, even one without words.
type UserStoppedSpeakingFrame struct{ SystemFrame }

// VADStartedFrame tells that voice activity began, before turn taking decided.
type VADStartedFrame struct {
	SystemFrame
	// Ago is how long ago it began: voice has to last a moment before it counts.
	Ago time.Duration
}

// VADStoppedFrame tells that voice activity ended, before turn taking decided.
type VADStoppedFrame struct {
	SystemFrame
	// Ago is how long ago it ended: silence has to last a moment before it counts.
	Ago time.Duration
}

// BotStartedSpeakingFrame tells that the first word of the bot's turn is on its
// way to the user.
type BotStartedSpeakingFrame struct{ SystemFrame }

// BotStoppedSpeakingFrame tells that the bot's turn has been played or sent to
// its last word, or was cut.
type BotStoppedSpeakingFrame struct {
	SystemFrame
	// Interrupted tells that it was cut.
	Interrupted bool
}

// TranscriptionFrame is a final piece of what the user said. It is a system frame:
// it overtakes what is on its way to the user.
type TranscriptionFrame struct {
	SystemFrame
	Text   string
	UserID string
	// Time is when the words were recognised.
	Time time.Time
}

// InterimTranscriptionFrame is a first guess that a later one replaces.
type InterimTranscriptionFrame struct {
	SystemFrame
	Text   string
	UserID string
	Time   time.Time
}

// DTMFFrame carries keypad buttons the user pressed: "0" to "9", "*", "#", "A" to
// "D".
type DTMFFrame struct {
	SystemFrame
	Buttons []string
}
