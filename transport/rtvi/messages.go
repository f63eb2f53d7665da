package rtvi

import "encoding/json"

// Library describes a client's or the server's software.
type Library struct {
	Library         string `json:"library"`
	LibraryVersion  string `json:"library_version,omitempty"`
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
	Version string  `json:"version"`
	About   Library `json:"about"`
}

// BotReady is the data of bot-ready.
type BotReady struct {
	Version string   `json:"version"`
	About   *Library `json:"about,omitempty"`
}

// Failure is the data of error and of error-response, which has no Fatal.
type Failure struct {
	Error string `json:"error"`
	Fatal bool   `json:"fatal,omitempty"`
}

// Application is the data of client-message and of server-response.
type Application struct {
	T string          `json:"t"`
	D json.RawMessage `json:"d,omitempty"`
}

// SendText is the data of send-text.
type SendText struct {
	Content string          `json:"content"`
	Options SendTextOptions `json:"options"`
}

// SendTextOptions are the options of send-text; nil means true.
type SendTextOptions struct {
	RunImmediately *bool `json:"run_immediately,omitempty"`
	AudioResponse  *bool `json:"audio_response,omitempty"`
}

// DTMF is the data of dtmf. Clients of 2.0 send Button alone.
type DTMF struct {
	Buttons []string `json:"buttons,omitempty"`
	Button  string   `json:"button,omitempty"`
}

// FunctionCallResult is the data of llm-function-call-result.
type FunctionCallResult struct {
	FunctionName string          `json:"function_name"`
	ToolCallID   string          `json:"tool_call_id"`
	Arguments    json.RawMessage `json:"arguments,omitempty"`
	Result       json.RawMessage `json:"result"`
}

// RawAudio is the data of raw-audio and raw-audio-batch: 16-bit little-endian PCM.
type RawAudio struct {
	Base64Audio      []byte   `json:"base64Audio,omitempty"`
	Base64AudioBatch [][]byte `json:"base64AudioBatch,omitempty"`
	SampleRate       int      `json:"sampleRate"`
	NumChannels      int      `json:"numChannels"`
}

// Text is the data of the messages that carry one text: user-llm-text,
// bot-llm-text, bot-tts-text, bot-transcription and system-log.
type Text struct {
	Text string `json:"text"`
}

// UserTranscription is the data of user-transcription.
type UserTranscription struct {
	Text   string `json:"text"`
	UserID string `json:"user_id"`
	// Timestamp is in ISO 8601.
	Timestamp string `json:"timestamp"`
	Final     bool   `json:"final"`
}

// BotOutput is the data of bot-output. Clients of 1.x know Spoken and no segments.
type BotOutput struct {
	Text         string `json:"text"`
	AggregatedBy string `json:"aggregated_by"`
	SegmentID    uint64 `json:"segment_id,omitempty"`
	Spoken       *bool  `json:"spoken,omitempty"`
	WillBeSpoken *bool  `json:"will_be_spoken,omitempty"`
	// SpokenStatus is "new", "in-progress" or "completed"; segments that are not
	// spoken have none.
	SpokenStatus   string          `json:"spoken_status,omitempty"`
	SpokenProgress *SpokenProgress `json:"spoken_progress,omitempty"`
}

// SpokenProgress says how far a segment has been spoken.
type SpokenProgress struct {
	AccumulatedText string `json:"accumulated_text"`
	RemainingText   string `json:"remaining_text"`
}

// BotTTSAudio is the data of bot-tts-audio: 16-bit little-endian PCM.
type BotTTSAudio struct {
	Audio       []byte `json:"audio"`
	SampleRate  int    `json:"sample_rate"`
	NumChannels int    `json:"num_channels"`
}

// AudioLevel is the data of user-audio-level and bot-audio-level, from 0 to 1.
type AudioLevel struct {
	Value float64 `json:"value"`
}

// FunctionCallStarted is the data of llm-function-call-started.
type FunctionCallStarted struct {
	FunctionName string `json:"function_name,omitempty"`
}

// FunctionCallInProgress is the data of llm-function-call-in-progress.
type FunctionCallInProgress struct {
	ToolCallID   string          `json:"tool_call_id"`
	FunctionName string          `json:"function_name,omitempty"`
	Arguments    json.RawMessage `json:"arguments,omitempty"`
}

// FunctionCallStopped is the data of llm-function-call-stopped.
type FunctionCallStopped struct {
	ToolCallID   string          `json:"tool_call_id"`
	Cancelled    bool            `json:"cancelled"`
	FunctionName string          `json:"function_name,omitempty"`
	Result       json.RawMessage `json:"result,omitempty"`
}

// Metrics is the data of metrics. Times are in seconds; only lists that have
// something are sent.
type Metrics struct {
	TTFB       []Measurement `json:"ttfb,omitempty"`
	Processing []Measurement `json:"processing,omitempty"`
	Tokens     []Tokens      `json:"tokens,omitempty"`
	Characters []Measurement `json:"characters,omitempty"`
}

// Measurement is one number of one processor.
type Measurement struct {
	Processor string  `json:"processor"`
	Model     string  `json:"model,omitempty"`
	Value     float64 `json:"value"`
}

// Tokens is a model's count of what a response cost.
type Tokens struct {
	Processor        string `json:"processor,omitempty"`
	Model            string `json:"model,omitempty"`
	PromptTokens     int    `json:"prompt_tokens"`
	CompletionTokens int    `json:"completion_tokens"`
	TotalTokens      int    `json:"total_tokens"`
	CacheReadTokens  int    `json:"cache_read_input_tokens,omitempty"`
	ReasoningTokens  int    `json:"reasoning_tokens,omitempty"`
}

// UICommand is the data of ui-command, sent through a [MessageFrame].
type UICommand struct {
	Command string `json:"command"`
	Payload any    `json:"payload,omitempty"`
}
