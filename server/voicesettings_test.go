package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/turnwise/turnwise/flows"
	"github.com/turnwise/turnwise/server"
	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/speech/speechtest"
)

// voiced is a server with a scripted voice that is changed, and a bot that begins at a
// node.
func voiced(t *testing.T, start func() *flows.NodeConfig, change func(*server.Voice), lines ...string) (*server.Server, string) {
	t.Helper()
	bot := testBot()
	bot.Start = start
	voice := scripted(lines...)
	return serve(t, server.Config{Bot: bot, Voice: func() server.Voice {
		v := voice()
		change(&v)
		return v
	}})
}

// counted is how often something of a type was told.
func (c *caller) counted(kind string) int {
	n := 0
	for _, m := range c.messages() {
		if m.Type == kind {
			n++
		}
	}
	return n
}

func TestANodeSaysWhetherItMayBeTalkedOver(t *testing.T) {
	const words = 14
	_, address := voiced(t, func() *flows.NodeConfig {
		n := hello()
		n.TaskMessages = say(strings.TrimSpace(strings.Repeat("word ", words-1)) + " end.")
		n.Turns = &speech.TurnSettings{Mute: []speech.MuteStrategy{speech.MuteWhileBotSpeaks{}}}
		return n
	}, func(*server.Voice) {}, "what was said in vain", "take_name please")
	c := call(t, address)
	c.ready()
	c.until("the bot speaks", func(m message) bool { return m.Type == "bot-started-speaking" })
	eventually(t, "half a second of it is heard", func() bool { return c.hummed() > time.Second/2 })
	c.speak(time.Second)
	c.until("the bot has spoken", func(m message) bool { return m.Type == "bot-stopped-speaking" })
	if n := c.counted("bot-interrupted") + c.counted("user-started-speaking"); n != 0 {
		t.Errorf("%d times the user was listened to", n)
	}
	if heard := c.hummed(); heard < (words-1)*wordTime {
		t.Errorf("of %d words of %s, %s was heard", words, wordTime, heard)
	}
	c.speak(time.Second)
	c.hears("Goodbye, Ada.")
}

func TestACallerWhoSaysNothingIsAskedAndThenSeenOff(t *testing.T) {
	srv, address := voiced(t, hello, func(v *server.Voice) {
		v.Turns.Idle = time.Second
		v.Reprompt = &speech.RepromptConfig{Lines: []string{"Are you still there?", "I cannot hear you."}, Farewell: "Call again."}
	})
	c := call(t, address)
	c.ready()
	c.hears("Call again.")
	c.leaves()
	var told []string
	for _, m := range c.messages() {
		if m.Type == "bot-output" {
			told = append(told, strings.TrimSpace(m.text()))
		}
	}
	if got, want := strings.Join(told, " "), "Hello there. Who are you? Are you still there? I cannot hear you. Call again."; got != want {
		t.Errorf("the caller was told %q, not %q", got, want)
	}
	if heard, want := c.hummed(), (5+4+4+2)*wordTime; heard < want-wordTime || heard > want+wordTime {
		t.Errorf("%s was heard of %s", heard, want)
	}
	eventually(t, "the place is free", func() bool { return srv.Sessions() == 0 })
}

func TestAnOpenMicrophoneDoesNotKeepACallAlive(t *testing.T) { // RT20
	srv, address := serve(t, server.Config{IdleTimeout: 2 * time.Second, Voice: scripted("what was that")})
	c := call(t, address)
	c.ready()
	c.hears("Who are you?")
	c.speak(time.Second) // which counts
	c.until("the user is heard", func(m message) bool { return m.Type == "user-transcription" })
	begun := time.Now()
	c.leaves() // the microphone goes on sending silence
	if took := time.Since(begun); took < 2*time.Second {
		t.Errorf("the call ended %s after the last words", took)
	}
	eventually(t, "the place is free", func() bool { return srv.Sessions() == 0 })
}

// drone is a background that hums as the bot does.
type drone struct {
	tone []int16
	at   int
}

func (d *drone) Mix(samples []int16) error {
	for i := range samples {
		samples[i] += d.tone[d.at%len(d.tone)]
		d.at++
	}
	return nil
}

func TestACallHasABackgroundWhileNobodySpeaks(t *testing.T) {
	silent := false
	_, address := voiced(t, func() *flows.NodeConfig { n := hello(); n.RespondImmediately = &silent; return n }, func(v *server.Voice) {
		v.Background = func(rate int) (speech.Background, error) {
			return &drone{tone: speechtest.Hum(rate, speechtest.Tone, time.Second)}, nil
		}
	})
	c := call(t, address)
	c.ready()
	eventually(t, "two seconds of the background are heard", func() bool { return c.hummed() > 2*time.Second })
	if n := c.counted("bot-started-speaking"); n != 0 {
		t.Errorf("the bot is said to have spoken %d times", n)
	}
}

func TestACallerIsNotLeftInSilenceWhileTheModelThinks(t *testing.T) {
	bot := testBot()
	gate := make(chan struct{})
	bot.Model = &parrot{gate: gate}
	silent := false
	bot.Start = func() *flows.NodeConfig { n := hello(); n.RespondImmediately = &silent; return n }
	voice := scripted("hello there")
	model := &remembering{Model: bot.Model}
	bot.Model = model
	_, address := serve(t, server.Config{Bot: bot, Voice: func() server.Voice {
		v := voice()
		v.Filler, v.FillerAfter = func() string { return "One moment." }, 300*time.Millisecond
		return v
	}})
	c := call(t, address)
	c.ready()
	c.speak(time.Second)
	eventually(t, "the filler is heard", func() bool { return c.hummed() > wordTime })
	close(gate)
	c.hears("Who are you?")
	if said := model.said(); strings.Contains(said, "moment") {
		t.Errorf("the filler is in the conversation: %q", said)
	}
}

func TestANodesTurnSettingsAreChecked(t *testing.T) {
	bot := testBot()
	bot.Start = func() *flows.NodeConfig {
		n := hello()
		n.Turns = &speech.TurnSettings{Watchdog: -1}
		return n
	}
	_, address := serve(t, server.Config{Bot: bot})
	c := dial(t, address)
	c.send("client-ready", map[string]any{"version": "2.1.0", "about": map[string]any{"library": "test"}})
	m := c.until("the flow cannot begin", func(m message) bool { return m.Type == "error" })
	if !strings.Contains(string(m.Data), "could not begin") {
		t.Errorf("the client is told %s", m.Data)
	}
}
