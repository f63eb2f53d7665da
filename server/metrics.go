package server

import (
	"net/http"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/server/internal/meter"
)

// The reasons for which a client is refused.
const (
	refusedFull     = "full"
	refusedRate     = "rate"
	refusedDraining = "draining"
	refusedOrigin   = "origin"
	refusedHost     = "host"
	refusedCarrier  = "carrier"
	refusedBot      = "bot"
)

// metrics are what operators see.
type metrics struct {
	registry meter.Registry

	sessions *meter.CounterBy // by how they ended
	refused  *meter.CounterBy // by reason
	length   *meter.Histogram

	turns         *meter.Counter
	interruptions *meter.Counter
	generations   *meter.CounterBy // by finish
	ttft          *meter.Histogram
	tokens        *meter.CounterBy // by kind
	calls         *meter.CounterBy // by status
	errors        *meter.CounterBy // by category
	dropped       *meter.CounterBy // by what

	answer     *meter.Histogram
	answerPart *meter.HistogramBy // by part
	traffic    traffic
}

// newMetrics makes the metrics; active counts the conversations under way.
func newMetrics(active func() int) *metrics {
	m := &metrics{}
	r := &m.registry
	r.Gauge("turnwise_sessions_active", "Conversations under way.", func() (float64, bool) { return float64(active()), true })
	m.sessions = r.CounterBy("turnwise_sessions_total", "Conversations that have ended, by how.",
		"end", endDone, endLeft, endLost, endCut, endFailed)
	m.refused = r.CounterBy("turnwise_refused_total", "Clients that were refused at the door, by reason.",
		"reason", refusedFull, refusedRate, refusedDraining, refusedOrigin, refusedHost, refusedCarrier, refusedBot)
	m.length = r.Histogram("turnwise_session_seconds", "How long conversations lasted.", 1, 5, 15, 60, 180, 600, 1800, 3600)
	m.turns = r.Counter("turnwise_turns_total", "Turns of users.")
	m.interruptions = r.Counter("turnwise_interruptions_total", "Times users interrupted the bot, or spoke when it was silent.")
	m.generations = r.CounterBy("turnwise_generations_total", "Responses of the model that ran to their end, by how they finished.",
		"finish", "stop", "tool_calls", "length", "content_filter", "error")
	m.ttft = r.Histogram("turnwise_llm_first_token_seconds", "Time from the request to the model's first piece.",
		.001, .005, .02, .05, .1, .2, .4, .8, 1.5, 3, 6, 12)
	m.tokens = r.CounterBy("turnwise_llm_tokens_total", "Tokens as the model counts them.", "kind", "prompt", "completion")
	m.calls = r.CounterBy("turnwise_function_calls_total", "Function calls, by how they ended.", "status",
		string(frames.FunctionOK), string(frames.FunctionError), string(frames.FunctionTimeout), string(frames.FunctionCancelled))
	m.errors = r.CounterBy("turnwise_errors_total", "Trouble reported in conversations, by category.", "category",
		string(frames.ErrorAuth), string(frames.ErrorQuota), string(frames.ErrorRateLimit), string(frames.ErrorInvalid),
		string(frames.ErrorNetwork), string(frames.ErrorServer), string(frames.ErrorContent), string(frames.ErrorTimeout),
		string(frames.ErrorInternal))
	m.dropped = r.CounterBy("turnwise_dropped_total", "What was dropped because someone was too slow.", "what", "messages", "microphone")
	m.callMetrics()
	r.Process()
	return m
}

// ServeHTTP answers /metrics.
func (m *metrics) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", meter.ContentType)
	_ = m.registry.Write(w) // the client's loss
}
