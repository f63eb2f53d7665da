package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/turnwise/turnwise/server"
	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/speech/local"
	"github.com/turnwise/turnwise/speech/openai"
)

// The values of --stt and --tts.
const (
	voiceAuto   = "auto"
	voiceLocal  = "local"
	voiceOpenAI = "openai"
	voiceOff    = "off"
)

// voiceFlags choose who hears and who speaks.
type voiceFlags struct {
	STT string `name:"stt" enum:"auto,local,openai,off" default:"auto" help:"What hears callers: local, PocketSphinx on this machine; openai, any server with OpenAI's transcriptions; off; or auto, local when it is there."`
	TTS string `name:"tts" enum:"auto,local,openai,off" default:"auto" help:"What speaks to callers: local, flite or espeak-ng on this machine; openai, any server with OpenAI's speech; off; or auto, local when it is there."`

	STTModel string `name:"stt-model" default:"gpt-4o-mini-transcribe" placeholder:"NAME" help:"The model that hears, with --stt openai (${default})."`
	TTSModel string `name:"tts-model" default:"gpt-4o-mini-tts" placeholder:"NAME" help:"The model that speaks, with --tts openai (${default})."`
	TTSVoice string `name:"tts-voice" default:"coral" placeholder:"NAME" help:"Its voice, with --tts openai (${default})."`
	STTURL   string `name:"stt-url" placeholder:"URL" help:"Address of a server with OpenAI's transcriptions, e.g. http://localhost:8000/v1, when it is not OpenAI's own."`
	TTSURL   string `name:"tts-url" placeholder:"URL" help:"The same for speech."`
	Record   string `placeholder:"DIR" help:"Record every call there, as a stereo WAV file with the session's id for its name. Tell the callers."`
	Language string `placeholder:"TAG" help:"What callers speak, e.g. en or de-CH, with --stt openai; the default lets the model find out."`
}

// voice says what callers are heard and spoken to with; nil takes no calls. Local
// programs are not looked for before somebody asks, unless the flags insist on them.
func (f *voiceFlags) voice(ctx context.Context, w *world) (func() server.Voice, error) {
	if f.STT == voiceOff || f.TTS == voiceOff {
		return nil, nil
	}
	v, err := f.remote(w.getenv(keyVariable))
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
func (f *voiceFlags) remote(key string) (v server.Voice, err error) {
	for flag, used := range map[string]bool{"stt": f.STT == voiceOpenAI && f.STTURL == "", "tts": f.TTS == voiceOpenAI && f.TTSURL == ""} {
		if used && key == "" {
			return v, usageError(fmt.Sprintf("--%s openai needs an API key in the environment variable %s, or --%s-url of a server that takes none", flag, keyVariable, flag))
		}
	}
	if f.STT == voiceOpenAI {
		transcriber, err := openai.NewTranscriber(openai.TranscriberConfig{
			Server: openai.Server{APIKey: key, BaseURL: f.STTURL}, Model: f.STTModel, Language: f.Language,
		})
		if err != nil {
			return v, usageError(err.Error())
		}
		if v.Recognizer, err = speech.NewSegmented(speech.SegmentedConfig{Transcriber: transcriber}); err != nil {
			return v, err
		}
	}
	if f.TTS == voiceOpenAI {
		v.Synthesizer, err = openai.NewSynthesizer(openai.SynthesizerConfig{
			Server: openai.Server{APIKey: key, BaseURL: f.TTSURL}, Model: f.TTSModel, Voice: f.TTSVoice,
		})
		if err != nil {
			return v, usageError(err.Error())
		}
	}
	return v, nil
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
