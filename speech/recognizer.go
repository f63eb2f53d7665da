// Package speech hears and talks: recognizers and synthesizers behind small
// interfaces, the processors that run them, turn taking, and the playout ledger
// that knows what was heard.
package speech

import (
	"context"
	"time"
)

// Transcript is what a recognizer heard.
type Transcript struct {
	// Text is the words; empty ones are ignored.
	Text string
	// Final tells that the words will not change any more. Interim ones are
	// replaced by the next.
	Final bool
	// EndOfTurn tells that the recognizer, which looks for the ends of turns
	// itself, has found one.
	EndOfTurn bool
	// Confidence is from 0 to 1; 0 where the recognizer does not say.
	Confidence float64
	// Language is the language it heard, as a BCP 47 tag; empty where it does not
	// say.
	Language string
}

// Recognizer turns speech into text. Implementations must be safe for use by many
// sessions at once.
type Recognizer interface {
	// Recognize reads audio from in until it ends, and emits what it hears. It
	// runs on a goroutine of its own, for as long as a session listens, and
	// returns soon after ctx is cancelled. emit is called from one goroutine at a
	// time; an error it returns ends the listening. An error of Recognize makes
	// the session listen again, after a pause, with what has come since.
	Recognize(ctx context.Context, in *Audio, emit func(Transcript) error) error
	// Rate is the sample rate in Hz that it wants; the audio is mono.
	Rate() int
	// Latency is how long after the end of speech its final transcript has come
	// in 99 of 100 cases; turn taking waits so long for one.
	Latency() time.Duration
}

// Transcriber turns a finished piece of speech into text. [Segmented] makes a
// Recognizer of it.
type Transcriber interface {
	// Transcribe returns the words of mono samples at rate Hz; empty where there
	// are none. It must not keep the samples.
	Transcribe(ctx context.Context, samples []int16, rate int) (string, error)
}

// EndOfTurnModel judges from the audio whether the user has finished.
type EndOfTurnModel interface {
	// Finished gives the probability that the turn, whose last seconds of mono
	// 16 kHz audio are given, is over. It must not keep the samples.
	Finished(ctx context.Context, samples []int16) (float64, error)
}
