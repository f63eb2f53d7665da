package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/flows"
	"github.com/turnwise/turnwise/server"
	"github.com/turnwise/turnwise/speech/speechtest"
	"github.com/turnwise/turnwise/transport/websocket/wire"
)

// headset is a client with the binary form, which hears and speaks.
type headset struct {
	*client
	ear   sync.Mutex
	heard time.Duration
	mouth sync.Mutex // one writes at a time
}

// wear connects a headset to where /connect says.
func wear(t *testing.T, address string) *headset {
	t.Helper()
	a := do(t, http.MethodPost, address+"/connect")
	var where struct{ WSURL string }
	if err := json.Unmarshal([]byte(a.body), &where); err != nil || !strings.HasSuffix(where.WSURL, "/ws?audio=true") {
		t.Fatalf("/connect says %s", a.body)
	}
	ws, _, err := websocket.DefaultDialer.Dial(where.WSURL, nil)
	if err != nil {
		t.Fatal(err)
	}
	h := &headset{client: &client{t: t, ws: ws, change: make(chan struct{}), done: make(chan struct{})}}
	go h.listen()
	t.Cleanup(func() {
		_ = ws.Close()
		<-h.done
	})
	h.write(wire.AppendMessage(nil, []byte(`{"label":"rtvi-ai","type":"client-ready","id":"r","data":{"version":"2.1.0","about":{"library":"test"}}}`)))
	return h
}

func (h *headset) write(b []byte) {
	h.t.Helper()
	h.mouth.Lock()
	defer h.mouth.Unlock()
	if err := h.ws.WriteMessage(websocket.BinaryMessage, b); err != nil {
		h.t.Fatal(err)
	}
}

// listen reads messages and sound until the connection ends.
func (h *headset) listen() {
	defer close(h.done)
	for {
		_, raw, err := h.ws.ReadMessage()
		var m message
		var f wire.Frame
		if err == nil {
			if f, err = wire.Decode(raw); err == nil && f.Kind == wire.Message {
				err = json.Unmarshal(f.Data, &m)
			}
		}
		if err == nil && f.Kind == wire.Audio {
			var d audio.ByteDecoder
			if samples := d.Append(nil, f.Audio); audio.Level(samples) > -40 {
				h.ear.Lock()
				h.heard += time.Duration(len(samples)) * time.Second / time.Duration(f.Rate)
				h.ear.Unlock()
			}
			continue
		}
		h.mu.Lock()
		if err == nil {
			h.got = append(h.got, m)
		}
		h.err = err
		close(h.change)
		h.change = make(chan struct{})
		h.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (h *headset) sound() time.Duration {
	h.ear.Lock()
	defer h.ear.Unlock()
	return h.heard
}

// speaks sends sound for d and then silence, at the pace of a microphone.
func (h *headset) speaks(d time.Duration) {
	said := append(speechtest.Hum(16000, 300, d), make([]int16, 16000)...)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for len(said) > 0 {
		<-tick.C
		n := min(320, len(said))
		h.write(wire.AppendAudio(nil, said[:n], 16000, 1))
		said = said[n:]
	}
}

func TestAClientOverAWebSocketIsHeardAndSpokenTo(t *testing.T) {
	srv, address := serve(t, server.Config{Voice: scripted("take_name please")})
	h := wear(t, address)
	h.hears("Who are you?")
	h.until("the bot has spoken", func(m message) bool { return m.Type == "bot-stopped-speaking" })
	if heard := h.sound(); heard < 4*wordTime || heard > 6*wordTime {
		t.Errorf("%s of the greeting's five words was heard", heard)
	}
	h.speaks(time.Second)
	m := h.until("the user's words", func(m message) bool { return m.Type == "user-transcription" })
	if m.text() != "take_name please" {
		t.Errorf("the user was heard to say %q", m.text())
	}
	h.hears("Goodbye, Ada.")
	if code := h.closed(); code != websocket.CloseNormalClosure {
		t.Errorf("the connection was closed with %d", code)
	}
	if heard := h.sound(); heard < 6*wordTime || heard > 8*wordTime {
		t.Errorf("%s of the seven words was heard", heard)
	}
	eventually(t, "the place is free", func() bool { return srv.Sessions() == 0 })
}

func TestAClientOverAWebSocketStopsTheBotBySpeaking(t *testing.T) {
	bot := testBot()
	long := strings.Repeat("word ", 60) + "end."
	start := bot.Start
	bot.Start = func() *flows.NodeConfig { n := start(); n.TaskMessages = say(long); return n }
	_, address := serve(t, server.Config{Bot: bot, Voice: scripted("take_name please")})
	h := wear(t, address)
	eventually(t, "a second of it is heard", func() bool { return h.sound() > time.Second })
	h.speaks(time.Second)
	h.until("the bot is interrupted", func(m message) bool { return m.Type == "bot-interrupted" })
	h.hears("Goodbye, Ada.")
	h.closed()
	if heard := h.sound(); heard > 6*time.Second {
		t.Errorf("%s of the bot was heard", heard)
	}
}

func TestAClientMayWantNoSound(t *testing.T) {
	_, address := serve(t, server.Config{Voice: scripted()})
	for body, audio := range map[string]bool{``: true, `{"audio":false}`: false, `{"body":{"audio":false}}`: false, `{"audio":true}`: true, `[1]`: true} {
		for _, path := range []string{"/connect", "/start"} {
			response, err := http.Post(address+path, "application/json", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			var where struct{ WSURL string }
			err = json.NewDecoder(response.Body).Decode(&where)
			_ = response.Body.Close()
			if err != nil || strings.Contains(where.WSURL, "audio") != audio {
				t.Errorf("POST %s %s: %q, %v", path, body, where.WSURL, err)
			}
		}
	}
}
