// Package sockettest is a WebSocket server inside a test, for tests in a bubble of
// testing/synctest: its network is in memory, so that time stands still while messages
// travel, and a goroutine that is left behind fails the test.
package sockettest

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// URL is the server's address.
const URL = "http://vendor.test"

// Server is a vendor's server.
type Server struct {
	// Refuse answers a handshake otherwise and reports whether it did; may be nil.
	Refuse func(w http.ResponseWriter, r *http.Request) bool

	tb       testing.TB
	conns    chan net.Conn
	stop     chan struct{}
	handlers sync.WaitGroup

	mu    sync.Mutex
	count int
	down  bool
	over  bool
}

// New starts a server that talks to each client with talk, which should return when
// the client is gone.
func New(tb testing.TB, talk func(*Peer)) *Server {
	tb.Helper()
	s := &Server{tb: tb, conns: make(chan net.Conn), stop: make(chan struct{})}
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	h := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.Refuse != nil && s.Refuse(w, r) {
			return
		}
		ws, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.over {
			_ = ws.Close()
			return
		}
		s.handlers.Go(func() { s.serve(ws, r, talk) })
	})}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = h.Serve(listener{s})
	}()
	tb.Cleanup(func() {
		close(s.stop)
		_ = h.Close()
		<-served
		s.mu.Lock()
		s.over = true // nothing is added from here on
		s.mu.Unlock()
		s.handlers.Wait()
	})
	return s
}

func (s *Server) serve(ws *websocket.Conn, r *http.Request, talk func(*Peer)) {
	s.mu.Lock()
	s.count++
	n := s.count
	s.mu.Unlock()
	p := &Peer{TB: s.tb, Request: r, Number: n, ws: ws, in: make(chan message, 1<<16)}
	pumped := make(chan struct{})
	go func() {
		defer close(pumped)
		p.pump()
	}()
	talk(p)
	_ = ws.Close()
	<-pumped
}

// Dial connects a client, whatever the address.
func (s *Server) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	s.mu.Lock()
	down := s.down
	s.mu.Unlock()
	if down {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: io.ErrClosedPipe}
	}
	client, server := net.Pipe()
	select {
	case s.conns <- server:
		return client, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Down makes the server unreachable.
func (s *Server) Down() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = true
}

// Connections is how many clients have connected so far.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// listener accepts what Dial connects.
type listener struct{ s *Server }

func (l listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.s.conns:
		return c, nil
	case <-l.s.stop:
		return nil, net.ErrClosed
	}
}
func (l listener) Close() error   { return nil }
func (l listener) Addr() net.Addr { return &net.UnixAddr{Name: "vendor.test", Net: "memory"} }

// Peer is the server's end of a connection.
type Peer struct {
	// TB is the test.
	TB testing.TB
	// Request is the handshake.
	Request *http.Request
	// Number counts the connections from 1.
	Number int

	ws    *websocket.Conn
	in    chan message
	pings int
	mu    sync.Mutex
}

type message struct {
	kind int
	data []byte
	err  error
}

func (p *Peer) pump() {
	p.ws.SetPingHandler(func(text string) error {
		p.mu.Lock()
		p.pings++
		p.mu.Unlock()
		// A client that takes its time gets it: the network here holds nothing back.
		_ = p.ws.WriteControl(websocket.PongMessage, []byte(text), time.Now().Add(time.Minute))
		return nil
	})
	for {
		kind, data, err := p.ws.ReadMessage()
		p.in <- message{kind, data, err}
		if err != nil {
			return
		}
	}
}

// Pings is how many the client has sent.
func (p *Peer) Pings() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pings
}

// Receive waits for a message: an object, or binary data. It fails when the client is
// gone.
func (p *Peer) Receive() (object map[string]any, data []byte, err error) {
	m := <-p.in
	return p.open(m)
}

// Poll is Receive that does not wait longer than for d; then it gives nothing.
func (p *Peer) Poll(d time.Duration) (object map[string]any, data []byte, err error) {
	select {
	case m := <-p.in:
		return p.open(m)
	case <-time.After(d):
		return nil, nil, nil
	}
}

func (p *Peer) open(m message) (object map[string]any, data []byte, err error) {
	if m.err != nil {
		p.in <- m
		return nil, nil, m.err
	}
	if m.kind == websocket.BinaryMessage {
		return nil, m.data, nil
	}
	if err := json.Unmarshal(m.data, &object); err != nil {
		p.TB.Errorf("the client sent no JSON object: %s", m.data)
	}
	return object, nil, nil
}

// Gone waits until the client is gone, and drops what it still sends.
func (p *Peer) Gone() error {
	for {
		if _, _, err := p.Receive(); err != nil {
			return err
		}
	}
}

// Send sends v as JSON; text as it is.
func (p *Peer) Send(v any) {
	data, ok := v.(string)
	if !ok {
		b, err := json.Marshal(v)
		if err != nil {
			p.TB.Errorf("cannot send %v: %v", v, err)
			return
		}
		data = string(b)
	}
	_ = p.ws.WriteMessage(websocket.TextMessage, []byte(data)) // a client may be gone
}

// SendBinary sends binary data.
func (p *Peer) SendBinary(data []byte) { _ = p.ws.WriteMessage(websocket.BinaryMessage, data) }

// Close closes the connection with a code and a reason.
func (p *Peer) Close(code int, reason string) {
	_ = p.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, reason), time.Now().Add(time.Second))
	_ = p.ws.Close()
}

// Drop ends the connection without a word.
func (p *Peer) Drop() { _ = p.ws.NetConn().Close() }

// DialMute connects a client to a server that answers the handshake, and after that
// neither reads nor writes.
func (s *Server) DialMute(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := s.Dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &mute{Conn: c, closed: make(chan struct{})}, nil
}

// mute is a connection whose other end falls silent after the first answer.
type mute struct {
	net.Conn
	closed chan struct{}
	once   sync.Once

	mu       sync.Mutex
	answered bool
	read     time.Time
	write    time.Time
}

func (m *mute) silent() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.answered
}

// Read gives one answer.
func (m *mute) Read(p []byte) (int, error) {
	if m.silent() {
		return 0, m.wait(&m.read)
	}
	n, err := m.Conn.Read(p)
	m.mu.Lock()
	m.answered = true
	m.mu.Unlock()
	return n, err
}

// Write takes the handshake.
func (m *mute) Write(p []byte) (int, error) {
	if m.silent() {
		return 0, m.wait(&m.write)
	}
	return m.Conn.Write(p)
}

// wait waits until the deadline, or the end.
func (m *mute) wait(deadline *time.Time) error {
	m.mu.Lock()
	at := *deadline
	m.mu.Unlock()
	expired := make(<-chan time.Time)
	if !at.IsZero() {
		expired = time.After(time.Until(at))
	}
	select {
	case <-m.closed:
		return net.ErrClosed
	case <-expired:
		return context.DeadlineExceeded
	}
}

// SetReadDeadline bounds the next Read.
func (m *mute) SetReadDeadline(t time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.read = t
	return m.Conn.SetReadDeadline(t)
}

// SetWriteDeadline bounds the next Write.
func (m *mute) SetWriteDeadline(t time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.write = t
	return m.Conn.SetWriteDeadline(t)
}

// Close ends what waits.
func (m *mute) Close() error {
	m.once.Do(func() { close(m.closed) })
	return m.Conn.Close()
}
