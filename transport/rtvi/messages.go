package rtvi

import "encoding/json"

// Library describes a client's or the server's software.
type Library struct {
	// Library is the name, LibraryVersion its version; may be empty.
	Library        string `json:"library"`
	LibraryVersion string `json:"library_version,omitempty"`
	// Platform is what it runs on, such as a browser, with the version; may be empty.
	Platform        string `json:"platform,omitempty"`
	PlatformVersion string `json:"platform_version,omitempty"`
	// PlatformDetails is an object of the client's own form.
	PlatformDetails json.RawMessage `json:"platform_details,omitempty"`
}

// String is the library's name with its version.
func (l Library) String() string {
	if l.LibraryVersion == "" {
		return l.Library
	}
	return l.Library + " " + l.LibraryVersion
}

// ClientReady is the data of client-ready.
type ClientReady struct {
	// Version is that of the protocol the client speaks, as in "2.1.0".
	Version string `json:"version"`
	// About is the client.
	About Library `json:"about"`
}

// BotReady is the data of bot-ready.
type BotReady struct {
	// Version is that of the protocol the session is held in.
	Version string `json:"version"`
	// About is the server; nil tells nothing.
	About *Library `json:"about,omitempty"`
}

// Failure is the data of error and of error-response, which has no Fatal.
type Failure struct {
	// Error says what went wrong, for users.
	Error string `json:"error"`
	// Fatal tells that the session is over.
	Fatal bool `json:"fatal,omitempty"`
}

// Application is the data of client-message and of server-response.
type Application struct {
	// T is the type of message, a name of the application's own.
	T string `json:"t"`
	// D is what it carries; may be absent.
	D json.RawMessage `json:"d,omitempty"`
}

// SendText is the data of send-text.
type SendText struct {
	// Content is what the user typed.
	Content string `json:"content"`
	// Options say what to do with it.
	Options SendTextOptions `json:"options"`
}

// SendTextOptions are the options of send-text; nil means true.
type SendTextOptions struct {
	// RunImmediately asks for an answer; false only adds the text to the conversation.
	RunImmediately *bool `json:"run_immediately,omitempty"`
	// AudioResponse asks for a spoken answer where there is speech.
	AudioResponse *bool `json:"audio_response,omitempty"`
}

// DTMF is the data of dtmf. Clients of 2.0 send Button alone.
type DTMF struct {
	// Buttons are the keys in order, as in "1" and "#".
	Buttons []string `json:"buttons,omitempty"`
	// Button is the only key.
	Button string `json:"button,omitempty"`
}

// FunctionCallResult is the data of llm-function-call-result.
type FunctionCallResult struct {
	// FunctionName is the tool that the client ran.
	FunctionName string `json:"function_name"`
	// ToolCallID is the call that it answers.
	ToolCallID string `json:"tool_call_id"`
	// Arguments are those of the call, repeated; may be absent.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Result is any JSON value.
	Result json.RawMessage `json:"result"`
}

// RawAudio is the data of raw-audio and raw-audio-batch: 16-bit little-endian PCM.
type RawAudio struct {
	// Base64Audio is the samples of raw-audio.
	Base64Audio []byte `json:"base64Audio,omitempty"`
	// Base64AudioBatch is those of raw-audio-batch, in order.
	Base64AudioBatch [][]byte `json:"base64AudioBatch,omitempty"`
	// SampleRate is in samples per second and channel.
	SampleRate int `json:"sampleRate"`
	// NumChannels is 1, or 2 for interleaved stereo.
	NumChannels int `json:"numChannels"`
}

// Text is the data of the messages that carry one text: user-llm-text,
// bot-llm-text, bot-tts-text, bot-transcription and system-log.
type Text struct {
	// Text is the words.
	Text string `json:"text"`
}

// UserTranscription is the data of user-transcription.
type UserTranscription struct {
	// Text is what was understood.
	Text string `json:"text"`
	// UserID is whom it was heard from; may be empty.
	UserID string `json:"user_id"`
	// Timestamp is in ISO 8601.
	Timestamp string `json:"timestamp"`
	// Final tells that it will not change any more.
	Final bool `json:"final"`
}

// BotOutput is the data of bot-output. Clients of 1.x know Spoken and no segments.
type BotOutput struct {
	// Text is the segment's words.
	Text string `json:"text"`
	// AggregatedBy is what makes it a segment, such as "sentence".
	AggregatedBy string `json:"aggregated_by"`
	// SegmentID is the same in all messages about a segment.
	SegmentID uint64 `json:"segment_id,omitempty"`
	// Spoken tells clients of 1.x that it is spoken.
	Spoken *bool `json:"spoken,omitempty"`
	// WillBeSpoken tells that it is going to be.
	WillBeSpoken *bool `json:"will_be_spoken,omitempty"`
	// SpokenStatus is "new", "in-progress" or "completed"; segments that are not
	// spoken have none.
	SpokenStatus string `json:"spoken_status,omitempty"`
	// SpokenProgress is how far it has come; nil where there is no status of that kind.
	SpokenProgress *SpokenProgress `json:"spoken_progress,omitempty"`
}

// SpokenProgress says how far a segment has been spoken.
type SpokenProgress struct {
	// AccumulatedText has been spoken, RemainingText not yet.
	AccumulatedText string `json:"accumulated_text"`
	RemainingText   string `json:"remaining_text"`
}

// BotTTSAudio is the data of bot-tts-audio: 16-bit little-endian PCM.
type BotTTSAudio struct {
	// Audio is the samples, in base64 on the wire.
	Audio []byte `json:"audio"`
	// SampleRate is in samples per second and channel.
	SampleRate int `json:"sample_rate"`
	// NumChannels is 1, or 2 for interleaved stereo.
	NumChannels int `json:"num_channels"`
}

// AudioLevel is the data of user-audio-level and bot-audio-level, from 0 to 1.
type AudioLevel struct {
	// Value is 0 for silence and 1 for the loudest there is.
	Value float64 `json:"value"`
}

// FunctionCallStarted is the data of llm-function-call-started.
type FunctionCallStarted struct {
	// FunctionName is the tool, where clients are told of it.
	FunctionName string `json:"function_name,omitempty"`
}

// FunctionCallInProgress is the data of llm-function-call-in-progress.
type FunctionCallInProgress struct {
	// ToolCallID names the call.
	ToolCallID string `json:"tool_call_id"`
	// FunctionName is the tool, where clients are told of it.
	FunctionName string `json:"function_name,omitempty"`
	// Arguments are a JSON object, where clients are told of them.
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// FunctionCallStopped is the data of llm-function-call-stopped.
type FunctionCallStopped struct {
	// ToolCallID names the call.
	ToolCallID string `json:"tool_call_id"`
	// Cancelled tells that it has no result.
	Cancelled bool `json:"cancelled"`
	// FunctionName is the tool, where clients are told of it.
	FunctionName string `json:"function_name,omitempty"`
	// Result is any JSON value, where clients are told of it.
	Result json.RawMessage `json:"result,omitempty"`
}

// Metrics is the data of metrics. Times are in seconds; only lists that have
// something are sent.
type Metrics struct {
	// TTFB is the times to the first byte or token.
	TTFB []Measurement `json:"ttfb,omitempty"`
	// Processing is the times that whole requests took.
	Processing []Measurement `json:"processing,omitempty"`
	// Tokens is what responses of models cost.
	Tokens []Tokens `json:"tokens,omitempty"`
	// Characters is how many were given to synthesizers.
	Characters []Measurement `json:"characters,omitempty"`
}

// Measurement is one number of one processor.
type Measurement struct {
	// Processor is what was measured, and Model what it used; Model may be empty.
	Processor string `json:"processor"`
	Model     string `json:"model,omitempty"`
	// Value is in the unit of the list it stands in.
	Value float64 `json:"value"`
}

// Tokens is a model's count of what a response cost.
type Tokens struct {
	// Processor is what asked, and Model what answered; either may be empty.
	Processor string `json:"processor,omitempty"`
	Model     string `json:"model,omitempty"`
	// PromptTokens is what was sent, CompletionTokens what came, and TotalTokens both.
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
	// CacheReadTokens is the part of the prompt that the provider had already.
	CacheReadTokens int `json:"cache_read_input_tokens,omitempty"`
	// ReasoningTokens is the part of the completion that is not shown.
	ReasoningTokens int `json:"reasoning_tokens,omitempty"`
}

// UICommand is the data of ui-command, sent through a [MessageFrame].
type UICommand struct {
	// Command is what to do, such as "toast", "navigate" or a name of the application's own.
	Command string `json:"command"`
	// Payload is sent as JSON; nil sends none.
	Payload any `json:"payload,omitempty"`
}
