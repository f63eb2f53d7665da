package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/turnwise/turnwise/server"
	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/speech/local"
	"github.com/turnwise/turnwise/transport/webrtc"
)

// The values of --stt and --tts.
const (
	voiceAuto  = "auto"
	voiceLocal = "local"
	voiceOff   = "off"
)

// voiceFlags choose who hears and who speaks.
type voiceFlags struct {
	STT string `name:"stt" enum:"auto,local,off" default:"auto" help:"What hears callers: local, PocketSphinx on this machine; off; or auto, local when it is there."`
	TTS string `name:"tts" enum:"auto,local,off" default:"auto" help:"What speaks to callers: local, flite or espeak-ng on this machine; off; or auto, local when it is there."`
}

// voice says what callers are heard and spoken to with; nil takes no calls. Nothing
// is looked for before somebody asks, unless the flags insist on it.
func (f *voiceFlags) voice(ctx context.Context, log *slog.Logger) (func() server.Voice, error) {
	if f.STT == voiceOff || f.TTS == voiceOff {
		return nil, nil
	}
	if f.STT == voiceLocal || f.TTS == voiceLocal {
		r := local.Find(ctx)
		if (f.STT == voiceLocal && !r.CanListen()) || (f.TTS == voiceLocal && !r.CanSpeak()) {
			return nil, fmt.Errorf("the programs for a local voice are missing: install %s; turnwise doctor tells more", strings.Join(r.Install(), " "))
		}
	}
	return func() server.Voice {
		v, err := newVoice(local.Find(ctx))
		if err != nil {
			log.Error("no voice", "err", err)
			return server.Voice{Missing: "The local voice cannot be used. The operator finds the reason in the log."}
		}
		return v
	}, nil
}

// newVoice makes a voice of the programs that were found.
func newVoice(r local.Report) (server.Voice, error) {
	if packages := r.Install(); len(packages) > 0 {
		return server.Voice{Missing: "To talk to the bot, its machine needs programs for speech: " + strings.Join(packages, ", ") +
			". Without them it can be written to. There, “turnwise doctor” tells more."}, nil
	}
	voice, err := r.Synthesizer()
	if err != nil {
		return server.Voice{}, err
	}
	transcriber, err := r.Transcriber()
	if err != nil {
		return server.Voice{}, err
	}
	ears, err := speech.NewSegmented(speech.SegmentedConfig{Transcriber: transcriber, Latency: localLatency})
	if err != nil {
		return server.Voice{}, err
	}
	return server.Voice{
		Recognizer: ears, Synthesizer: voice, WebRTC: webrtc.Config{Loopback: true},
		Note: "Speech is made and recognised on the bot’s machine, by simple programs for English.",
	}, nil
}

// localLatency is how long a local transcription takes at most, as a rule.
const localLatency = 3 * time.Second

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
