// Package socket is the client's end of WebSockets to speech services: connections
// that notice when they are dead, and pools of connections on which one generation of
// speech follows the other.
package socket

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/speech/internal/failure"
)

const (
	// maxMessage is the longest message in bytes that a server may send.
	maxMessage = 8 << 20
	// pingEvery is how often a connection is tried, and deadAfter how long nothing
	// may have come when it counts as dead.
	pingEvery = 15 * time.Second
	deadAfter = 40 * time.Second
	// writeWait bounds a message that the server does not take, farewell the last.
	writeWait = 5 * time.Second
	farewell  = 100 * time.Millisecond
	// handshakeWait bounds making a connection.
	handshakeWait = 10 * time.Second
)

// Config says how to connect.
type Config struct {
	// URL is the address, with the scheme ws or wss.
	URL string
	// Header is sent with the handshake.
	Header http.Header
	// Failures makes the errors.
	Failures failure.Reporter
	// Dial makes network connections; nil means the usual way.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Conn is a connection. Its methods may be called from any goroutine.
type Conn struct {
	ws       *websocket.Conn
	failures failure.Reporter
	writing  sync.Mutex
	kill     sync.Once
	killed   chan struct{}
	done     chan struct{}
	err      error // valid once done is closed
}

// Dial connects. Every text message is given to handle, one after the other on the
// connection's goroutine; an error that it returns ends the connection. Errors are an
// [*llm.Error].
func Dial(ctx context.Context, cfg *Config, handle func([]byte) error) (*Conn, error) {
	dialer := websocket.Dialer{NetDialContext: cfg.Dial, HandshakeTimeout: handshakeWait, ReadBufferSize: 16 << 10, WriteBufferSize: 8 << 10}
	ws, resp, err := dialer.DialContext(ctx, cfg.URL, cfg.Header)
	switch {
	case err == nil:
	case over(ctx):
		return nil, cfg.Failures.Stopped(ctx)
	case errors.Is(err, websocket.ErrBadHandshake) && resp != nil && resp.StatusCode != http.StatusSwitchingProtocols:
		return nil, refused(&cfg.Failures, resp)
	case errors.Is(err, websocket.ErrBadHandshake):
		return nil, cfg.Failures.Malformed(0, err)
	default:
		return nil, cfg.Failures.Unreachable(err)
	}
	ws.SetReadLimit(maxMessage)
	c := &Conn{ws: ws, failures: cfg.Failures, killed: make(chan struct{}), done: make(chan struct{})}
	c.alive()
	ws.SetPongHandler(func(string) error {
		c.alive()
		return nil
	})
	go c.read(handle)
	go c.ping()
	return c, nil
}

// over reports whether ctx has ended, or is about to at this moment: connections time
// out by its deadline too.
func over(ctx context.Context) bool {
	if at, ok := ctx.Deadline(); ok && !time.Now().Before(at) {
		<-ctx.Done()
	}
	return ctx.Err() != nil
}

// refused is a handshake that the server answered otherwise. The library keeps the
// beginning of what it said.
func refused(r *failure.Reporter, resp *http.Response) error {
	var body [1024]byte
	n, _ := resp.Body.Read(body[:])
	if resp.StatusCode < 300 {
		return r.Malformed(0, errors.New("it is no WebSocket; check BaseURL"))
	}
	return r.Refused(resp.StatusCode, resp.Header, body[:n])
}

// alive notes that the server has been heard.
func (c *Conn) alive() { _ = c.ws.SetReadDeadline(time.Now().Add(deadAfter)) }

func (c *Conn) read(handle func([]byte) error) {
	defer close(c.done)
	for {
		kind, data, err := c.ws.ReadMessage()
		switch {
		case err != nil:
			err = c.ended(err)
		case kind != websocket.TextMessage:
			err = c.failures.Malformed(0, errors.New("a binary message"))
		default:
			err = handle(data)
		}
		if err != nil {
			c.err = err
			c.Kill()
			return
		}
		c.alive() // taking the message may have lasted
	}
}

// ping tries the connection now and then, so that no one on the way forgets it and its
// end is noticed.
func (c *Conn) ping() {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = c.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeWait)) // reading finds out
		case <-c.killed:
			return
		}
	}
}

// ended says why the server's messages have ended.
func (c *Conn) ended(err error) error {
	var closed *websocket.CloseError
	switch {
	case errors.Is(err, websocket.ErrReadLimit):
		return c.failures.Malformed(0, err)
	case !errors.As(err, &closed), closed.Code == websocket.CloseAbnormalClosure, closed.Text == "" && !telling(closed.Code):
		return c.failures.Cut(context.Background(), err)
	}
	said := failure.Detail{Message: closed.Text}
	if code, rest, found := strings.Cut(closed.Text, " "); found && strings.ContainsAny(code, "-_") {
		said = failure.Detail{Code: strings.TrimRight(code, ":"), Message: rest}
	}
	e := c.failures.Told(0, said)
	if closed.Code == websocket.ClosePolicyViolation && e.Category == frames.ErrorServer {
		e.Category = frames.ErrorInvalid
	}
	return e
}

// telling reports whether a close code says that something was wrong.
func telling(code int) bool {
	switch code {
	case websocket.CloseNormalClosure, websocket.CloseGoingAway, websocket.CloseNoStatusReceived:
		return false
	}
	return true
}

// WriteJSON sends v as a text message. A write that waits ends with ctx, and the
// connection with it. Errors are an [*llm.Error].
func (c *Conn) WriteJSON(ctx context.Context, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return c.failures.Invalid(err)
	}
	return c.write(ctx, websocket.TextMessage, data)
}

// WriteBinary sends a binary message, as [Conn.WriteJSON] does.
func (c *Conn) WriteBinary(ctx context.Context, data []byte) error {
	return c.write(ctx, websocket.BinaryMessage, data)
}

func (c *Conn) write(ctx context.Context, kind int, data []byte) error {
	if ctx.Err() != nil {
		return c.failures.Stopped(ctx)
	}
	stop := context.AfterFunc(ctx, c.Kill)
	defer stop()
	c.writing.Lock()
	defer c.writing.Unlock()
	_ = c.ws.SetWriteDeadline(time.Now().Add(writeWait))
	err := c.ws.WriteMessage(kind, data)
	if err == nil {
		return nil
	}
	wait := time.NewTimer(farewell)
	defer wait.Stop()
	defer c.Kill()
	select {
	case <-c.done: // the server may have said why
		if ctx.Err() == nil {
			return c.err
		}
	case <-wait.C:
	}
	return c.failures.Cut(ctx, err)
}

// Done is closed when no message comes any more.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err is why no message comes any more, once Done is closed.
func (c *Conn) Err() error { return c.err }

// Killed is closed when the connection is given up; what handles a message should
// return then.
func (c *Conn) Killed() <-chan struct{} { return c.killed }

// Kill ends the connection at once.
func (c *Conn) Kill() {
	c.kill.Do(func() {
		close(c.killed)
		_ = c.ws.Close()
	})
}

// Close says goodbye, which takes a moment at most, and ends the connection.
func (c *Conn) Close() {
	bye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	_ = c.ws.WriteControl(websocket.CloseMessage, bye, time.Now().Add(farewell))
	c.Kill()
}
