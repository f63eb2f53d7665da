package pipeline

import "github.com/turnwise/turnwise/frames"

// Hop is one step of a frame: it is about to be handled by a processor.
type Hop struct {
	// Frame is the frame itself. An observer must neither change nor keep it;
	// what it wants to keep it copies.
	Frame frames.Frame
	// To is the name of the processor that is about to handle it.
	To string
	// Index is that processor's place in the pipeline; the source is 0.
	Index int
	// Direction is the way the frame travels.
	Direction Direction
	// Last tells that To is the end of the pipeline in that direction.
	Last bool
}

// Observer sees every frame at every hop, and interruptions. It is called on the
// session loop and must not block; it should return within microseconds.
type Observer interface {
	Observe(h Hop)
}

// ObserverFunc is a function as an [Observer].
type ObserverFunc func(h Hop)

// Observe calls the function.
func (f ObserverFunc) Observe(h Hop) { f(h) }

// OnFrame is an observer that calls fn once for each frame of type F, when it
// reaches the end of the pipeline in the direction it travels. fn runs on the
// session loop and must not block.
func OnFrame[F frames.Frame](fn func(f F)) Observer {
	return ObserverFunc(func(h Hop) {
		if f, ok := h.Frame.(F); ok && h.Last {
			fn(f)
		}
	})
}

func (l *loop) observe(n *node, f frames.Frame, dir Direction) {
	end := l.tail
	if dir == Upstream {
		end = l.head
	}
	h := Hop{Frame: f, To: n.name, Index: n.index, Direction: dir, Last: n == end}
	for _, o := range l.observers {
		o.Observe(h)
	}
}
