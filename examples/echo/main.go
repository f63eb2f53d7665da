// Command echo is the smallest pipeline: what is typed comes back. There is no
// model and no flow; a processor of our own stands between input and output.
//
//	go run ./examples/echo
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/turnwise/turnwise/examples/internal/terminal"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// echo answers typed text with the same text. Everything else passes it by.
type echo struct{ pipeline.Base }

// Process implements [pipeline.Processor].
func (e *echo) Process(f frames.Frame, dir pipeline.Direction) {
	if text, ok := f.(*frames.UserTextFrame); ok {
		e.Push(&frames.TextFrame{Text: text.Text}, pipeline.Downstream)
		return
	}
	e.Push(f, dir)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "echo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, in io.Reader, out io.Writer) error {
	output := terminal.NewOutput(out)
	pipe, err := pipeline.New(&echo{}, output)
	if err != nil {
		return err
	}
	task, err := pipeline.NewTask(pipe, pipeline.Params{})
	if err != nil {
		return err
	}
	task.QueueFrame(&frames.TextFrame{Text: "Type something; end with Ctrl-D."})
	return output.Run(ctx, in, task, nil)
}
