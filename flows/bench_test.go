package flows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"testing"

	"github.com/turnwise/turnwise/flows"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/pipeline"
)

// caller is a model that calls "next" whenever it is asked.
type caller struct{ n int }

func (c *caller) Stream(context.Context, *llm.Request) iter.Seq2[llm.Chunk, error] {
	c.n++
	id := fmt.Sprintf("call_%d", c.n)
	return func(yield func(llm.Chunk, error) bool) {
		_ = yield(llm.Chunk{Call: &frames.ToolCall{ID: id, Name: "next", Args: json.RawMessage("{}")}}, nil) &&
			yield(llm.Chunk{Finish: llm.FinishCalls}, nil)
	}
}

// BenchmarkTransition is from handler to handler, through an in-process model that
// takes no time, with five functions at each node.
func BenchmarkTransition(b *testing.B) {
	for _, messages := range []int{10, 1000} {
		b.Run(fmt.Sprintf("%d messages", messages), func(b *testing.B) {
			convo := frames.NewLLMContext("")
			history := make([]frames.Message, messages)
			for i := range history {
				history[i] = frames.Message{Role: frames.RoleDeveloper, Text: fmt.Sprintf("message %d", i)}
			}
			svc, err := llm.NewService(llm.Config{Model: &caller{}, Context: convo, MaxRounds: 1 << 40})
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
					return "ok", back, nil
				}
				return "ok", ping, nil
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
		})
	}
}

// BenchmarkNew is a FlowManager and its first node.
func BenchmarkNew(b *testing.B) {
	first := node("first", fn("a", "", nil), fn("b", "", nil), fn("c", "", nil), fn("d", "", nil), fn("e", "", nil))
	b.ReportAllocs()
	for b.Loop() {
		fm, err := flows.New(flows.Config{LLM: &stubLLM{}, Context: frames.NewLLMContext(""), Enqueuer: &stubQueue{}})
		if err != nil {
			b.Fatal(err)
		}
		if err := fm.Initialize(b.Context(), first); err != nil {
			b.Fatal(err)
		}
	}
}
