package server

import (
	"strings"
	"time"

	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/speech/local"
	"github.com/turnwise/turnwise/transport/webrtc"
)

// localLatency is how long a transcription by a program of this machine takes at most,
// as a rule.
const localLatency = 3 * time.Second

// LocalVoice is a voice of the programs that were found on this machine, by
// [local.Find]. Where some are missing, the voice says which. Callers on the same
// machine are reached, too.
func LocalVoice(found local.Report) Voice {
	v := Voice{WebRTC: webrtc.Config{Loopback: true}}
	return v.CompleteLocally(found)
}

// CompleteLocally fills in the recognizer and the synthesizer that v lacks with those of
// the programs that were found on this machine.
func (v Voice) CompleteLocally(found local.Report) Voice {
	if v.Recognizer == nil && !found.CanListen() || v.Synthesizer == nil && !found.CanSpeak() {
		return Voice{Missing: "To talk to the bot, its machine needs programs for speech: " + strings.Join(found.Install(), ", ") +
			". Without them it can be written to. There, “turnwise doctor” tells more."}
	}
	var done []string
	if v.Synthesizer == nil {
		voice, err := found.Synthesizer()
		if err != nil {
			return brokenLocally(err)
		}
		v.Synthesizer = voice
		done = append(done, "made")
	}
	if v.Recognizer == nil {
		transcriber, err := found.Transcriber()
		if err != nil {
			return brokenLocally(err)
		}
		ears, err := speech.NewSegmented(speech.SegmentedConfig{Transcriber: transcriber, Latency: localLatency})
		if err != nil {
			return brokenLocally(err)
		}
		v.Recognizer = ears
		done = append(done, "recognised")
	}
	if v.Note == "" && len(done) > 0 {
		v.Note = "Speech is " + strings.Join(done, " and ") + " on the bot’s machine, by simple programs for English."
	}
	return v
}

// brokenLocally is a voice whose programs are there and cannot be used.
func brokenLocally(err error) Voice {
	return Voice{Missing: "The local voice cannot be used. The operator finds the reason in the log.", failure: err}
}
