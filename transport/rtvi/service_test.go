package rtvi_test

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/transport/rtvi"
)

// slow is a model that speaks a word every 100 ms.
type slow struct{ words []string }

func (m *slow) Stream(ctx context.Context, _ *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		for _, w := range m.words {
			select {
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
				yield(llm.Chunk{}, ctx.Err())
				return
			}
			if !yield(llm.Chunk{Text: w + " "}, nil) {
				return
			}
		}
		yield(llm.Chunk{Finish: llm.FinishStop}, nil)
	}
}

// TestTheConversationHoldsWhatTheClientWasSent barges in at every word of a reply of
// the real model service.
func TestTheConversationHoldsWhatTheClientWasSent(t *testing.T) {
	words := strings.Fields("I can offer seven. Or half past eight? Both are by the window.")
	for at := range len(words) + 1 {
		synctest.Test(t, func(t *testing.T) { bargeInAfter(t, words, at) })
	}
}

func bargeInAfter(t *testing.T, words []string, at int) {
	c := &client{t: t}
	convo := frames.NewLLMContext("")
	svc, err := llm.NewService(llm.Config{Model: &slow{words}, Context: convo})
	if err != nil {
		t.Fatal(err)
	}
	out, err := rtvi.NewOutput(c, rtvi.OutputConfig{})
	if err != nil {
		t.Fatal(err)
	}
	pipe, err := pipeline.New(llm.NewUserAggregator(convo), svc, out, llm.NewAssistantAggregator(convo))
	if err != nil {
		t.Fatal(err)
	}
	task, err := pipeline.NewTask(pipe, pipeline.Params{OnError: out.Report})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- task.Run(t.Context()) }()
	task.QueueFrame(&frames.UserTextFrame{Text: "When?"})
	time.Sleep(time.Duration(at)*100*time.Millisecond + 50*time.Millisecond)
	task.QueueFrame(&frames.UserTextFrame{Text: "Stop.", NoRun: true})
	synctest.Wait()

	tokens, segments, open := said(t, c.take())
	var heard string
	for _, m := range convo.Messages() {
		if m.Role == frames.RoleAssistant {
			heard += m.Text
		}
	}
	if strings.TrimSpace(heard) != strings.TrimSpace(tokens) || strings.TrimSpace(tokens) != segments {
		t.Errorf("barged in after %d words: the conversation has %q, the tokens say %q, the segments %q", at, heard, tokens, segments)
	}
	if strings.TrimSpace(tokens) != strings.Join(words[:at], " ") {
		t.Errorf("barged in after %d words: the client was sent %q", at, tokens)
	}
	if open != 0 {
		t.Errorf("barged in after %d words: %d responses were left open", at, open)
	}
	task.End("")
	<-done
}

// said joins what a client was sent of the bot's words, and counts the responses
// that were not closed.
func said(t *testing.T, messages []sent) (tokens, segments string, open int) {
	t.Helper()
	var lines []string
	for _, m := range messages {
		var d rtvi.Text
		if m.Data != nil {
			if err := json.Unmarshal(m.Data, &d); err != nil {
				t.Fatal(err)
			}
		}
		switch m.Type {
		case rtvi.TypeBotLLMText:
			tokens += d.Text
		case rtvi.TypeBotOutput:
			lines = append(lines, d.Text)
		case rtvi.TypeBotLLMStarted:
			open++
		case rtvi.TypeBotLLMStopped:
			open--
		}
	}
	return tokens, strings.Join(lines, " "), open
}
