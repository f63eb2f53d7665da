package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/speech/cartesia"
	"github.com/turnwise/turnwise/speech/deepgram"
	"github.com/turnwise/turnwise/speech/elevenlabs"
	"github.com/turnwise/turnwise/speech/openai"
	"github.com/turnwise/turnwise/speech/openai/realtime"
)

// speechService is a service that hears or speaks.
type speechService struct {
	// flag is stt or tts, and value what it is called there.
	flag, value string
	// variable is where its key is read from.
	variable string
	// own tells that servers of one's own, which may need no key, offer the same.
	own bool
}

// speechServices are all there are.
func speechServices() []speechService {
	return []speechService{
		{flag: "stt", value: voiceOpenAI, variable: keyVariable, own: true},
		{flag: "stt", value: voiceRealtime, variable: keyVariable},
		{flag: "stt", value: voiceDeepgram, variable: "DEEPGRAM_API_KEY"},
		{flag: "tts", value: voiceOpenAI, variable: keyVariable, own: true},
		{flag: "tts", value: voiceElevenLabs, variable: "ELEVENLABS_API_KEY"},
		{flag: "tts", value: voiceCartesia, variable: "CARTESIA_API_KEY"},
	}
}

// serviceKey reads the key of the service that a flag names, which only a server of
// one's own may do without.
func serviceKey(w *world, flag, value, url string) (string, error) {
	for _, s := range speechServices() {
		if s.flag != flag || s.value != value {
			continue
		}
		key := w.getenv(s.variable)
		if key != "" || s.own && url != "" {
			return key, nil
		}
		text := fmt.Sprintf("--%s %s needs an API key in the environment variable %s", flag, value, s.variable)
		if s.own {
			text += fmt.Sprintf(", or --%s-url of a server that takes none", flag)
		}
		return "", usageError(text)
	}
	return "", fmt.Errorf("--%s %s is no service", flag, value)
}

// servicesReport says which services there are keys for.
func servicesReport(w *world) string {
	var b strings.Builder
	for _, s := range speechServices() {
		state := "needs a key in " + s.variable
		if w.getenv(s.variable) != "" {
			state = "its key is in " + s.variable
		} else if s.own {
			state += ", or --" + s.flag + "-url of a server that takes none"
		}
		fmt.Fprintf(&b, "  --%s %-15s  %s\n", s.flag, s.value, state)
	}
	return b.String()
}

// remoteEars makes a recognizer that is a server elsewhere; nil when the flags name
// none. Nothing connects before somebody speaks.
func (f *voiceFlags) remoteEars(w *world) (speech.Recognizer, error) {
	if f.STT == voiceAuto || f.STT == voiceLocal || f.STT == voiceOff {
		return nil, nil
	}
	key, err := serviceKey(w, "stt", f.STT, f.STTURL)
	if err != nil {
		return nil, err
	}
	ears, err := f.ears(key)
	if err != nil {
		return nil, usageError("--stt " + f.STT + ": " + err.Error())
	}
	return ears, nil
}

func (f *voiceFlags) ears(key string) (speech.Recognizer, error) {
	switch f.STT {
	case voiceRealtime:
		return realtime.New(realtime.Config{APIKey: key, BaseURL: f.STTURL, Model: f.STTModel, Language: f.Language})
	case voiceDeepgram:
		return deepgram.New(deepgram.Config{APIKey: key, BaseURL: f.STTURL, Model: f.STTModel, Language: f.Language})
	}
	transcriber, err := openai.NewTranscriber(openai.TranscriberConfig{
		Server: openai.Server{APIKey: key, BaseURL: f.STTURL}, Model: cmp.Or(f.STTModel, "gpt-4o-mini-transcribe"), Language: f.Language,
	})
	if err != nil {
		return nil, err
	}
	return speech.NewSegmented(speech.SegmentedConfig{Transcriber: transcriber})
}

// remoteMouth makes a synthesizer that is a server elsewhere; nil when the flags name
// none. Nothing connects before the bot speaks.
func (f *voiceFlags) remoteMouth(w *world) (speech.Synthesizer, error) {
	if f.TTS == voiceAuto || f.TTS == voiceLocal || f.TTS == voiceOff {
		return nil, nil
	}
	key, err := serviceKey(w, "tts", f.TTS, f.TTSURL)
	if err != nil {
		return nil, err
	}
	mouth, err := f.mouth(key)
	if err != nil {
		return nil, usageError("--tts " + f.TTS + ": " + err.Error())
	}
	return mouth, nil
}

func (f *voiceFlags) mouth(key string) (speech.Synthesizer, error) {
	switch f.TTS {
	case voiceElevenLabs:
		return elevenlabs.New(elevenlabs.Config{
			APIKey: key, BaseURL: f.TTSURL, Model: f.TTSModel, Voice: cmp.Or(f.TTSVoice, "JBFqnCBsd6RMkjVDRZzb"), Language: f.Language,
		})
	case voiceCartesia:
		return cartesia.New(cartesia.Config{
			APIKey: key, BaseURL: f.TTSURL, Model: f.TTSModel, Voice: cmp.Or(f.TTSVoice, "a0e99841-438c-4a64-b679-ae501e7d6091"), Language: f.Language,
		})
	}
	return openai.NewSynthesizer(openai.SynthesizerConfig{
		Server: openai.Server{APIKey: key, BaseURL: f.TTSURL}, Model: cmp.Or(f.TTSModel, "gpt-4o-mini-tts"), Voice: cmp.Or(f.TTSVoice, "coral"),
	})
}
