package webrtc

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/webrtc/v4"

	"github.com/turnwise/turnwise/audio/resample"
	"github.com/turnwise/turnwise/transport/internal/pacer"
)

// ErrClosed tells that the engine was closed.
var ErrClosed = errors.New("webrtc: the engine is closed")

// renewAfter is the age at which the certificate, which is valid for a month, is
// replaced.
const renewAfter = 7 * 24 * time.Hour

// Engine is what the calls of a server share. It is safe for concurrent use.
type Engine struct {
	cfg     Config
	api     *webrtc.API
	mux     ice.UDPMux // nil without a shared port
	pacer   *pacer.Pacer
	filters resample.Filters

	mu      sync.Mutex
	conns   map[string]*Conn // by the ids that clients know them by
	open    map[*Conn]struct{}
	cert    webrtc.Certificate
	made    time.Time
	closed  bool
	closing sync.WaitGroup // peer connections that are being closed
}

// NewEngine makes an engine. The error wraps [ErrConfig], or says which address could
// not be used.
func NewEngine(cfg Config) (*Engine, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	e := &Engine{cfg: cfg, conns: map[string]*Conn{}, open: map[*Conn]struct{}{}}
	if cfg.SharedPort {
		if e.mux, err = sharedPort(&cfg); err != nil {
			return nil, err
		}
	}
	if e.api, err = newAPI(&cfg, e.mux); err != nil {
		if e.mux != nil {
			_ = e.mux.Close() // the error that counts is the first
		}
		return nil, err
	}
	e.pacer = pacer.New(cfg.Pacers)
	return e, nil
}

// Close ends all calls, as if each caller's connection had failed for good, and
// releases what the engine holds. It waits for the connections to be closed, about a
// second at most. Sessions end by themselves when their [Conn.Run] returns; a server
// ends them before.
func (e *Engine) Close() error {
	e.mu.Lock()
	e.closed = true
	var conns []*Conn
	for c := range e.open {
		conns = append(conns, c)
	}
	e.mu.Unlock()
	for _, c := range conns {
		c.abandon(ErrClosed)
	}
	for _, c := range conns {
		c.awaitEnd(e.cfg.CloseTimeout)
	}
	e.closing.Wait()
	e.pacer.Close()
	if e.mux != nil {
		if err := e.mux.Close(); err != nil {
			return fmt.Errorf("webrtc: close the shared port: %w", err)
		}
	}
	return nil
}

// Calls is the number of calls under way.
func (e *Engine) Calls() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.open)
}

// ClientICEServers are the servers that clients are to be told of; not nil.
func (e *Engine) ClientICEServers() []ICEServer {
	return append([]ICEServer{}, e.cfg.ClientICEServers...)
}

// accept makes the connection of a new caller.
func (e *Engine) accept(ctx context.Context, sdp string) (*Conn, error) {
	c := newConn(e)
	if !e.enter(c) {
		return nil, ErrClosed
	}
	var err error
	if c.first, err = c.attach(ctx, sdp); err != nil {
		c.discard()
		return nil, err
	}
	return c, nil
}

// enter makes a connection known.
func (e *Engine) enter(c *Conn) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.open[c] = struct{}{}
	return true
}

// name gives a connection another id. The ids it had stay: an answer may get lost, and
// the client then goes on using the old one. The oldest go when there are many.
func (e *Engine) name(c *Conn, id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, ok := e.open[c]; !ok {
		return
	}
	const most = 8
	if len(c.ids) == most {
		delete(e.conns, c.ids[0])
		c.ids = append(c.ids[:0], c.ids[1:]...)
	}
	c.ids = append(c.ids, id)
	e.conns[id] = c
}

// find is the connection with an id; nil when there is none.
func (e *Engine) find(id string) *Conn {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.conns[id]
}

// leave forgets a connection.
func (e *Engine) leave(c *Conn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.open, c)
	for _, id := range c.ids {
		delete(e.conns, id)
	}
	c.ids = nil
}

// certificate is what this side proves its identity with. It is shared, since making
// one takes as long as the rest of a call's set-up.
func (e *Engine) certificate() (webrtc.Certificate, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if now := time.Now(); e.made.IsZero() || now.Sub(e.made) > renewAfter {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return webrtc.Certificate{}, fmt.Errorf("webrtc: make a key: %w", err)
		}
		cert, err := webrtc.GenerateCertificate(key)
		if err != nil {
			return webrtc.Certificate{}, fmt.Errorf("webrtc: make a certificate: %w", err)
		}
		e.cert, e.made = *cert, now
	}
	return e.cert, nil
}

// closePeer closes a peer connection on a goroutine of its own, for which Close waits.
func (e *Engine) closePeer(pc *webrtc.PeerConnection) (closed <-chan struct{}) {
	done := make(chan struct{})
	e.closing.Go(func() {
		defer close(done)
		_ = pc.GracefulClose() // there is nothing to be done about it
	})
	return done
}
