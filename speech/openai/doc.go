// Package openai speaks and listens with OpenAI's audio endpoints, and with the many
// servers that offer the same ones.
//
// A [Synthesizer] streams speech as the server makes it. A [Transcriber] turns a
// finished piece of speech into text; [speech.NewSegmented] makes a recognizer of
// it.
//
// Every failure is an [*llm.Error], as from language models of such servers: it says
// by its category what kind of trouble it is, whether trying again may help, and how
// long the server asks to wait. When the context was the reason it wraps the
// context's error and cause. No error holds the API key or another secret of the
// configuration, and none holds what was said.
//
// There are no timeouts here: a deadline belongs into the context.
package openai
