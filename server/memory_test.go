package server_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/turnwise/turnwise/server"
)

// idleLimit is what an idle chat session over a WebSocket may take, in bytes.
const idleLimit = 40 << 10

// idleSession is a conversation with a client that takes next to nothing itself:
// a connection, from which nobody reads.
func idleSession(t testing.TB, address string) net.Conn {
	t.Helper()
	conn, err := net.DialTimeout("tcp", address, patience)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, _ = io.WriteString(conn, "GET /ws HTTP/1.1\r\nHost: "+address+"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	r := bufio.NewReader(conn)
	response, err := http.ReadResponse(r, nil)
	if err != nil || response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("no WebSocket: %v %v", err, response)
	}
	hello := `{"label":"rtvi-ai","type":"client-ready","id":"1","data":{"version":"2.1.0","about":{"library":"idle"}}}`
	// A masked text frame; the mask is zero.
	frame := append([]byte{0x81, 0x80 | byte(len(hello)), 0, 0, 0, 0}, hello...)
	if len(hello) > 125 {
		t.Fatal("a message of this length needs another header")
	}
	if _, err := conn.Write(frame); err != nil {
		t.Fatal(err)
	}
	// Until the greeting is through the session is not idle.
	for {
		var head [2]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			t.Fatal(err)
		}
		n := int(head[1])
		if n == 126 {
			var long [2]byte
			if _, err := io.ReadFull(r, long[:]); err != nil {
				t.Fatal(err)
			}
			n = int(binary.BigEndian.Uint16(long[:]))
		}
		text := make([]byte, n)
		if _, err := io.ReadFull(r, text); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "bot-llm-stopped") {
			return conn
		}
	}
}

// inUse is what the process uses for data and stacks, garbage apart.
func inUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// measureIdle returns what one idle session takes, in bytes and goroutines.
func measureIdle(t testing.TB, sessions int) (bytes, goroutines float64) {
	t.Helper()
	srv, err := server.New(server.Config{Bot: testBot(), MaxSessions: 2 * sessions, ConnectBurst: 2 * sessions})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx, l) }()
	conns := make([]net.Conn, 0, sessions+1)
	conns = append(conns, idleSession(t, l.Addr().String())) // what is made once is made
	before, goroutinesBefore := inUse(), runtime.NumGoroutine()
	for range sessions {
		conns = append(conns, idleSession(t, l.Addr().String()))
	}
	bytes = (float64(inUse()) - float64(before)) / float64(sessions)
	goroutines = float64(runtime.NumGoroutine()-goroutinesBefore) / float64(sessions)
	for _, c := range conns {
		_ = c.Close()
	}
	for srv.Sessions() > 0 {
		runtime.Gosched()
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	return bytes, goroutines
}

func TestAnIdleSessionIsSmall(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector makes sessions larger")
	}
	bytes, goroutines := measureIdle(t, 300)
	t.Logf("an idle session takes %.1f KB and %.2f goroutines", bytes/1024, goroutines)
	if bytes > idleLimit {
		t.Errorf("an idle session takes %.0f bytes, more than %d", bytes, idleLimit)
	}
	if goroutines > 3.1 {
		t.Errorf("an idle session takes %.2f goroutines, more than 3", goroutines)
	}
}

func BenchmarkIdleSession(b *testing.B) {
	for b.Loop() {
		bytes, goroutines := measureIdle(b, 1000)
		b.ReportMetric(bytes, "B/session")
		b.ReportMetric(goroutines, "goroutines/session")
	}
}
