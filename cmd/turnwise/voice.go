package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/turnwise/turnwise/server"
	"github.com/turnwise/turnwise/speech/local"
)

// The values of --stt and --tts.
const (
	voiceAuto       = "auto"
	voiceLocal      = "local"
	voiceOpenAI     = "openai"
	voiceRealtime   = "openai-realtime"
	voiceDeepgram   = "deepgram"
	voiceElevenLabs = "elevenlabs"
	voiceCartesia   = "cartesia"
	voiceOff        = "off"
)

// voiceFlags choose who hears and who speaks.
type voiceFlags struct {
	STT string `name:"stt" enum:"auto,local,openai,openai-realtime,deepgram,off" default:"auto" placeholder:"WHO" help:"What hears callers: local, PocketSphinx on this machine; openai, any server with OpenAI's transcriptions; openai-realtime and deepgram, which hear while it is spoken; off; or auto, local when it is there."`
	TTS string `name:"tts" enum:"auto,local,openai,elevenlabs,cartesia,off" default:"auto" placeholder:"WHO" help:"What speaks to callers: local, flite or espeak-ng on this machine; openai, any server with OpenAI's speech; elevenlabs; cartesia; off; or auto, local when it is there."`

	STTModel string `name:"stt-model" placeholder:"NAME" help:"The model that hears; unless said gpt-4o-mini-transcribe, gpt-live-transcribe (openai-realtime) or nova-3 (deepgram, whose flux- models find the ends of turns)."`
	TTSModel string `name:"tts-model" placeholder:"NAME" help:"The model that speaks; unless said gpt-4o-mini-tts, eleven_flash_v2_5 or sonic-3.5."`
	TTSVoice string `name:"tts-voice" placeholder:"NAME" help:"Its voice: a name for openai, unless said coral; an id for elevenlabs and cartesia."`
	STTURL   string `name:"stt-url" placeholder:"URL" help:"Address of the service that hears, when it is not its maker's own, e.g. http://localhost:8000/v1 with openai."`
	TTSURL   string `name:"tts-url" placeholder:"URL" help:"The same for the one that speaks."`
	Record   string `placeholder:"DIR" help:"Record every call there, as a stereo WAV file with the session's id for its name. Tell the callers."`
	Language string `placeholder:"TAG" help:"What is spoken, e.g. en or de-CH; unless said, the services find out or take English."`
}

// voice says what callers are heard and spoken to with; nil takes no calls. Local
// programs are not looked for before somebody asks, unless the flags insist on them. The
// connections to services are closed by end.
func (f *voiceFlags) voice(ctx context.Context, w *world) (ask func() server.Voice, end func(), err error) {
	if f.STT == voiceOff || f.TTS == voiceOff {
		return nil, func() {}, nil
	}
	v, err := f.remote(w)
	if err != nil {
		return nil, nil, err
	}
	if f.STT == voiceLocal || f.TTS == voiceLocal {
		r := local.Find(ctx)
		if packages := r.Install(); f.STT == voiceLocal && !r.CanListen() || f.TTS == voiceLocal && !r.CanSpeak() {
			return nil, nil, fmt.Errorf("the programs for a local voice are missing: install %s; turnwise doctor tells more", strings.Join(packages, " "))
		}
	}
	v.WebRTC.Loopback = true
	ask = func() server.Voice {
		if v.Recognizer != nil && v.Synthesizer != nil {
			return v
		}
		return v.CompleteLocally(local.Find(ctx))
	}
	end = func() {
		if c, ok := v.Synthesizer.(interface{ Close() }); ok {
			c.Close()
		}
	}
	return ask, end, nil
}

// remote makes the ears and the mouth that are servers elsewhere.
func (f *voiceFlags) remote(w *world) (v server.Voice, err error) {
	if v.Recognizer, err = f.remoteEars(w); err != nil {
		return v, err
	}
	v.Synthesizer, err = f.remoteMouth(w)
	return v, err
}

type doctorCmd struct{}

// run tells what this machine has for voice, what is missing, and how to get it.
func (doctorCmd) run(ctx context.Context, w *world) error {
	r := local.Find(ctx)
	verdict := "The bot can be called: turnwise serve, then the microphone on the page."
	if packages := r.Install(); len(packages) > 0 {
		verdict = "The bot cannot be called yet. On Debian and Ubuntu: apt-get install " + strings.Join(packages, " ")
	}
	_, err := fmt.Fprintf(w.stdout, "Chat needs nothing. For calls, this machine has:\n\n%s\n\n%s\n\nServices can hear and speak instead:\n\n%s",
		strings.TrimSpace(r.String()), verdict, servicesReport(w))
	return err
}
