package frames

import "encoding/json"

// ClientConnectedFrame tells that the peer is there and ready to hear.
type ClientConnectedFrame struct {
	SystemFrame
	// About describes the client in a few words; may be empty.
	About string
}

// ClientDisconnectedFrame tells that the peer has gone. It is sent exactly once
// for a connected client.
type ClientDisconnectedFrame struct {
	SystemFrame
	Reason string
}

// ClientMessageFrame is an application's message from the client.
type ClientMessageFrame struct {
	SystemFrame
	// ID is the request's id; a reply carries the same.
	ID string
	// Type is the application's own type of message.
	Type string
	Data json.RawMessage
}

// ServerMessageFrame is an application's message to the client. It is a system
// frame: it does not wait behind speech.
type ServerMessageFrame struct {
	SystemFrame
	// ReplyTo is the id of the [ClientMessageFrame] it answers; empty for a
	// message of the server's own accord.
	ReplyTo string
	// Type is used with ReplyTo: the type of the message that is answered.
	Type string
	// Data is sent as JSON. It must not be changed after the frame was queued.
	Data any
	// Err, with ReplyTo, answers the request with an error instead.
	Err string
}
