package websocket_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/transport/rtvi"
	"github.com/turnwise/turnwise/transport/websocket"
)

// BenchmarkIdleSession measures what one idle connection with its session keeps:
// a pipeline of three processors, a client that is ready and says nothing. The
// client's own end is a bare socket.
func BenchmarkIdleSession(b *testing.B) {
	const sessions = 500
	up, err := websocket.NewUpgrader(websocket.Config{})
	if err != nil {
		b.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := up.Upgrade(w, r)
		if err != nil {
			return
		}
		out, err := rtvi.NewOutput(conn, rtvi.OutputConfig{})
		if err != nil {
			return
		}
		task, err := pipeline.NewTask(pipeline.MustNew(&echo{}, out, &pass{}), pipeline.Params{})
		if err != nil {
			return
		}
		go func() { _ = conn.Run(context.Background(), task) }()
	}))
	defer srv.Close()
	for b.Loop() {
		before, goroutines := footprint(), runtime.NumGoroutine()
		clients := make([]net.Conn, sessions)
		for i := range clients {
			clients[i] = bareClient(b, srv)
		}
		time.Sleep(100 * time.Millisecond) // a benchmark may: the handlers come to rest
		after := footprint()
		b.ReportMetric(float64(after-before)/sessions, "B/session")
		b.ReportMetric(float64(runtime.NumGoroutine()-goroutines)/sessions, "goroutines/session")
		for _, c := range clients {
			_ = c.Close()
		}
		for runtime.NumGoroutine() > goroutines+10 {
			time.Sleep(10 * time.Millisecond)
		}
	}
}

func footprint() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// bareClient connects, says client-ready and reads the answer.
func bareClient(b *testing.B, srv *httptest.Server) net.Conn {
	addr := strings.TrimPrefix(srv.URL, "http://")
	c, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	ready := `{"label":"rtvi-ai","type":"client-ready","id":"a","data":{"version":"2.1.0"}}`
	fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n", addr)
	br := bufio.NewReaderSize(c, 512)
	for {
		line, err := br.ReadString('\n')
		if err != nil {
			b.Fatal(err)
		}
		if line == "\r\n" {
			break
		}
	}
	// A masked text frame with a zero mask.
	if _, err := c.Write(append([]byte{0x81, 0x80 | byte(len(ready)), 0, 0, 0, 0}, ready...)); err != nil {
		b.Fatal(err)
	}
	if _, err := br.ReadByte(); err != nil {
		b.Fatal(err)
	}
	return c
}
