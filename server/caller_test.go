package server_test

import (
	"bytes"
	"encoding/json"
	"math"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pion/rtp"
	pion "github.com/pion/webrtc/v4"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/opus"
	"github.com/turnwise/turnwise/speech/speechtest"
)

// caller is a client that calls. It keeps what it is told and measures what it hears.
type caller struct {
	*client
	pc      *pion.PeerConnection
	mic     *pion.TrackLocalStaticRTP
	channel *pion.DataChannel
	left    chan struct{}

	ear     sync.Mutex
	heard   time.Duration // of the bot's tone
	packets int
	loud    chan time.Duration
}

// offerTo sends an offer and returns the answer.
func offerTo(t *testing.T, address, sdp string) (int, map[string]any) {
	t.Helper()
	body, err := json.Marshal(map[string]string{"type": "offer", "sdp": sdp})
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Post(address+"/api/offer", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer := map[string]any{}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, answer
}

// offer calls and hangs up at once; it returns how it was answered.
func offer(t *testing.T, address string) (status int, detail string) {
	t.Helper()
	c := newCaller(t)
	status, answer := offerTo(t, address, c.describe())
	detail, _ = answer["detail"].(string)
	return status, detail
}

func newCaller(t *testing.T) *caller {
	t.Helper()
	s := pion.SettingEngine{}
	s.SetIncludeLoopbackCandidate(true)
	s.SetIPFilter(func(ip net.IP) bool { return ip.IsLoopback() && ip.To4() != nil })
	pc, err := pion.NewAPI(pion.WithSettingEngine(s)).NewPeerConnection(pion.Configuration{})
	if err != nil {
		t.Fatal(err)
	}
	c := &caller{
		client: &client{t: t, change: make(chan struct{}), done: make(chan struct{})},
		pc:     pc, left: make(chan struct{}), loud: make(chan time.Duration, 1),
	}
	t.Cleanup(func() { _ = pc.GracefulClose() })
	c.mic, err = pion.NewTrackLocalStaticRTP(pion.RTPCodecCapability{MimeType: pion.MimeTypeOpus, ClockRate: 48000, Channels: 2}, "mic", "caller")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pc.AddTrack(c.mic); err != nil {
		t.Fatal(err)
	}
	if c.channel, err = pc.CreateDataChannel("chat", nil); err != nil {
		t.Fatal(err)
	}
	c.channel.OnMessage(func(m pion.DataChannelMessage) { c.told(m.Data) })
	pc.OnTrack(func(track *pion.TrackRemote, _ *pion.RTPReceiver) { c.listen(track) })
	return c
}

// describe makes an offer with all addresses in it.
func (c *caller) describe() string {
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

// call calls a server. The caller is silent until told to speak.
func call(t *testing.T, address string) *caller {
	t.Helper()
	c := newCaller(t)
	open := make(chan struct{})
	c.channel.OnOpen(func() { close(open) })
	status, answer := offerTo(t, address, c.describe())
	if status != http.StatusOK {
		t.Fatalf("the call was answered with %d: %v", status, answer)
	}
	if err := c.pc.SetRemoteDescription(pion.SessionDescription{Type: pion.SDPTypeAnswer, SDP: answer["sdp"].(string)}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-open:
	case <-time.After(patience):
		t.Fatal("the call was not connected")
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() { defer close(stopped); c.breathe(stop) }()
	t.Cleanup(func() { close(stop); <-stopped })
	return c
}

// told keeps a message.
func (c *caller) told(raw []byte) {
	var m message
	_ = json.Unmarshal(raw, &m) // what it is not, it is not
	c.mu.Lock()
	defer c.mu.Unlock()
	if strings.Contains(string(raw), "peerLeft") {
		close(c.left)
	}
	c.got = append(c.got, m)
	close(c.change)
	c.change = make(chan struct{})
}

// breathe sends the microphone's sound: silence, or a tone for as long as is asked.
func (c *caller) breathe(stop <-chan struct{}) {
	enc, err := opus.NewEncoder(opus.EncoderConfig{Format: audio.Mono(16000)})
	if err != nil {
		panic(err)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	silence := make([]int16, 320)
	var tone []int16
	for n := 0; ; n++ {
		select {
		case d := <-c.loud:
			tone = speechtest.Hum(16000, 300, d)
		case <-stop:
			return
		default:
		}
		piece := silence
		if len(tone) >= 320 {
			piece, tone = tone[:320], tone[320:]
		}
		packet, err := enc.Encode(nil, piece)
		if err != nil {
			panic(err)
		}
		_ = c.mic.WriteRTP(&rtp.Packet{
			Header:  rtp.Header{Version: 2, SequenceNumber: uint16(n), Timestamp: uint32(n * 960)},
			Payload: packet,
		})
		select {
		case <-tick.C:
		case <-stop:
			return
		}
	}
}

// speak makes the caller's sound for a while.
func (c *caller) speak(d time.Duration) { c.loud <- d }

// listen measures what the bot sends.
func (c *caller) listen(track *pion.TrackRemote) {
	dec, err := opus.NewDecoder(audio.Mono(24000))
	if err != nil {
		panic(err)
	}
	room := make([]int16, 0, opus.MaxSamples(audio.Mono(24000)))
	for {
		p, _, err := track.ReadRTP()
		if err != nil {
			return
		}
		samples, err := dec.Decode(room, p.Payload)
		if err != nil {
			continue
		}
		c.ear.Lock()
		c.packets++
		if isTone(samples, 24000, speechtest.Tone) {
			c.heard += time.Duration(len(samples)) * time.Second / 24000
		}
		c.ear.Unlock()
	}
}

// hummed is how much of the bot's tone was heard so far.
func (c *caller) hummed() time.Duration {
	c.ear.Lock()
	defer c.ear.Unlock()
	return c.heard
}

// isTone reports whether samples are mostly a tone that is not faint.
func isTone(samples []int16, rate int, hz float64) bool {
	var re, im, all float64
	for i, s := range samples {
		sin, cos := math.Sincos(2 * math.Pi * hz * float64(i) / float64(rate))
		re += float64(s) * cos
		im += float64(s) * sin
		all += float64(s) * float64(s)
	}
	n := float64(len(samples))
	return n > 0 && all/n > 1000*1000 && 2*(re*re+im*im)/n > 0.5*all
}

func (c *caller) send(kind string, data any) {
	c.t.Helper()
	raw, err := json.Marshal(map[string]any{"label": "rtvi-ai", "type": kind, "id": "id-" + kind, "data": data})
	if err != nil {
		c.t.Fatal(err)
	}
	if err := c.channel.SendText(string(raw)); err != nil {
		c.t.Fatalf("send %s: %v", kind, err)
	}
}

// ready says that the client is there and waits for the bot.
func (c *caller) ready() {
	c.t.Helper()
	c.send("client-ready", map[string]any{"version": "2.1.0", "about": map[string]any{"library": "test"}})
	c.until("the bot is ready", func(m message) bool { return m.Type == "bot-ready" })
}

// messages is what was told so far.
func (c *caller) messages() []message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]message(nil), c.got...)
}

// leaves waits until the caller is told that the bot has left.
func (c *caller) leaves() {
	c.t.Helper()
	select {
	case <-c.left:
	case <-time.After(patience):
		c.t.Fatalf("the bot does not leave; got %v", c.types())
	}
}

func (c *caller) hangUp() {
	c.t.Helper()
	if err := c.pc.GracefulClose(); err != nil {
		c.t.Error(err)
	}
}
