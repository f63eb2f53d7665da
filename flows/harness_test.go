package flows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/flows"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/pipeline"
)

// script is a model that answers request after request from a list, and with
// "reply N" when the list is used up.
type script struct {
	mu       sync.Mutex
	steps    []step
	requests []llm.Request
}

// step is one response: string is text, frames.ToolCall a call, time.Duration a
// pause, error a failure.
type step []any

func (s *script) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	s.mu.Lock()
	n := len(s.requests)
	s.requests = append(s.requests, *req)
	st := step{fmt.Sprintf("reply %d", n+1)}
	if n < len(s.steps) {
		st = s.steps[n]
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
			case error:
				yield(llm.Chunk{}, part)
				return
			}
			if !yield(c, nil) {
				return
			}
		}
		yield(llm.Chunk{Finish: end}, nil)
	}
}

func call(name string, args ...string) frames.ToolCall {
	c := frames.ToolCall{ID: "call_" + name, Name: name, Args: json.RawMessage("{}")}
	if len(args) > 0 {
		c.Args = json.RawMessage(args[0])
	}
	return c
}

// speaker is an output that takes its time over each piece of text, as a voice
// does, and records what was heard.
type speaker struct {
	pipeline.Base
	s *session
}

func (p *speaker) Process(f frames.Frame, dir pipeline.Direction) {
	switch f.(type) {
	case *frames.SpeakFrame, *frames.LLMTextFrame:
		if d := p.s.pace; d > 0 {
			p.Queue(pipeline.TurnScope, func(j *pipeline.Job) {
				select {
				case <-time.After(d):
					_ = j.Post(f)
				case <-j.Context().Done():
				}
			})
			return
		}
	}
	p.Push(f, dir)
}

// tail records what reached the user.
type tail struct {
	pipeline.Base
	s *session
}

func (p *tail) Process(f frames.Frame, dir pipeline.Direction) {
	switch f := f.(type) {
	case *frames.SpeakFrame:
		p.s.note("say " + f.Text)
	case *frames.LLMTextFrame:
		p.s.note("bot " + f.Text)
	case *frames.EndFrame:
		p.s.note("end")
	}
	p.Push(f, dir)
}

// session is a conversation under test, in virtual time.
type session struct {
	t     *testing.T
	model *script
	convo *frames.LLMContext
	svc   *llm.Service
	task  *pipeline.Task
	fm    *flows.FlowManager
	pace  time.Duration
	begun time.Time
	done  chan error

	mu     sync.Mutex
	heard  []string
	events []flows.Event
}

// start runs a session until the test ends. change may adapt its configuration.
func start(t *testing.T, change func(s *session, f *flows.Config, l *llm.Config), steps ...step) *session {
	t.Helper()
	s := &session{t: t, model: &script{steps: steps}, convo: frames.NewLLMContext(""), done: make(chan error, 1), begun: time.Now()}
	lc := llm.Config{Model: s.model, Context: s.convo}
	fc := flows.Config{Context: s.convo, OnEvent: s.event}
	if change != nil {
		change(s, &fc, &lc)
	}
	var err error
	if s.svc, err = llm.NewService(lc); err != nil {
		t.Fatal(err)
	}
	pipe, err := pipeline.New(llm.NewUserAggregator(s.convo), s.svc, &speaker{s: s}, &tail{s: s}, llm.NewAssistantAggregator(s.convo))
	if err != nil {
		t.Fatal(err)
	}
	if s.task, err = pipeline.NewTask(pipe, pipeline.Params{SessionID: "test"}); err != nil {
		t.Fatal(err)
	}
	fc.LLM, fc.Enqueuer = s.svc, s.task
	if s.fm, err = flows.New(fc); err != nil {
		t.Fatal(err)
	}
	go func() { s.done <- s.task.Run(context.Background()) }()
	t.Cleanup(func() {
		s.task.Cancel("the test is over")
		<-s.task.Done()
	})
	return s
}

func (s *session) initialize(n *flows.NodeConfig) {
	s.t.Helper()
	if err := s.fm.Initialize(s.t.Context(), n); err != nil {
		s.t.Fatal(err)
	}
	synctest.Wait()
}

// types sends what the user typed and waits until nothing moves any more.
func (s *session) types(text string) {
	s.task.QueueFrame(&frames.UserTextFrame{Text: text})
	synctest.Wait()
}

func (s *session) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (s *session) note(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = append(s.heard, what)
}

func (s *session) event(e flows.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, e)
}

// kinds are the events of some kinds, shown as "kind node".
func (s *session) kinds(kinds ...flows.EventKind) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, e := range s.events {
		if slices.Contains(kinds, e.Kind) {
			out = append(out, string(e.Kind)+" "+e.Node)
		}
	}
	return out
}

func (s *session) said() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.heard)
}

func (s *session) asked() int {
	s.model.mu.Lock()
	defer s.model.mu.Unlock()
	return len(s.model.requests)
}

// request is the n-th request, from 0: persona, history and tools in short lines.
func (s *session) request(n int) string {
	s.t.Helper()
	s.model.mu.Lock()
	defer s.model.mu.Unlock()
	if n >= len(s.model.requests) {
		s.t.Fatalf("there were only %d requests", len(s.model.requests))
	}
	return show(s.model.requests[n].Context)
}

func show(c frames.Snapshot) string {
	var lines []string
	if c.System != nil {
		lines = append(lines, "system: "+c.System.Message().Text)
	}
	for _, e := range c.Entries {
		m := e.Message()
		line := string(m.Role) + ": " + m.Text
		for _, t := range m.ToolCalls {
			line += " [" + t.Name + "]"
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	lines = append(lines, strings.TrimSpace("tools: "+strings.Join(c.Tools.Names(), " ")))
	return strings.Join(lines, "\n")
}

func (s *session) wantNode(name string) {
	s.t.Helper()
	if got := s.fm.CurrentNode(); got != name {
		s.t.Errorf("the conversation is at %q, want %q", got, name)
	}
}

func (s *session) wantAsked(n int) {
	s.t.Helper()
	if got := s.asked(); got != n {
		s.t.Errorf("the model was asked %d times, want %d", got, n)
	}
}

func (s *session) wantSaid(want ...string) {
	s.t.Helper()
	if got := s.said(); !slices.Equal(got, want) {
		s.t.Errorf("heard %q, want %q", got, want)
	}
}

func (s *session) wantRequest(n int, lines ...string) {
	s.t.Helper()
	if got, want := s.request(n), strings.Join(lines, "\n"); got != want {
		s.t.Errorf("request %d is\n%s\nwant\n%s", n, got, want)
	}
}

func (s *session) wantKinds(kinds []flows.EventKind, want ...string) {
	s.t.Helper()
	if got := s.kinds(kinds...); !slices.Equal(got, want) {
		s.t.Errorf("events %q, want %q", got, want)
	}
}

// task is a node's instruction.
func task(text string) []frames.Message {
	return []frames.Message{{Role: frames.RoleDeveloper, Text: text}}
}

// node is a node with a task named after it.
func node(name string, functions ...flows.NodeFunction) *flows.NodeConfig {
	return &flows.NodeConfig{Name: name, TaskMessages: task("task " + name), Functions: functions}
}

// fn is a function with a handler that takes no arguments and no time.
func fn(name, result string, next *flows.NodeConfig) flows.NodeFunction {
	return slow(name, 0, result, next)
}

// slow is a function whose handler takes its time, or less when it is cancelled.
func slow(name string, d time.Duration, result string, next *flows.NodeConfig) flows.NodeFunction {
	return flows.NodeFunction{
		Name: name, Description: "does " + name,
		Handler: func(ctx context.Context, _ json.RawMessage, _ *flows.FlowManager) (string, *flows.NodeConfig, error) {
			select {
			case <-time.After(d):
				return result, next, nil
			case <-ctx.Done():
				return "", nil, ctx.Err()
			}
		},
	}
}

func wait(n *flows.NodeConfig) *flows.NodeConfig {
	no := false
	n.RespondImmediately = &no
	return n
}

func virtual(t *testing.T, name string, f func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}
