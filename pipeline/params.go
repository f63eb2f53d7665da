package pipeline

import (
	"log/slog"
	"time"

	"github.com/turnwise/turnwise/frames"
)

// Params are a session's settings. The zero value is usable.
type Params struct {
	// SessionID names the session in logs, metrics and frames.
	SessionID string
	// Logger takes the session's log; nil discards it.
	Logger *slog.Logger
	// Observers see every frame at every hop.
	Observers []Observer
	// Stats counts what happens; sessions may share it. Nil counts nothing.
	Stats *Stats
	// AudioInRate and AudioOutRate are the session's sample rates in Hz.
	AudioInRate, AudioOutRate int

	// IdleTimeout ends a session in which nothing came in and nothing went out
	// for so long; 0 never does.
	IdleTimeout time.Duration
	// OnIdle is asked before an idle session ends; true keeps it. It runs on the
	// loop and must not block.
	OnIdle func() bool
	// Heartbeat is the interval of heartbeat frames; 0 sends none.
	Heartbeat time.Duration
	// OnHeartbeat is told how long a heartbeat took through the pipeline. It runs
	// on the loop and must not block.
	OnHeartbeat func(took time.Duration)
	// StuckAfter is how long one dispatch may hold the loop before OnStuck is
	// told; the default is one second, a negative value turns the watchdog off.
	StuckAfter time.Duration
	// OnStuck is told when a processor holds the loop. It runs on a goroutine of
	// its own; the default logs it.
	OnStuck func(Stuck)
	// OnError is told of every error frame that reaches the head. It runs on the
	// loop and must not block.
	OnError func(*frames.ErrorFrame)

	// EndTimeout is how long a graceful end may go on without any content arriving
	// at the end of the pipeline; the default is 5 s. EndLimit bounds it in all;
	// the default is two minutes.
	EndTimeout, EndLimit time.Duration
	// CloseTimeout is how long jobs may take to return when the session has
	// ended; the default is one second.
	CloseTimeout time.Duration
}

// complete fills in the defaults.
func (p *Params) complete() {
	def(&p.EndTimeout, 5*time.Second)
	def(&p.EndLimit, 2*time.Minute)
	def(&p.CloseTimeout, time.Second)
	def(&p.StuckAfter, time.Second)
	if p.Logger == nil {
		p.Logger = slog.New(slog.DiscardHandler)
	} else if p.SessionID != "" {
		p.Logger = p.Logger.With("session", p.SessionID)
	}
}

func def(d *time.Duration, value time.Duration) {
	if *d == 0 {
		*d = value
	}
}
