// Package cartesia speaks with Cartesia's streaming text to speech, over its WebSocket.
//
// Each utterance is a context of its own. Audio and the times of the words arrive as
// they are made; an utterance that is interrupted is cancelled at the server too, and
// what still comes of it is told from the next one by its context. Connections are kept
// and used again; one carries one utterance at a time, so that a caller who listens
// slowly holds up nobody else.
//
// Every failure is an [*llm.Error]: it says by its category what kind of trouble it is.
// No error holds the API key, and none holds what was said.
package cartesia
