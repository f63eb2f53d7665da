package webrtc

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/transport/rtvi"
)

// FuzzSignalling sends anything as an offer, as candidates and as a start. Whatever it
// is, the answer is JSON, and a refusal says why.
func FuzzSignalling(f *testing.F) {
	for _, s := range []string{
		``, `{}`, `[]`, `null`, `{"sdp":"v=0","type":"offer","pc_id":null,"restart_pc":false}`,
		`{"sdp":"v=0","type":"offer","pc_id":"x","restart_pc":true,"requestData":{"a":1}}`,
		`{"pc_id":"x","candidates":[{"candidate":"","sdp_mid":"0","sdp_mline_index":0}]}`,
		`{"pc_id":"x","candidates":[{"candidate":1}]}`, `{"transport":"webrtc","body":{"lang":"en"}}`,
		`{"type":"offer","sdp":3}`, `{"type":"offer","sdp":"x","pc_id":{"a":1}}`, `{"sdp_mline_index":70000}`,
	} {
		f.Add(s)
	}
	engine, err := NewEngine(Config{Pacers: 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = engine.Close() })
	sig, err := engine.Signalling(SignallingConfig{Open: func(c *Call) error {
		if len(c.Data) > maxBody || c.SessionID != "" {
			return errors.New("impossible")
		}
		return &Refusal{Status: http.StatusServiceUnavailable, Detail: "busy"}
	}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, r := range []struct {
			method string
			serve  http.HandlerFunc
		}{{"POST", sig.ServeHTTP}, {"PATCH", sig.ServeHTTP}, {"POST", sig.ServeStart}} {
			w := httptest.NewRecorder()
			r.serve(w, httptest.NewRequest(r.method, "/api/offer", strings.NewReader(body)))
			reply := w.Body.Bytes()
			if !bytes.HasPrefix(reply, []byte("{")) || w.Code != http.StatusOK && !bytes.Contains(reply, []byte(`"detail":"`)) {
				t.Errorf("%s %q was answered with %d %s", r.method, body, w.Code, reply)
			}
			if w.Code == http.StatusInternalServerError {
				t.Errorf("%s %q is a fault of ours", r.method, body)
			}
		}
	})
}

// quiet is a session that takes everything and does nothing.
type quiet struct{}

func (quiet) Run(ctx context.Context) error               { return nil }
func (quiet) QueueFrame(frames.Frame)                     {}
func (quiet) Enqueue(context.Context, frames.Frame) error { return nil }

// FuzzMessage sends anything over the data channel. Nothing of it may end the call, and
// what the client gets for it is JSON.
func FuzzMessage(f *testing.F) {
	for _, s := range []string{
		"", "ping: 1789000000000", "ping", "{", `{"type":"signalling"}`,
		`{"type":"signalling","message":{"type":"trackStatus","receiver_index":0,"enabled":false}}`,
		`{"type":"signalling","message":{"type":"trackStatus","receiver_index":-5,"enabled":"x"}}`,
		`{"label":"rtvi-ai","type":"signalling","data":{}}`,
		`{"label":"rtvi-ai","type":"client-ready","id":"1","data":{"version":"2.1.0"}}`,
		`{"label":"rtvi-ai","type":"send-text","data":{"content":"hi"}}`, "\xff\xfe", `"signalling"`,
	} {
		f.Add([]byte(s))
	}
	engine, err := NewEngine(Config{Pacers: 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = engine.Close() })
	f.Fuzz(func(t *testing.T, msg []byte) {
		c := newConn(engine)
		c.limit = rate.NewLimiter(rate.Inf, 0)
		s := &served{session: quiet{}, log: engine.cfg.Logger}
		in, err := rtvi.NewInput(rtvi.InputConfig{Sender: c, Queue: func(frames.Frame) error { return nil }})
		if err != nil {
			t.Fatal(err)
		}
		s.in = in
		c.begin(s)
		defer c.discard()
		for range 3 {
			if !c.message(nil, msg) {
				t.Fatalf("%q ended the call", msg)
			}
		}
		c.out.mu.Lock()
		defer c.out.mu.Unlock()
		if len(c.out.buf) > 0 && c.out.buf[0] != '{' {
			t.Errorf("%q was answered with %q", msg, c.out.buf)
		}
	})
}

// FuzzPacket has anything come as sound. It must be taken or left, and bring no more
// sound than a packet and the gap before it may: 120 ms and some 2.5 s.
func FuzzPacket(f *testing.F) {
	f.Add([]byte{}, []byte{})
	f.Add(rawPacket(nil, 111, 1, 960, []byte{0xf8, 0xff, 0xfe}), rawPacket(nil, 111, 2, 1920, []byte{0xf8}))
	f.Add(rawPacket(nil, 0, 1, 160, make([]byte, 160)), rawPacket(nil, 0, 3, 480, make([]byte, 160)))
	f.Add([]byte{0xb0, 111, 0, 1, 0, 0, 0, 1, 0, 0, 0, 42, 0xbe, 0xde, 0, 1, 1, 2, 3, 4, 0x78, 1, 2, 3, 2}, []byte{0x80})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		e := newEar(t)
		for i := range 4 {
			e.now = e.now.Add(15 * time.Millisecond)
			e.packet(e.now, a)
			e.packet(e.now, b)
			e.tick(e.now)
			if len(e.samples) > (i+1)*2*3*16000 {
				t.Fatalf("%d samples of %d packets", len(e.samples), 2*(i+1))
			}
		}
	})
}
