package frames

// LLMRunFrame asks the model service for a generation. Requests merge: however
// many wait when the service can run, one generation answers them. It survives
// interruptions, so that a node that was entered is never left silent.
type LLMRunFrame struct {
	UninterruptibleFrame
	// Wanted is asked on the loop, when the frame has reached the service, whether
	// the request still stands; nil means that it does.
	Wanted func() bool
}

// LLMMessagesAppendFrame appends messages to the conversation and, with Run, asks
// for a generation.
type LLMMessagesAppendFrame struct {
	UninterruptibleFrame
	Messages []Message
	Run      bool
}

// LLMContextUpdateFrame applies one atomic change to the conversation at the
// model service, as soon as no batch of function calls is open, and, with Run,
// asks for a generation.
type LLMContextUpdateFrame struct {
	UninterruptibleFrame
	Update ContextUpdate
	Run    bool
	// Applied runs on the loop right after the change; it must not block. May be
	// nil.
	Applied func()
}

// LLMResponseStartFrame opens a response of the model.
type LLMResponseStartFrame struct {
	ControlFrame
	// Response numbers the responses of a session, from 1.
	Response uint64
	// SkipSpeech asks for text alone.
	SkipSpeech bool
	// UserText is what the user said that nothing had answered before; empty for
	// a response to anything else.
	UserText string
}

// LLMTextFrame is a piece of the model's text, as it was streamed.
type LLMTextFrame struct {
	DataFrame
	Text     string
	Response uint64
}

// LLMResponseEndFrame closes a response. It is always sent, also for a response
// without text; an interruption stands for it when it cuts the response.
type LLMResponseEndFrame struct {
	ControlFrame
	Response uint64
	// Finish says why the model stopped: "stop", "tool_calls", "length",
	// "content_filter" or "error".
	Finish string
}
