package offline_test

import (
	"testing"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/llm/offline"
)

func benchTurn(b *testing.B, history int, words string) {
	m := offline.New(offline.Config{})
	convo := frames.NewLLMContext("You are the host of a restaurant.")
	for range history / 2 {
		convo.AddUserMessage("and what is there to eat today?")
		convo.AddAssistantMessage("There is soup, and then there is more soup.")
	}
	node := desk().Snapshot()
	convo.Apply(frames.ContextUpdate{Tools: node.Tools})
	for _, e := range node.Entries {
		convo.Append(*e.Message())
	}
	convo.AddUserMessage(words)
	req := &llm.Request{Context: convo.Snapshot()}
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		for range m.Stream(ctx, req) {
		}
	}
}

func BenchmarkTurnCallsAFunction(b *testing.B)            { benchTurn(b, 0, "three nights please") }
func BenchmarkTurnCallsAFunctionLongHistory(b *testing.B) { benchTurn(b, 1000, "three nights please") }
func BenchmarkTurnAnswersInWords(b *testing.B)            { benchTurn(b, 0, "hello there") }

func BenchmarkNodeOpens(b *testing.B) {
	m := offline.New(offline.Config{})
	convo := frames.NewLLMContext("Greet the guest and ask how many people are coming.")
	convo.Apply(frames.ContextUpdate{Tools: desk().Tools()})
	req := &llm.Request{Context: convo.Snapshot()}
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		for range m.Stream(ctx, req) {
		}
	}
}

// BenchmarkNewToolset is a turn with tools that were seen before in another
// session.
func BenchmarkNewToolset(b *testing.B) {
	m := offline.New(offline.Config{})
	tools := desk().Tools().Tools()
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		convo := frames.NewLLMContext("Greet the guest.")
		convo.SetTools(tools)
		for range m.Stream(ctx, &llm.Request{Context: convo.Snapshot()}) {
		}
	}
}
