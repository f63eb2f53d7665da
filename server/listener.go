package server

import (
	"container/list"
	"net"
	"net/http"
	"sync"
)

// spareConnections is how many connections a server has open besides those of its
// sessions.
const spareConnections = 4096

// boundedListener accepts only so many connections at a time, so that a flood
// costs kernel queue slots and not memory. When there is no room, the connection
// that has waited longest for a request gives way: whoever only holds connections
// open keeps nobody out.
type boundedListener struct {
	net.Listener
	max int

	mu      sync.Mutex
	room    *sync.Cond
	open    int
	closed  bool
	waiting int                        // Accepts that wait for room
	quiet   *list.List                 // of net.Conn: those without a request, longest first
	places  map[net.Conn]*list.Element // where they stand in quiet
}

func newBoundedListener(l net.Listener, n int) *boundedListener {
	b := &boundedListener{Listener: l, max: n, quiet: list.New(), places: map[net.Conn]*list.Element{}}
	b.room = sync.NewCond(&b.mu)
	return b
}

// Accept makes room and then waits for a connection.
func (l *boundedListener) Accept() (net.Conn, error) {
	if !l.take() {
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		l.release()
		return nil, err
	}
	return &boundedConn{Conn: c, free: sync.OnceFunc(l.release)}, nil
}

// take takes a place for a connection; it reports false when the listener is closed.
func (l *boundedListener) take() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.open >= l.max && !l.closed {
		if first := l.quiet.Front(); first != nil {
			l.evict(first.Value.(net.Conn))
			continue
		}
		l.waiting++
		l.room.Wait()
		l.waiting--
	}
	if l.closed {
		return false
	}
	l.open++
	return true
}

// evict closes a quiet connection. The lock is held, but not while closing, which
// gives the place back.
func (l *boundedListener) evict(c net.Conn) {
	l.forget(c)
	l.mu.Unlock()
	_ = c.Close() // it was of no use
	l.mu.Lock()
}

func (l *boundedListener) forget(c net.Conn) {
	if place, ok := l.places[c]; ok {
		l.quiet.Remove(place)
		delete(l.places, c)
	}
}

func (l *boundedListener) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	l.room.Signal()
}

// follow is the ConnState function of the http.Server that serves the connections.
func (l *boundedListener) follow(c net.Conn, state http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(c)
	if state != http.StateNew && state != http.StateIdle {
		return
	}
	l.places[c] = l.quiet.PushBack(c)
	if l.waiting > 0 {
		l.room.Signal()
	}
}

// Close stops accepting.
func (l *boundedListener) Close() error {
	l.mu.Lock()
	l.closed = true
	l.room.Broadcast()
	l.mu.Unlock()
	return l.Listener.Close()
}

// boundedConn gives its place back when it is closed.
type boundedConn struct {
	net.Conn
	free func()
}

func (c *boundedConn) Close() error {
	err := c.Conn.Close()
	c.free()
	return err
}
