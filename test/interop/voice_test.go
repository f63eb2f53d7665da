package interop

import (
	"testing"
	"time"

	"github.com/turnwise/turnwise/audio/vad"
	"github.com/turnwise/turnwise/examples/tablebooking/booking"
	"github.com/turnwise/turnwise/llm/offline"
	"github.com/turnwise/turnwise/server"
	"github.com/turnwise/turnwise/speech/speechtest"
	"github.com/turnwise/turnwise/test/browser"
)

// startVoice is start with a bot that hears the same words whatever is said.
func startVoice(t *testing.T, hears string) *system {
	t.Helper()
	flow := booking.New(booking.Config{})
	return startWith(t, server.Config{
		Bot: &server.FlowBot{Model: offline.New(offline.Config{}), Start: flow.Start, Nodes: flow.Nodes()},
		Voice: func() server.Voice {
			return server.Voice{
				Recognizer: speechtest.Always(hears), Synthesizer: speechtest.Humming{Word: 333 * time.Millisecond},
				Detector: func() (vad.Detector, error) { return vad.NewEnergy(16000) },
			}
		},
	})
}

// The library connects to where it is told, is greeted aloud, is heard, stops the bot by
// talking over it, and leaves.
func TestAClientLibraryIsHeardAndSpokenToOverAWebSocket(t *testing.T) {
	s := startVoice(t, "A table for four, please.")
	a := open(t, s)
	line := browser.OpenLine(t, a.page)
	call[botReady](a, "startAndConnect", s.httpURL+"/start")
	call[bool](a, "enableMic", true)

	// The greeting is heard, to its end.
	a.until("onBotStartedSpeaking", "", 0)
	call[float64](a, "loud")
	a.until("onBotOutput", "", 0)
	a.until("onBotStoppedSpeaking", "", 0)
	call[float64](a, "silent")

	// What the user says is heard, and answered aloud.
	here := a.position()
	line.Say(t, speechtest.Hum(48000, 300, time.Second), 48000)
	a.until("onUserStartedSpeaking", "", here)
	a.until("onUserStoppedSpeaking", "", here)
	a.until("onUserTranscript", "A table for four, please.", here)
	a.until("onBotStartedSpeaking", "", here)
	call[float64](a, "loud")

	// Talked over, it stops.
	here = a.position()
	line.Say(t, speechtest.Hum(48000, 300, 400*time.Millisecond), 48000)
	a.until("onUserStartedSpeaking", "", here)
	a.until("onBotStoppedSpeaking", "", here)
	if took := call[float64](a, "silent"); took > 1000 {
		t.Errorf("%.0f ms after it had stopped the bot was still heard", took)
	}

	call[bool](a, "disconnect")
	s.awaitNoSessions(t)
	a.none("onMessageError")
	if outside := a.page.ExternalRequests(); len(outside) > 0 {
		t.Errorf("the page asked for things outside this machine: %q", outside)
	}
}

func TestTheBotMayHangUpOnAClientLibrary(t *testing.T) {
	s := startVoice(t, "")
	a := open(t, s)
	call[botReady](a, "startAndConnect", s.httpURL+"/start")
	a.until("onBotStartedSpeaking", "", 0)
	call[bool](a, "disconnectBot")
	a.until("onDisconnected", "", 0)
	s.awaitNoSessions(t)
}
