package speech

import "github.com/turnwise/turnwise/frames"

// SegmentStartFrame opens a segment: a piece of the bot's text, usually a sentence,
// whose audio and words follow it. The processors of this package exchange it; it
// does not leave them.
type SegmentStartFrame struct {
	frames.DataFrame
	// Text is the segment as the conversation has it, with the space around it.
	Text string
	// Response is the response it belongs to.
	Response uint64
	// Rate is the sample rate of its audio in Hz.
	Rate int
}

// SegmentWordsFrame brings times of words of the open segment.
type SegmentWordsFrame struct {
	frames.DataFrame
	Words []Word
}

// SegmentEndFrame closes the segment: its audio is complete.
type SegmentEndFrame struct {
	frames.DataFrame
	// Failed tells that the synthesizer gave up; what has no audio was not heard.
	Failed bool
}
