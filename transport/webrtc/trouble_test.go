package webrtc_test

import (
	"errors"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pion/rtp"
	pion "github.com/pion/webrtc/v4"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/transport/rtvi"
	"github.com/turnwise/turnwise/transport/webrtc"
)

// vanish takes the client away without a word: its sockets are closed under it.
func (c *client) vanish(udp *sockets) { udp.cut() }

func TestACallerThatVanishesIsGoneAfterAWhile(t *testing.T) { // RT20
	s := serve(t, webrtc.Config{LostAfter: 300 * time.Millisecond, ReattachWindow: 300 * time.Millisecond})
	udp := &sockets{}
	c := newClient(t, s.URL+"/api/offer", options{settings: udp.use(t)}).connect()
	call := s.take(t)
	c.ready()
	await[*frames.ClientConnectedFrame](t, call.session)
	c.vanish(udp)
	if err := call.ends(t); !errors.Is(err, webrtc.ErrPeerDead) {
		t.Errorf("the call ended with %v", err)
	}
	if n := call.session.disconnects(); n != 1 {
		t.Errorf("the session was told %d times", n)
	}
}

func TestPingsThatStopEndTheCallToo(t *testing.T) {
	s := serve(t, webrtc.Config{PingTimeout: 500 * time.Millisecond, ReattachWindow: 300 * time.Millisecond})
	c := newClient(t, s.URL+"/api/offer", options{}).connect()
	call := s.take(t)
	c.send("ping: 1")
	if err := call.ends(t); !errors.Is(err, webrtc.ErrPeerDead) || !strings.Contains(err.Error(), "pings") {
		t.Errorf("the call ended with %v", err)
	}
}

func TestACallerThatNeverConnectsIsGivenUp(t *testing.T) {
	s := serve(t, webrtc.Config{ConnectTimeout: 200 * time.Millisecond})
	c := newClient(t, s.URL+"/api/offer", options{})
	if status, _ := post(t, "POST", c.url, map[string]any{"sdp": c.offer(), "type": "offer"}); status != http.StatusOK {
		t.Fatal(status)
	}
	if err := s.take(t).ends(t); !errors.Is(err, webrtc.ErrNotConnected) {
		t.Errorf("the call ended with %v", err)
	}
}

func TestALostCallerComesBackToItsSession(t *testing.T) {
	s := serve(t, webrtc.Config{LostAfter: 300 * time.Millisecond, ReattachWindow: wait})
	src := &source{}
	s.source = src
	udp := &sockets{}
	first := newClient(t, s.URL+"/api/offer", options{settings: udp.use(t)}).connect()
	call := s.take(t)
	first.ready()
	await[*frames.ClientConnectedFrame](t, call.session)
	first.vanish(udp)
	src.put(tone(24000, 440, time.Minute))
	eventually(t, "the bot to stop talking to nobody", func() bool {
		before := src.left()
		time.Sleep(200 * time.Millisecond)
		return src.left() == before
	})
	call.conn.Send([]byte("while you were away"), rtvi.Essential)

	second := newClient(t, s.URL+"/api/offer", options{})
	open := make(chan struct{})
	second.dc.OnOpen(func() { close(open) })
	second.call(first.id, true)
	if second.id == first.id || second.id == "" {
		t.Errorf("the second connection has the id %q, the first %q", second.id, first.id)
	}
	second.waitFor("the channel", open)
	second.message("while you were away")
	second.send(`{"label":"rtvi-ai","type":"send-text","id":"t1","data":{"content":"I am back"}}`)
	if f := await[*frames.UserTextFrame](t, call.session); f.Text != "I am back" {
		t.Errorf("got %q", f.Text)
	}
	before := src.left()
	eventually(t, "the bot to go on", func() bool { return src.left() < before })
	for _, id := range []string{first.id, second.id} {
		if status, _ := post(t, "PATCH", first.url, map[string]any{"pc_id": id}); status != http.StatusOK {
			t.Errorf("candidates for %s were answered with %d", id, status)
		}
	}
	if st := call.conn.Stats(); st.Reattached != 1 {
		t.Errorf("reattached %d times", st.Reattached)
	}
	if n := s.engine.Calls(); n != 1 {
		t.Errorf("%d calls", n)
	}
	if n := call.session.disconnects(); n != 0 {
		t.Errorf("the session was told %d times that its caller has gone", n)
	}
	if err := second.pc.Close(); err != nil {
		t.Fatal(err)
	}
	if err := call.ends(t); !errors.Is(err, webrtc.ErrPeerGone) {
		t.Errorf("the call ended with %v", err)
	}
	if n := call.session.disconnects(); n != 1 {
		t.Errorf("the session was told %d times", n)
	}
}

func TestARestartOfAHealthyCallKeepsItsSession(t *testing.T) {
	s := serve(t, webrtc.Config{})
	first := newClient(t, s.URL+"/api/offer", options{}).connect()
	call := s.take(t)
	second := newClient(t, s.URL+"/api/offer", options{})
	open := make(chan struct{})
	second.dc.OnOpen(func() { close(open) })
	second.call(first.id, true)
	second.waitFor("the channel", open)
	second.ready()
	await[*frames.ClientConnectedFrame](t, call.session)
	first.waitFor("the old channel to close", first.dcClosed)
}

func TestAFurtherOfferChangesTheSameConnection(t *testing.T) {
	s := serve(t, webrtc.Config{})
	c := newClient(t, s.URL+"/api/offer", options{}).connect()
	call := s.take(t)
	call.conn.Renegotiate()
	call.conn.Renegotiate()
	c.message(`"renegotiate"`)
	id := c.id
	if _, err := c.pc.AddTransceiverFromKind(pion.RTPCodecTypeVideo); err != nil {
		t.Fatal(err)
	}
	c.call(id, false)
	if c.id != id {
		t.Errorf("the id changed from %q to %q", id, c.id)
	}
	c.ready()
	await[*frames.ClientConnectedFrame](t, call.session)
	call.conn.Send([]byte("last"), rtvi.Essential)
	if m := <-c.messages; m != "last" {
		t.Errorf("between came %q: a second request to renegotiate within two seconds", m)
	}
	broken := map[string]any{"sdp": "v=0", "type": "offer", "pc_id": id}
	if status, _ := post(t, "POST", c.url, broken); status != http.StatusBadRequest {
		t.Errorf("a broken offer was answered with %d", status)
	}
	call.conn.Send([]byte("still here"), rtvi.Essential)
	c.message("still here")
}

func TestAClientThatIsNotReadyInTimeIsToldSo(t *testing.T) {
	s := serve(t, webrtc.Config{ReadyTimeout: 300 * time.Millisecond})
	c := newClient(t, s.URL+"/api/offer", options{}).connect()
	c.message(`"fatal":true`)
	c.message("peerLeft")
	if err := s.take(t).ends(t); !errors.Is(err, webrtc.ErrNotReady) {
		t.Errorf("the call ended with %v", err)
	}
}

func TestAFloodOfMessagesEndsTheCall(t *testing.T) {
	s := serve(t, webrtc.Config{MessageRate: 10, MessageBurst: 20})
	c := newClient(t, s.URL+"/api/offer", options{}).connect()
	for range 30 {
		c.send("ping: 1")
	}
	if err := s.take(t).ends(t); !errors.Is(err, webrtc.ErrFlood) {
		t.Errorf("the call ended with %v", err)
	}
}

func TestAMessageThatIsTooLargeEndsTheCall(t *testing.T) {
	s := serve(t, webrtc.Config{MaxMessage: 16 << 10})
	c := newClient(t, s.URL+"/api/offer", options{}).connect()
	call := s.take(t)
	c.send(`{"label":"rtvi-ai","type":"send-text","data":{"content":"` + strings.Repeat("x", 8<<10) + `"}}`)
	if f := await[*frames.UserTextFrame](t, call.session); len(f.Text) != 8<<10 {
		t.Errorf("a message of %d bytes came", len(f.Text))
	}
	// The client's own library keeps to what the answer says.
	if err := c.dc.SendText(strings.Repeat("x", 17<<10)); err != nil {
		t.Skip("the client refuses to send so much:", err)
	}
	if err := call.ends(t); !errors.Is(err, webrtc.ErrTooLarge) {
		t.Errorf("the call ended with %v", err)
	}
}

func TestTheQueueOfAClientThatIsNotThereIsBounded(t *testing.T) {
	s := serve(t, webrtc.Config{MaxQueue: 10000})
	c := newClient(t, s.URL+"/api/offer", options{})
	if status, _ := post(t, "POST", c.url, map[string]any{"sdp": c.offer(), "type": "offer"}); status != http.StatusOK {
		t.Fatal(status)
	}
	call := s.take(t)
	msg := []byte(strings.Repeat("x", 100))
	for range 100 {
		call.conn.Send(msg, rtvi.Droppable)
	}
	if n := call.conn.Stats().DroppedMessages; n < 45 || n > 50 {
		t.Errorf("%d of 100 tokens were dropped, want about half", n)
	}
	for range 100 {
		call.conn.Send(msg, rtvi.Essential)
	}
	if err := call.ends(t); !errors.Is(err, webrtc.ErrSlowReader) {
		t.Errorf("the call ended with %v", err)
	}
}

func TestACallerThatBeginsMutedIsHeardLater(t *testing.T) {
	s := serve(t, webrtc.Config{})
	c := newClient(t, s.URL+"/api/offer", options{}).connect()
	call := s.take(t)
	status := `{"type":"signalling","message":{"type":"trackStatus","receiver_index":0,"enabled":`
	c.send(status + `false}}`)
	c.ready()
	await[*frames.ClientConnectedFrame](t, call.session)
	if n := len(call.session.heard()); n != 0 {
		t.Errorf("%d samples came from a microphone that never sent", n)
	}
	c.send(status + `true}}`)
	c.speak(tone(48000, 440, 600*time.Millisecond), 48000, nil)
	eventually(t, "sound", func() bool { return len(call.session.heard()) >= 8000 })
	before := len(call.session.heard())
	c.send(status + `false}}`)
	eventually(t, "silence", func() bool { return len(call.session.heard()) >= before+3200 })
	for _, v := range call.session.heard()[before+1600:] {
		if v != 0 {
			t.Fatal("a muted microphone is not silent")
		}
	}
}

func TestOfTwoMicrophonesTheFirstIsHeard(t *testing.T) {
	s := serve(t, webrtc.Config{})
	c := newClient(t, s.URL+"/api/offer", options{})
	second, err := pion.NewTrackLocalStaticRTP(pion.RTPCodecCapability{MimeType: pion.MimeTypeOpus, ClockRate: 48000, Channels: 2}, "other", "client")
	if err != nil {
		t.Fatal(err)
	}
	sender, err := c.pc.AddTrack(second)
	if err != nil {
		t.Fatal(err)
	}
	go drain(sender.Read)
	c.connect()
	if got := [2]string{direction(t, c.answer, "0"), direction(t, c.answer, "1")}; got != [2]string{"sendrecv", "inactive"} {
		t.Errorf("the lines are %v", got)
	}
	call := s.take(t)
	for i := range 20 {
		_ = second.WriteRTP(rtpPacket(i, 960, []byte{0xf8, 0xff, 0xfe}))
	}
	c.speak(tone(48000, 440, 700*time.Millisecond), 48000, nil)
	eventually(t, "sound", func() bool { return len(call.session.heard()) >= 9600 })
	checkTone(t, call.session.heard()[3200:9600], 16000, 440, 0.003)
}

// TestPicturesNobodyWantsTakeNoMemory has a client send pictures on a line that was
// declined: it is made to believe that it was not.
func TestPicturesNobodyWantsTakeNoMemory(t *testing.T) { // RT40
	s := serve(t, webrtc.Config{})
	c := newClient(t, s.URL+"/api/offer", options{})
	camera, err := pion.NewTrackLocalStaticRTP(pion.RTPCodecCapability{MimeType: pion.MimeTypeVP8, ClockRate: 90000}, "camera", "client")
	if err != nil {
		t.Fatal(err)
	}
	sender, err := c.pc.AddTrack(camera)
	if err != nil {
		t.Fatal(err)
	}
	go drain(sender.Read)
	c.edit = func(answer string) string { return strings.Replace(answer, "a=inactive", "a=recvonly", 1) }
	c.connect()
	call := s.take(t)
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	junk := make([]byte, 1000)
	sent := 0
	flood := func(n int) {
		for range n {
			p := &rtp.Packet{Header: rtp.Header{Version: 2, SequenceNumber: uint16(sent), Marker: sent%10 == 0}, Payload: junk}
			if err := camera.WriteRTP(p); err != nil {
				t.Fatal(err)
			}
			if sent++; sent%100 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
	}
	flood(5000)
	before := heap()
	flood(20000) // 20 MB
	if n := c.bytesSent(); n < 20<<20 {
		t.Fatalf("the client has sent only %d bytes", n)
	}
	if grown := int64(heap()) - int64(before); grown > 1<<20 {
		t.Errorf("20 MB that nobody wants made the heap grow by %d KB", grown>>10)
	}
	c.ready()
	await[*frames.ClientConnectedFrame](t, call.session)
}
