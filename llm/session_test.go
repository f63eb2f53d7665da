package llm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/pipeline"
)

// script is a model that answers request after request from a list.
type script struct {
	mu       sync.Mutex
	steps    []step
	requests []llm.Request
}

// step is one response: what it does in order.
type step []any // string: text; frames.ToolCall: call; time.Duration: pause; error: failure; finish: end; *frames.TokenUsage

type finish string

func (s *script) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	s.mu.Lock()
	n := len(s.requests)
	s.requests = append(s.requests, *req)
	var st step
	if n < len(s.steps) {
		st = s.steps[n]
	} else {
		st = step{fmt.Sprintf("reply %d", n+1)}
	}
	s.mu.Unlock()
	return func(yield func(llm.Chunk, error) bool) {
		end := llm.FinishStop
		for _, part := range st {
			var c llm.Chunk
			switch part := part.(type) {
			case string:
				c.Text = part
			case frames.ToolCall:
				c.Call, end = &part, llm.FinishCalls
			case time.Duration:
				select {
				case <-time.After(part):
				case <-ctx.Done():
					yield(llm.Chunk{}, ctx.Err())
					return
				}
				continue
			case *frames.TokenUsage:
				c.Usage = part
			case error:
				yield(llm.Chunk{}, part)
				return
			case finish:
				if part == "" {
					return
				}
				end = string(part)
				continue
			}
			if !yield(c, nil) {
				return
			}
		}
		yield(llm.Chunk{Finish: end}, nil)
	}
}

func (s *script) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

// request shows the history of request n in short lines.
func (s *script) request(n int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, e := range s.requests[n].Context.Entries {
		out = append(out, show(e.Message()))
	}
	return out
}

func show(m *frames.Message) string {
	line := string(m.Role) + ": " + m.Text
	if m.Role == frames.RoleTool {
		line = "tool " + m.ToolCallID + ": " + m.Text
	}
	for _, c := range m.ToolCalls {
		line += fmt.Sprintf(" [%s %s %s]", c.ID, c.Name, c.Args)
	}
	return line
}

// session is a chat session under test.
type session struct {
	t     *testing.T
	model *script
	svc   *llm.Service
	convo *frames.LLMContext
	task  *pipeline.Task
	seen  []string
	costs []*frames.MetricsFrame
	ends  []string
	done  chan error
}

// tail records what reaches the user.
type tail struct {
	pipeline.Base
	s *session
}

func (p *tail) Process(f frames.Frame, dir pipeline.Direction) {
	if dir == pipeline.Downstream {
		switch f := f.(type) {
		case *frames.LLMResponseEndFrame:
			p.s.ends = append(p.s.ends, f.Finish)
		case *frames.LLMTextFrame:
			p.s.seen = append(p.s.seen, f.Text)
		case *frames.SpeakFrame:
			p.s.seen = append(p.s.seen, "say "+f.Text)
		case *frames.FunctionCallResultFrame:
			p.s.seen = append(p.s.seen, fmt.Sprintf("%s %s", f.Call.Name, f.Status))
		case *frames.MetricsFrame:
			p.s.costs = append(p.s.costs, f)
		case *frames.EndFrame:
			p.s.seen = append(p.s.seen, "end")
		}
	}
	p.Push(f, dir)
}

func newSession(t *testing.T, cfg llm.Config, steps ...step) *session {
	t.Helper()
	s := &session{t: t, model: &script{steps: steps}, convo: frames.NewLLMContext("You help."), done: make(chan error, 1)}
	if cfg.Model == nil {
		cfg.Model = s.model
	}
	cfg.Context = s.convo
	svc, err := llm.NewService(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.svc = svc
	pipe, err := pipeline.New(llm.NewUserAggregator(s.convo), svc, &tail{s: s}, llm.NewAssistantAggregator(s.convo))
	if err != nil {
		t.Fatal(err)
	}
	s.task, err = pipeline.NewTask(pipe, pipeline.Params{SessionID: "s", OnError: func(f *frames.ErrorFrame) {
		s.seen = append(s.seen, "error "+string(f.Category))
	}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *session) start() {
	go func() { s.done <- s.task.Run(context.Background()) }()
	synctest.Wait()
}

func (s *session) say(text string) {
	s.task.QueueFrame(&frames.UserTextFrame{Text: text})
	synctest.Wait()
}

func (s *session) end() {
	s.task.End("test")
	if err := <-s.done; err != nil {
		s.t.Errorf("the session ended with %v", err)
	}
}

func (s *session) history() []string {
	var out []string
	for _, m := range s.convo.Messages() {
		out = append(out, show(&m))
	}
	return out
}

func (s *session) want(got []string, want ...string) {
	s.t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		s.t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func call(id, name, args string) frames.ToolCall {
	return frames.ToolCall{ID: id, Name: name, Args: json.RawMessage(args)}
}

func tools(names ...string) []frames.Tool {
	var out []frames.Tool
	for _, n := range names {
		out = append(out, frames.Tool{Name: n, Parameters: json.RawMessage(`{"type":"object"}`)})
	}
	return out
}

func after(d time.Duration, result string) llm.ToolHandler {
	return func(ctx context.Context, _ json.RawMessage) (string, error) {
		select {
		case <-time.After(d):
			return result, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}
