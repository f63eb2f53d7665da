// Command supportdesk is a shop's support desk in the terminal, with the offline
// model. A line "/person" is not said to the bot: it stands for a supervisor who
// takes the conversation from outside and hands it to a person.
//
//	go run ./examples/supportdesk
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/turnwise/turnwise/examples/internal/terminal"
	"github.com/turnwise/turnwise/examples/supportdesk/desk"
	"github.com/turnwise/turnwise/flows"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/llm/offline"
	"github.com/turnwise/turnwise/pipeline"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, offline.New(offline.Config{}), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "supportdesk:", err)
		os.Exit(1)
	}
}

// run has one conversation.
func run(ctx context.Context, model llm.Model, in io.Reader, out io.Writer) error {
	convo := frames.NewLLMContext("")
	service, err := llm.NewService(llm.Config{Model: model, Context: convo})
	if err != nil {
		return err
	}
	output := terminal.NewOutput(out)
	pipe, err := pipeline.New(llm.NewUserAggregator(convo), service, output, llm.NewAssistantAggregator(convo))
	if err != nil {
		return err
	}
	task, err := pipeline.NewTask(pipe, pipeline.Params{})
	if err != nil {
		return err
	}
	flow := desk.New(desk.SlowCarrier{Delay: 4 * time.Second})
	fm, err := flows.New(flows.Config{LLM: service, Context: convo, Enqueuer: task, GlobalFunctions: flow.GlobalFunctions()})
	if err != nil {
		return err
	}
	if err := fm.Initialize(ctx, flow.Start()); err != nil {
		return err
	}
	return output.Run(ctx, in, task, func(line string) bool {
		return line == "/person" && fm.SetNode(ctx, flow.Person()) == nil
	})
}
