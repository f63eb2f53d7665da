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
			transitions(b, &caller{}, messages)
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
