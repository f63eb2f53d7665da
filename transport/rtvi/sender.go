package rtvi

import "github.com/turnwise/turnwise/frames"

// Priority says what a [Sender] does with a message when the client reads too
// slowly.
type Priority uint8

// The priorities.
const (
	// Essential messages are never dropped: a client that cannot take them is
	// disconnected.
	Essential Priority = iota
	// Droppable messages are left out while the client lags behind: tokens,
	// audio, metrics. What they say comes again in essential ones, or is soon
	// out of date.
	Droppable
	// Final is the last message, such as a fatal error: it is never dropped, and
	// the sender ignores what comes after it.
	Final
)

// Sender carries messages to a client. It is safe for concurrent use.
type Sender interface {
	// Send takes one encoded message. It never blocks and copies what it keeps,
	// so that the caller may use msg again. What cannot be sent any more is
	// ignored: that a client has gone is told elsewhere.
	Send(msg []byte, p Priority)
}

// AudioSender is the side of a [Sender] that carries audio beside messages.
type AudioSender interface {
	// SendAudio takes one piece of audio. It never blocks and copies what it
	// keeps.
	SendAudio(pcm frames.PCM)
}
