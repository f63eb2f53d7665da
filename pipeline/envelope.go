package pipeline

import "github.com/turnwise/turnwise/frames"

// envelope is one thing that waits at the door.
type envelope struct {
	frame frames.Frame
	job   *Job   // for posted, jobDone and fence
	fn    func() // for called
	// epoch is the door's when the envelope came; see [door].
	epoch uint64
	kind  envelopeKind
	dir   Direction // for posted: 0 is for Receive
	// begins tells that a turn ends before the frame is handled.
	begins bool
	// survives tells that interruptions leave the envelope alone.
	survives bool
}

type envelopeKind uint8

const (
	arrived   envelopeKind = iota // a frame from outside, for the head
	interrupt                     // an interruption from outside, without a cause
	posted                        // a frame from a job, for its processor
	jobDone                       // the end of a job
	fence                         // all that a purged job posted has been handled
	called                        // a function to run
)

// stale reports whether the envelope was queued before an interruption that has
// happened.
func (e *envelope) stale(turn, epoch uint64) bool {
	switch {
	case e.survives:
		return false
	case e.kind == posted:
		return e.job.over(turn)
	default:
		return e.epoch < epoch
	}
}
