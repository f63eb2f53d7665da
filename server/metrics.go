package server

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// The reasons for which a client is refused.
const (
	refusedFull     = "full"
	refusedRate     = "rate"
	refusedDraining = "draining"
	refusedOrigin   = "origin"
	refusedBot      = "bot"
)

// metrics are what operators see. No label has more than a handful of values.
type metrics struct {
	registry *prometheus.Registry

	active   prometheus.Gauge
	sessions *prometheus.CounterVec // by how they ended
	refused  *prometheus.CounterVec // by reason
	length   prometheus.Histogram

	turns         prometheus.Counter
	interruptions prometheus.Counter
	generations   *prometheus.CounterVec // by finish
	ttft          prometheus.Histogram
	tokens        *prometheus.CounterVec // by kind
	calls         *prometheus.CounterVec // by status
	errors        *prometheus.CounterVec // by category
	dropped       *prometheus.CounterVec // by what
}

func newMetrics() *metrics {
	m := &metrics{registry: prometheus.NewRegistry()}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "turnwise", Name: name, Help: help})
	}
	by := func(label, name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "turnwise", Name: name, Help: help}, []string{label})
	}
	times := func(name, help string, buckets ...float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "turnwise", Name: name, Help: help, Buckets: buckets})
	}
	m.active = prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "turnwise", Name: "sessions_active", Help: "Conversations under way."})
	m.sessions = by("end", "sessions_total", "Conversations that have ended, by how.")
	m.refused = by("reason", "refused_total", "Clients that were refused at the door, by reason.")
	m.length = times("session_seconds", "How long conversations lasted.", 1, 5, 15, 60, 180, 600, 1800, 3600)
	m.turns = counter("turns_total", "Turns of users.")
	m.interruptions = counter("interruptions_total", "Times users interrupted the bot, or spoke when it was silent.")
	m.generations = by("finish", "generations_total", "Responses of the model that ran to their end, by how they finished.")
	m.ttft = times("llm_first_token_seconds", "Time from the request to the model's first piece.",
		.001, .005, .02, .05, .1, .2, .4, .8, 1.5, 3, 6, 12)
	m.tokens = by("kind", "llm_tokens_total", "Tokens as the model counts them.")
	m.calls = by("status", "function_calls_total", "Function calls, by how they ended.")
	m.errors = by("category", "errors_total", "Trouble reported in conversations, by category.")
	m.dropped = by("what", "dropped_total", "What was dropped because someone was too slow.")
	m.registry.MustRegister(m.active, m.sessions, m.refused, m.length, m.turns, m.interruptions, m.generations, m.ttft,
		m.tokens, m.calls, m.errors, m.dropped, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// handler answers /metrics.
func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}
