package speech

import (
	"time"

	"github.com/turnwise/turnwise/frames"
)

// Latency says where the time between the user's last sound and the bot's first
// went. The parts follow each other without a gap, so their sum is the whole; a part
// that nothing waited for is 0.
type Latency struct {
	// Recognition is from the end of the user's speech to the last of its words.
	Recognition time.Duration
	// Endpointing is from then until turn taking decided that the turn was over.
	Endpointing time.Duration
	// Model is from then to the first piece of text to be spoken, function calls
	// before it included.
	Model time.Duration
	// Sentence is from then until the first sentence, or what is spoken first, was
	// complete.
	Sentence time.Duration
	// Synthesis is from then to the first audio.
	Synthesis time.Duration
	// Playout is from then until the transport took the first sample.
	Playout time.Duration
}

// Total is the time from the end of the user's speech to the first sample of the
// answer: the sum of the parts.
func (l Latency) Total() time.Duration {
	return l.Recognition + l.Endpointing + l.Model + l.Sentence + l.Synthesis + l.Playout
}

// LatencyPart is a part of a [Latency] by its name, in small letters.
type LatencyPart struct {
	Name string
	Took time.Duration
}

// Parts are the parts in the order in which they follow each other.
func (l Latency) Parts() []LatencyPart {
	return []LatencyPart{
		{"recognition", l.Recognition}, {"endpointing", l.Endpointing}, {"model", l.Model},
		{"sentence", l.Sentence}, {"synthesis", l.Synthesis}, {"playout", l.Playout},
	}
}

// LatencyFrame reports how long the user waited for an answer. [Playout] pushes it
// downstream when the first sample of the answer has been taken by the transport.
type LatencyFrame struct {
	frames.SystemFrame
	Latency
}

// journey notes when a user turn's answer passed the stages on its way. Processors
// of one session loop share it.
type journey struct {
	stopped    time.Time // the user's speech ended
	recognized time.Time
	decided    time.Time
	token      time.Time
	sentence   time.Time
	audio      time.Time
}

// journeyFrame hands the journey on from turn taking to the playout, where it ends.
type journeyFrame struct {
	frames.SystemFrame
	*journey
}

// pass notes the time of a stage when it is passed for the first time.
func pass(stage *time.Time) {
	if stage.IsZero() {
		*stage = time.Now()
	}
}

// latency shares the time up to played out among the stages. A stage that was passed
// before the one in front of it took no time.
func (j *journey) latency(played time.Time) Latency {
	at := j.stopped
	part := func(stage time.Time) time.Duration {
		if stage.After(played) {
			stage = played
		}
		if !stage.After(at) {
			return 0
		}
		d := stage.Sub(at)
		at = stage
		return d
	}
	return Latency{
		Recognition: part(j.recognized), Endpointing: part(j.decided), Model: part(j.token),
		Sentence: part(j.sentence), Synthesis: part(j.audio), Playout: part(played),
	}
}
