package server_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/turnwise/turnwise/flows"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/llm/openai"
	"github.com/turnwise/turnwise/server"
)

// moodyModel is an OpenAI-compatible server that greets, answers the word "trouble"
// with the trouble it is set to, and everything else in good order.
func moodyModel(t *testing.T, trouble http.HandlerFunc) *httptest.Server {
	t.Helper()
	hs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if at := strings.LastIndex(string(body), `"role":"user"`); at >= 0 && strings.Contains(string(body)[at:], "trouble") &&
			!strings.Contains(string(body)[at:], `"role":"tool"`) {
			trouble(w, r)
			return
		}
		stream(w, `{"content":"All is well."}`, "stop")
	}))
	t.Cleanup(hs.Close)
	return hs
}

// stream answers with one delta and, unless it is empty, a reason to finish.
func stream(w http.ResponseWriter, delta, finish string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s}]}\n\n", delta)
	if finish != "" {
		_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", finish)
	}
}

func status(code int, header, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if header != "" {
			w.Header().Set("Retry-After", header)
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

func toolCall(name, args string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		stream(w, fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":%q,"arguments":%q}}]}`, name, args), "tool_calls")
	}
}

const modelKey = "sk-very-secret-key"

// Trouble with the model, as a client of the whole server meets it: it is told in
// public words or by the bot itself, the operator finds the cause in the log, the
// session goes on, the others notice nothing, and the key is in neither.
func TestTroubleWithTheModel(t *testing.T) {
	const apology = "Sorry, once more please."
	for name, c := range map[string]struct {
		trouble http.HandlerFunc
		told    string // what the client is told as an error; empty when it is nothing
		says    string // what the bot says
	}{
		"a refused key":             {status(401, "", `{"error":{"message":"Incorrect API key provided: `+modelKey+`.","code":"invalid_api_key"}}`), "credentials", apology},
		"a rate limit for an hour":  {status(429, "3600", `{"error":{"message":"slow down"}}`), "busy", apology},
		"a server error that stays": {status(500, "", "goroutine 1 [running]"), "failed", apology},
		"a stream that is cut":      {func(w http.ResponseWriter, _ *http.Request) { stream(w, `{"content":"Well,"}`, "") }, "could not be reached", apology},
		"a stream of garbage": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {{{\n\n")
		}, "failed", apology},
		"a page where a stream should be": {status(200, "", "<html>welcome</html>"), "could not handle", apology},
		"a call with broken arguments":    {toolCall("take_name", `{"name":`), "", "All is well."},
		"a call of a tool not on offer":   {toolCall("wire_money", `{}`), "", "All is well."},
		"an answer without any content":   {func(w http.ResponseWriter, _ *http.Request) { stream(w, `{}`, "stop") }, "empty", ""},
	} {
		t.Run(name, func(t *testing.T) {
			model, err := openai.New(openai.Config{Model: "m", APIKey: modelKey, BaseURL: moodyModel(t, c.trouble).URL + "/v1"})
			if err != nil {
				t.Fatal(err)
			}
			defer model.Close()
			var log lockedBuffer
			bot := &server.FlowBot{Model: model, Start: hello, Nodes: []*flows.NodeConfig{bye()},
				LLM: llm.Config{Apology: apology, Backoff: time.Millisecond}}
			_, address := serve(t, server.Config{Bot: bot, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			other := dial(t, address)
			other.ready()
			other.hears("All is well.")
			u := dial(t, address)
			u.ready()
			u.hears("All is well.")
			u.say("trouble")
			if c.told != "" {
				u.until("the client is told", func(m message) bool { return m.Type == "error" && strings.Contains(string(m.Data), c.told) })
			}
			u.after("trouble", c.says)
			u.say("go on")
			u.after("go on", "All is well.")
			other.say("hello")
			other.after("hello", "All is well.")
			for _, line := range append(u.types(), log.String()) {
				if strings.Contains(line, modelKey) {
					t.Errorf("the key is in %s", line)
				}
			}
			for _, line := range u.types() {
				if strings.Contains(line, "goroutine") || strings.Contains(line, "127.0.0.1") || strings.Contains(line, `"fatal":true`) {
					t.Errorf("the client was told %s", line)
				}
			}
			if c.told != "" && !strings.Contains(log.String(), "level=WARN") && !strings.Contains(log.String(), "level=ERROR") {
				t.Errorf("the operator finds nothing in the log:\n%s", log.String())
			}
		})
	}
}

// after waits for a sentence of the bot's behind the user's words.
func (c *client) after(words, part string) {
	c.t.Helper()
	if part == "" {
		return
	}
	answered := false
	c.until("the bot answers "+words+" with "+part, func(m message) bool {
		answered = answered || m.Type == "user-llm-text" && strings.Contains(m.text(), words)
		return answered && m.Type == "bot-output" && strings.Contains(m.text(), part)
	})
}

// lockedBuffer is a log that is read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
