package openai_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
)

// countingServer counts the connections that are opened.
func countingServer(t *testing.T, h http.HandlerFunc) (*httptest.Server, *atomic.Int64) {
	var opened atomic.Int64
	s := httptest.NewUnstartedServer(h)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s, &opened
}

func TestOneConnectionServesAllRequests(t *testing.T) {
	complete := delta(`"content":"Hi"`) + finish("stop") + usageEvent
	for name, h := range map[string]http.HandlerFunc{
		"responses":              sse(complete + doneEvent),
		"responses without done": sse(complete),
		"bytes after done":       sse(complete + doneEvent + ": bye\n\n"),
		"late end": func(w http.ResponseWriter, r *http.Request) {
			sse(complete+doneEvent)(w, r)
			_ = http.NewResponseController(w).Flush()
			time.Sleep(time.Millisecond) // makes the end a packet of its own; nothing waits for it
		},
		"errors":   reply(429, "application/json", `{"error":{"message":"Slow"}}`),
		"no event": reply(200, "text/html", "<html></html>"),
	} {
		t.Run(name, func(t *testing.T) {
			s, opened := countingServer(t, h)
			m := newModel(t, s.URL)
			for range 20 {
				collect(t.Context(), m, ask("hello"))
			}
			wantFew(t, opened.Load(), 20)
		})
	}
}

// The next request often goes out as soon as the end of the response is told.
func TestConnectionIsFreeWhenTheEndIsTold(t *testing.T) {
	s, opened := countingServer(t, sse(delta(`"content":"Hi"`)+finish("stop")+doneEvent))
	m := newModel(t, s.URL)
	for range 10 {
		for c, err := range m.Stream(t.Context(), ask("hello")) {
			if err != nil {
				t.Fatal(err)
			}
			if c.Finish != "" {
				collect(t.Context(), m, ask("and now"))
			}
		}
	}
	wantFew(t, opened.Load(), 20)
}

// wantFew wants one connection. A machine that stands still for longer than the
// end of a response is waited for may cost another.
func wantFew(t *testing.T, opened int64, requests int) {
	t.Helper()
	if opened > 3 {
		t.Errorf("%d connections for %d requests", opened, requests)
	}
}

func TestRequestIsSentAgainOnAConnectionThatWasClosed(t *testing.T) {
	s, opened := countingServer(t, func(w http.ResponseWriter, r *http.Request) {
		if b, err := io.ReadAll(r.Body); err != nil || int64(len(b)) != r.ContentLength {
			t.Errorf("got %d bytes, %v", len(b), err)
		}
		sse(delta(`"content":"Hi"`)+finish("stop"))(w, r)
	})
	m := newModel(t, s.URL)
	for range 5 {
		if r := collect(t.Context(), m, ask("hello")); r.Err != nil || r.Text != "Hi" {
			t.Fatalf("got %v, %v", r, r.Err)
		}
		s.CloseClientConnections()
	}
	if n := opened.Load(); n != 5 {
		t.Errorf("%d connections", n)
	}
}

// streaming sends a text and then nothing more until the client has gone.
func streaming(gone chan<- struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		sse(delta(`"content":"Hi"`)+call(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`))(w, r)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		gone <- struct{}{}
	}
}

func TestCancellingEndsTheStreamAndItsConnection(t *testing.T) {
	gone := make(chan struct{}, 1)
	m := newModel(t, newServer(t, streaming(gone)).URL)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for c, err := range m.Stream(ctx, ask("hello")) {
		if c.Text != "" {
			cancel()
		}
		if c.Call != nil || c.Finish != "" {
			t.Errorf("got %+v after the end", c)
		}
		last = err
	}
	wantError(t, last, frames.ErrorInternal)
	if !errors.Is(last, context.Canceled) {
		t.Error(last)
	}
	<-gone
}

func TestLeavingTheLoopEndsTheRequest(t *testing.T) {
	gone := make(chan struct{}, 1)
	m := newModel(t, newServer(t, streaming(gone)).URL)
	for range m.Stream(t.Context(), ask("hello")) {
		break
	}
	<-gone
}

func TestLeavingTheLoopAtTheCallsIsQuiet(t *testing.T) {
	m := newModel(t, newServer(t, sse(twoCalls)).URL)
	for c := range m.Stream(t.Context(), ask("hello")) {
		if c.Call != nil {
			break
		}
	}
}

func TestCancelledBeforehandSendsNothing(t *testing.T) {
	m := newModel(t, newServer(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") }).URL)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantError(t, collect(ctx, m, ask("hello")).Err, frames.ErrorInternal)
}

func TestManySessionsShareAModel(t *testing.T) {
	s := newServer(t, sse(twoCalls))
	m := newModel(t, s.URL)
	convo := conversation()
	results := make(chan result)
	const sessions = 50
	for range sessions {
		go func() { results <- collect(t.Context(), m, &llm.Request{Context: convo.Snapshot()}) }()
	}
	for range sessions {
		if r := <-results; r.Err != nil || r.String() != twoCallsResult {
			t.Errorf("got %v, %v", r, r.Err)
		}
	}
}
