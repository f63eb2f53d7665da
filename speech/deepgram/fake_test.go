package deepgram_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/speech/deepgram"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "dg-very-secret-key"

// fake is Deepgram, as strict as its reference: what it would refuse, or not
// understand, fails the test.
type fake struct {
	t     *testing.T
	dials chan net.Conn
	calls int

	// refuse answers the handshake with a status, when it is not 0.
	refuse int
	// on acts on what comes; samples is 0 for a message, whose type is kind.
	on func(f *fake, kind string, samples int)

	ws      *websocket.Conn
	samples int
	kinds   []string
	query   map[string]string
}

func (f *fake) Accept() (net.Conn, error) {
	c, ok := <-f.dials
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (*fake) Close() error   { return nil }
func (*fake) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

// with runs fn in virtual time with a recognizer that talks to f.
func with(t *testing.T, f *fake, cfg deepgram.Config, fn func(t *testing.T, r *deepgram.Recognizer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f.t, f.dials = t, make(chan net.Conn)
		srv := &http.Server{Handler: f}
		served := make(chan error)
		go func() { served <- srv.Serve(f) }()
		cfg.APIKey, cfg.URL = key, "ws://deepgram/v1/listen"
		cfg.Dialer = &websocket.Dialer{NetDialContext: func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			f.dials <- theirs
			return ours, nil
		}}
		r, err := deepgram.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		fn(t, r)
		close(f.dials)
		<-served
		_ = srv.Close()
	})
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.calls++
	if got := r.Header.Get("Authorization"); got != "Token "+key {
		f.t.Errorf("the key is sent as %q", got)
	}
	f.query = map[string]string{}
	for name, values := range r.URL.Query() {
		f.query[name] = values[0]
	}
	for name, want := range map[string]string{"encoding": "linear16", "sample_rate": "16000", "channels": "1", "interim_results": "true"} {
		if f.query[name] != want {
			f.t.Errorf("%s is %q, not %q", name, f.query[name], want)
		}
	}
	if f.refuse != 0 {
		w.Header().Set("Dg-Error", "no luck with "+key)
		http.Error(w, `{"err_msg":"no"}`, f.refuse)
		return
	}
	up := websocket.Upgrader{}
	ws, err := up.Upgrade(w, r, nil)
	if err != nil {
		f.t.Error(err)
		return
	}
	f.ws = ws
	f.listen()
}

// listen reads until the client or a rule ends the connection.
func (f *fake) listen() {
	defer f.ws.Close()
	closing := false
	for {
		if err := f.ws.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			return
		}
		kind, raw, err := f.ws.ReadMessage()
		if err != nil {
			return
		}
		if closing {
			f.t.Errorf("%q came behind CloseStream", raw)
		}
		if kind == websocket.BinaryMessage {
			if len(raw) == 0 || len(raw)%2 != 0 {
				f.t.Errorf("%d bytes of sound came", len(raw))
			}
			f.samples += len(raw) / 2
			f.act("", len(raw)/2)
			continue
		}
		var m struct{ Type string }
		if err := json.Unmarshal(raw, &m); err != nil {
			f.t.Errorf("%q came", raw)
		}
		f.kinds = append(f.kinds, m.Type)
		switch m.Type {
		case "KeepAlive", "Finalize":
			f.act(m.Type, 0)
		case "CloseStream":
			closing = true
			f.act(m.Type, 0)
			f.send(`{"type":"Metadata","transaction_key":"deprecated","channels":1}`)
			bye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
			_ = f.ws.WriteControl(websocket.CloseMessage, bye, time.Now().Add(time.Second))
			return
		default:
			f.t.Errorf("the message %q came", m.Type)
		}
	}
}

func (f *fake) act(kind string, samples int) {
	if f.on != nil {
		f.on(f, kind, samples)
	}
}

// send sends a message to the client, which may have gone.
func (f *fake) send(text string) { _ = f.ws.WriteMessage(websocket.TextMessage, []byte(text)) }

// results sends words.
func (f *fake) results(text string, final, speechFinal bool) {
	raw, err := json.Marshal(map[string]any{
		"type": "Results", "channel_index": []int{0, 1}, "duration": 1.0, "start": 0.0, "is_final": final, "speech_final": speechFinal,
		"channel":  map[string]any{"alternatives": []any{map[string]any{"transcript": text, "confidence": 0.9, "words": []any{}}}},
		"metadata": map[string]any{"request_id": "r"},
	})
	if err != nil {
		f.t.Error(err)
	}
	f.send(string(raw))
}

// heard collects what is emitted.
type heard struct{ all []speech.Transcript }

func (h *heard) emit(t speech.Transcript) error {
	h.all = append(h.all, t)
	return nil
}
