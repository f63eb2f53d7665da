package server

import (
	"fmt"
	"slices"

	"github.com/turnwise/turnwise/flows"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/pipeline"
)

// FlowBot is the [Bot] of a flow: what answers the application's messages, user
// aggregator, model service, output and assistant aggregator in a row, in a call with
// what hears in front and what speaks before the output, and a FlowManager beside them
// that begins when the client is ready. Model and Start are required. What happens in
// the flow is sent to the client, see [FlowMessage].
type FlowBot struct {
	// Name and Title are the flow's; see [Flow].
	Name, Title string
	// Model answers. Info describes it to users; its Name is taken from the model
	// when it is empty and the model knows it.
	Model llm.Model
	Info  ModelInfo
	// Start makes the node in which every conversation begins.
	Start func() *flows.NodeConfig
	// Nodes are all nodes that are known beforehand, for the drawing; Start's
	// comes first by itself.
	Nodes []*flows.NodeConfig
	// GlobalFunctions are offered at every node.
	GlobalFunctions []flows.NodeFunction
	// LLM are further settings of the model service; its Model and Context are
	// filled in.
	LLM llm.Config
	// Configure may change the FlowManager's settings for a session, which are
	// filled in otherwise; may be nil.
	Configure func(s *Session, c *flows.Config)
	// OnMessage answers the messages of the client's application; nil refuses them.
	OnMessage MessageHandler
}

// Validate names the first field that is missing.
func (b *FlowBot) Validate() error {
	switch {
	case b.Model == nil:
		return fmt.Errorf("%w: FlowBot.Model is required", ErrConfig)
	case b.Start == nil:
		return fmt.Errorf("%w: FlowBot.Start is required", ErrConfig)
	}
	return nil
}

// Describe outlines the flow.
func (b *FlowBot) Describe() Flow {
	nodes := b.Nodes
	if b.Start != nil {
		nodes = append([]*flows.NodeConfig{b.Start()}, nodes...)
	}
	f := Flow{Name: b.Name, Title: b.Title, Model: b.Info, Outline: flows.NewOutline(b.GlobalFunctions, unique(nodes)...)}
	if n, ok := b.Model.(llm.Named); ok && f.Model.Name == "" {
		f.Model.Name = n.ModelName()
	}
	return f
}

// unique keeps the first node of each name.
func unique(nodes []*flows.NodeConfig) []*flows.NodeConfig {
	seen := map[string]bool{}
	var out []*flows.NodeConfig
	for _, n := range nodes {
		if n == nil || seen[n.Name] {
			continue
		}
		seen[n.Name] = n.Name != ""
		out = append(out, n)
	}
	return out
}

// Session builds one conversation.
func (b *FlowBot) Session(s *Session) (*pipeline.Task, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	convo := frames.NewLLMContext("")
	cfg := b.LLM
	cfg.Model, cfg.Context = b.Model, convo
	service, err := llm.NewService(cfg)
	if err != nil {
		return nil, err
	}
	pipe, err := pipeline.New(slices.Concat(
		s.Listen(), []pipeline.Processor{inbox(s, b.OnMessage), llm.NewUserAggregator(convo), service},
		s.Speak(), []pipeline.Processor{s.Output(), llm.NewAssistantAggregator(convo)},
	)...)
	if err != nil {
		return nil, err
	}
	task, err := pipeline.NewTask(pipe, s.Params())
	if err != nil {
		return nil, err
	}
	flow := flows.Config{
		LLM: service, Context: convo, Enqueuer: task, GlobalFunctions: b.GlobalFunctions, Logger: s.Logger(),
		OnEvent: func(e flows.Event) {
			if m, ok := NewFlowMessage(e); ok {
				s.Send(m)
			}
		},
	}
	if b.Configure != nil {
		b.Configure(s, &flow)
	}
	fm, err := flows.New(flow)
	if err != nil {
		return nil, err
	}
	s.OnReady(func() error { return fm.Initialize(s.Context(), b.Start()) })
	return task, nil
}
