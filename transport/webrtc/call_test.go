package webrtc_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pion/rtp"
	pion "github.com/pion/webrtc/v4"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/transport/rtvi"
	"github.com/turnwise/turnwise/transport/webrtc"
)

// rtpPacket is packet n of a stream.
func rtpPacket(n, ticks int, payload []byte) *rtp.Packet {
	return &rtp.Packet{
		Header:  rtp.Header{Version: 2, SequenceNumber: uint16(n + 65500), Timestamp: uint32(n * ticks)},
		Payload: payload,
	}
}

func TestACallCarriesMessagesBothWaysAndEndsWhenTheCallerHangsUp(t *testing.T) {
	s := serve(t, webrtc.Config{})
	c := newClient(t, s.URL+"/api/offer", options{cameras: 2}).connect()
	call := s.take(t)
	c.send("ping: 1789000000000")
	c.send(`{"type":"signalling","message":{"type":"trackStatus","receiver_index":0,"enabled":true}}`)
	c.ready()
	if f := await[*rtvi.ClientReadyFrame](t, call.session); f.ID != "r1" {
		t.Errorf("client-ready came with id %q", f.ID)
	}
	await[*frames.ClientConnectedFrame](t, call.session)
	call.conn.Send([]byte(`{"label":"rtvi-ai","type":"bot-ready","id":"r1"}`), rtvi.Essential)
	c.message("bot-ready")
	if err := c.pc.Close(); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := call.ends(t); !errors.Is(err, webrtc.ErrPeerGone) {
		t.Errorf("the call ended with %v", err)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %v to notice", took)
	}
	if n := call.session.disconnects(); n != 1 {
		t.Errorf("the session was told %d times that the caller has gone", n)
	}
	if status, _ := post(t, "PATCH", c.url, map[string]any{"pc_id": c.id}); status != http.StatusNotFound {
		t.Errorf("the call's id still leads somewhere: %d", status)
	}
}

func TestTheBotsVoiceTakesTheFirstLineAndTheOthersAreDeclined(t *testing.T) {
	s := serve(t, webrtc.Config{})
	c := newClient(t, s.URL+"/api/offer", options{cameras: 2})
	c.call("", false)
	for mid, want := range map[string]string{"0": "sendrecv", "1": "inactive", "2": "inactive"} {
		if got := direction(t, c.answer, mid); got != want {
			t.Errorf("line %s is %s, want %s", mid, got, want)
		}
	}
	if !strings.Contains(c.answer, "a=candidate:") {
		t.Error("the answer has no candidates")
	}
	for _, part := range []string{"useinbandfec=1", "usedtx=1"} {
		if !strings.Contains(c.answer, part) {
			t.Errorf("the answer does not say %s", part)
		}
	}
}

func TestSilenceIsSentFromTheBeginning(t *testing.T) {
	s := serve(t, webrtc.Config{})
	c := newClient(t, s.URL+"/api/offer", options{}).connect()
	track := <-c.tracks
	var before *rtp.Packet
	for i := range 20 {
		p, _, err := track.ReadRTP()
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 && !p.Marker {
			t.Error("the first packet has no marker")
		}
		if before != nil && (p.SequenceNumber != before.SequenceNumber+1 || p.Timestamp != before.Timestamp+960) {
			t.Errorf("packet %d/%d follows %d/%d", p.SequenceNumber, p.Timestamp, before.SequenceNumber, before.Timestamp)
		}
		before = p
	}
}

func TestTheEndOfTheSessionTellsTheClientThatTheBotHasLeft(t *testing.T) {
	s := serve(t, webrtc.Config{})
	c := newClient(t, s.URL+"/api/offer", options{}).connect()
	call := s.take(t)
	c.ready()
	await[*frames.ClientConnectedFrame](t, call.session)
	call.conn.Send([]byte(`{"farewell":true}`), rtvi.Essential)
	begin := time.Now()
	call.session.end(nil)
	c.message("farewell")
	c.message("peerLeft")
	if err := call.ends(t); err != nil {
		t.Errorf("a graceful end gave %v", err)
	}
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("the end took %v", took)
	}
	c.waitFor("the client's channel to close", c.dcClosed)
	if n := call.session.disconnects(); n != 0 {
		t.Errorf("a session that had ended was told %d times that the caller has gone", n)
	}
}

func TestAFailedSessionIsToldAsAFatalError(t *testing.T) {
	s := serve(t, webrtc.Config{})
	c := newClient(t, s.URL+"/api/offer", options{}).connect()
	call := s.take(t)
	broken := errors.New("broken")
	call.session.end(broken)
	if m := c.message("error"); !strings.Contains(m, `"fatal":true`) || strings.Contains(m, "broken") {
		t.Errorf("the client was told %s", m)
	}
	c.message("peerLeft")
	if err := call.ends(t); !errors.Is(err, broken) {
		t.Errorf("the call ended with %v", err)
	}
}

// dialing is a client whose offer has been answered, but who has not connected yet.
func dialing(t *testing.T, s *server) (c *client, call *call, connect func()) {
	t.Helper()
	c = newClient(t, s.URL+"/api/offer", options{})
	status, reply := post(t, "POST", c.url, map[string]any{"sdp": c.offer(), "type": "offer", "pc_id": nil})
	if status != http.StatusOK {
		t.Fatal(reply)
	}
	return c, s.take(t), func() {
		t.Helper()
		if err := c.pc.SetRemoteDescription(pion.SessionDescription{Type: pion.SDPTypeAnswer, SDP: reply["sdp"].(string)}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestACallerThatIsStillConnectingIsToldWhyThereIsNoBot(t *testing.T) {
	for name, c := range map[string]struct {
		rejects bool
		told    string
	}{
		"the session fails":    {told: "because of an error on the server"},
		"the call is rejected": {rejects: true, told: "No bot today."},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, webrtc.Config{})
			s.rejects = c.rejects
			client, call, connect := dialing(t, s)
			call.session.end(errors.New("broken"))
			connect()
			if m := client.message("error"); !strings.Contains(m, `"fatal":true`) || !strings.Contains(m, c.told) {
				t.Errorf("the client was told %s", m)
			}
			client.message("peerLeft")
			client.waitFor("the client's channel to close", client.dcClosed)
			if err := call.ends(t); (err == nil) != c.rejects {
				t.Errorf("the call ended with %v", err)
			}
		})
	}
}

func TestAnEngineThatClosesDoesNotWaitForCallersThatAreStillConnecting(t *testing.T) {
	s := serve(t, webrtc.Config{LostAfter: time.Hour, CloseTimeout: 100 * time.Millisecond})
	_, call, _ := dialing(t, s)
	call.session.end(errors.New("broken"))
	if err := s.engine.Close(); err != nil {
		t.Error(err)
	}
	if err := call.ends(t); err == nil {
		t.Error("the failure was lost")
	}
}

func TestMessagesBeforeTheChannelIsOpenWaitInOrder(t *testing.T) {
	s := serve(t, webrtc.Config{})
	c, call, connect := dialing(t, s)
	open := make(chan struct{})
	c.dc.OnOpen(func() { close(open) })
	for _, m := range []string{"one", "two", "three"} {
		call.conn.Send([]byte(m), rtvi.Essential)
	}
	connect()
	c.waitFor("the channel", open)
	for _, want := range []string{"one", "two", "three"} {
		if got := <-c.messages; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestACallerWithoutMicrophoneHearsTheBot(t *testing.T) {
	s := serve(t, webrtc.Config{})
	c := newClient(t, s.URL+"/api/offer", options{noMic: true, listens: true}).connect()
	if got := direction(t, c.answer, "0"); got != "sendonly" {
		t.Errorf("the line is %s", got)
	}
	if _, _, err := (<-c.tracks).ReadRTP(); err != nil {
		t.Error(err)
	}
}

func TestACallWithoutSoundCarriesMessages(t *testing.T) {
	s := serve(t, webrtc.Config{})
	c := newClient(t, s.URL+"/api/offer", options{noMic: true}).connect()
	call := s.take(t)
	c.ready()
	await[*frames.ClientConnectedFrame](t, call.session)
}

func TestAllCallsCanShareOnePort(t *testing.T) {
	s := serve(t, webrtc.Config{SharedPort: true})
	ports := map[string]bool{}
	for range 3 {
		c := newClient(t, s.URL+"/api/offer", options{}).connect()
		call := s.take(t)
		c.ready()
		await[*frames.ClientConnectedFrame](t, call.session)
		for _, line := range strings.Split(c.answer, "\r\n") {
			if f := strings.Fields(line); strings.HasPrefix(line, "a=candidate:") {
				ports[f[5]] = true
			}
		}
	}
	if len(ports) != 1 {
		t.Errorf("three calls used the ports %v", ports)
	}
}

func TestTheCallersSoundArrivesAsMono16k(t *testing.T) {
	for name, rate := range map[string]int{"encoded at 48 kHz": 48000, "encoded at 8 kHz": 8000, "encoded at 24 kHz": 24000} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, webrtc.Config{})
			c := newClient(t, s.URL+"/api/offer", options{}).connect()
			call := s.take(t)
			c.speak(tone(rate, 440, 1200*time.Millisecond), rate, nil)
			eventually(t, "a second of sound", func() bool { return len(call.session.heard()) >= 16000 })
			checkTone(t, call.session.heard()[3200:16000], 16000, 440, 0.002)
		})
	}
}
