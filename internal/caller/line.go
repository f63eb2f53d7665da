package caller

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/pion/interceptor"
	pion "github.com/pion/webrtc/v4"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/opus"
	"github.com/turnwise/turnwise/transport/rtvi"
)

// call is one under way. What is not said to be for others belongs to the goroutine
// of [Call].
type call struct {
	cfg    Config
	begun  time.Time
	report Report
	parts  []Part // of the answer that is coming

	pc  *pion.PeerConnection
	dc  *pion.DataChannel
	mic *pion.TrackLocalStaticRTP

	// events come from the data channel, and ready is closed by its bot-ready; over
	// is closed when the call has ended.
	events chan event
	ready  chan struct{}
	over   chan struct{}

	mouth mouth
	ear   ear
}

// event is a message of the server's.
type event struct {
	kind rtvi.Type
	at   time.Time
	data struct {
		Text         string `json:"text"`
		Final        bool   `json:"final"`
		SpokenStatus string `json:"spoken_status"`
		Event        string `json:"event"`
		Node         string `json:"node"`
		Error        string `json:"error"`
		Fatal        bool   `json:"fatal"`
		// Latency is of Turnwise's own message about an answer, in seconds.
		Latency map[string]float64 `json:"latency"`
	}
}

// connect makes the call and waits until its data channel is open.
func (c *call) connect(ctx context.Context) error {
	offers, err := c.offerURL()
	if err != nil {
		return err
	}
	if err := c.prepare(offers); err != nil {
		return err
	}
	open := make(chan struct{})
	c.dc.OnOpen(func() { close(open) })
	c.dc.OnMessage(func(m pion.DataChannelMessage) { c.hear(m.Data) })
	over := sync.OnceFunc(func() { close(c.over) })
	c.dc.OnClose(over)
	c.pc.OnConnectionStateChange(func(state pion.PeerConnectionState) {
		if state == pion.PeerConnectionStateFailed || state == pion.PeerConnectionStateClosed {
			over()
		}
	})
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Patience)
	defer cancel()
	offer, err := c.pc.CreateOffer(nil)
	if err != nil {
		return err
	}
	gathered := pion.GatheringCompletePromise(c.pc)
	if err := c.pc.SetLocalDescription(offer); err != nil {
		return err
	}
	select {
	case <-gathered:
	case <-ctx.Done():
		return ctx.Err()
	}
	answer, err := c.post(ctx, offers.String(), c.pc.LocalDescription().SDP)
	if err != nil {
		return err
	}
	if err := c.pc.SetRemoteDescription(pion.SessionDescription{Type: pion.SDPTypeAnswer, SDP: answer}); err != nil {
		return fmt.Errorf("the answer cannot be used: %w", err)
	}
	select {
	case <-open:
		return c.send(rtvi.TypeClientReady, rtvi.ClientReady{Version: rtvi.Version, About: rtvi.Library{Library: "turnwise call"}})
	case <-ctx.Done():
		return errors.New("no way to it was found; are its UDP ports reachable?")
	}
}

// offerURL is where offers go.
func (c *call) offerURL() (*url.URL, error) {
	u, err := url.Parse(c.cfg.URL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, errors.New("the address must be one of http or https, such as http://localhost:8080")
	}
	return u.JoinPath("api", "offer"), nil
}

// prepare makes what the call goes over.
func (c *call) prepare(to *url.URL) error {
	var settings pion.SettingEngine
	if ip := net.ParseIP(to.Hostname()); to.Hostname() == "localhost" || ip != nil && ip.IsLoopback() {
		settings.SetIncludeLoopbackCandidate(true)
	}
	settings.SetICEMulticastDNSMode(0)
	media := &pion.MediaEngine{}
	capability := pion.RTPCodecCapability{MimeType: pion.MimeTypeOpus, ClockRate: opus.ClockRate, Channels: 2, SDPFmtpLine: "minptime=10;useinbandfec=1"}
	if err := media.RegisterCodec(pion.RTPCodecParameters{RTPCodecCapability: capability, PayloadType: 111}, pion.RTPCodecTypeAudio); err != nil {
		return err
	}
	reports := &interceptor.Registry{}
	if err := pion.ConfigureRTCPReports(reports); err != nil {
		return err
	}
	var err error
	api := pion.NewAPI(pion.WithMediaEngine(media), pion.WithSettingEngine(settings), pion.WithInterceptorRegistry(reports))
	if c.pc, err = api.NewPeerConnection(pion.Configuration{}); err != nil {
		return err
	}
	if c.mic, err = pion.NewTrackLocalStaticRTP(capability, "microphone", "caller"); err != nil {
		return err
	}
	sender, err := c.pc.AddTrack(c.mic)
	if err != nil {
		return err
	}
	go drain(sender.Read)
	c.pc.OnTrack(func(t *pion.TrackRemote, r *pion.RTPReceiver) {
		go drain(r.Read)
		c.ear.follow(t)
	})
	c.dc, err = c.pc.CreateDataChannel("chat", nil)
	return err
}

// post sends the offer and returns the answer.
func (c *call) post(ctx context.Context, to, sdp string) (string, error) {
	body, err := json.Marshal(map[string]string{"sdp": sdp, "type": "offer"})
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	c.ear.calledAt(time.Now())
	response, err := c.cfg.HTTP.Do(req)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return "", err
	}
	var reply struct {
		SDP    string `json:"sdp"`
		Detail string `json:"detail"`
	}
	if err := json.Unmarshal(raw, &reply); err != nil || response.StatusCode != http.StatusOK || reply.SDP == "" {
		if reply.Detail == "" {
			reply.Detail = "it takes no calls there"
		}
		return "", fmt.Errorf("it answered %s: %s", response.Status, strings.TrimSpace(reply.Detail))
	}
	return reply.SDP, nil
}

// hear takes a message of the server's; it runs on the data channel's goroutine.
func (c *call) hear(raw []byte) {
	m, err := rtvi.Decode(raw)
	if err != nil {
		return // not one of this protocol
	}
	if m.Type == rtvi.TypeBotReady {
		select {
		case <-c.ready:
		default:
			close(c.ready)
		}
		return
	}
	e := event{kind: m.Type, at: time.Now()}
	_ = json.Unmarshal(m.Data, &e.data) // of another shape: without what we look for
	switch m.Type {
	case rtvi.TypeBotStartedSpeaking, rtvi.TypeBotStoppedSpeaking, rtvi.TypeUserTranscription,
		rtvi.TypeBotOutput, rtvi.TypeServerMessage, rtvi.TypeError:
		select {
		case c.events <- e:
		case <-c.over:
		}
	}
}

// send sends a message of the client protocol; it may be called from any goroutine.
func (c *call) send(kind rtvi.Type, data any) error {
	raw, err := rtvi.Append(nil, kind, string(kind), data)
	if err != nil {
		return err
	}
	if err := c.dc.SendText(string(raw)); err != nil {
		return fmt.Errorf("the call broke: %w", err)
	}
	return nil
}

// close ends the connection and waits for its goroutines.
func (c *call) close() {
	if c.pc != nil {
		_ = c.pc.GracefulClose() // nothing is left to be said
	}
	c.report.SetUp = c.ear.setUp()
	c.cfg.HTTP.CloseIdleConnections()
}

func drain(read func([]byte) (int, interceptor.Attributes, error)) {
	buf := make([]byte, 1500)
	for {
		if _, _, err := read(buf); err != nil {
			return
		}
	}
}

// silent is the level in dBFS below which sound is not heard.
const silent = -50

// isSound reports whether a piece of sound can be heard.
func isSound(samples []int16) bool { return audio.Level(samples) > silent }
