// Package pipeline moves frames: processors in order, one goroutine per session,
// and lanes for what is slow.
//
// A [Pipeline] is a chain of processors. A [Task] runs one: it owns a goroutine,
// the session loop, on which every processor handles one frame at a time; pushing
// a frame on is a direct call of the neighbour. So processors need no locks and
// order is total, and in return nothing on the loop may block: slow work goes to
// a lane ([Base.Queue]) or a detached job ([Base.Go]), whose results come back as
// frames.
package pipeline

import (
	"context"
	"fmt"

	"github.com/turnwise/turnwise/frames"
)

// Direction is the way a frame travels.
type Direction uint8

// The directions. Input travels downstream to output; requests and errors travel
// upstream.
const (
	Downstream Direction = 1 + iota
	Upstream
)

// String names the direction.
func (d Direction) String() string {
	switch d {
	case Downstream:
		return "downstream"
	case Upstream:
		return "upstream"
	}
	return fmt.Sprintf("direction %d", uint8(d))
}

// check panics when d is no direction, such as a variable that was never set.
func (d Direction) check() {
	if d != Downstream && d != Upstream {
		panic(fmt.Sprintf("pipeline: a frame cannot go in direction %d, only Downstream or Upstream", uint8(d)))
	}
}

// Processor handles frames. It is implemented by a struct that embeds [Base] and
// is used by pointer; it belongs to one pipeline and its methods are called on
// that pipeline's session loop only, so it needs no locks.
//
//	type Shout struct{ pipeline.Base }
//
//	func (s *Shout) Process(f frames.Frame, dir pipeline.Direction) {
//		if t, ok := f.(*frames.TextFrame); ok {
//			t.Text = strings.ToUpper(t.Text)
//		}
//		s.Push(f, dir)
//	}
//
// A processor that only handles frames may be made of a function, see [Func]; one
// that wants to block is wrapped, see [Serial].
//
// The optional sides [Starter], [Interrupted], [Receiver], [Settler], [Stopper],
// [Named] and [Wired] are found when the pipeline is built.
type Processor interface {
	// Process handles one frame. It passes on what it does not consume with
	// Push, and must not block.
	Process(f frames.Frame, dir Direction)

	base() *Base
}

// Starter is the side of a processor that prepares before the first frame.
type Starter interface {
	// Start runs on the loop before the StartFrame travels, and so must not block:
	// what takes time, such as connecting, goes to a job. ctx ends with the
	// session. An error ends the session before it begins.
	Start(ctx context.Context) error
}

// Interrupted is the side of a processor that is told of interruptions.
type Interrupted interface {
	// Interrupt runs in the one walk, in pipeline order, that ends the old turn.
	// The turn's contexts are cancelled and its queued frames are gone. Frames
	// pushed here travel when the walk is over, in the new turn.
	Interrupt(f *frames.InterruptionFrame)
}

// Receiver is the side of a processor that takes what its own jobs post. Without
// it posted frames are pushed downstream.
type Receiver interface {
	Receive(f frames.Frame)
}

// Settler is the side of a processor that decides once the dust has settled.
type Settler interface {
	// Settle runs after a call of [Base.Dirty], once, when the dispatch under way
	// and all that it caused is over.
	Settle()
}

// Stopper is the side of a processor that cleans up.
type Stopper interface {
	// Stop runs on the loop when the session has ended, also when the processor,
	// or one before it, did not start; the session's context is cancelled already.
	// Jobs may still be returning. Frames that are pushed are dropped, and jobs
	// are not run.
	Stop()
}

// Named is the side of a processor that names itself in logs and pictures; the
// default is the name of its type.
type Named interface {
	Name() string
}
