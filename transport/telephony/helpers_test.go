package telephony_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/transport/telephony"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script is how a carrier streams, written from its public protocol.
type script struct {
	carrier telephony.Carrier
	begin   []string // what it sends first
	media   func(payload string) string
	// The answers it takes: the names of their events and of the field with the
	// stream, which has to be "MZ1" where there is one.
	sound, clear, stream string
	bytes                int // of 20 ms
	want                 telephony.Info
}

var scripts = []script{
	{
		carrier: telephony.Twilio,
		begin: []string{
			`{"event":"connected","protocol":"Call","version":"1.0.0"}`,
			`{"event":"start","sequenceNumber":"1","streamSid":"MZ1","start":{"accountSid":"AC1","streamSid":"MZ1","callSid":"CA1","tracks":["inbound"],"customParameters":{"from":"+100","to":"+200","lang":"en"},"mediaFormat":{"encoding":"audio/x-mulaw","sampleRate":8000,"channels":1}}}`,
		},
		media: func(p string) string {
			return `{"event":"media","streamSid":"MZ1","media":{"track":"inbound","chunk":"2","timestamp":"5","payload":"` + p + `"}}`
		},
		sound: "media", clear: "clear", stream: "streamSid", bytes: 160,
		want: telephony.Info{Carrier: telephony.Twilio, Call: "CA1", Stream: "MZ1", Account: "AC1", From: "+100", To: "+200", Encoding: telephony.ULaw},
	},
	{
		carrier: telephony.Telnyx,
		begin: []string{
			`{"event":"connected","version":"1.0.0"}`,
			`{"event":"start","sequence_number":"1","stream_id":"MZ1","start":{"user_id":"u","call_control_id":"CA1","from":"+100","to":"+200","media_format":{"encoding":"PCMA","sample_rate":8000,"channels":1}}}`,
		},
		media: func(p string) string {
			return `{"event":"media","sequence_number":"4","stream_id":"MZ1","media":{"track":"inbound","chunk":"2","payload":"` + p + `"}}`
		},
		sound: "media", clear: "clear", bytes: 160,
		want: telephony.Info{Carrier: telephony.Telnyx, Call: "CA1", Stream: "MZ1", From: "+100", To: "+200", Encoding: telephony.ALaw},
	},
	{
		carrier: telephony.Plivo,
		begin: []string{
			`{"sequenceNumber":0,"event":"start","start":{"callId":"CA1","streamId":"MZ1","accountId":"1","tracks":["inbound"],"mediaFormat":{"encoding":"audio/x-mulaw","sampleRate":8000}}}`,
		},
		media: func(p string) string {
			return `{"sequenceNumber":2,"streamId":"MZ1","event":"media","media":{"track":"inbound","payload":"` + p + `"}}`
		},
		sound: "playAudio", clear: "clearAudio", stream: "streamId", bytes: 160,
		want: telephony.Info{Carrier: telephony.Plivo, Call: "CA1", Stream: "MZ1", Encoding: telephony.ULaw},
	},
	{
		carrier: telephony.Exotel,
		begin: []string{
			`{"event":"connected"}`,
			`{"event":"start","sequence_number":1,"stream_sid":"MZ1","start":{"stream_sid":"MZ1","call_sid":"CA1","account_sid":"AC1","from":"+100","to":"+200","custom_parameters":{"lang":"en"}}}`,
		},
		media: func(p string) string {
			return `{"event":"media","sequence_number":3,"stream_sid":"MZ1","media":{"chunk":2,"timestamp":"10","payload":"` + p + `"}}`
		},
		sound: "media", clear: "clear", stream: "stream_sid", bytes: 320,
		want: telephony.Info{Carrier: telephony.Exotel, Call: "CA1", Stream: "MZ1", Account: "AC1", From: "+100", To: "+200", Encoding: telephony.Linear},
	},
}

// session notes what it gets, and ends on request.
type session struct {
	mu    sync.Mutex
	got   []frames.Frame
	ended chan error
	once  sync.Once
}

func newSession() *session { return &session{ended: make(chan error, 1)} }

func (s *session) Run(ctx context.Context) error {
	select {
	case err := <-s.ended:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *session) end(err error) { s.once.Do(func() { s.ended <- err }) }

func (s *session) QueueFrame(f frames.Frame) {
	switch a := f.(type) {
	case *frames.InputAudioFrame:
		a.Samples = slices.Clone(a.Samples)
	case *frames.CancelFrame:
		s.end(nil)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = append(s.got, f)
}

// gotten returns the frames of one type.
func gotten[F frames.Frame](s *session) (out []F) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.got {
		if f, ok := f.(F); ok {
			out = append(out, f)
		}
	}
	return out
}

// switchboard is a server inside a bubble, over pipes in memory.
type switchboard struct {
	t        *testing.T
	exchange *telephony.Exchange
	dials    chan net.Conn
	conns    chan *telephony.Conn
	refused  chan error
	run      func(*telephony.Conn, *session) error
	session  *session
	over     chan error
}

func (s *switchboard) Accept() (net.Conn, error) {
	c, ok := <-s.dials
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (*switchboard) Close() error   { return nil }
func (*switchboard) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

// board runs fn in virtual time with a switchboard; run serves each call.
func board(t *testing.T, cfg telephony.Config, run func(*telephony.Conn, *session) error, fn func(t *testing.T, b *switchboard, s *session)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		exchange, err := telephony.NewExchange(cfg)
		if err != nil {
			t.Fatal(err)
		}
		s := &switchboard{
			t: t, exchange: exchange, dials: make(chan net.Conn), run: run, session: newSession(),
			conns: make(chan *telephony.Conn, 1), refused: make(chan error, 1), over: make(chan error, 1),
		}
		srv := &http.Server{Handler: s}
		served := make(chan error)
		go func() { served <- srv.Serve(s) }()
		fn(t, s, s.session)
		close(s.dials)
		<-served
		_ = srv.Close()
		exchange.Close()
	})
}

func (s *switchboard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conn, err := s.exchange.Accept(w, r)
	if err != nil {
		s.refused <- err
		return
	}
	s.conns <- conn
	s.over <- s.run(conn, s.session)
}

// phone is a carrier's side of a call.
type phone struct {
	t  *testing.T
	ws *websocket.Conn
	script

	mu     sync.Mutex
	sounds []time.Time // when 20 ms came
	events []string    // and everything, by its kind
	heard  []byte
	closed chan int // the close code
}

func (s *switchboard) dial(header http.Header) (*websocket.Conn, error) {
	d := websocket.Dialer{NetDialContext: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		s.dials <- theirs
		return ours, nil
	}}
	ws, response, err := d.Dial("ws://phone/", header)
	if response != nil {
		_ = response.Body.Close()
	}
	return ws, err
}

// ring calls as a carrier does.
func (s *switchboard) ring(sc script) *phone {
	s.t.Helper()
	ws, err := s.dial(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	p := &phone{t: s.t, ws: ws, script: sc, closed: make(chan int, 1)}
	for _, m := range sc.begin {
		p.send(m)
	}
	go p.read()
	return p
}

func (p *phone) send(text string) {
	p.t.Helper()
	if err := p.ws.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		p.t.Fatal(err)
	}
}

// read takes what is sent and refuses what the carrier would.
func (p *phone) read() {
	for {
		kind, raw, err := p.ws.ReadMessage()
		if err != nil {
			code := -1
			if e, ok := err.(*websocket.CloseError); ok {
				code = e.Code
			}
			p.closed <- code
			return
		}
		var m map[string]json.RawMessage
		if err := json.Unmarshal(raw, &m); err != nil || kind != websocket.TextMessage {
			p.t.Errorf("%s was sent %q, kind %d", p.carrier, raw, kind)
			continue
		}
		if p.stream != "" && string(m[p.stream]) != `"MZ1"` {
			p.t.Errorf("%s was sent %s without its stream", p.carrier, raw)
		}
		p.take(string(m["event"]), m["media"])
	}
}

func (p *phone) take(event string, media json.RawMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch event {
	case `"` + p.clear + `"`:
		p.events = append(p.events, "clear")
	case `"` + p.sound + `"`:
		var m struct {
			Payload     string
			ContentType string
			SampleRate  int
		}
		if err := json.Unmarshal(media, &m); err != nil {
			p.t.Errorf("%s was sent %s", p.carrier, media)
		}
		data, err := base64.StdEncoding.DecodeString(m.Payload)
		if err != nil || len(data) != p.bytes {
			p.t.Errorf("%s was sent %d bytes, %v", p.carrier, len(data), err)
		}
		if p.carrier == telephony.Plivo && (m.ContentType != "audio/x-mulaw" || m.SampleRate != 8000) {
			p.t.Errorf("Plivo was sent %s", media)
		}
		p.heard = append(p.heard, data...)
		p.sounds = append(p.sounds, time.Now())
		p.events = append(p.events, "sound")
	default:
		p.t.Errorf("%s was sent the event %s", p.carrier, event)
	}
}

func (p *phone) seen() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.events)
}

// hangsUp closes the carrier's side and waits for the end of the reading.
func (p *phone) hangsUp() {
	_ = p.ws.Close()
	<-p.closed
}
