// Package talk has conversations with the flows of the examples, for their tests.
package talk

import (
	"context"
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

// Conversation is a conversation in a synctest bubble.
type Conversation struct {
	// Flow is the FlowManager.
	Flow *flows.FlowManager
	task *pipeline.Task

	mu    sync.Mutex
	nodes []string
	said  strings.Builder
}

// Start begins a conversation that ends with the test. cfg needs neither LLM nor
// Context nor Enqueuer.
func Start(t *testing.T, model llm.Model, cfg flows.Config, node *flows.NodeConfig) *Conversation {
	t.Helper()
	c := &Conversation{}
	convo := frames.NewLLMContext("")
	service, err := llm.NewService(llm.Config{Model: model, Context: convo})
	if err != nil {
		t.Fatal(err)
	}
	pipe, err := pipeline.New(llm.NewUserAggregator(convo), service, &ear{c: c}, llm.NewAssistantAggregator(convo))
	if err != nil {
		t.Fatal(err)
	}
	if c.task, err = pipeline.NewTask(pipe, pipeline.Params{SessionID: "example"}); err != nil {
		t.Fatal(err)
	}
	cfg.LLM, cfg.Context, cfg.Enqueuer = service, convo, c.task
	cfg.OnEvent = func(e flows.Event) {
		if e.Kind == flows.EventNodeEntered {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.nodes = append(c.nodes, e.Node)
		}
	}
	if c.Flow, err = flows.New(cfg); err != nil {
		t.Fatal(err)
	}
	if err := c.Flow.Initialize(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	go func() { _ = c.task.Run(context.Background()) }()
	t.Cleanup(func() {
		c.task.Cancel("the test is over")
		<-c.task.Done()
	})
	synctest.Wait()
	return c
}

// Say types a line and returns what the bot says until nothing moves any more.
func (c *Conversation) Say(line string) string {
	c.task.QueueFrame(&frames.UserTextFrame{Text: line})
	return c.Pass(0)
}

// Pass lets time pass and returns what the bot said since the last call.
func (c *Conversation) Pass(d time.Duration) string {
	time.Sleep(d)
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	said := strings.TrimSpace(c.said.String())
	c.said.Reset()
	return said
}

// Nodes lists the nodes that were entered, by name, with spaces between.
func (c *Conversation) Nodes() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.nodes, " ")
}

// Over reports whether the session has ended.
func (c *Conversation) Over() bool {
	select {
	case <-c.task.Done():
		return true
	default:
		return false
	}
}

// ear hears what the bot says.
type ear struct {
	pipeline.Base
	c *Conversation
}

// Process implements [pipeline.Processor].
func (e *ear) Process(f frames.Frame, dir pipeline.Direction) {
	e.c.mu.Lock()
	switch f := f.(type) {
	case *frames.LLMTextFrame:
		e.c.said.WriteString(f.Text)
	case *frames.SpeakFrame:
		e.c.said.WriteString(f.Text + " ")
	case *frames.LLMResponseEndFrame:
		e.c.said.WriteString(" ")
	}
	e.c.mu.Unlock()
	e.Push(f, dir)
}
