package pipeline_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// The smallest pipeline: what is queued at its head is printed at its end.
func Example() {
	echo := pipeline.Func("echo", func(p *pipeline.Base, f frames.Frame, dir pipeline.Direction) {
		if t, ok := f.(*frames.TextFrame); ok {
			fmt.Println("echo:", t.Text)
		}
		p.Push(f, dir)
	})
	task, err := pipeline.NewTask(pipeline.MustNew(echo), pipeline.Params{})
	if err != nil {
		fmt.Println(err)
		return
	}
	task.QueueFrame(&frames.TextFrame{Text: "hello"})
	task.End("that was all")
	if err := task.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output: echo: hello
}

// Temperature is a frame of our own. Embedding a class is all it takes.
type Temperature struct {
	frames.DataFrame
	Celsius float64
}

// Thermometer turns temperatures into text.
type Thermometer struct{ pipeline.Base }

// Process implements [pipeline.Processor].
func (p *Thermometer) Process(f frames.Frame, dir pipeline.Direction) {
	if t, ok := f.(*Temperature); ok {
		p.Push(&frames.TextFrame{Text: fmt.Sprintf("%.1f degrees", t.Celsius)}, dir)
		return
	}
	p.Push(f, dir)
}

// Frames and processors of one's own.
func Example_customFrame() {
	pipe := pipeline.MustNew(&Thermometer{})
	task, _ := pipeline.NewTask(pipe, pipeline.Params{
		Observers: []pipeline.Observer{pipeline.OnFrame(func(f *frames.TextFrame) { fmt.Println(f.Text) })},
	})
	task.QueueFrame(&Temperature{Celsius: 21.5})
	task.End("")
	_ = task.Run(context.Background())
	fmt.Println(pipe)
	// Output:
	// 21.5 degrees
	// Thermometer
}

// Translator asks a slow service, which must not hold the session loop, in its
// lane. What it passes on while that is under way waits its turn.
type Translator struct{ pipeline.Base }

// Process implements [pipeline.Processor].
func (p *Translator) Process(f frames.Frame, dir pipeline.Direction) {
	t, ok := f.(*frames.TextFrame)
	if !ok {
		p.Push(f, dir)
		return
	}
	p.Queue(pipeline.TurnScope, func(j *pipeline.Job) {
		translated, err := translate(j.Context(), t.Text)
		if err != nil {
			return // interrupted
		}
		_ = j.Post(&frames.TextFrame{Text: translated}) // goes on to Receive
	})
}

// Receive implements [pipeline.Receiver].
func (p *Translator) Receive(f frames.Frame) { p.Push(f, pipeline.Downstream) }

func translate(_ context.Context, text string) (string, error) {
	return strings.ReplaceAll(text, "hello", "bonjour"), nil
}

// Slow work runs in a processor's lane, in order.
func ExampleBase_Queue() {
	task, _ := pipeline.NewTask(pipeline.MustNew(&Translator{}), pipeline.Params{
		Observers: []pipeline.Observer{pipeline.OnFrame(func(f *frames.TextFrame) { fmt.Println(f.Text) })},
	})
	task.QueueFrame(&frames.TextFrame{Text: "hello world"})
	task.QueueFrame(&frames.TextFrame{Text: "hello again"})
	task.End("")
	_ = task.Run(context.Background())
	// Output:
	// bonjour world
	// bonjour again
}

// Frames take several branches at once.
func ExampleParallel() {
	counter := pipeline.Func("counter", func(p *pipeline.Base, f frames.Frame, dir pipeline.Direction) {
		if t, ok := f.(*frames.TextFrame); ok {
			p.Push(&frames.TextFrame{Text: fmt.Sprint(len(t.Text), " letters")}, dir)
			return
		}
		p.Push(f, dir)
	})
	pipe := pipeline.MustNew(pipeline.Parallel(pipeline.Branch{}, pipeline.Branch{counter}))
	task, _ := pipeline.NewTask(pipe, pipeline.Params{
		Observers: []pipeline.Observer{pipeline.OnFrame(func(f *frames.TextFrame) { fmt.Println(f.Text) })},
	})
	task.QueueFrame(&frames.TextFrame{Text: "hello"})
	task.End("")
	_ = task.Run(context.Background())
	fmt.Println(pipe)
	// Output:
	// hello
	// 5 letters
	// ( | counter)
}
