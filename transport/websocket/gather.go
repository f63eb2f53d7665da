package websocket

import (
	"bufio"
	"net"
	"net/http"
	"sync"
	"time"
)

// gatherSize is how much of a batch goes into one write.
const gatherSize = 16 << 10

// gatherer is a socket that can put the small writes of a batch together: a reply
// that comes at once takes a few system calls instead of one for each token. The
// WebSocket library makes one write at a time.
type gatherer struct {
	net.Conn
	// received, once set, is told of the bytes that have come in, by the goroutine
	// that reads.
	received func(n int)

	mu        sync.Mutex
	gathering bool
	buf       []byte
	deadline  time.Time
}

// Read implements net.Conn.
func (g *gatherer) Read(p []byte) (int, error) {
	n, err := g.Conn.Read(p)
	if n > 0 && g.received != nil {
		g.received(n)
	}
	return n, err
}

// SetWriteDeadline implements net.Conn. In a batch it is set when that is written.
func (g *gatherer) SetWriteDeadline(t time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.gathering {
		g.deadline = t
		return nil
	}
	return g.Conn.SetWriteDeadline(t)
}

// Write implements net.Conn.
func (g *gatherer) Write(p []byte) (int, error) {
	g.mu.Lock()
	if !g.gathering {
		g.mu.Unlock()
		return g.Conn.Write(p)
	}
	defer g.mu.Unlock()
	if len(g.buf)+len(p) > gatherSize {
		err := g.write(g.buf, g.deadline)
		g.buf = g.buf[:0]
		if err != nil {
			return 0, err
		}
	}
	if len(p) > gatherSize {
		if err := g.write(p, g.deadline); err != nil {
			return 0, err
		}
		return len(p), nil
	}
	g.buf = append(g.buf, p...)
	return len(p), nil
}

// write writes what has been gathered.
func (g *gatherer) write(p []byte, deadline time.Time) error {
	if len(p) == 0 {
		return nil
	}
	if err := g.Conn.SetWriteDeadline(deadline); err != nil {
		return err
	}
	_, err := g.Conn.Write(p)
	return err
}

// gather begins a batch, in buf.
func (g *gatherer) gather(buf []byte) {
	g.mu.Lock()
	g.gathering, g.buf = true, buf[:0]
	g.mu.Unlock()
}

// release ends a batch and gives the buffer back. While it writes, others may write
// a frame of their own before or behind.
func (g *gatherer) release() ([]byte, error) {
	g.mu.Lock()
	buf, deadline := g.buf, g.deadline
	g.gathering, g.buf = false, nil
	g.mu.Unlock()
	return buf, g.write(buf, deadline)
}

// hijacker makes the socket of an upgraded request a gatherer.
type hijacker struct {
	http.ResponseWriter
	socket *gatherer
}

// Hijack implements http.Hijacker.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	h.socket = &gatherer{Conn: c}
	return h.socket, rw, nil
}

// buffers are the buffers that batches are gathered in, shared by the connections
// of an upgrader.
type buffers struct{ pool sync.Pool }

func (b *buffers) get() []byte {
	if p, ok := b.pool.Get().(*[gatherSize]byte); ok {
		return p[:0]
	}
	return make([]byte, 0, gatherSize)
}

func (b *buffers) put(buf []byte) {
	if cap(buf) >= gatherSize {
		b.pool.Put((*[gatherSize]byte)(buf[:gatherSize]))
	}
}
