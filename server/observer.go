package server

import (
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/speech"
)

// Observe counts what happens in a session. It looks at frames once, where they
// arrive: at the end of the pipeline, or at its head when they travel upstream.
func (m *metrics) Observe(h pipeline.Hop) {
	if h.Direction == pipeline.Upstream {
		if h.Index == 0 {
			m.upstream(h.Frame)
		}
		return
	}
	if h.To != "sink" {
		return
	}
	switch f := h.Frame.(type) {
	case *frames.UserTextFrame, *frames.UserStoppedSpeakingFrame:
		m.turns.Add(1)
	case *frames.InterruptionFrame:
		m.interruptions.Add(1)
	case *frames.LLMResponseEndFrame:
		m.generations.Add(f.Finish, 1)
	case *frames.MetricsFrame:
		m.measured(f)
	case *speech.LatencyFrame:
		m.answered(f.Latency)
	case *frames.FunctionCallResultFrame:
		m.calls.Add(string(f.Status), 1)
	}
}

func (m *metrics) upstream(f frames.Frame) {
	switch f := f.(type) {
	case *frames.ErrorFrame:
		m.errors.Add(string(f.Category), 1)
	case *frames.MetricsFrame:
		m.measured(f)
	}
}

func (m *metrics) measured(f *frames.MetricsFrame) {
	if f.TTFB > 0 {
		m.ttft.Observe(f.TTFB.Seconds())
	}
	if u := f.Usage; u != nil {
		m.tokens.Add("prompt", uint64(max(0, u.Prompt)))
		m.tokens.Add("completion", uint64(max(0, u.Completion)))
	}
}
