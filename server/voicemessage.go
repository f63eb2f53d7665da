package server

import (
	"math"
	"time"

	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/speech"
)

// VoiceLatency is the value of [VoiceMessage].Event for how long the user waited.
const VoiceLatency = "latency"

// VoiceMessage tells the client of a spoken conversation what happens in it, as the data
// of an RTVI server-message.
type VoiceMessage struct {
	// Kind is "voice".
	Kind string `json:"kind"`
	// Event is one of the names above.
	Event string `json:"event"`
	// Latency is how long the user waited for the answer that is beginning.
	Latency *AnswerLatency `json:"latency,omitempty"`
}

// AnswerLatency is a [speech.Latency] in seconds, to the millisecond.
type AnswerLatency struct {
	// Total is the time from the end of the user's speech to the first sample of the
	// answer, and the others are its parts, in order.
	Total       float64 `json:"total"`
	Recognition float64 `json:"recognition"`
	Endpointing float64 `json:"endpointing"`
	Model       float64 `json:"model"`
	Sentence    float64 `json:"sentence"`
	Synthesis   float64 `json:"synthesis"`
	Playout     float64 `json:"playout"`
}

// newLatencyMessage tells a client of a latency.
func newLatencyMessage(l speech.Latency) VoiceMessage {
	s := func(d time.Duration) float64 { return math.Round(1000*d.Seconds()) / 1000 }
	return VoiceMessage{Kind: "voice", Event: VoiceLatency, Latency: &AnswerLatency{
		Total: s(l.Total()), Recognition: s(l.Recognition), Endpointing: s(l.Endpointing), Model: s(l.Model),
		Sentence: s(l.Sentence), Synthesis: s(l.Synthesis), Playout: s(l.Playout),
	}}
}

// narrator tells the client of a session how its conversation goes.
type narrator struct{ *Session }

// Observe looks at frames at the end of the pipeline.
func (n narrator) Observe(h pipeline.Hop) {
	if f, ok := h.Frame.(*speech.LatencyFrame); ok && h.To == "sink" {
		n.Send(newLatencyMessage(f.Latency))
	}
}
