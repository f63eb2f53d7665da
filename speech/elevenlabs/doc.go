// Package elevenlabs speaks with ElevenLabs' streaming text to speech, over its
// multi-context WebSocket.
//
// Each utterance is a context of its own, which is closed as soon as its text has been
// sent: the server still speaks what it has been given, and says when that is all.
// Audio and the times of the words arrive as they are made. Connections are kept and
// used again; one carries one utterance at a time, so that a caller who listens slowly
// holds up nobody else, and what still comes of an utterance that was interrupted is
// told from the next one by its context.
//
// Every failure is an [*llm.Error]: it says by its category what kind of trouble it is.
// No error holds the API key, and none holds what was said.
package elevenlabs
