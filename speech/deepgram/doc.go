// Package deepgram listens with Deepgram's streaming speech recognition.
//
// A [Recognizer] with a model of the Nova family gives words as they are said. When
// voice activity finds that the caller has stopped, it asks for the rest at once, so
// that the last words do not wait for Deepgram's own idea of silence. With a model of
// the Flux family, whose names begin with "flux-", Deepgram decides when a turn is over,
// which [speech.RecognizerEnd] goes by.
//
// One connection serves one listening. While nothing is sent it is kept alive; when it
// ends, [speech.Recognition] starts another.
//
// Every failure is an [*llm.Error]: it says by its category what kind of trouble it is.
// No error holds the API key, and none holds what was said.
package deepgram
