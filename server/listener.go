package server

import (
	"net"
	"sync"
)

// spareConnections is how many connections a server has open besides those of its
// sessions. Further ones wait in the kernel's queue.
const spareConnections = 4096

// boundedListener accepts only so many connections at a time, so that a flood
// costs kernel queue slots and not memory.
type boundedListener struct {
	net.Listener
	slots  chan struct{}
	closed chan struct{}
	once   sync.Once
}

func newBoundedListener(l net.Listener, n int) *boundedListener {
	return &boundedListener{Listener: l, slots: make(chan struct{}, n), closed: make(chan struct{})}
}

// Accept waits for a slot and then for a connection.
func (l *boundedListener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &boundedConn{Conn: c, free: sync.OnceFunc(func() { <-l.slots })}, nil
}

// Close stops accepting.
func (l *boundedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// boundedConn gives its slot back when it is closed.
type boundedConn struct {
	net.Conn
	free func()
}

func (c *boundedConn) Close() error {
	err := c.Conn.Close()
	c.free()
	return err
}
