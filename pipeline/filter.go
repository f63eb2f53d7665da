package pipeline

import "github.com/turnwise/turnwise/frames"

// Filter makes a processor that passes on the frames that keep accepts, in either
// direction, and drops the others. System frames and those that keep a session
// going (the end, marks, heartbeats) always pass; keep is not asked about them. It
// runs on the session loop and must not block.
func Filter(keep func(f frames.Frame, dir Direction) bool) Processor {
	return &filter{keep: keep}
}

type filter struct {
	Base
	keep func(frames.Frame, Direction) bool
}

// Name is "filter".
func (*filter) Name() string { return "filter" }

// Process passes f on or drops it.
func (p *filter) Process(f frames.Frame, dir Direction) {
	if !vital(f) && !p.keep(f, dir) {
		Drop(f)
		return
	}
	p.Push(f, dir)
}

// vital reports whether a session depends on f's way through the pipeline.
func vital(f frames.Frame) bool {
	switch f.(type) {
	case *frames.EndFrame, *frames.MarkFrame, *frames.HeartbeatFrame:
		return true
	}
	return f.Class().IsSystem()
}
