// Package terminal lets an example talk through a terminal or a pipe.
package terminal

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// Output is the end of a pipeline that writes what the bot says, as it comes. It
// stands between the model service and the assistant aggregator.
type Output struct {
	pipeline.Base
	w    io.Writer
	open bool // a line has begun
	// turns gets a token when the bot has had its say.
	turns chan struct{}
}

// NewOutput makes an output that writes to w. Writing must not block for long.
func NewOutput(w io.Writer) *Output { return &Output{w: w, turns: make(chan struct{}, 1)} }

// Process writes the bot's words and passes everything on.
func (o *Output) Process(f frames.Frame, dir pipeline.Direction) {
	switch f := f.(type) {
	case *frames.LLMTextFrame:
		o.write(f.Text)
	case *frames.LLMResponseEndFrame:
		o.newline()
		switch f.Finish {
		case "tool_calls", "replaced":
		default:
			o.turnOver()
		}
	case *frames.SpeakFrame:
		o.newline()
		o.write(f.Text)
		o.newline()
	case *frames.TextFrame:
		o.write(f.Text)
		o.newline()
		o.turnOver()
	}
	o.Push(f, dir)
}

// Interrupt ends the line that was cut.
func (o *Output) Interrupt(*frames.InterruptionFrame) {
	if o.open {
		o.write(" …")
		o.newline()
	}
}

func (o *Output) write(text string) {
	if !o.open && text != "" {
		fmt.Fprint(o.w, "bot: ")
		o.open = true
	}
	fmt.Fprint(o.w, text)
}

func (o *Output) newline() {
	if o.open {
		fmt.Fprintln(o.w)
		o.open = false
	}
}

func (o *Output) turnOver() {
	select {
	case o.turns <- struct{}{}:
	default:
	}
}

// Read sends what comes from r to the session, line by line, and ends it with the
// input. At a terminal a line that is typed while the bot talks interrupts it; from
// a pipe the next line waits until the bot has had its say. command, if not nil, is
// asked first and takes a line that it wants.
func (o *Output) Read(r io.Reader, task *pipeline.Task, command func(line string) bool) {
	person := isTerminal(r)
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if !person && !o.awaitTurn(task) {
			return
		}
		if command == nil || !command(lines.Text()) {
			task.QueueFrame(&frames.UserTextFrame{Text: lines.Text()})
		}
	}
	if !person && !o.awaitTurn(task) {
		return
	}
	task.End("end of input")
}

// awaitTurn waits until the bot has had its say; false when the session is over.
func (o *Output) awaitTurn(task *pipeline.Task) bool {
	select {
	case <-o.turns:
		return true
	case <-task.Done():
		return false
	}
}

// Run runs the session until it ends, reading lines from r.
func (o *Output) Run(ctx context.Context, r io.Reader, task *pipeline.Task, command func(line string) bool) error {
	go o.Read(r, task, command)
	return task.Run(ctx)
}

func isTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
