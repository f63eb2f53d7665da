package websocket_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	gorilla "github.com/gorilla/websocket"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/transport/rtvi"
	"github.com/turnwise/turnwise/transport/websocket"
)

// overTCP starts a real server whose sessions are served by bots, and returns its
// address and a function that waits for the sessions and gives their ends.
func overTCP(t testing.TB, cfg websocket.Config, newBot func() pipeline.Processor) (url string, ends func() []error) {
	t.Helper()
	up, err := websocket.NewUpgrader(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var all []error
	var sessions sync.WaitGroup
	serve := func(conn *websocket.Conn) error {
		out, err := rtvi.NewOutput(conn, rtvi.OutputConfig{})
		if err != nil {
			return err
		}
		task, err := pipeline.NewTask(pipeline.MustNew(newBot(), out), pipeline.Params{OnError: out.Report})
		if err != nil {
			return err
		}
		return conn.Run(context.Background(), task)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The client knows of its connection before Upgrade has returned.
		sessions.Add(1)
		conn, err := up.Upgrade(w, r)
		if err != nil {
			sessions.Done()
			return
		}
		go func() {
			defer sessions.Done()
			err := serve(conn)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, err)
		}()
	}))
	t.Cleanup(srv.Close)
	return "ws" + strings.TrimPrefix(srv.URL, "http") + "/ws", func() []error {
		sessions.Wait()
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

func TestOrigins(t *testing.T) {
	cfg := websocket.Config{AllowedOrigins: []string{"https://app.example.org"}}
	url, ends := overTCP(t, cfg, func() pipeline.Processor { return echo() })
	host := strings.TrimSuffix(strings.TrimPrefix(url, "ws://"), "/ws")
	tests := []struct {
		name, origin string
		allowed      bool
	}{
		{"a client that is no browser", "", true},
		{"a page of the same host", "http://" + host, true},
		{"a page on the list", "https://app.example.org", true},
		{"a page on the list in capitals", "https://APP.example.org", true},
		{"a page of another host", "https://evil.example.org", false},
		{"a page on the list over another scheme", "http://app.example.org", false},
		{"a host that begins like ours", "http://" + host + ".evil.example.org", false},
		{"a page in a sandbox", "null", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			header := http.Header{}
			if tt.origin != "" {
				header.Set("Origin", tt.origin)
			}
			ws, resp, err := gorilla.DefaultDialer.Dial(url, header)
			if tt.allowed {
				if err != nil {
					t.Fatal(err)
				}
				_ = ws.Close()
				return
			}
			if err == nil || resp.StatusCode != http.StatusForbidden {
				t.Fatalf("got %v", err)
			}
			var problem struct{ Detail string }
			if err := json.NewDecoder(resp.Body).Decode(&problem); err != nil || !strings.Contains(problem.Detail, tt.origin) {
				t.Errorf("answered %+v, %v", problem, err)
			}
		})
	}
	ends()
}

func TestAllOriginsMayBeAllowed(t *testing.T) {
	url, ends := overTCP(t, websocket.Config{AllowedOrigins: []string{"*"}}, func() pipeline.Processor { return echo() })
	ws, _, err := gorilla.DefaultDialer.Dial(url, http.Header{"Origin": {"https://anything.example.org"}})
	if err != nil {
		t.Fatal(err)
	}
	_ = ws.Close()
	ends()
}

func TestRequestsThatAreNoUpgradesGetAReason(t *testing.T) {
	url, _ := overTCP(t, websocket.Config{}, func() pipeline.Processor { return echo() })
	resp, err := http.Get("http" + strings.TrimPrefix(url, "ws"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	defer http.DefaultClient.CloseIdleConnections()
	var problem struct{ Detail string }
	if err := json.NewDecoder(resp.Body).Decode(&problem); err != nil || problem.Detail == "" || resp.StatusCode != http.StatusBadRequest {
		t.Errorf("status %d, %+v, %v", resp.StatusCode, problem, err)
	}
}

func TestConfigurationsAreChecked(t *testing.T) {
	tests := []struct {
		field string
		cfg   websocket.Config
	}{
		{"MaxMessage", websocket.Config{MaxMessage: -1}},
		{"PingInterval", websocket.Config{PingInterval: -1}},
		{"SlowReader", websocket.Config{SlowReader: 9}},
		{"AllowedOrigins", websocket.Config{AllowedOrigins: []string{"app.example.org"}}},
		{"AllowedOrigins", websocket.Config{AllowedOrigins: []string{"https://app.example.org/page"}}},
	}
	for _, tt := range tests {
		if _, err := websocket.NewUpgrader(tt.cfg); !errors.Is(err, websocket.ErrConfig) || !strings.Contains(err.Error(), tt.field) {
			t.Errorf("%+v: got %v", tt.cfg, err)
		}
	}
}

func TestManyClientsAtOnceTalkAndLeave(t *testing.T) {
	url, ends := overTCP(t, websocket.Config{}, func() pipeline.Processor { return echo() })
	const clients = 200
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			if err := converse(url, i); err != nil {
				t.Errorf("client %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	all := ends()
	if len(all) != clients {
		t.Errorf("%d sessions", len(all))
	}
	for _, err := range all {
		if err != nil && !errors.Is(err, websocket.ErrPeerGone) {
			t.Errorf("a session ended with %v", err)
		}
	}
}

// converse is one client: half of them binary, half leave without a word.
func converse(url string, i int) error {
	ws, _, err := gorilla.DefaultDialer.Dial(url, nil)
	if err != nil {
		return err
	}
	defer func() { _ = ws.Close() }()
	p := &peer{Conn: ws}
	form := gorilla.TextMessage
	if i%2 == 0 {
		form = gorilla.BinaryMessage
	}
	if err := p.say(form, "client-ready", clientReady); err != nil {
		return err
	}
	for turn := range 5 {
		if err := p.turn(form, fmt.Sprintf("client %d turn %d", i, turn)); err != nil {
			return err
		}
	}
	if i%4 < 2 {
		return nil
	}
	if err := p.say(form, "disconnect-bot", ""); err != nil {
		return err
	}
	if _, code := p.rest(); code != gorilla.CloseNormalClosure {
		return fmt.Errorf("closed with %d", code)
	}
	return nil
}

// turn says something and waits for the echo.
func (p *peer) turn(form int, text string) error {
	if err := p.say(form, "send-text", fmt.Sprintf(`{"content":%q}`, text)); err != nil {
		return err
	}
	for {
		g, err := p.next()
		if err != nil {
			return err
		}
		if g.Type != rtvi.TypeBotOutput {
			continue
		}
		if !strings.Contains(string(g.Data), text) {
			return fmt.Errorf("got %s after %s", g, text)
		}
		return nil
	}
}

func TestAClientThatNeverReadsHoldsUpNobodyElse(t *testing.T) {
	b := chatter(rtvi.Essential, 60_000)
	var later atomic.Bool
	url, ends := overTCP(t, websocket.Config{}, func() pipeline.Processor {
		if later.Swap(true) {
			return echo()
		}
		return b
	})
	ws, _, err := gorilla.DefaultDialer.Dial(url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := ws.NetConn().(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	p := &peer{Conn: ws, t: t}
	p.text("client-ready", clientReady)
	p.until(rtvi.TypeBotReady)
	if err := converse(url, 2); err != nil {
		t.Error(err)
	}
	all := ends()
	if len(all) != 2 || !errors.Is(errors.Join(all...), websocket.ErrSlowReader) {
		t.Errorf("ended with %v", all)
	}
	_ = ws.Close()
	if n := len(seenOf[*frames.ClientDisconnectedFrame](b)); n != 1 {
		t.Errorf("announced %d times", n)
	}
}
