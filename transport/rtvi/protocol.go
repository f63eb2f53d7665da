package rtvi

import (
	"strconv"
	"strings"
)

// Label marks a message as one of this protocol.
const Label = "rtvi-ai"

// Version is the version of the protocol that the package speaks.
const Version = "2.1.0"

// Type is a message's type as it stands in its envelope.
type Type string

// What clients send.
const (
	TypeClientReady        Type = "client-ready"
	TypeDisconnectBot      Type = "disconnect-bot"
	TypeClientMessage      Type = "client-message"
	TypeSendText           Type = "send-text"
	TypeDTMF               Type = "dtmf"
	TypeFunctionCallResult Type = "llm-function-call-result"
	TypeRawAudio           Type = "raw-audio"
	TypeRawAudioBatch      Type = "raw-audio-batch"
	TypeUIEvent            Type = "ui-event"
	TypeUISnapshot         Type = "ui-snapshot"
	TypeUICancelJobGroup   Type = "ui-cancel-job-group"
	// TypeAppendToContext is deprecated and answered with an error-response.
	TypeAppendToContext Type = "append-to-context"
)

// What servers send.
const (
	TypeBotReady               Type = "bot-ready"
	TypeError                  Type = "error"
	TypeErrorResponse          Type = "error-response"
	TypeServerResponse         Type = "server-response"
	TypeServerMessage          Type = "server-message"
	TypeUserStartedSpeaking    Type = "user-started-speaking"
	TypeUserStoppedSpeaking    Type = "user-stopped-speaking"
	TypeVADUserStarted         Type = "vad-user-started-speaking"
	TypeVADUserStopped         Type = "vad-user-stopped-speaking"
	TypeUserMuteStarted        Type = "user-mute-started"
	TypeUserMuteStopped        Type = "user-mute-stopped"
	TypeUserTranscription      Type = "user-transcription"
	TypeUserLLMText            Type = "user-llm-text"
	TypeBotLLMStarted          Type = "bot-llm-started"
	TypeBotLLMStopped          Type = "bot-llm-stopped"
	TypeBotLLMText             Type = "bot-llm-text"
	TypeBotTTSStarted          Type = "bot-tts-started"
	TypeBotTTSStopped          Type = "bot-tts-stopped"
	TypeBotTTSText             Type = "bot-tts-text"
	TypeBotTTSAudio            Type = "bot-tts-audio"
	TypeBotStartedSpeaking     Type = "bot-started-speaking"
	TypeBotStoppedSpeaking     Type = "bot-stopped-speaking"
	TypeBotInterrupted         Type = "bot-interrupted"
	TypeBotOutput              Type = "bot-output"
	TypeBotTranscription       Type = "bot-transcription"
	TypeMetrics                Type = "metrics"
	TypeUserAudioLevel         Type = "user-audio-level"
	TypeBotAudioLevel          Type = "bot-audio-level"
	TypeSystemLog              Type = "system-log"
	TypeFunctionCallStarted    Type = "llm-function-call-started"
	TypeFunctionCallInProgress Type = "llm-function-call-in-progress"
	TypeFunctionCallStopped    Type = "llm-function-call-stopped"
	TypeSearchResponse         Type = "bot-llm-search-response"
	TypeUICommand              Type = "ui-command"
	TypeUIJobGroup             Type = "ui-job-group"
)

// dialect is which generation of the protocol a client understands.
type dialect uint8

const (
	dialectSegments dialect = iota // 2.x: bot-output by segments
	dialectOld                     // 1.x: bot-output and bot-transcription by sentence
)

// negotiate decides what to answer a client of the given version: the version to
// announce and its dialect. It reports false for a version that the package does
// not know; the session then goes on in the package's own.
func negotiate(version string) (announce string, d dialect, known bool) {
	major, ok := majorOf(version)
	switch {
	case ok && major == 2:
		return Version, dialectSegments, true
	case ok && major == 1:
		return version, dialectOld, true
	}
	return Version, dialectSegments, false
}

// majorOf reads the first number of a version such as "2.1.0".
func majorOf(version string) (int, bool) {
	parts := strings.Split(version, ".")
	if len(parts) < 2 || len(parts) > 3 || len(version) > 32 {
		return 0, false
	}
	major := 0
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil {
			return 0, false
		}
		if i == 0 {
			major = int(n)
		}
	}
	return major, true
}
