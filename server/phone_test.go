package server_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/g711"
	"github.com/turnwise/turnwise/server"
	"github.com/turnwise/turnwise/speech/speechtest"
)

const phoneToken = "0123456789abcdef"

// phoned is a Twilio call: it asks, opens the stream, and speaks and hears in it.
type phoned struct {
	t  *testing.T
	ws *websocket.Conn

	mu      sync.Mutex
	heard   time.Duration // of sound that is no silence
	cleared int
	closed  chan struct{}
}

// askTwilio asks what to do with a call, and returns the stream's address and its
// parameters.
func askTwilio(t *testing.T, address string) (string, map[string]string) {
	t.Helper()
	response, err := http.PostForm(address+"/phone/twilio?token="+phoneToken, url.Values{"From": {"+14155550100"}, "To": {"+14155550199"}, "CallSid": {"CA1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || !strings.HasPrefix(response.Header.Get("Content-Type"), "text/xml") {
		t.Fatalf("the answer is %s %s", response.Status, body)
	}
	var doc struct {
		Stream struct {
			URL        string `xml:"url,attr"`
			Parameters []struct {
				Name  string `xml:"name,attr"`
				Value string `xml:"value,attr"`
			} `xml:"Parameter"`
		} `xml:"Connect>Stream"`
	}
	if err := xml.Unmarshal(body, &doc); err != nil {
		t.Fatal(err)
	}
	parameters := map[string]string{}
	for _, p := range doc.Stream.Parameters {
		parameters[p.Name] = p.Value
	}
	return doc.Stream.URL, parameters
}

func openStream(t *testing.T, address string, parameters map[string]string) *phoned {
	t.Helper()
	ws, response, err := websocket.DefaultDialer.Dial(address, nil)
	if err != nil {
		t.Fatalf("dial: %v (%v)", err, response)
	}
	p := &phoned{t: t, ws: ws, closed: make(chan struct{})}
	t.Cleanup(func() {
		_ = ws.Close()
		<-p.closed
	})
	p.send(map[string]any{"event": "connected", "protocol": "Call"})
	p.send(map[string]any{"event": "start", "streamSid": "MZ1", "start": map[string]any{
		"accountSid": "AC1", "streamSid": "MZ1", "callSid": "CA1", "customParameters": parameters,
	}})
	go p.read()
	return p
}

func (p *phoned) send(v any) {
	p.t.Helper()
	if err := p.ws.WriteJSON(v); err != nil {
		p.t.Fatal(err)
	}
}

func (p *phoned) read() {
	defer close(p.closed)
	for {
		var m struct {
			Event string
			Media struct{ Payload []byte }
		}
		if err := p.ws.ReadJSON(&m); err != nil {
			return
		}
		p.mu.Lock()
		switch m.Event {
		case "media":
			if audio.Level(g711.AppendFromULaw(nil, m.Media.Payload)) > -50 {
				p.heard += 20 * time.Millisecond
			}
		case "clear":
			p.cleared++
		}
		p.mu.Unlock()
	}
}

func (p *phoned) sound() (heard time.Duration, cleared int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.heard, p.cleared
}

// speaks sends sound, and then silence, at the pace of a call.
func (p *phoned) speaks(d time.Duration) {
	p.t.Helper()
	said := g711.AppendULaw(nil, append(speechtest.Hum(8000, 300, d), make([]int16, 8000)...))
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for len(said) > 0 {
		n := min(160, len(said))
		payload := base64.StdEncoding.EncodeToString(said[:n])
		said = said[n:]
		<-tick.C
		p.send(map[string]any{"event": "media", "streamSid": "MZ1", "media": map[string]any{"track": "inbound", "payload": payload}})
	}
}

func TestAPhoneCallIsGreetedInterruptedAndSeenOff(t *testing.T) {
	bot := testBot()
	srv, address := serve(t, server.Config{Bot: bot, Voice: scripted("take_name please"), Phone: &server.Phone{Token: phoneToken}})
	at, parameters := askTwilio(t, address)
	if want := strings.Replace(address, "http", "ws", 1) + "/phone/stream"; at != want || parameters["from"] != "+14155550100" {
		t.Fatalf("the stream is at %s with %v", at, parameters)
	}
	p := openStream(t, at, parameters)
	eventually(t, "the greeting is heard", func() bool { heard, _ := p.sound(); return heard > 2*wordTime })
	p.speaks(time.Second) // into the greeting
	eventually(t, "the farewell was heard and the call is over", func() bool {
		select {
		case <-p.closed:
			return true
		default:
			return false
		}
	})
	if _, cleared := p.sound(); cleared == 0 {
		t.Error("the interruption did not empty the carrier")
	}
	eventually(t, "the place is free", func() bool { return srv.Sessions() == 0 })
	if a := do(t, http.MethodGet, address+"/metrics"); !strings.Contains(a.body, `turnwise_sessions_total{end="done"} 1`) {
		t.Errorf("the metrics are\n%s", a.body)
	}
}

func TestNobodyButTheCarrierOpensAPhoneCall(t *testing.T) {
	srv, address := serve(t, server.Config{Voice: scripted(), Phone: &server.Phone{Token: phoneToken, TwilioAuthToken: "secret"}})
	for path, want := range map[string]int{
		"/phone/twilio":                            http.StatusForbidden,
		"/phone/twilio?token=wrong":                http.StatusForbidden,
		"/phone/twilio?token=" + phoneToken:        http.StatusForbidden, // it is not signed
		"/phone/plivo?token=" + phoneToken:         http.StatusOK,
		"/phone/carrierpigeon?token=" + phoneToken: http.StatusNotFound,
	} {
		if a := do(t, http.MethodPost, address+path); a.status != want {
			t.Errorf("POST %s: %d, not %d", path, a.status, want)
		}
	}
	p := openStream(t, strings.Replace(address, "http", "ws", 1)+"/phone/stream", map[string]string{"token": "guess"})
	<-p.closed
	if heard, _ := p.sound(); heard > 0 {
		t.Errorf("%s was heard", heard)
	}
	eventually(t, "no place is taken", func() bool { return srv.Sessions() == 0 })
	if a := do(t, http.MethodGet, address+"/metrics"); !strings.Contains(a.body, `reason="carrier"} 4`) {
		t.Errorf("the metrics are\n%s", a.body)
	}
}

func TestPhoneSettingsNameWhatIsWrong(t *testing.T) {
	for name, cfg := range map[string]server.Config{
		"Voice":           {Bot: testBot(), Phone: &server.Phone{Token: phoneToken}},
		"Phone.Token":     {Bot: testBot(), Voice: scripted(), Phone: &server.Phone{Token: "short"}},
		"Phone.TelnyxKey": {Bot: testBot(), Voice: scripted(), Phone: &server.Phone{Token: phoneToken, TelnyxKey: []byte("x")}},
	} {
		if _, err := server.New(cfg); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	out, err := json.Marshal(server.Phone{Token: phoneToken, TwilioAuthToken: phoneToken})
	if err != nil || strings.Contains(string(out), phoneToken) {
		t.Errorf("printed as %s, %v", out, err)
	}
}
