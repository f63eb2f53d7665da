package pipeline

import "github.com/turnwise/turnwise/frames"

// Func makes a processor of a function, which is called as its Process, on the
// session loop. The function passes on what it does not consume with p.Push.
func Func(name string, process func(p *Base, f frames.Frame, dir Direction)) Processor {
	return &funcProcessor{name: name, process: process}
}

type funcProcessor struct {
	Base
	name    string
	process func(*Base, frames.Frame, Direction)
}

// Name is the name it was given.
func (p *funcProcessor) Name() string { return p.name }

// Process calls the function.
func (p *funcProcessor) Process(f frames.Frame, dir Direction) { p.process(&p.Base, f, dir) }
