package webrtc_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/logging"
	pion "github.com/pion/webrtc/v4"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/opus"
)

// client is a caller.
type client struct {
	t        testing.TB
	url      string
	pc       *pion.PeerConnection
	mic      *pion.TrackLocalStaticRTP
	dc       *pion.DataChannel
	messages chan string
	tracks   chan *pion.TrackRemote
	id       string
	answer   string
	dcClosed chan struct{}
	edit     func(answer string) string // what the client makes of the answer
}

// options say what a client is like.
type options struct {
	codec    string // MIME type; Opus when empty
	cameras  int
	noMic    bool
	listens  bool // with noMic: an audio line all the same
	noDC     bool
	settings func(*pion.SettingEngine)
}

func newClient(t testing.TB, url string, o options) *client {
	t.Helper()
	s := pion.SettingEngine{LoggerFactory: logging.NewDefaultLoggerFactory()}
	s.SetIncludeLoopbackCandidate(true)
	s.SetIPFilter(func(ip net.IP) bool { return ip.IsLoopback() && ip.To4() != nil })
	if o.settings != nil {
		o.settings(&s)
	}
	m := &pion.MediaEngine{}
	if o.codec == "" {
		if err := m.RegisterDefaultCodecs(); err != nil {
			t.Fatal(err)
		}
	} else {
		capability := pion.RTPCodecCapability{MimeType: o.codec, ClockRate: 8000}
		kind := pion.PayloadType(0)
		if o.codec == pion.MimeTypePCMA {
			kind = 8
		}
		if err := m.RegisterCodec(pion.RTPCodecParameters{RTPCodecCapability: capability, PayloadType: kind}, pion.RTPCodecTypeAudio); err != nil {
			t.Fatal(err)
		}
	}
	ir := &interceptor.Registry{}
	if err := pion.ConfigureRTCPReports(ir); err != nil {
		t.Fatal(err)
	}
	api := pion.NewAPI(pion.WithMediaEngine(m), pion.WithSettingEngine(s), pion.WithInterceptorRegistry(ir))
	pc, err := api.NewPeerConnection(pion.Configuration{})
	if err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, url: url, pc: pc, messages: make(chan string, 1000), tracks: make(chan *pion.TrackRemote, 10), dcClosed: make(chan struct{})}
	t.Cleanup(func() { _ = pc.GracefulClose() })
	if !o.noMic {
		capability := pion.RTPCodecCapability{MimeType: pion.MimeTypeOpus, ClockRate: 48000, Channels: 2}
		if o.codec != "" {
			capability = pion.RTPCodecCapability{MimeType: o.codec, ClockRate: 8000}
		}
		c.mic, err = pion.NewTrackLocalStaticRTP(capability, "mic", "client")
		if err != nil {
			t.Fatal(err)
		}
		sender, err := pc.AddTrack(c.mic)
		if err != nil {
			t.Fatal(err)
		}
		go drain(sender.Read)
	} else if o.listens {
		if _, err := pc.AddTransceiverFromKind(pion.RTPCodecTypeAudio, pion.RTPTransceiverInit{Direction: pion.RTPTransceiverDirectionRecvonly}); err != nil {
			t.Fatal(err)
		}
	}
	for range o.cameras {
		if _, err := pc.AddTransceiverFromKind(pion.RTPCodecTypeVideo); err != nil {
			t.Fatal(err)
		}
	}
	pc.OnTrack(func(tr *pion.TrackRemote, r *pion.RTPReceiver) {
		go drain(r.Read)
		c.tracks <- tr
	})
	if !o.noDC {
		if c.dc, err = pc.CreateDataChannel("chat", nil); err != nil {
			t.Fatal(err)
		}
		c.dc.OnMessage(func(m pion.DataChannelMessage) { c.messages <- string(m.Data) })
		c.dc.OnClose(func() { close(c.dcClosed) })
	}
	return c
}

func drain(read func([]byte) (int, interceptor.Attributes, error)) {
	buf := make([]byte, 1500)
	for {
		if _, _, err := read(buf); err != nil {
			return
		}
	}
}

// post sends a request and returns the status and the reply.
func post(t testing.TB, method, url string, body any) (int, map[string]any) {
	t.Helper()
	data, ok := body.([]byte)
	if !ok {
		var err error
		if data, err = json.Marshal(body); err != nil {
			t.Fatal(err)
		}
	}
	req, err := http.NewRequest(method, url, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("the reply is no JSON: %q", raw)
	}
	http.DefaultClient.CloseIdleConnections()
	return resp.StatusCode, out
}

// offer makes an offer with all addresses in it.
func (c *client) offer() string {
	c.t.Helper()
	o, err := c.pc.CreateOffer(nil)
	if err != nil {
		c.t.Fatal(err)
	}
	gathered := pion.GatheringCompletePromise(c.pc)
	if err := c.pc.SetLocalDescription(o); err != nil {
		c.t.Fatal(err)
	}
	<-gathered
	return c.pc.LocalDescription().SDP
}

// call makes a call, or goes on with the one whose id is given.
func (c *client) call(id string, restart bool) {
	c.t.Helper()
	status, reply := post(c.t, "POST", c.url, map[string]any{"sdp": c.offer(), "type": "offer", "pc_id": id, "restart_pc": restart})
	if status != http.StatusOK {
		c.t.Fatalf("the offer was answered with %d: %v", status, reply)
	}
	c.id, c.answer = reply["pc_id"].(string), reply["sdp"].(string)
	if c.edit != nil {
		c.answer = c.edit(c.answer)
	}
	if err := c.pc.SetRemoteDescription(pion.SessionDescription{Type: pion.SDPTypeAnswer, SDP: c.answer}); err != nil {
		c.t.Fatal(err)
	}
}

// connect calls and waits for the data channel.
func (c *client) connect() *client {
	c.t.Helper()
	open := make(chan struct{})
	c.dc.OnOpen(func() { close(open) })
	c.call("", false)
	c.waitFor("the data channel to open", open)
	return c
}

func (c *client) waitFor(what string, ch <-chan struct{}) {
	c.t.Helper()
	select {
	case <-ch:
	case <-time.After(wait):
		c.t.Fatalf("waited in vain for %s", what)
	}
}

func (c *client) send(text string) {
	c.t.Helper()
	if err := c.dc.SendText(text); err != nil {
		c.t.Fatal(err)
	}
}

// ready sends client-ready.
func (c *client) ready() {
	c.send(`{"label":"rtvi-ai","type":"client-ready","id":"r1","data":{"version":"2.1.0","about":{"library":"test"}}}`)
}

// message waits for a message that contains a text.
func (c *client) message(part string) string {
	c.t.Helper()
	limit := time.After(wait)
	for {
		select {
		case m := <-c.messages:
			if strings.Contains(m, part) {
				return m
			}
		case <-limit:
			c.t.Fatalf("no message with %q came", part)
		}
	}
}

// speak sends sound, 20 ms a packet at the pace of time, until stop is closed or the
// sound is over.
func (c *client) speak(samples []int16, rate int, stop <-chan struct{}) {
	enc, err := opus.NewEncoder(opus.EncoderConfig{Format: audio.Format{Rate: rate, Channels: 1}})
	if err != nil {
		panic(err)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	n := rate / 50
	for i := 0; i+n <= len(samples); i += n {
		packet, err := enc.Encode(nil, samples[i:i+n])
		if err != nil {
			panic(err)
		}
		_ = c.mic.WriteRTP(rtpPacket(i/n, 960, packet))
		select {
		case <-tick.C:
		case <-stop:
			return
		}
	}
}

// eventually waits for a condition that nothing tells of.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	limit := time.Now().Add(wait)
	for !ok() {
		if time.Now().After(limit) {
			t.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// direction is that of a media line of a description, by its mid.
func direction(t testing.TB, sdp, mid string) string {
	t.Helper()
	for _, section := range strings.Split(sdp, "\r\nm=")[1:] {
		if !strings.Contains(section, "a=mid:"+mid+"\r\n") {
			continue
		}
		for _, d := range []string{"sendrecv", "sendonly", "recvonly", "inactive"} {
			if strings.Contains(section+"\r\n", "a="+d+"\r\n") {
				return d
			}
		}
	}
	return fmt.Sprintf("no line with mid %s", mid)
}

// bytesSent is what the client has sent in all.
func (c *client) bytesSent() (n uint64) {
	for _, st := range c.pc.GetStats() {
		if p, ok := st.(pion.ICECandidatePairStats); ok {
			n += p.BytesSent
		}
	}
	return n
}
