package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// freeAddress is an address on this machine that nobody uses at the moment.
func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// awaitReady asks a server that starts until it is ready.
func awaitReady(t testing.TB, address string) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(200 * time.Microsecond) {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			continue
		}
		_, _ = fmt.Fprintf(conn, "GET /readyz HTTP/1.0\r\n\r\n")
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		_ = conn.Close()
		if err == nil && response.StatusCode == http.StatusOK {
			return
		}
	}
	t.Fatalf("the server at %s is not ready", address)
}

// resident is the resident memory of a process in bytes.
func resident(t testing.TB, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip("no /proc here")
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10
}

// start starts the built command and waits until it is ready; stop ends it.
func start(t testing.TB, path, address string) (pid int, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, path, "serve", "--addr", address, "--log-level", "error", "--drain", "0s")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	awaitReady(t, address)
	return cmd.Process.Pid, func() {
		cancel()
		_ = cmd.Wait() // it was killed
	}
}

// residentLimit is what the process may take with one idle session, in bytes.
const residentLimit = 25 << 20

func TestTheProcessIsSmall(t *testing.T) {
	address := freeAddress(t)
	pid, stop := start(t, binary(t), address)
	defer stop()
	ws, _, err := websocket.DefaultDialer.Dial("ws://"+address+"/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	hello := map[string]any{"label": "rtvi-ai", "type": "client-ready", "id": "1", "data": map[string]any{"version": "2.1.0"}}
	if err := ws.WriteJSON(hello); err != nil {
		t.Fatal(err)
	}
	_ = ws.SetReadDeadline(time.Now().Add(patience))
	for m := (struct{ Type string }{}); m.Type != "bot-llm-stopped"; {
		if err := ws.ReadJSON(&m); err != nil {
			t.Fatal(err)
		}
	}
	got := resident(t, pid)
	t.Logf("resident with one idle session: %.1f MB", float64(got)/(1<<20))
	if got > residentLimit {
		t.Errorf("it takes %d bytes, more than %d", got, residentLimit)
	}
}

// BenchmarkStart measures the time from starting the process until it answers that
// it is ready.
func BenchmarkStart(b *testing.B) {
	path, err := built()
	if err != nil {
		b.Fatalf("go build: %v\n%s", err, path)
	}
	address := freeAddress(b)
	for b.Loop() {
		_, stop := start(b, path, address)
		b.StopTimer()
		stop()
		b.StartTimer()
	}
}
