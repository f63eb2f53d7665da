package pipeline

import "github.com/turnwise/turnwise/frames"

// Drop tells f that it will not arrive. A processor calls it, on the loop, for a
// frame that it neither passes on nor has used up; a frame that has been told
// already, or that has arrived, is not told again.
func Drop(f frames.Frame) {
	d, ok := f.(frames.Droppable)
	if !ok {
		return
	}
	t := f.Header().Trail()
	if t.Copies > 0 {
		t.Copies-- // other branches still have it
		return
	}
	if !t.Settled {
		t.Settled = true
		d.Dropped()
	}
}

func isDroppable(f frames.Frame) bool {
	_, ok := f.(frames.Droppable)
	return ok
}
