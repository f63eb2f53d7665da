package flows_test

import (
	"context"
	"fmt"

	"github.com/turnwise/turnwise/flows"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/pipeline"
)

// A flow of two nodes, driven by a model that follows a script.
func Example() {
	type size struct {
		People int `json:"people" jsonschema:"how many people come" minimum:"1" maximum:"12"`
	}
	people := flows.NewKey[int]("people")
	farewell := &flows.NodeConfig{
		Name:         "farewell",
		TaskMessages: []frames.Message{{Role: frames.RoleDeveloper, Text: "Read the booking back and say goodbye."}},
		PostActions:  []flows.Action{flows.EndConversation("")},
	}
	ask := &flows.NodeConfig{
		Name:         "ask",
		RoleMessage:  "You take bookings for a small restaurant.",
		TaskMessages: []frames.Message{{Role: frames.RoleDeveloper, Text: "Ask how many people come."}},
		Functions: []flows.NodeFunction{
			flows.Func("set_size", "Takes the size of the party.",
				func(_ context.Context, args size, fm *flows.FlowManager) (string, *flows.NodeConfig, error) {
					people.Set(fm.State(), args.People)
					return fmt.Sprintf("a table for %d", args.People), farewell, nil
				}, flows.WithTargets("farewell")),
		},
	}

	model := &script{steps: []step{
		{"How many are you?"},
		{call("set_size", `{"people":4}`)},
		{"A table for four. Goodbye!"},
	}}
	convo := frames.NewLLMContext("")
	out := &printer{}
	svc, _ := llm.NewService(llm.Config{Model: model, Context: convo})
	pipe := pipeline.MustNew(llm.NewUserAggregator(convo), svc, out, llm.NewAssistantAggregator(convo))
	task, _ := pipeline.NewTask(pipe, pipeline.Params{})
	fm, err := flows.New(flows.Config{LLM: svc, Context: convo, Enqueuer: task, OnEvent: func(e flows.Event) {
		if e.Kind == flows.EventNodeEntered {
			fmt.Println("->", e.Node)
		}
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := fm.Initialize(context.Background(), ask); err != nil {
		fmt.Println(err)
		return
	}
	out.after = func() { task.QueueFrame(&frames.UserTextFrame{Text: "four of us"}) }
	fmt.Println(task.Run(context.Background()))
	fmt.Println(fm.State().Snapshot())
	// Output:
	// -> ask
	// bot: How many are you?
	// -> farewell
	// bot: A table for four. Goodbye!
	// <nil>
	// map[people:4]
}

// printer stands where an output would. After the bot's first words it calls after.
type printer struct {
	pipeline.Base
	after func()
}

func (p *printer) Process(f frames.Frame, dir pipeline.Direction) {
	switch f := f.(type) {
	case *frames.LLMTextFrame:
		fmt.Println("bot:", f.Text)
	case *frames.LLMResponseEndFrame:
		if p.after != nil {
			p.after()
			p.after = nil
		}
	}
	p.Push(f, dir)
}

func ExampleKey() {
	size := flows.NewKey[int]("size")
	state := flows.NewState(nil)
	size.Set(state, 4)
	n, ok := size.Get(state)
	fmt.Println(n, ok, state.Snapshot())
	// Output: 4 true map[size:4]
}

func ExampleNewOutline() {
	bye := &flows.NodeConfig{Name: "bye", PostActions: []flows.Action{flows.EndConversation("See you!")}}
	hello := &flows.NodeConfig{Name: "hello", Functions: []flows.NodeFunction{flows.Edge("leave", "The user wants to go.", bye)}}
	for _, e := range flows.NewOutline(nil, hello, bye).Edges {
		fmt.Println(e.From, "->", e.To, "by", e.Function)
	}
	// Output: hello -> bye by leave
}
