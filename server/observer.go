package server

import (
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
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
		m.turns.Inc()
	case *frames.InterruptionFrame:
		m.interruptions.Inc()
	case *frames.LLMResponseEndFrame:
		m.generations.WithLabelValues(finish(f.Finish)).Inc()
	case *frames.MetricsFrame:
		m.measured(f)
	case *frames.FunctionCallResultFrame:
		m.calls.WithLabelValues(string(f.Status)).Inc()
	}
}

func (m *metrics) upstream(f frames.Frame) {
	switch f := f.(type) {
	case *frames.ErrorFrame:
		m.errors.WithLabelValues(string(f.Category)).Inc()
	case *frames.MetricsFrame:
		m.measured(f)
	}
}

func (m *metrics) measured(f *frames.MetricsFrame) {
	if f.TTFB > 0 {
		m.ttft.Observe(f.TTFB.Seconds())
	}
	if u := f.Usage; u != nil {
		m.tokens.WithLabelValues("prompt").Add(float64(u.Prompt))
		m.tokens.WithLabelValues("completion").Add(float64(u.Completion))
	}
}

// finish keeps a provider's own words for how a response ended out of the labels.
func finish(s string) string {
	switch s {
	case "stop", "tool_calls", "length", "content_filter", "error":
		return s
	}
	return "other"
}
