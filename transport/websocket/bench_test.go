package websocket_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/transport/rtvi"
	"github.com/turnwise/turnwise/transport/websocket"
)

// BenchmarkIdleSession measures what one idle connection with its session keeps:
// a pipeline of three processors, a client that was answered once and is silent
// now. The client's own end is a bare socket.
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
		task, err := pipeline.NewTask(pipeline.MustNew(echo(), out, &bot{}), pipeline.Params{})
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

// bareClient connects, says client-ready and reads the first byte of the answer.
func bareClient(b *testing.B, srv *httptest.Server) net.Conn {
	c, err := net.Dial("tcp", strings.TrimPrefix(srv.URL, "http://"))
	if err != nil {
		b.Fatal(err)
	}
	upgrade(b, c)
	if _, err := c.Read(make([]byte, 1)); err != nil {
		b.Fatal(err)
	}
	return c
}

// upgrade makes a WebSocket of a socket, says client-ready and then something.
func upgrade(b *testing.B, c net.Conn) {
	fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	var answer []byte
	for !strings.HasSuffix(string(answer), "\r\n\r\n") {
		var one [1]byte
		if _, err := io.ReadFull(c, one[:]); err != nil {
			b.Fatal(err)
		}
		answer = append(answer, one[0])
	}
	for _, msg := range []string{envelope("client-ready", `{"version":"2.1.0"}`), envelope("send-text", `{"content":"Hello there. How are you?"}`)} {
		// A masked text frame with a mask of zeros.
		if _, err := c.Write(append([]byte{0x81, 0x80 | byte(len(msg)), 0, 0, 0, 0}, msg...)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTokenToSocket is one token of a reply from the frame on the loop to the
// bytes of a WebSocket frame in a socket that is read and thrown away.
func BenchmarkTokenToSocket(b *testing.B) {
	ready := make(chan struct{})
	talker := &bot{}
	talker.on = func(p *bot, f frames.Frame) {
		if _, ok := f.(*frames.ClientConnectedFrame); !ok {
			return
		}
		word := &frames.LLMTextFrame{Text: " token", Response: 1}
		b.ReportAllocs()
		for b.Loop() {
			p.Push(word, pipeline.Downstream)
		}
		close(ready)
	}
	url, ends := overTCP(b, websocket.Config{MaxQueue: 1 << 30}, func() pipeline.Processor { return talker })
	c, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(url, "ws://"), "/ws"))
	if err != nil {
		b.Fatal(err)
	}
	upgrade(b, c)
	go discard(c)
	<-ready
	_ = c.Close()
	ends()
}
