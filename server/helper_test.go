package server_test

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"github.com/turnwise/turnwise/flows"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// parrot is a model that calls the first function on offer whose name the user
// spells, and otherwise says what the node wants said.
type parrot struct {
	// gate, when not nil, holds each word back until it can be read.
	gate chan struct{}
}

// ModelName is "parrot".
func (*parrot) ModelName() string { return "parrot" }

// Stream answers.
func (p *parrot) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		last := req.Context.Entries[len(req.Context.Entries)-1].Message()
		if last.Role == frames.RoleUser {
			for _, t := range req.Context.Tools.Tools() {
				if strings.Contains(last.Text, t.Name) {
					call := &frames.ToolCall{ID: "call-" + t.Name, Name: t.Name, Args: json.RawMessage(`{}`)}
					if yield(llm.Chunk{Call: call}, nil) {
						yield(llm.Chunk{Finish: llm.FinishCalls}, nil)
					}
					return
				}
			}
		}
		for word := range strings.SplitAfterSeq(task(req.Context.Entries), " ") {
			if p.gate != nil {
				select {
				case <-p.gate:
				case <-ctx.Done():
					yield(llm.Chunk{}, ctx.Err())
					return
				}
			}
			if !yield(llm.Chunk{Text: word}, nil) {
				return
			}
		}
		yield(llm.Chunk{Finish: llm.FinishStop, Usage: &frames.TokenUsage{Prompt: 7, Completion: 3, Total: 10}}, nil)
	}
}

// task is what the last node says.
func task(entries []*frames.Entry) string {
	for _, e := range slices.Backward(entries) {
		if e.Message().Role == frames.RoleDeveloper {
			return e.Message().Text
		}
	}
	return "…"
}

func say(text string) []frames.Message {
	return []frames.Message{{Role: frames.RoleDeveloper, Text: text}}
}

// hello is where the test's flow begins: hello → name → bye.
func hello() *flows.NodeConfig {
	return &flows.NodeConfig{
		Name: "hello", Title: "Hello", TaskMessages: say("Hello there. Who are you?"),
		Functions: []flows.NodeFunction{{
			Name: "take_name", Description: "Take the user's name.", To: []string{"bye"},
			Handler: func(_ context.Context, _ json.RawMessage, fm *flows.FlowManager) (string, *flows.NodeConfig, error) {
				fm.State().Set("name", "Ada")
				return "Ada", bye(), nil
			},
		}},
	}
}

func bye() *flows.NodeConfig {
	return &flows.NodeConfig{
		Name: "bye", Title: "Farewell", TaskMessages: say("Goodbye, Ada."),
		PostActions: []flows.Action{{Type: flows.ActionEndConversation}},
	}
}

func testBot() *server.FlowBot {
	return &server.FlowBot{
		Name: "test", Title: "Test flow", Model: &parrot{}, Start: hello, Nodes: []*flows.NodeConfig{bye()},
	}
}

// serve starts a server for a test and returns it with its address, e.g.
// "http://127.0.0.1:1234".
func serve(t *testing.T, cfg server.Config) (*server.Server, string) {
	t.Helper()
	if cfg.Bot == nil {
		cfg.Bot = testBot()
	}
	srv, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	hs := httptest.NewServer(srv.Handler())
	t.Cleanup(func() {
		hs.CloseClientConnections()
		srv.Drain(context.Background(), 0)
		hs.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return srv, hs.URL
}

// message is an RTVI message.
type message struct {
	Label string          `json:"label"`
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Data  json.RawMessage `json:"data"`
}

func (m message) text() string {
	var d struct{ Text string }
	_ = json.Unmarshal(m.Data, &d)
	return d.Text
}

// client is a client of the protocol: it keeps all it gets.
type client struct {
	t  *testing.T
	ws *websocket.Conn

	mu     sync.Mutex
	got    []message
	err    error
	change chan struct{}
	done   chan struct{}
}

// patience is how long a client waits for what must come. Tests pass sooner.
const patience = time.Minute

func dial(t *testing.T, address string) *client {
	t.Helper()
	ws, response, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(address, "http")+"/ws", nil)
	if err != nil {
		t.Fatalf("dial: %v (%v)", err, response)
	}
	c := &client{t: t, ws: ws, change: make(chan struct{}), done: make(chan struct{})}
	go c.read()
	t.Cleanup(func() {
		_ = ws.Close()
		<-c.done
	})
	return c
}

func (c *client) read() {
	defer close(c.done)
	for {
		var m message
		err := c.ws.ReadJSON(&m)
		c.mu.Lock()
		if err == nil {
			c.got = append(c.got, m)
		} else {
			c.err = err
		}
		close(c.change)
		c.change = make(chan struct{})
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (c *client) send(kind string, data any) {
	c.t.Helper()
	if err := c.ws.WriteJSON(map[string]any{"label": "rtvi-ai", "type": kind, "id": "id-" + kind, "data": data}); err != nil {
		c.t.Fatalf("send %s: %v", kind, err)
	}
}

// ready says that the client is there and waits for the bot.
func (c *client) ready() {
	c.t.Helper()
	c.send("client-ready", map[string]any{"version": "2.1.0", "about": map[string]any{"library": "test"}})
	c.until("the bot is ready", func(m message) bool { return m.Type == "bot-ready" })
}

func (c *client) say(text string) {
	c.t.Helper()
	c.send("send-text", map[string]any{"content": text})
}

// until waits for a message, among those that have come too.
func (c *client) until(what string, is func(message) bool) message {
	c.t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for seen := 0; ; {
		c.mu.Lock()
		for ; seen < len(c.got); seen++ {
			if is(c.got[seen]) {
				m := c.got[seen]
				c.mu.Unlock()
				return m
			}
		}
		change, err := c.change, c.err
		c.mu.Unlock()
		if err != nil {
			c.t.Fatalf("waiting until %s: %v; got %v", what, err, c.types())
		}
		select {
		case <-change:
		case <-limit.C:
			c.t.Fatalf("waited %s until %s; got %v", patience, what, c.types())
		}
	}
}

// hears waits for a sentence of the bot's.
func (c *client) hears(part string) {
	c.t.Helper()
	c.until("the bot says "+part, func(m message) bool { return m.Type == "bot-output" && strings.Contains(m.text(), part) })
}

// closed waits for the end of the connection and returns its close code.
func (c *client) closed() int {
	c.t.Helper()
	select {
	case <-c.done:
	case <-time.After(patience):
		c.t.Fatal("the connection was not closed")
	}
	if e, ok := c.err.(*websocket.CloseError); ok {
		return e.Code
	}
	return -1
}

func (c *client) types() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for _, m := range c.got {
		out = append(out, m.Type+" "+string(m.Data))
	}
	return out
}

// flow returns what the bot told of its flow.
func (c *client) flow() []server.FlowMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []server.FlowMessage
	for _, m := range c.got {
		if m.Type != "server-message" {
			continue
		}
		var f server.FlowMessage
		if json.Unmarshal(m.Data, &f) == nil {
			out = append(out, f)
		}
	}
	return out
}
