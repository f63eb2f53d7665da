package flows_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/turnwise/turnwise/flows"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/llm/openai"
	"github.com/turnwise/turnwise/pipeline"
)

// loopbackModel is an OpenAI-compatible server that calls "next" whenever it is
// asked, without thinking. It reads each request whole.
type loopbackModel struct {
	requests    atomic.Int64
	carrying    atomic.Int64 // of them: those in which every call has its result, not a placeholder
	connections atomic.Int64
}

func (m *loopbackModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	n := m.requests.Add(1)
	// Handlers answer "settled": a request carries all results when it has as many as calls.
	if bytes.Count(body, []byte(`"tool_call_id"`)) == bytes.Count(body, []byte("settled")) {
		m.carrying.Add(1)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"call_%d","type":"function","function":{"name":"next","arguments":"{}"}}]}}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: [DONE]

`, n)
}

// serve starts the model's server; it is closed with b.
func (m *loopbackModel) serve(b *testing.B) *httptest.Server {
	server := httptest.NewUnstartedServer(m)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			m.connections.Add(1)
		}
	}
	server.Start()
	b.Cleanup(server.Close)
	return server
}

// BenchmarkTransitionLoopback is from handler to handler through HTTP and SSE on
// loopback, with five functions at each node. The model's server runs in this
// process and takes part of the time. It also says what share of the requests
// carried the results of all calls before them, and how many TCP connections
// there were.
func BenchmarkTransitionLoopback(b *testing.B) {
	for _, messages := range []int{10, 1000} {
		b.Run(fmt.Sprintf("messages=%d", messages), func(b *testing.B) {
			server := &loopbackModel{}
			model, err := openai.New(openai.Config{Model: "none", BaseURL: server.serve(b).URL + "/v1", APIKey: "none"})
			if err != nil {
				b.Fatal(err)
			}
			transitions(b, model, messages)
			b.ReportMetric(float64(server.carrying.Load())/float64(server.requests.Load()), "carrying-results")
			b.ReportMetric(float64(server.connections.Load()), "connections")
		})
	}
}

// transitions steers b.N transitions through model, with a history of about so
// many messages.
func transitions(b *testing.B, model llm.Model, messages int) {
	convo := frames.NewLLMContext("")
	history := make([]frames.Message, messages)
	for i := range history {
		history[i] = frames.Message{Role: frames.RoleDeveloper, Text: fmt.Sprintf("message %d", i)}
	}
	svc, err := llm.NewService(llm.Config{Model: model, Context: convo, MaxRounds: 1 << 40})
	if err != nil {
		b.Fatal(err)
	}
	task, err := pipeline.NewTask(pipeline.MustNew(llm.NewUserAggregator(convo), svc, llm.NewAssistantAggregator(convo)), pipeline.Params{})
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	count := 0
	var ping, back *flows.NodeConfig
	next := flows.NodeFunction{Name: "next", Handler: func(context.Context, json.RawMessage, *flows.FlowManager) (string, *flows.NodeConfig, error) {
		if count++; count == b.N {
			close(done)
		}
		if count%100 == 0 {
			return "settled", back, nil
		}
		return "settled", ping, nil
	}}
	ping = node("ping", fn("a", "", nil), fn("b", "", nil), fn("c", "", nil), fn("d", "", nil), next)
	// Now and then the history begins again, so that its length stays about the same.
	copied := *ping
	back = &copied
	back.TaskMessages, back.ContextStrategy = history, flows.ContextReset
	fm, err := flows.New(flows.Config{LLM: svc, Context: convo, Enqueuer: task})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	if err := fm.Initialize(b.Context(), back); err != nil {
		b.Fatal(err)
	}
	go func() { _ = task.Run(context.Background()) }()
	<-done
	b.StopTimer()
	task.Cancel("done")
	<-task.Done()
}
