package rtvi

import "github.com/turnwise/turnwise/frames"

// ClientReadyFrame tells that the client asks whether the bot is ready. [Output]
// answers it; a [frames.ClientConnectedFrame] follows the first one.
type ClientReadyFrame struct {
	frames.SystemFrame
	// ID is the request's id; the answer carries the same.
	ID string
	// Version is the protocol version the client says it speaks.
	Version string
	// About describes the client's library.
	About Library
	// Answered runs on the session loop when the answer was handed to the sender.
	// May be nil.
	Answered func()
}

// MessageFrame is a message to the client of any type, such as a ui-command. It is
// a system frame: it does not wait behind speech.
type MessageFrame struct {
	frames.SystemFrame
	// Type is the envelope's type.
	Type Type
	// ID is the envelope's id; may be empty.
	ID string
	// Data is sent as JSON; nil sends none. It must not be changed after the
	// frame was queued.
	Data any
	// Priority is what becomes of it when the client reads too slowly.
	Priority Priority
}
