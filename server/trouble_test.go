package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/turnwise/turnwise/server"
)

func TestTheClientBeyondTheLastPlaceIsRefusedAtTheDoor(t *testing.T) {
	_, address := serve(t, server.Config{MaxSessions: 2})
	first := dial(t, address)
	dial(t, address)
	_, response, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(address, "http")+"/ws", nil)
	if err == nil || response == nil || response.StatusCode != http.StatusServiceUnavailable {
		t.Fatalf("the third client of two: %v %v", err, response)
	}
	if response.Header.Get("Retry-After") == "" {
		t.Error("it is not told when to come back")
	}
	var d struct{ Detail string }
	if err := json.NewDecoder(response.Body).Decode(&d); err != nil || d.Detail == "" {
		t.Errorf("it is not told why: %v", err)
	}
	if a := do(t, http.MethodPost, address+"/connect"); a.status != http.StatusServiceUnavailable {
		t.Errorf("/connect of a full server: %d", a.status)
	}
	_ = first.ws.Close()
	eventually(t, "the place of one who left is free", func() bool {
		return do(t, http.MethodPost, address+"/connect").status == http.StatusOK
	})
	dial(t, address).ready()
}

func TestAFloodOfConnectsLeavesTheServerWell(t *testing.T) {
	const clients = flood
	srv, err := server.New(server.Config{Bot: testBot(), MaxSessions: 50, ConnectRate: 20, ConnectBurst: 100})
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
	address := "http://" + l.Addr().String()

	talking := dial(t, address)
	talking.ready()

	// As many at a time as two processes' worth of file descriptors allow.
	var wg sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	gate := make(chan struct{}, 1000)
	for range clients {
		wg.Add(1)
		go func() {
			defer wg.Done()
			gate <- struct{}{}
			defer func() { <-gate }()
			status := knock(l.Addr().String())
			mu.Lock()
			statuses[status]++
			mu.Unlock()
		}()
	}
	wg.Wait()
	if statuses[http.StatusServiceUnavailable] == 0 || statuses[http.StatusSwitchingProtocols] == 0 {
		t.Errorf("the flood was answered with %v", statuses)
	}
	if statuses[http.StatusServiceUnavailable]+statuses[http.StatusSwitchingProtocols] != clients {
		t.Errorf("some of the flood had no answer: %v", statuses)
	}
	// The one who talks has noticed nothing, and the next one gets in.
	talking.say("take_name")
	talking.hears("Goodbye")
	eventually(t, "the flood's sessions have ended", func() bool { return srv.Sessions() == 0 })
	eventually(t, "clients get in again", func() bool {
		ws, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(address, "http")+"/ws", nil)
		if err == nil {
			_ = ws.Close()
		}
		return err == nil
	})
	stop()
	if err := <-served; err != nil && !errors.Is(err, server.ErrUnfinished) {
		t.Error(err)
	}
}

// knock asks for a WebSocket with as little effort as possible, leaves at once and
// returns the status, or 0 without an answer.
func knock(address string) int {
	conn, err := net.DialTimeout("tcp", address, patience)
	if err != nil {
		return 0
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, _ = io.WriteString(conn, "GET /ws HTTP/1.1\r\nHost: "+address+"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	_ = response.Body.Close()
	return response.StatusCode
}

func TestAClientThatNeverReadsHurtsNobodyElse(t *testing.T) {
	srv, address := serve(t, server.Config{})
	deaf, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(address, "http")+"/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	ready := map[string]any{"label": "rtvi-ai", "type": "client-ready", "id": "1", "data": map[string]any{"version": "2.1.0"}}
	if err := deaf.WriteJSON(ready); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		m := map[string]any{"label": "rtvi-ai", "type": "send-text", "id": fmt.Sprint(i), "data": map[string]any{"content": strings.Repeat("x", 1000)}}
		if err := deaf.WriteJSON(m); err != nil {
			break // it was disconnected, which is fine
		}
	}
	c := dial(t, address)
	c.ready()
	c.hears("Who are you?")
	c.say("take_name")
	c.hears("Goodbye")
	_ = deaf.Close()
	eventually(t, "both sessions end", func() bool { return srv.Sessions() == 0 })
}

func TestDrainingLetsConversationsFinish(t *testing.T) {
	srv, address := serve(t, server.Config{})
	c := dial(t, address)
	c.ready()
	c.hears("Who are you?")
	drained := make(chan int, 1)
	go func() { drained <- srv.Drain(t.Context(), time.Minute) }()
	c.until("the client is told", func(m message) bool { return strings.Contains(string(m.Data), "draining") })
	if a := do(t, http.MethodGet, address+"/readyz"); a.status != http.StatusServiceUnavailable {
		t.Errorf("/readyz of a draining server: %d", a.status)
	}
	if a := do(t, http.MethodGet, address+"/healthz"); a.status != http.StatusOK {
		t.Errorf("/healthz of a draining server: %d", a.status)
	}
	if a := do(t, http.MethodPost, address+"/connect"); a.status != http.StatusServiceUnavailable {
		t.Errorf("/connect of a draining server: %d", a.status)
	}
	if _, response, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(address, "http")+"/ws", nil); err == nil || response.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a new client of a draining server: %v %v", err, response)
	}
	c.say("take_name")
	c.hears("Goodbye")
	if left := <-drained; left != 0 {
		t.Errorf("%d conversations were ended, though all had finished", left)
	}
}

func TestDrainingEndsWhatDoesNotFinish(t *testing.T) {
	srv, err := server.New(server.Config{Bot: testBot(), Drain: 10 * time.Millisecond})
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
	c := dial(t, "http://"+l.Addr().String())
	c.ready()
	c.hears("Who are you?")
	stop()
	if err := <-served; !errors.Is(err, server.ErrUnfinished) {
		t.Errorf("Serve returned %v", err)
	}
	if code := c.closed(); code != websocket.CloseGoingAway {
		t.Errorf("the conversation was closed with %d", code)
	}
	if srv.Sessions() != 0 {
		t.Errorf("%d sessions are left", srv.Sessions())
	}
}

func TestMetricsCountWhatHappens(t *testing.T) {
	_, address := serve(t, server.Config{MaxSessions: 1})
	c := dial(t, address)
	c.ready()
	c.hears("Who are you?")
	if _, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(address, "http")+"/ws", nil); err == nil {
		t.Fatal("a second client got in")
	}
	c.say("take_name")
	c.hears("Goodbye")
	c.closed()
	var body string
	eventually(t, "the session is counted", func() bool {
		body = do(t, http.MethodGet, address+"/metrics").body
		return strings.Contains(body, `turnwise_sessions_total{end="done"} 1`)
	})
	for _, line := range []string{
		`turnwise_sessions_active 0`,
		`turnwise_refused_total{reason="full"} 1`,
		`turnwise_turns_total 1`,
		`turnwise_interruptions_total 1`,
		`turnwise_function_calls_total{status="ok"} 1`,
		`turnwise_generations_total{finish="stop"} 2`,
		`turnwise_generations_total{finish="tool_calls"} 1`,
		`turnwise_llm_tokens_total{kind="completion"} 6`,
		`turnwise_llm_first_token_seconds_count 3`,
	} {
		if !strings.Contains(body, line+"\n") {
			t.Errorf("the metrics have no line %q", line)
		}
	}
	if t.Failed() {
		for line := range strings.Lines(body) {
			if strings.HasPrefix(line, "turnwise") {
				t.Log(line)
			}
		}
	}
}

func TestTheLogTellsTheSession(t *testing.T) {
	var log syncBuffer
	_, address := serve(t, server.Config{Logger: slog.New(slog.NewJSONHandler(&log, nil))})
	c := dial(t, address)
	c.ready()
	c.say("take_name")
	c.closed()
	eventually(t, "the end is logged", func() bool { return strings.Contains(log.String(), "session over") })
	ids := map[string]bool{}
	for line := range strings.Lines(log.String()) {
		var entry struct{ Session, Msg string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if entry.Session == "" {
			t.Errorf("a line without the session: %s", line)
		}
		ids[entry.Session] = true
	}
	if len(ids) != 1 {
		t.Errorf("one session has the ids %v", ids)
	}
}

// syncBuffer is a buffer for the log of several goroutines.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
