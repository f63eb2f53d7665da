package server

import "github.com/turnwise/turnwise/pipeline"

// Bot makes conversations. It is used by many goroutines at once.
type Bot interface {
	// Session builds the pipeline of one conversation around the session's output
	// and returns its task, which must not have run: the server runs it. An error
	// refuses the client, who is told that the bot could not be started; the
	// error goes to the log. A panic is taken as an error.
	Session(s *Session) (*pipeline.Task, error)
}

// BotFunc is a function as a [Bot].
type BotFunc func(s *Session) (*pipeline.Task, error)

// Session calls the function.
func (f BotFunc) Session(s *Session) (*pipeline.Task, error) { return f(s) }
