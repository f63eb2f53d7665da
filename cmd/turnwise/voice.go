package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/turnwise/turnwise/server"
	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/speech/deepgram"
	"github.com/turnwise/turnwise/speech/local"
	"github.com/turnwise/turnwise/speech/openai"
)

// The values of --stt and --tts.
const (
	voiceAuto     = "auto"
	voiceLocal    = "local"
	voiceOpenAI   = "openai"
	voiceDeepgram = "deepgram"
	voiceOff      = "off"
)

// voiceFlags choose who hears and who speaks.
type voiceFlags struct {
	STT string `name:"stt" enum:"auto,local,openai,deepgram,off" default:"auto" help:"What hears callers: local, PocketSphinx on this machine; openai, any server with OpenAI's transcriptions; deepgram, as it is spoken; off; or auto, local when it is there."`
	TTS string `name:"tts" enum:"auto,local,openai,off" default:"auto" help:"What speaks to callers: local, flite or espeak-ng on this machine; openai, any server with OpenAI's speech; off; or auto, local when it is there."`

	STTModel string `name:"stt-model" placeholder:"NAME" help:"The model that hears: with --stt openai gpt-4o-mini-transcribe unless said, with deepgram nova-3."`
	TTSModel string `name:"tts-model" default:"gpt-4o-mini-tts" placeholder:"NAME" help:"The model that speaks, with --tts openai (${default})."`
	TTSVoice string `name:"tts-voice" default:"coral" placeholder:"NAME" help:"Its voice, with --tts openai (${default})."`
	STTURL   string `name:"stt-url" placeholder:"URL" help:"Address of a server with OpenAI's transcriptions, e.g. http://localhost:8000/v1, when it is not OpenAI's own."`
	TTSURL   string `name:"tts-url" placeholder:"URL" help:"The same for speech."`
	Record   string `placeholder:"DIR" help:"Record every call there, as a stereo WAV file with the session's id for its name. Tell the callers."`
	Language string `placeholder:"TAG" help:"What callers speak, e.g. en or de-CH, with --stt openai or deepgram; unless said, openai finds out and deepgram takes English."`
}

// voice says what callers are heard and spoken to with; nil takes no calls. Local
// programs are not looked for before somebody asks, unless the flags insist on them.
func (f *voiceFlags) voice(ctx context.Context, w *world) (func() server.Voice, error) {
	if f.STT == voiceOff || f.TTS == voiceOff {
		return nil, nil
	}
	v, err := f.remote(w)
	if err != nil {
		return nil, err
	}
	if f.STT == voiceLocal || f.TTS == voiceLocal {
		r := local.Find(ctx)
		if packages := r.Install(); f.STT == voiceLocal && !r.CanListen() || f.TTS == voiceLocal && !r.CanSpeak() {
			return nil, fmt.Errorf("the programs for a local voice are missing: install %s; turnwise doctor tells more", strings.Join(packages, " "))
		}
	}
	v.WebRTC.Loopback = true
	return func() server.Voice {
		if v.Recognizer != nil && v.Synthesizer != nil {
			return v
		}
		return v.CompleteLocally(local.Find(ctx))
	}, nil
}

// remote makes the ears and the mouth that are servers elsewhere.
func (f *voiceFlags) remote(w *world) (v server.Voice, err error) {
	if v.Recognizer, err = f.remoteEars(w); err != nil {
		return v, err
	}
	if f.TTS != voiceOpenAI {
		return v, nil
	}
	key, err := speechKey(w, keyVariable, "tts", f.TTS, f.TTSURL)
	if err != nil {
		return v, err
	}
	v.Synthesizer, err = openai.NewSynthesizer(openai.SynthesizerConfig{
		Server: openai.Server{APIKey: key, BaseURL: f.TTSURL}, Model: f.TTSModel, Voice: f.TTSVoice,
	})
	if err != nil {
		return v, usageError(err.Error())
	}
	return v, nil
}

// remoteEars makes a recognizer that is a server elsewhere; nil when the flags name
// none.
func (f *voiceFlags) remoteEars(w *world) (speech.Recognizer, error) {
	switch f.STT {
	case voiceOpenAI:
		key, err := speechKey(w, keyVariable, "stt", f.STT, f.STTURL)
		if err != nil {
			return nil, err
		}
		transcriber, err := openai.NewTranscriber(openai.TranscriberConfig{
			Server: openai.Server{APIKey: key, BaseURL: f.STTURL}, Model: cmp.Or(f.STTModel, "gpt-4o-mini-transcribe"), Language: f.Language,
		})
		if err != nil {
			return nil, usageError(err.Error())
		}
		return speech.NewSegmented(speech.SegmentedConfig{Transcriber: transcriber})
	case voiceDeepgram:
		key, err := speechKey(w, deepgramVariable, "stt", f.STT, "") // which always takes one
		if err != nil {
			return nil, err
		}
		ears, err := deepgram.New(deepgram.Config{APIKey: key, BaseURL: f.STTURL, Model: f.STTModel, Language: f.Language})
		if err != nil {
			return nil, usageError(err.Error())
		}
		return ears, nil
	}
	return nil, nil
}

// deepgramVariable is where Deepgram's key is read from.
const deepgramVariable = "DEEPGRAM_API_KEY"

// speechKey reads a service's key, which only a server of one's own may do without.
func speechKey(w *world, variable, flag, value, own string) (string, error) {
	key := w.getenv(variable)
	if key == "" && own == "" {
		text := fmt.Sprintf("--%s %s needs an API key in the environment variable %s", flag, value, variable)
		if value == voiceOpenAI {
			text += fmt.Sprintf(", or --%s-url of a server that takes none", flag)
		}
		return "", usageError(text)
	}
	return key, nil
}

type doctorCmd struct{}

// run tells what this machine has for voice, what is missing, and how to get it.
func (doctorCmd) run(ctx context.Context, w *world) error {
	r := local.Find(ctx)
	verdict := "The bot can be called: turnwise serve, then the microphone on the page."
	if packages := r.Install(); len(packages) > 0 {
		verdict = "The bot cannot be called yet. On Debian and Ubuntu: apt-get install " + strings.Join(packages, " ")
	}
	_, err := fmt.Fprintf(w.stdout, "Chat needs nothing. For calls, this machine has:\n\n%s\n\n%s\n", strings.TrimSpace(r.String()), verdict)
	return err
}
