package socket

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Message is a server's message on a connection that carries several contexts.
type Message interface {
	// Context is the id of the context it belongs to; empty for the connection as
	// a whole.
	Context() string
	// Over tells that it is the last of its context.
	Over() bool
}

// Script is what one generation of speech says and does with the answers.
type Script[M Message] struct {
	// Open are the messages that ask for the speech in the context id.
	Open func(id string) []any
	// Cancel is the message that gives the context up; nil for protocols without.
	Cancel func(id string) any
	// Take takes a message, on the goroutine that called Run. It reports whether the
	// generation is complete.
	Take func(m M) (complete bool, err error)
}

// PoolConfig is the settings of a [Pool].
type PoolConfig struct {
	Config
	// KeepIdle is how long an unused connection is kept, and MaxIdle how many are.
	KeepIdle time.Duration
	MaxIdle  int
	// MaxContexts is how many contexts the server allows on a connection. Those that
	// were given up count until their last message has come.
	MaxContexts int
}

// Pool runs generations of speech. Each has a connection for itself while it lasts, so
// that a listener that is slow holds up nobody else; then the next one uses it. A
// generation is a context of its protocol, by whose id what still comes of one that was
// given up is told from what follows.
type Pool[M Message] struct {
	cfg    PoolConfig
	prefix string

	mu     sync.Mutex
	number uint64
	idle   []*lane[M] // the longest unused first
}

// NewPool makes a pool without connections.
func NewPool[M Message](cfg PoolConfig) *Pool[M] {
	return &Pool[M]{cfg: cfg, prefix: fmt.Sprintf("tw%08x", rand.Uint32())}
}

// lane is a connection with the generation that uses it.
type lane[M Message] struct {
	conn   *Conn
	used   bool // it has served a generation before
	expire *time.Timer

	mu      sync.Mutex
	open    int // contexts whose last message has not come
	current *generation[M]
}

// generation is one context. Few messages wait: the connection's own flow control
// holds the server back.
type generation[M Message] struct {
	id   string
	in   chan M
	over chan struct{}
}

// Run runs a script. A connection that turns out to be dead before it has given
// anything is replaced. Run returns soon after ctx is cancelled, with an [*llm.Error];
// errors of Take are returned as they are.
func (p *Pool[M]) Run(ctx context.Context, s Script[M]) error {
	for {
		l, err := p.acquire(ctx)
		if err != nil {
			return err
		}
		if again, err := p.generate(ctx, l, s); !again {
			return err
		}
	}
}

// generate runs a script on a connection. It asks for another one when that was dead
// from the beginning.
func (p *Pool[M]) generate(ctx context.Context, l *lane[M], s Script[M]) (again bool, err error) {
	g := l.begin(p.nextID())
	defer l.end(g)
	unsure := l.used
	l.used = true
	for _, m := range s.Open(g.id) {
		if err := l.conn.WriteJSON(ctx, m); err != nil {
			l.conn.Kill()
			return unsure && ctx.Err() == nil, err
		}
	}
	for {
		m, ok := g.next(ctx, l.conn)
		switch {
		case ctx.Err() != nil:
			p.giveUp(l, g, s)
			return false, p.cfg.Failures.Stopped(ctx)
		case !ok:
			return unsure, l.conn.Err()
		}
		unsure = false
		complete, err := s.Take(m)
		switch {
		case complete || err != nil && m.Over():
			p.release(l)
			return false, err
		case err != nil:
			p.giveUp(l, g, s)
			return false, err
		}
	}
}

// giveUp tells the server that nobody listens any more.
func (p *Pool[M]) giveUp(l *lane[M], g *generation[M], s Script[M]) {
	if s.Cancel != nil {
		ctx, cancel := context.WithTimeout(context.Background(), farewell)
		defer cancel()
		if l.conn.WriteJSON(ctx, s.Cancel(g.id)) != nil {
			return // it is dead, then
		}
	}
	p.release(l)
}

func (p *Pool[M]) nextID() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.number++
	return fmt.Sprintf("%s-%d", p.prefix, p.number)
}

// acquire takes the connection that was used last, or makes one.
func (p *Pool[M]) acquire(ctx context.Context) (*lane[M], error) {
	if l := p.take(); l != nil {
		return l, nil
	}
	l := &lane[M]{}
	ready := make(chan struct{})
	conn, err := Dial(ctx, &p.cfg.Config, func(data []byte) error {
		<-ready
		return l.handle(data)
	})
	if err != nil {
		return nil, err
	}
	l.conn = conn
	close(ready)
	return l, nil
}

func (p *Pool[M]) take() *lane[M] {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.idle) - 1; i >= 0; i-- {
		l := p.idle[i]
		if l.dead() || l.free(p.cfg.MaxContexts) {
			p.idle = slices.Delete(p.idle, i, i+1)
			l.expire.Stop()
			if !l.dead() {
				return l
			}
		}
	}
	return nil
}

// release keeps a connection for the next generation.
func (p *Pool[M]) release(l *lane[M]) {
	if l.dead() {
		return
	}
	p.mu.Lock()
	l.expire = time.AfterFunc(p.cfg.KeepIdle, func() { p.drop(l) })
	p.idle = append(p.idle, l)
	var surplus *lane[M]
	if len(p.idle) > p.cfg.MaxIdle {
		surplus = p.idle[0]
	}
	p.mu.Unlock()
	if surplus != nil {
		p.drop(surplus)
	}
}

// drop closes a connection that nobody uses.
func (p *Pool[M]) drop(l *lane[M]) {
	p.mu.Lock()
	i := slices.Index(p.idle, l)
	if i >= 0 {
		p.idle = slices.Delete(p.idle, i, i+1)
	}
	p.mu.Unlock()
	if i >= 0 {
		l.expire.Stop()
		l.conn.Close()
	}
}

// Close closes the connections that are kept for further generations. The pool may
// still be used.
func (p *Pool[M]) Close() {
	p.mu.Lock()
	idle := slices.Clone(p.idle)
	p.mu.Unlock()
	for _, l := range idle {
		p.drop(l)
		<-l.conn.Done()
	}
}

// begin opens a context.
func (l *lane[M]) begin(id string) *generation[M] {
	g := &generation[M]{id: id, in: make(chan M, 4), over: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.current, l.open = g, l.open+1
	return g
}

// end lets what still comes of a context go. The next one may have begun.
func (l *lane[M]) end(g *generation[M]) {
	close(g.over)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current == g {
		l.current = nil
	}
}

// handle gives a message to the context it belongs to.
func (l *lane[M]) handle(data []byte) error {
	var m M
	if err := json.Unmarshal(data, &m); err != nil {
		return l.conn.failures.Malformed(0, err)
	}
	if g := l.route(m); g != nil {
		select {
		case g.in <- m:
		case <-g.over:
		case <-l.conn.Killed():
		}
	}
	return nil
}

// route is the context a message belongs to, if anybody listens to that.
func (l *lane[M]) route(m M) *generation[M] {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m.Over() {
		l.open = max(l.open-1, 0)
	}
	if g := l.current; g != nil && (m.Context() == g.id || m.Context() == "") {
		return g
	}
	return nil
}

func (l *lane[M]) dead() bool {
	select {
	case <-l.conn.Killed():
		return true
	case <-l.conn.Done():
		return true
	default:
		return false
	}
}

// free reports whether another context may be opened.
func (l *lane[M]) free(limit int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open < limit
}

// next waits for a message; what came before the connection ended is not lost.
func (g *generation[M]) next(ctx context.Context, c *Conn) (m M, ok bool) {
	select {
	case m = <-g.in:
		return m, true
	default:
	}
	select {
	case m = <-g.in:
		return m, true
	case <-ctx.Done():
		return m, false
	case <-c.Done():
	}
	select {
	case m = <-g.in:
		return m, true
	default:
		return m, false
	}
}
