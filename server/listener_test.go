package server_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/server"
)

// pipes is a listener whose connections are pipes in memory: they need no file
// descriptors, and time stands still while they wait.
type pipes struct {
	coming chan net.Conn
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{coming: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.coming:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	close(p.closed)
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// dial connects, and waits until the server has accepted.
func (p *pipes) dial() net.Conn {
	mine, its := net.Pipe()
	p.coming <- its
	return mine
}

// ask sends a request and reads the answer's status; the connection stays open.
func ask(t *testing.T, c net.Conn) int {
	t.Helper()
	if _, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode
}

// Whoever only opens connections, with or without a first request, uses up every
// place there is. Others are served nevertheless, at once.
func TestConnectionsThatAskForNothingKeepNobodyOut(t *testing.T) {
	for name, hold := range map[string]func(t *testing.T, c net.Conn){
		"idle after a request":     func(t *testing.T, c net.Conn) { ask(t, c) },
		"without a request at all": func(*testing.T, net.Conn) {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, err := server.New(server.Config{Bot: testBot(), MaxSessions: 1})
				if err != nil {
					t.Fatal(err)
				}
				l := newPipes()
				ctx, stop := context.WithCancel(t.Context())
				served := make(chan error, 1)
				go func() { served <- s.Serve(ctx, l) }()

				begun := time.Now()
				const more = 100 // than there can be places
				var held []net.Conn
				for range 4097 + more {
					c := l.dial()
					hold(t, c)
					held = append(held, c)
					synctest.Wait()
				}
				user := l.dial()
				if status := ask(t, user); status != http.StatusOK {
					t.Errorf("status %d", status)
				}
				if took := time.Since(begun); took != 0 {
					t.Errorf("the user waited %s", took)
				}
				stop()
				for _, c := range append(held, user) {
					_ = c.Close()
				}
				if err := <-served; err != nil {
					t.Error(err)
				}
			})
		})
	}
}
