package websocket_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gorilla "github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/transport/rtvi"
	"github.com/turnwise/turnwise/transport/websocket"
	"github.com/turnwise/turnwise/transport/websocket/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bot is a processor that remembers what reaches it and acts through a hook.
type bot struct {
	pipeline.Base
	mu   sync.Mutex
	seen []frames.Frame
	on   func(b *bot, f frames.Frame)
}

func (b *bot) Process(f frames.Frame, dir pipeline.Direction) {
	if a, ok := f.(*frames.InputAudioFrame); ok {
		f = a.Clone()
	}
	b.mu.Lock()
	b.seen = append(b.seen, f)
	b.mu.Unlock()
	b.Push(f, dir)
	if b.on != nil && dir == pipeline.Downstream {
		b.on(b, f)
	}
}

func (b *bot) say(text string) { b.Push(&frames.SpeakFrame{Text: text}, pipeline.Downstream) }

// seenOf returns the frames of one type that reached the bot.
func seenOf[F frames.Frame](b *bot) []F {
	b.mu.Lock()
	defer b.mu.Unlock()
	var of []F
	for _, f := range b.seen {
		if f, ok := f.(F); ok {
			of = append(of, f)
		}
	}
	return of
}

// house is a server with one endpoint inside a bubble, over pipes in memory.
type house struct {
	t     *testing.T
	dials chan net.Conn
	ended chan error
	conns chan *websocket.Conn
	bot   *bot
	task  *pipeline.Task
	ctx   context.Context
	stop  context.CancelFunc
	// session, when set, is served instead of the task.
	session websocket.Session
	// reject, when set, is told the client instead.
	reject string
}

// Accept implements net.Listener.
func (h *house) Accept() (net.Conn, error) {
	c, ok := <-h.dials
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (h *house) Close() error   { return nil }
func (h *house) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

// inHouse runs fn in a bubble with a server.
func inHouse(t *testing.T, cfg websocket.Config, b *bot, fn func(t *testing.T, h *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		up, err := websocket.NewUpgrader(cfg)
		if err != nil {
			t.Fatal(err)
		}
		h := &house{t: t, dials: make(chan net.Conn), ended: make(chan error, 1), conns: make(chan *websocket.Conn, 1), bot: b}
		h.ctx, h.stop = context.WithCancel(t.Context())
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			conn, err := up.Upgrade(w, r)
			if err != nil {
				return
			}
			h.serve(conn)
		})}
		served := make(chan error)
		go func() { served <- srv.Serve(h) }()
		fn(t, h)
		h.stop()
		close(h.dials)
		<-served
		_ = srv.Close()
	})
}

func (h *house) serve(conn *websocket.Conn) {
	h.conns <- conn
	if h.reject != "" {
		conn.Reject(h.reject)
		h.ended <- nil
		return
	}
	if h.session == nil {
		out, err := rtvi.NewOutput(conn, rtvi.OutputConfig{})
		if err != nil {
			h.ended <- err
			return
		}
		h.task, err = pipeline.NewTask(pipeline.MustNew(h.bot, out), pipeline.Params{SessionID: "s1", OnError: out.Report})
		if err != nil {
			h.ended <- err
			return
		}
		h.session = h.task
	}
	h.ended <- conn.Run(h.ctx, h.session)
}

// raw opens a connection of bytes to the server.
func (h *house) raw() net.Conn {
	ours, theirs := net.Pipe()
	h.dials <- theirs
	return ours
}

// peer is a client in a bubble.
type peer struct {
	*gorilla.Conn
	t *testing.T
}

// dial connects a real client.
func (h *house) dial() *peer {
	h.t.Helper()
	d := gorilla.Dialer{NetDialContext: func(context.Context, string, string) (net.Conn, error) { return h.raw(), nil }}
	ws, _, err := d.Dial("ws://turnwise/", nil)
	if err != nil {
		h.t.Fatal(err)
	}
	return &peer{Conn: ws, t: h.t}
}

// say sends a message in one of the forms.
func (p *peer) say(form int, typ, data string) error {
	msg := []byte(envelope(typ, data))
	if form == gorilla.BinaryMessage {
		msg = wire.AppendMessage(nil, msg)
	}
	return p.WriteMessage(form, msg)
}

// text sends a message in the form of JSON.
func (p *peer) text(typ, data string) {
	p.t.Helper()
	if err := p.say(gorilla.TextMessage, typ, data); err != nil {
		p.t.Fatal(err)
	}
}

// binary sends a message in the binary form.
func (p *peer) binary(typ, data string) {
	p.t.Helper()
	if err := p.say(gorilla.BinaryMessage, typ, data); err != nil {
		p.t.Fatal(err)
	}
}

func envelope(typ, data string) string {
	if data != "" {
		data = `,"data":` + data
	}
	return `{"label":"rtvi-ai","type":"` + typ + `","id":"r1"` + data + `}`
}

const clientReady = `{"version":"2.1.0","about":{"library":"test"}}`

// got is one message from the server.
type got struct {
	kind int
	Type rtvi.Type
	ID   string
	Data json.RawMessage
	raw  []byte
}

func (g got) String() string { return strings.TrimSpace(string(g.Type) + " " + string(g.Data)) }

// next reads one message in the form of JSON or in the binary form.
func (p *peer) next() (got, error) {
	kind, b, err := p.ReadMessage()
	g := got{kind: kind, raw: b}
	if err != nil {
		return g, err
	}
	if kind == gorilla.BinaryMessage {
		f, err := wire.Decode(b)
		if err != nil {
			return g, err
		}
		if f.Kind == wire.Audio {
			g.Type = "audio"
			return g, nil
		}
		b = f.Data
	}
	return g, json.Unmarshal(b, &g)
}

// until reads up to the first message of a type.
func (p *peer) until(typ rtvi.Type) got {
	p.t.Helper()
	for {
		g, err := p.next()
		if err != nil {
			p.t.Fatalf("waiting for %s: %v", typ, err)
		}
		if g.Type == typ {
			return g
		}
	}
}

// rest reads to the end, and returns the messages and the code it was closed with;
// 0 when it was cut.
func (p *peer) rest() (all []got, code int) {
	for {
		g, err := p.next()
		var closed *gorilla.CloseError
		switch {
		case errors.As(err, &closed):
			return all, closed.Code
		case err != nil:
			return all, 0
		}
		all = append(all, g)
	}
}

// within fails the test when fn takes longer, in the bubble's time.
func within(t *testing.T, limit time.Duration, fn func()) {
	t.Helper()
	begun := time.Now()
	fn()
	if took := time.Since(begun); took > limit {
		t.Errorf("took %s, at most %s", took, limit)
	}
}

// discard reads bytes and does nothing else with them.
func discard(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// has reports whether there is a message of the type whose data holds text.
func has(all []got, typ rtvi.Type, text string) bool {
	return slices.ContainsFunc(all, func(g got) bool { return g.Type == typ && strings.Contains(string(g.Data), text) })
}

// micFrame is what a browser's microphone sends every 16 ms.
var micFrame = wire.AppendAudio(nil, make([]int16, 256), 16000, 1)
