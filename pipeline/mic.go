package pipeline

import "github.com/turnwise/turnwise/frames"

// micSlots bounds the live audio that waits for the loop: at 20 ms a frame, one
// second and a quarter.
const micSlots = 64

// micRing holds live microphone audio. Samples are copied in, and the slots' own
// frames walk the pipeline, so nothing is allocated in the long run. When it is
// full the oldest audio goes.
type micRing struct {
	slots      []*frames.InputAudioFrame // grows to micSlots+1 as needed
	head, size int
	dropped    uint64
}

// put copies a frame in. The door's lock is held.
func (r *micRing) put(f *frames.InputAudioFrame) {
	if r.slots == nil {
		r.slots = make([]*frames.InputAudioFrame, micSlots+1)
	}
	if r.size == micSlots {
		r.head = (r.head + 1) % len(r.slots)
		r.size--
		r.dropped++
	}
	i := (r.head + r.size) % len(r.slots)
	slot := r.slots[i]
	if slot == nil {
		slot = &frames.InputAudioFrame{}
		r.slots[i] = slot
	}
	slot.Samples = append(slot.Samples[:0], f.Samples...)
	slot.Rate, slot.Channels = f.Rate, f.Channels
	r.size++
}

// get takes the oldest frame. The frame walks while others are put in: swapping it
// with spare keeps its slot from being written.
func (r *micRing) get(spare *frames.InputAudioFrame) *frames.InputAudioFrame {
	if r.size == 0 {
		return nil
	}
	f := r.slots[r.head]
	r.slots[r.head] = spare
	r.head = (r.head + 1) % len(r.slots)
	r.size--
	return f
}
