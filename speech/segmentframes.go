package speech

import "github.com/turnwise/turnwise/frames"

// SegmentStartFrame opens a segment: a piece of the bot's text, usually a sentence,
// whose audio and words follow it. [Synthesis] and [Playout] exchange it; it does
// not leave them.
type SegmentStartFrame struct {
	frames.DataFrame
	// Text is the segment as the conversation has it, with the space around it.
	Text string
	// Spoken is the text as it was given to the synthesizer; its words are those
	// that SegmentWordsFrames time.
	Spoken string
	// Response is the response it belongs to; 0 for a line that is not part of the
	// conversation.
	Response uint64
	// Pace is how many characters a second the synthesizer has spoken so far; 0
	// while that is not known.
	Pace float64
}

// SegmentWordsFrame brings times of words of the open segment.
type SegmentWordsFrame struct {
	frames.DataFrame
	Words []Word
}

// SegmentEndFrame closes the segment: its audio is complete.
type SegmentEndFrame struct {
	frames.DataFrame
	// Failed tells that the synthesizer gave up: the audio holds the first Said
	// bytes of the text, and the rest of it will never be heard.
	Failed bool
	Said   int
	// Continues tells that the next segment belongs to the same line, so that a
	// gap between the two is not the end of the bot's turn.
	Continues bool
}

// SpokenFrame tells how far a segment has been heard. [Playout] pushes one for each
// segment when it begins to be heard, one for each further word, and one at its end;
// captions are made of them. The text of responses travels besides as
// [frames.LLMTextFrame] pieces.
type SpokenFrame struct {
	frames.DataFrame
	// Segment numbers the segments of a session, from 1.
	Segment uint64
	// Response is the response it belongs to; 0 for a line that is not part of the
	// conversation.
	Response uint64
	// Text is the whole segment. From and To are the bytes of it that have become
	// heard with this frame; those before From were heard before.
	Text     string
	From, To int
	// Done tells that nothing more of the segment will be heard.
	Done bool
}
