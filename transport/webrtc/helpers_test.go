package webrtc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/logging"
	pion "github.com/pion/webrtc/v4"
	"go.uber.org/goleak"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/opus"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/transport/rtvi"
	"github.com/turnwise/turnwise/transport/webrtc"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *callers != "" {
		callOften(*callers)
	}
	goleak.VerifyTestMain(m)
}

// wait is how long something may take on a machine that is busy with other things.
const wait = 20 * time.Second

// session is one that does nothing but note what it gets. It ends on request.
type session struct {
	frames chan frames.Frame
	ended  chan error
	once   sync.Once

	mu      sync.Mutex
	samples []int16
	pieces  int
	gone    int // ClientDisconnectedFrames
	onReady func()
}

func newSession() *session {
	return &session{frames: make(chan frames.Frame, 1000), ended: make(chan error, 1)}
}

func (s *session) Run(ctx context.Context) error {
	select {
	case err := <-s.ended:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *session) QueueFrame(f frames.Frame) { _ = s.Enqueue(context.Background(), f) }

func (s *session) Enqueue(_ context.Context, f frames.Frame) error {
	switch f := f.(type) {
	case *frames.InputAudioFrame:
		s.mu.Lock()
		s.samples = append(s.samples, f.Samples...)
		s.pieces++
		s.mu.Unlock()
		return nil
	case *frames.CancelFrame:
		s.end(nil)
	case *frames.ClientDisconnectedFrame:
		s.mu.Lock()
		s.gone++
		s.mu.Unlock()
	case *rtvi.ClientReadyFrame:
		if f.Answered != nil {
			f.Answered()
		}
		if s.onReady != nil {
			s.onReady()
		}
	}
	s.frames <- f
	return nil
}

// end ends the session.
func (s *session) end(err error) { s.once.Do(func() { s.ended <- err }) }

// heard is a copy of the caller's sound so far.
func (s *session) heard() []int16 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]int16(nil), s.samples...)
}

func (s *session) disconnects() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone
}

// await waits for a frame of a type.
func await[T frames.Frame](t *testing.T, s *session) T {
	t.Helper()
	limit := time.After(wait)
	for {
		select {
		case f := <-s.frames:
			if want, ok := f.(T); ok {
				return want
			}
		case <-limit:
			var want T
			t.Fatalf("no %T came", want)
		}
	}
}

// server is an engine with its requests answered over HTTP.
type server struct {
	*httptest.Server
	engine *webrtc.Engine
	calls  chan *call
	refuse func(*webrtc.Call) error
	source webrtc.AudioSource
	wrap   func(*webrtc.Conn, *session) webrtc.Session
}

// call is one that was opened.
type call struct {
	conn    *webrtc.Conn
	info    *webrtc.Call
	session *session
	over    chan error
}

func local(cfg webrtc.Config) webrtc.Config {
	cfg.Loopback = true
	if cfg.Networks == nil {
		cfg.Networks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	}
	return cfg
}

func serve(t testing.TB, cfg webrtc.Config) *server {
	t.Helper()
	engine, err := webrtc.NewEngine(local(cfg))
	if err != nil {
		t.Fatal(err)
	}
	s := &server{engine: engine, calls: make(chan *call, 100)}
	sig, err := engine.Signalling(webrtc.SignallingConfig{Open: s.open})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/api/offer", sig)
	mux.Handle("/sessions/{session}/api/offer", sig)
	mux.HandleFunc("POST /start", sig.ServeStart)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
		s.Server.Close()
	})
	return s
}

func (s *server) open(info *webrtc.Call) error {
	if s.refuse != nil {
		if err := s.refuse(info); err != nil {
			return err
		}
	}
	conn, err := info.Accept()
	if err != nil {
		return err
	}
	conn.Play(s.source)
	c := &call{conn: conn, info: info, session: newSession(), over: make(chan error, 1)}
	var served webrtc.Session = c.session
	if s.wrap != nil {
		served = s.wrap(conn, c.session)
	}
	go func() { c.over <- conn.Run(context.Background(), served) }()
	s.calls <- c
	return nil
}

// take is the call that was opened next.
func (s *server) take(t testing.TB) *call {
	t.Helper()
	select {
	case c := <-s.calls:
		return c
	case <-time.After(wait):
		t.Fatal("no call was opened")
		return nil
	}
}

// ends waits for the end of a call and returns its error.
func (c *call) ends(t testing.TB) error {
	t.Helper()
	select {
	case err := <-c.over:
		return err
	case <-time.After(wait):
		t.Fatal("the call does not end")
		return nil
	}
}

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
