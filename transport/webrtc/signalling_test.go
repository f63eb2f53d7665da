package webrtc_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	pion "github.com/pion/webrtc/v4"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/transport/webrtc"
)

func TestRequestsThatMakeNoSenseAreRefusedForGoodWithAReason(t *testing.T) {
	s := serve(t, webrtc.Config{})
	sdp := newClient(t, "", options{}).offer()
	offer := s.URL + "/api/offer"
	for _, c := range []struct {
		name, method, url string
		body              any
		status            int
	}{
		{"an offer that is no JSON", "POST", offer, []byte("hello"), 400},
		{"an offer that is a list", "POST", offer, []byte("[]"), 400},
		{"an empty offer", "POST", offer, []byte(""), 400},
		{"an offer without a description", "POST", offer, map[string]any{"type": "offer"}, 400},
		{"an answer", "POST", offer, map[string]any{"type": "answer", "sdp": sdp}, 400},
		{"a broken description", "POST", offer, map[string]any{"type": "offer", "sdp": "v=0\r\nnonsense"}, 400},
		{"a description without lines", "POST", offer, map[string]any{"type": "offer", "sdp": "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\n"}, 400},
		{"too many media lines", "POST", offer, map[string]any{"type": "offer", "sdp": sdp + strings.Repeat("m=audio 9 UDP/TLS/RTP/SAVPF 111\r\n", 20)}, 400},
		{"an id that is too long", "POST", offer, map[string]any{"type": "offer", "sdp": sdp, "pc_id": strings.Repeat("x", 1000)}, 400},
		{"a request that is too large", "POST", offer, map[string]any{"type": "offer", "sdp": strings.Repeat("x", 1<<20)}, 413},
		{"a session that was not started", "POST", s.URL + "/sessions/nobody/api/offer", map[string]any{"type": "offer", "sdp": sdp}, 404},
		{"candidates without an id", "PATCH", offer, map[string]any{"candidates": []any{}}, 400},
		{"candidates for an unknown call", "PATCH", offer, map[string]any{"pc_id": "nobody", "candidates": []any{}}, 404},
		{"candidates that are no list", "PATCH", offer, map[string]any{"pc_id": "x", "candidates": 3}, 400},
		{"another method", "DELETE", offer, nil, 405},
		{"a start that is no JSON", "POST", s.URL + "/start", []byte("{"), 400},
		{"a start with too much data", "POST", s.URL + "/start", map[string]any{"body": strings.Repeat("x", 10000)}, 413},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, reply := post(t, c.method, c.url, c.body)
			if status != c.status {
				t.Errorf("got %d, want %d: %v", status, c.status, reply)
			}
			if d, _ := reply["detail"].(string); d == "" {
				t.Errorf("the reply gives no reason: %v", reply)
			}
		})
	}
	if n := s.engine.Calls(); n != 0 {
		t.Errorf("%d calls are left of requests that were refused", n)
	}
}

func TestTheServerSaysWhomItTakes(t *testing.T) {
	s := serve(t, webrtc.Config{})
	sdp := newClient(t, "", options{}).offer()
	for _, want := range []struct {
		err    error
		status int
		detail string
	}{
		{&webrtc.Refusal{Status: 503, Detail: "All lines are busy."}, 503, "All lines are busy."},
		{&webrtc.Refusal{Status: 403, Detail: "Not you."}, 403, "Not you."},
		{errors.New("secret"), 500, "The call could not be set up."},
	} {
		s.refuse = func(*webrtc.Call) error { return want.err }
		status, reply := post(t, "POST", s.URL+"/api/offer", map[string]any{"sdp": sdp, "type": "offer"})
		if d := reply["detail"].(string); status != want.status || !strings.Contains(d, want.detail) || strings.Contains(d, "secret") {
			t.Errorf("%v was answered with %d %q", want.err, status, d)
		}
	}
}

func TestStartGivesAnIDThatLeadsToACallWithItsData(t *testing.T) {
	s := serve(t, webrtc.Config{ClientICEServers: []webrtc.ICEServer{{URLs: []string{"stun:stun.example.org:3478"}}}})
	status, reply := post(t, "POST", s.URL+"/start", map[string]any{"transport": "webrtc", "body": map[string]any{"lang": "en"}})
	if status != http.StatusOK {
		t.Fatal(status, reply)
	}
	servers := reply["iceConfig"].(map[string]any)["iceServers"].([]any)
	if got := servers[0].(map[string]any)["urls"].([]any)[0]; got != "stun:stun.example.org:3478" {
		t.Errorf("the client is told of %v", servers)
	}
	id := reply["sessionId"].(string)
	c := newClient(t, s.URL+"/sessions/"+id+"/api/offer", options{}).connect()
	call := s.take(t)
	if call.info.SessionID != id || string(call.info.Data) != `{"lang":"en"}` {
		t.Errorf("the call has session %q with %s", call.info.SessionID, call.info.Data)
	}
	if status, reply := post(t, "PATCH", c.url, map[string]any{"pc_id": c.id, "candidates": []any{}}); status != http.StatusOK {
		t.Errorf("candidates were answered with %d %v", status, reply)
	}
	if status, _ := post(t, "POST", s.URL+"/start", []byte("")); status != http.StatusOK {
		t.Errorf("a start without a body was answered with %d", status)
	}
}

func TestDataOfTheOfferComesBeforeThatOfTheStart(t *testing.T) {
	s := serve(t, webrtc.Config{})
	for body, want := range map[string]string{
		`"requestData":{"a":1},"request_data":{"b":2}`: `{"a":1}`,
		`"request_data":{"b":2}`:                       `{"b":2}`,
		`"requestData":null`:                           ``,
	} {
		_, reply := post(t, "POST", s.URL+"/start", []byte(`{}`))
		c := newClient(t, "", options{})
		raw := `{"type":"offer","sdp":` + quote(c.offer()) + `,` + body + `}`
		if status, reply := post(t, "POST", s.URL+"/sessions/"+reply["sessionId"].(string)+"/api/offer", []byte(raw)); status != http.StatusOK {
			t.Fatal(status, reply)
		}
		if got := string(s.take(t).info.Data); got != want {
			t.Errorf("%s: the call got %q, want %q", body, got, want)
		}
	}
}

func quote(s string) string {
	return `"` + strings.NewReplacer("\r", `\r`, "\n", `\n`, `"`, `\"`).Replace(s) + `"`
}

func TestAnOfferOfAnUnknownCallIsANewCall(t *testing.T) {
	s := serve(t, webrtc.Config{})
	c := newClient(t, s.URL+"/api/offer", options{})
	c.call("long gone", true)
	s.take(t)
	if c.id == "" || c.id == "long gone" {
		t.Errorf("the new call has the id %q", c.id)
	}
}

// TestCandidatesMayComeLateAndEmptyAndOfAnyKind has the client keep its addresses back
// and send them in pieces, among such as no server can use.
func TestCandidatesMayComeLateAndEmptyAndOfAnyKind(t *testing.T) { // RT42, RT43
	s := serve(t, webrtc.Config{})
	c := newClient(t, s.URL+"/api/offer", options{})
	open := make(chan struct{})
	c.dc.OnOpen(func() { close(open) })
	full := c.offer()
	var bare, found []string
	for _, line := range strings.Split(full, "\r\n") {
		switch {
		case strings.HasPrefix(line, "a=candidate:"):
			found = append(found, strings.TrimPrefix(line, "a="))
		case line != "a=end-of-candidates":
			bare = append(bare, line)
		}
	}
	status, reply := post(t, "POST", c.url, map[string]any{"sdp": strings.Join(bare, "\r\n"), "type": "offer", "pc_id": nil})
	if status != http.StatusOK {
		t.Fatal(status, reply)
	}
	if err := c.pc.SetRemoteDescription(pion.SessionDescription{Type: pion.SDPTypeAnswer, SDP: reply["sdp"].(string)}); err != nil {
		t.Fatal(err)
	}
	id := reply["pc_id"]
	odd := []map[string]any{
		{"candidate": "", "sdp_mid": "0", "sdp_mline_index": 0},
		{"candidate": "candidate:nonsense", "sdp_mid": "0"},
		{"candidate": "candidate:1 1 tcp 1518280447 127.0.0.1 9 typ host tcptype active", "sdp_mid": "0", "sdp_mline_index": 0},
		{"candidate": "candidate:2 1 udp 2122260223 0a1b2c3d-0000-4000-8000-000000000000.local 50000 typ host", "sdp_mid": "0"},
		{"candidate": "candidate:3 1 udp 2122262783 fe80::1 50001 typ host", "sdp_mid": "0"},
		{"candidate": "candidate:4 1 udp 1 127.0.0.1 1 typ unheard-of", "sdp_mid": "0"},
		{"candidate": found[0], "sdp_mid": "7", "sdp_mline_index": 7},
		{},
	}
	for _, batch := range [][]map[string]any{odd[:1], odd, {{"candidate": found[0], "sdp_mid": "0", "sdp_mline_index": 0}, odd[0]}, nil} {
		if status, reply := post(t, "PATCH", c.url, map[string]any{"pc_id": id, "candidates": batch}); status != http.StatusOK {
			t.Errorf("%v was answered with %d %v", batch, status, reply)
		}
	}
	c.waitFor("the call to stand", open)
	if status, reply := post(t, "PATCH", c.url, map[string]any{"pc_id": id, "candidates": odd}); status != http.StatusOK {
		t.Errorf("late candidates were answered with %d %v", status, reply)
	}
	c.ready()
	await[*frames.ClientConnectedFrame](t, s.take(t).session)
}

func TestAClosedEngineTakesNoCalls(t *testing.T) {
	engine, err := webrtc.NewEngine(local(webrtc.Config{}))
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, webrtc.Config{})
	c := newClient(t, s.URL+"/api/offer", options{}).connect()
	call := s.take(t)
	if err := s.engine.Close(); err != nil {
		t.Fatal(err)
	}
	if err := call.ends(t); !errors.Is(err, webrtc.ErrClosed) {
		t.Errorf("the call ended with %v", err)
	}
	if status, reply := post(t, "POST", c.url, map[string]any{"sdp": newClient(t, "", options{}).offer(), "type": "offer"}); status != http.StatusServiceUnavailable {
		t.Errorf("an offer was answered with %d %v", status, reply)
	}
	if err := engine.Close(); err != nil {
		t.Error(err)
	}
}

func TestConfigurationsThatCannotWorkAreRefusedByName(t *testing.T) {
	for field, cfg := range map[string]webrtc.Config{
		"PortMin":    {PortMin: 2000, PortMax: 1000},
		"SharedPort": {SharedPort: true, PortMin: 1000, PortMax: 2000},
		"Port":       {Port: 1000},
		"PublicIPs":  {PublicIPs: []string{"example.org"}},
		"MaxHold":    {MinHold: 2, MaxHold: 1},
		"MinBitrate": {MinBitrate: 40000},
		"rate":       {OutputRate: 44100},
		"Complexity": {Complexity: 11},
		"MaxQueue":   {MaxQueue: -1},
		"LostAfter":  {LostAfter: -1},
	} {
		_, err := webrtc.NewEngine(cfg)
		if !errors.Is(err, webrtc.ErrConfig) || !strings.Contains(err.Error(), field) {
			t.Errorf("a wrong %s: %v", field, err)
		}
	}
}
