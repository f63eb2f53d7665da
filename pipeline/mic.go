package pipeline

import "github.com/turnwise/turnwise/frames"

// micSlots bounds the live audio that waits for the loop: at 20 ms a frame, one
// second and a quarter.
const micSlots = 64

// micKeep is the largest number of samples that a slot keeps room for: 60 ms of
// stereo at 48 kHz.
const micKeep = 5760

// micRing holds live microphone audio. Samples are copied in, and the slots' own
// frames walk the pipeline, so nothing is allocated in the long run. When it is
// full the oldest audio goes. A session has two: producers fill one while the
// loop empties the other, and they change places.
type micRing struct {
	slots      []*micSlot // as many as were ever needed at once
	head, size int
	large      bool // a slot may have more room than is kept
}

// micSlot is one frame. The samples it owns are apart from the frame's, because a
// processor may put others in the frame's place.
type micSlot struct {
	frame   frames.InputAudioFrame
	samples []int16
}

// put copies a frame in and reports whether that cost the oldest one.
func (r *micRing) put(f *frames.InputAudioFrame) (full bool) {
	switch {
	case r.size == micSlots:
		r.head = (r.head + 1) % micSlots
		r.size--
		full = true
	case r.size == len(r.slots):
		r.slots = append(r.slots, &micSlot{})
	}
	slot := r.slots[(r.head+r.size)%len(r.slots)]
	r.large = r.large || len(f.Samples) > micKeep
	slot.samples = append(slot.samples[:0], f.Samples...)
	slot.frame = frames.InputAudioFrame{PCM: frames.PCM{Samples: slot.samples, Rate: f.Rate, Channels: f.Channels}}
	r.size++
	return full
}

// trim gives back what odd frames needed, once all have been handled.
func (r *micRing) trim() {
	if !r.large {
		return
	}
	r.large = false
	for _, s := range r.slots {
		if cap(s.samples) > micKeep {
			s.samples, s.frame = nil, frames.InputAudioFrame{}
		}
	}
}

// get takes the oldest frame; nil when there is none. It is valid until the rings
// change places.
func (r *micRing) get() *frames.InputAudioFrame {
	if r.size == 0 {
		r.head = 0
		r.trim()
		return nil
	}
	f := &r.slots[r.head].frame
	r.head = (r.head + 1) % len(r.slots)
	r.size--
	return f
}
