package server_test

import (
	"encoding/json"
	"math"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/turnwise/turnwise/audio/vad"
	"github.com/turnwise/turnwise/flows"
	"github.com/turnwise/turnwise/server"
	"github.com/turnwise/turnwise/speech/speechtest"
	"github.com/turnwise/turnwise/transport/webrtc"
)

// wordTime is how long the bot hums for a word.
const wordTime = 250 * time.Millisecond

// scripted is a voice for callers on this machine whose words are given.
func scripted(lines ...string) func() server.Voice {
	return func() server.Voice {
		return server.Voice{
			Recognizer: speechtest.Dictation(lines...), Synthesizer: speechtest.Humming{Word: wordTime},
			Detector: func() (vad.Detector, error) {
				d, err := vad.NewEnergy(16000)
				if err != nil {
					return nil, err
				}
				return d, nil
			},
			WebRTC: webrtc.Config{Loopback: true, Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}},
			Note:   "It hums.",
		}
	}
}

func TestACallerIsGreetedAloudAnsweredAndSeenOff(t *testing.T) {
	srv, address := serve(t, server.Config{Voice: scripted("take_name please")})
	c := call(t, address)
	c.ready()
	c.hears("Who are you?")
	c.until("the bot has spoken", func(m message) bool { return m.Type == "bot-stopped-speaking" })
	if heard := c.hummed(); heard < 4*wordTime || heard > 6*wordTime {
		t.Errorf("%s of the greeting's five words was heard", heard)
	}
	if srv.Sessions() != 1 {
		t.Errorf("%d conversations", srv.Sessions())
	}
	c.speak(time.Second)
	m := c.until("the user's words", func(m message) bool { return m.Type == "user-transcription" })
	if m.text() != "take_name please" {
		t.Errorf("the user was heard to say %q", m.text())
	}
	c.hears("Goodbye, Ada.")
	c.leaves()
	var events []string
	for _, m := range c.messages() {
		switch m.Type {
		case "bot-ready", "bot-started-speaking", "bot-stopped-speaking", "user-started-speaking", "user-stopped-speaking":
			events = append(events, m.Type)
		}
	}
	want := "bot-ready bot-started-speaking bot-stopped-speaking user-started-speaking user-stopped-speaking bot-started-speaking bot-stopped-speaking"
	if got := strings.Join(events, " "); got != want {
		t.Errorf("events:\n%s\nwant\n%s", got, want)
	}
	if heard := c.hummed(); heard < 6*wordTime || heard > 8*wordTime {
		t.Errorf("%s of the seven words was heard", heard)
	}
	eventually(t, "the place is free", func() bool { return srv.Sessions() == 0 })
	a := do(t, http.MethodGet, address+"/metrics")
	for _, part := range []string{
		`turnwise_sessions_total{end="done"} 1`, "turnwise_turns_total 1",
		"turnwise_answer_seconds_count 1", `turnwise_answer_part_seconds_count{part="endpointing"} 1`,
		"turnwise_calls_active 0", `turnwise_call_packets_total{what="lost"} 0`,
	} {
		if !strings.Contains(a.body, part) {
			t.Errorf("the metrics have no %q", part)
		}
	}
}

// toldOfVoice is the last message of the server about the voice.
func (c *caller) toldOfVoice() (m server.VoiceMessage) {
	for _, got := range c.messages() {
		var v server.VoiceMessage
		if got.Type == "server-message" && json.Unmarshal(got.Data, &v) == nil && v.Kind == "voice" {
			m = v
		}
	}
	return m
}

func TestACallerIsToldHowLongTheAnswerTook(t *testing.T) {
	_, address := serve(t, server.Config{Voice: scripted("take_name please")})
	c := call(t, address)
	c.ready()
	c.hears("Who are you?")
	if m := c.toldOfVoice(); m.Latency != nil {
		t.Errorf("the greeting, which nobody asked for, took %+v", m.Latency)
	}
	eventually(t, "packets are counted while the call goes on", func() bool {
		return !strings.Contains(do(t, http.MethodGet, address+"/metrics").body, `turnwise_call_packets_total{what="sent"} 0`+"\n")
	})
	c.speak(time.Second)
	c.hears("Goodbye, Ada.")
	c.leaves()
	l := c.toldOfVoice().Latency
	if l == nil {
		t.Fatal("nothing was told of the answer")
	}
	sum := l.Recognition + l.Endpointing + l.Model + l.Sentence + l.Synthesis + l.Playout
	if l.Total < 0.6 || math.Abs(l.Total-sum) > 0.004 {
		t.Errorf("of %.3f s, the parts are %+v", l.Total, *l)
	}
}

func TestACallerIsToldALineOnce(t *testing.T) {
	bot := testBot()
	bot.Start = func() *flows.NodeConfig {
		n := hello()
		n.PreActions = []flows.Action{flows.Say("Welcome to the test.")}
		return n
	}
	_, address := serve(t, server.Config{Bot: bot, Voice: scripted()})
	c := call(t, address)
	c.ready()
	c.hears("Who are you?")
	var told []string
	for _, m := range c.messages() {
		if m.Type == "bot-output" {
			told = append(told, strings.TrimSpace(m.text()))
		}
	}
	if got, want := strings.Join(told, " "), "Welcome to the test. Hello there. Who are you?"; got != want {
		t.Errorf("the caller was told %q, not %q", got, want)
	}
}

func TestACallerWhoSpeaksStopsTheBot(t *testing.T) {
	bot := testBot()
	long := strings.Repeat("word ", 60) + "end."
	bot.Start = func() *flows.NodeConfig { n := hello(); n.TaskMessages = say(long); return n }
	srv, address := serve(t, server.Config{Bot: bot, Voice: scripted("take_name please")})
	c := call(t, address)
	c.ready()
	c.until("the bot speaks", func(m message) bool { return m.Type == "bot-started-speaking" })
	eventually(t, "a second of it is heard", func() bool { return c.hummed() > time.Second })
	c.speak(time.Second)
	c.until("the bot is interrupted", func(m message) bool { return m.Type == "bot-interrupted" })
	eventually(t, "the bot is silent", func() bool {
		before := c.hummed()
		time.Sleep(100 * time.Millisecond)
		return c.hummed() == before
	})
	before := c.hummed()
	c.hears("Goodbye, Ada.")
	c.leaves()
	if farewell := c.hummed() - before; farewell < 2*wordTime-40*time.Millisecond { // RT18
		t.Errorf("the bot left when %s of its farewell was heard", farewell)
	}
	// It would have been fifteen seconds. What was heard is what there was until
	// the user was noticed, and the farewell.
	if heard := c.hummed(); heard > 6*time.Second {
		t.Errorf("%s of the bot was heard", heard)
	}
	var said int
	for _, m := range c.messages() {
		if m.Type == "bot-output" {
			said += strings.Count(m.text(), "word")
		}
	}
	if said < 2 || said > 20 {
		t.Errorf("%d words were told as heard", said)
	}
	eventually(t, "the place is free", func() bool { return srv.Sessions() == 0 })
}

func TestACallerMayTypeAndHangUp(t *testing.T) {
	srv, address := serve(t, server.Config{Voice: scripted()})
	c := call(t, address)
	c.ready()
	c.hears("Who are you?")
	c.send("send-text", map[string]any{"content": "what was that"})
	c.until("the typed text is answered", func(m message) bool { return m.Type == "user-llm-text" })
	c.hangUp()
	eventually(t, "the place is free", func() bool { return srv.Sessions() == 0 })
	a := do(t, http.MethodGet, address+"/metrics")
	if !strings.Contains(a.body, `turnwise_sessions_total{end="left"} 1`) {
		t.Error("a caller who hung up is not counted as one who left")
	}
}

func TestCallersShareTheDoorWithThoseWhoType(t *testing.T) {
	srv, address := serve(t, server.Config{Voice: scripted(), MaxSessions: 1})
	typed := dial(t, address)
	typed.ready()
	status, detail := offer(t, address)
	if status != http.StatusServiceUnavailable || !strings.Contains(detail, "All lines are busy") {
		t.Errorf("a call to a full server: %d %q", status, detail)
	}
	_ = typed.ws.Close()
	eventually(t, "the place is free", func() bool { return srv.Sessions() == 0 })
	c := call(t, address)
	c.ready()
	c.hears("Who are you?")
	go srv.Drain(t.Context(), 0)
	c.leaves()
	eventually(t, "the place is free", func() bool { return srv.Sessions() == 0 })
	if status, _ := offer(t, address); status != http.StatusServiceUnavailable {
		t.Errorf("a call to a server that has drained: %d", status)
	}
}

func TestAServerWithoutVoiceSaysSo(t *testing.T) {
	missing := func() server.Voice { return server.Voice{Missing: "Install a voice."} }
	for name, c := range map[string]struct {
		voice        func() server.Voice
		info, detail string
	}{
		"made for chat":   {nil, `"voice":{"available":false}`, "cannot be called"},
		"nothing found":   {missing, `"voice":{"available":false,"note":"Install a voice."}`, "Install a voice."},
		"set up wrongly":  {func() server.Voice { return server.Voice{} }, `"available":false,"note":"The voice of this bot could not be set up`, "could not be set up"},
		"with everything": {scripted(), `"voice":{"available":true,"note":"It hums."}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, address := serve(t, server.Config{Voice: c.voice})
			if a := do(t, http.MethodGet, address+"/api/flow"); !strings.Contains(a.body, c.info) {
				t.Errorf("the flow is described as %s", a.body)
			}
			if c.detail == "" {
				return
			}
			status, detail := offer(t, address)
			if status != http.StatusNotFound || !strings.Contains(detail, c.detail) {
				t.Errorf("a call is answered with %d %q", status, detail)
			}
		})
	}
}
