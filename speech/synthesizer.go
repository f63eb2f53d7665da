package speech

import (
	"context"
	"time"
)

// Utterance is a piece of text to be spoken, usually a sentence.
type Utterance struct {
	// Text is what to say, cleaned for speech.
	Text string
	// Before is what was said just before in the same turn, for synthesizers that
	// carry the tone on; may be empty.
	Before string
	// Language is a BCP 47 tag; empty means the synthesizer's own.
	Language string
}

// Speech is a piece of synthesized speech.
type Speech struct {
	// Samples is mono audio at the synthesizer's rate. It may be empty in a piece
	// that only brings words.
	Samples []int16
	// Words are the times of words of the utterance, from its beginning. They may
	// come before, with or after their audio. Without any, times are estimated.
	Words []Word
}

// Word is a word of an utterance with its time in the audio.
type Word struct {
	Text       string
	Start, End time.Duration
}

// Synthesizer turns text into speech. Implementations must be safe for use by many
// sessions at once.
type Synthesizer interface {
	// Synthesize speaks an utterance and emits the audio as it is made, in order.
	// It returns when all has been emitted, or soon after ctx is cancelled. The
	// samples belong to the listener once they are emitted; an error that emit
	// returns ends the synthesis. Returning without any audio and without an
	// error counts as a failure.
	Synthesize(ctx context.Context, u Utterance, emit func(Speech) error) error
	// Rate is the sample rate of its audio in Hz.
	Rate() int
}
