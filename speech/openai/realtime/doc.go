// Package realtime listens with the transcription sessions of OpenAI's Realtime
// interface, and of servers that offer the same.
//
// A [Recognizer] sends what voice activity takes for speech, with the moments before it,
// and asks for its words when it ends; between, it sends nothing. Words come while they
// are said from models that stream, such as the default one. Other models can be left to
// find the ends of turns themselves, see [Config].TurnDetection.
//
// One connection serves one listening. OpenAI ends it after a while; then
// [speech.Recognition] starts another.
//
// Every failure is an [*llm.Error]: it says by its category what kind of trouble it is.
// No error holds the API key, and none holds what was said.
package realtime
