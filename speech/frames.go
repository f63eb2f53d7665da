package speech

import (
	"time"

	"github.com/turnwise/turnwise/frames"
)

// BotStateFrame tells upstream, where turn taking stands, what the bot is doing.
// [Playout] pushes one at every change.
type BotStateFrame struct {
	frames.SystemFrame
	BotState
}

// BotState is what the bot is doing, as far as the output knows.
type BotState struct {
	// Speaking tells that the user hears the bot.
	Speaking bool
	// Busy tells that something is on its way to the user or is being worked on: a
	// response, a line, or a function.
	Busy bool
	// Calling tells that functions run.
	Calling bool
	// Cut tells that an interruption has just taken from the user what they had
	// not heard yet.
	Cut bool
}

// GenerationFrame tells upstream whether a response is still being generated.
// [Synthesis] pushes it, because what stands behind it learns of the end of a
// response only when it has been spoken.
type GenerationFrame struct {
	frames.SystemFrame
	Response uint64
	Over     bool
}

// PauseFrame makes the [Playout] hold its breath, as somebody does who hears a noise
// from the other side, or go on where it stopped.
type PauseFrame struct {
	frames.SystemFrame
	On bool
}

// EndOfTurnFrame tells that the recognizer has found the end of the user's turn.
type EndOfTurnFrame struct{ frames.SystemFrame }

// UserTurnFrame tells what the user said in a turn. It follows the
// UserStoppedSpeakingFrame that closed it.
type UserTurnFrame struct {
	frames.SystemFrame
	// Text is all of the turn's final words; empty for a turn without any.
	Text string
	// By says what closed the turn: "silence", "recognizer", "model", "watchdog",
	// "false alarm", "noise", "muted" or the name of a strategy of your own, which
	// its method Name() string gives.
	By string
	// Started and Stopped are when the turn was opened and closed.
	Started, Stopped time.Time
}

// UserIdleFrame tells that the user has said nothing for as long as
// [TurnSettings.Idle] after the bot was done.
type UserIdleFrame struct {
	frames.SystemFrame
	// Count is how often this has happened since the user last spoke, from 1.
	Count int
}

// TurnSettingsFrame changes how turns are taken from here on, for example at a node
// that asks for a long number. It is queued at the head of the pipeline.
type TurnSettingsFrame struct {
	frames.UninterruptibleFrame
	// Settings replace those of the session; a field that is not set keeps the
	// session's value. Nil goes back to the session's settings.
	Settings *TurnSettings
}

// MuteFrame makes the bot stop listening, or listen again, whatever the mute
// strategies say. It is queued at the head of the pipeline.
type MuteFrame struct {
	frames.SystemFrame
	On bool
}
