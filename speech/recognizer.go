// Package speech hears and talks: recognizers and synthesizers behind small
// interfaces, the processors that run them, turn taking, and the playout ledger
// that knows what was heard.
//
// The processors of a call, in order:
//
//	speech.NewActivity      finds where the user speaks
//	speech.NewRecognition   has a Recognizer turn it into words
//	speech.NewTurns         decides when a turn of the user begins and ends
//	llm.NewUserAggregator
//	llm.NewService
//	speech.NewSynthesis     has a Synthesizer speak the answer, sentence by sentence
//	speech.NewPlayout       lets it out as it is heard, through a Buffer
//	llm.NewAssistantAggregator
//
// The transport queues microphone audio as frames.InputAudioFrame at the head, and
// takes what is to be sent from the [Buffer], 20 ms at a time; [Buffer.Fill] makes a packet
// of it, with a background if there is one.
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
	// time; when it returns an error, nobody listens any more. When Recognize
	// returns before the audio has ended, whatever the reason, the session calls
	// it again: after a pause while the user speaks, else when they next do, with
	// the audio that nobody has read.
	Recognize(ctx context.Context, in *Audio, emit func(Transcript) error) error
	// Rate is the sample rate in Hz that it wants; the audio is mono.
	Rate() int
	// Latency is how long after the end of speech its final transcript has come
	// in 99 of 100 cases; turn taking waits so long for one. 0 means that it is
	// not known.
	Latency() time.Duration
}

// EndOfTurnModel judges from the audio whether the user has finished.
// Implementations must be safe for use by many sessions at once.
type EndOfTurnModel interface {
	// Finished gives the probability that the turn, whose last seconds of mono
	// 16 kHz audio are given, is over. It must not keep the samples.
	Finished(ctx context.Context, samples []int16) (float64, error)
}
