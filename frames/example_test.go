package frames_test

import (
	"fmt"

	"github.com/turnwise/turnwise/frames"
)

// Applause is a frame of our own: data that keeps its order and is dropped by an
// interruption.
type Applause struct {
	frames.DataFrame
	Seconds int
}

func ExampleFrame() {
	var f frames.Frame = &Applause{Seconds: 3}
	fmt.Println(f.Class(), f.Class().Survives())
	// Output: data false
}

func ExampleLLMContext() {
	c := frames.NewLLMContext("You book tables.")
	c.AddUserMessage("A table for four, please.")
	before := c.Snapshot()
	c.AddAssistantMessage("For when?")
	fmt.Println(len(before.Entries), len(c.Messages()), before.System.Message().Text)
	// Output: 1 2 You book tables.
}
