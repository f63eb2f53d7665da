package pipeline

import "sync/atomic"

// Stats counts what happens in the sessions that share it. Sessions hand in what
// they have counted when they come to rest, so that counting costs next to nothing.
// The zero value is ready; its methods may be called from any goroutine.
type Stats struct {
	started, ended, failed             atomic.Uint64
	frames, posts, audio, audioDropped atomic.Uint64
	interruptions                      atomic.Uint64
}

// Counts is what was counted at one moment. Every count only grows.
type Counts struct {
	// Started and Ended count sessions, and Failed those of the ended ones that
	// ended with an error other than a cancellation.
	Started, Ended, Failed uint64
	// Frames counts frames that came in from outside, without microphone audio,
	// and Posts frames that jobs posted.
	Frames, Posts uint64
	// Audio counts frames of microphone audio that were handled, AudioDropped
	// those that were dropped because a session was late.
	Audio, AudioDropped uint64
	// Interruptions counts interruptions.
	Interruptions uint64
}

// Read returns the counts so far. They are read one after the other.
func (s *Stats) Read() Counts {
	return Counts{
		Started: s.started.Load(), Ended: s.ended.Load(), Failed: s.failed.Load(),
		Frames: s.frames.Load(), Posts: s.posts.Load(),
		Audio: s.audio.Load(), AudioDropped: s.audioDropped.Load(),
		Interruptions: s.interruptions.Load(),
	}
}

func (s *Stats) add(c *Counts) {
	add(&s.started, c.Started)
	add(&s.ended, c.Ended)
	add(&s.failed, c.Failed)
	add(&s.frames, c.Frames)
	add(&s.posts, c.Posts)
	add(&s.audio, c.Audio)
	add(&s.audioDropped, c.AudioDropped)
	add(&s.interruptions, c.Interruptions)
}

func add(to *atomic.Uint64, n uint64) {
	if n != 0 {
		to.Add(n)
	}
}
