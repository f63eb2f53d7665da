package llm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/pipeline"
)

// instant is a model that answers at once.
type instant struct{ call string }

func (m *instant) Stream(_ context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		last := req.Context.Entries[len(req.Context.Entries)-1].Message()
		if m.call != "" && last.Role == frames.RoleUser {
			if yield(llm.Chunk{Call: &frames.ToolCall{ID: "1", Name: m.call, Args: json.RawMessage(`{"n":4}`)}}, nil) {
				yield(llm.Chunk{Finish: llm.FinishCalls}, nil)
			}
			return
		}
		if yield(llm.Chunk{Text: "ok"}, nil) {
			yield(llm.Chunk{Finish: llm.FinishStop}, nil)
		}
	}
}

// listener signals the first text and the end of each response.
type listener struct {
	pipeline.Base
	first, end chan time.Time
}

func (p *listener) Process(f frames.Frame, dir pipeline.Direction) {
	switch f := f.(type) {
	case *frames.LLMTextFrame:
		select {
		case p.first <- time.Now():
		default:
		}
	case *frames.LLMResponseEndFrame:
		if f.Finish == llm.FinishStop {
			p.end <- time.Now()
		}
	}
	p.Push(f, dir)
}

func benchTurn(b *testing.B, messages int, callName string, idle time.Duration) {
	convo := frames.NewLLMContext("You help.")
	for i := range messages {
		convo.Append(frames.Message{Role: frames.RoleAssistant, Text: fmt.Sprintf("message %d", i)})
	}
	convo.SetTools([]frames.Tool{{Name: "book", Parameters: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}})
	svc, err := llm.NewService(llm.Config{Model: &instant{call: callName}, Context: convo})
	if err != nil {
		b.Fatal(err)
	}
	svc.RegisterFunction("book", func(context.Context, json.RawMessage) (string, error) { return "ok", nil })
	l := &listener{first: make(chan time.Time, 1), end: make(chan time.Time, 1)}
	task, err := pipeline.NewTask(pipeline.MustNew(llm.NewUserAggregator(convo), svc, l, llm.NewAssistantAggregator(convo)), pipeline.Params{})
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- task.Run(context.Background()) }()
	var took []time.Duration
	b.ReportAllocs()
	for b.Loop() {
		if idle > 0 {
			time.Sleep(idle)
		}
		begun := time.Now()
		task.QueueFrame(&frames.UserTextFrame{Text: "hi"})
		took = append(took, (<-l.first).Sub(begun))
		<-l.end
	}
	b.StopTimer()
	task.End("over")
	if err := <-done; err != nil {
		b.Fatal(err)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2])/1e3, "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100])/1e3, "p99-µs")
}

// BenchmarkTurn measures from the user's text at the door to the first text frame
// on its way to them.
func BenchmarkTurn(b *testing.B) {
	b.Run("hot", func(b *testing.B) { benchTurn(b, 10, "", 0) })
	b.Run("idle", func(b *testing.B) { benchTurn(b, 10, "", 2*time.Millisecond) })
	b.Run("hot/1000messages", func(b *testing.B) { benchTurn(b, 1000, "", 0) })
	b.Run("call", func(b *testing.B) { benchTurn(b, 10, "book", 0) })
}
