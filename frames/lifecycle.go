package frames

import "time"

// StartFrame is the first frame of a session. Processors that need the session's
// settings read them here.
type StartFrame struct {
	SystemFrame
	// SessionID names the session in logs and metrics.
	SessionID string
	// AudioInRate and AudioOutRate are the session's sample rates in Hz; 0 where
	// it has no audio.
	AudioInRate, AudioOutRate int
}

// EndFrame asks for a graceful end: what is queued is finished, then the session
// closes. It keeps its order and survives interruptions.
type EndFrame struct {
	UninterruptibleFrame
	// Reason is for logs and the client, e.g. "client asked" or "flow ended".
	Reason string
}

// CancelFrame ends the session now. What is queued is dropped.
type CancelFrame struct {
	SystemFrame
	// Reason is for logs and the client.
	Reason string
}

// HeartbeatFrame travels the pipeline at a fixed interval when heartbeats are on,
// to measure how long the way takes under load.
type HeartbeatFrame struct {
	ControlFrame
	// Sent is when it was queued.
	Sent time.Time
}

// InterruptionFrame tells that the user has barged in. The session loop makes it;
// in one walk over the pipeline every processor cancels what belongs to the old
// turn and playout reports what was heard.
type InterruptionFrame struct {
	SystemFrame
	// Reason says what caused it, e.g. "typed text".
	Reason string
	// Turn is the number of the turn that begins.
	Turn uint64
	// Heard is what the user has heard that had not passed on when the
	// interruption came. Playout fills it in; who stands behind it reads it.
	Heard []HeardText
}

// HeardText is a piece of a response's text.
type HeardText struct {
	Response uint64
	Text     string
}

// MarkFrame travels in order behind the speech and text queued before it and
// reports when it has reached the end of the pipeline, that is when everything
// before it has been played or sent. An interruption drops it, unless Keep is
// set. Exactly one of Reached and Lost is called, once, on the session loop.
type MarkFrame struct {
	ControlFrame
	// Name is for logs.
	Name string
	// Keep makes the mark survive interruptions; it then arrives when what was
	// queued before it has been played or dropped.
	Keep bool
	// Reached runs on the loop when all before it has been played; it must not
	// block. May be nil.
	Reached func()
	// Lost runs on the loop when the mark was dropped; it must not block. May be
	// nil.
	Lost func()

	settled bool
}

// Class is [ClassControl], uninterruptible when Keep is set.
func (m *MarkFrame) Class() Class {
	if m.Keep {
		return ClassControl | ClassUninterruptible
	}
	return ClassControl
}

// Arrive reports that the mark has reached the end; the pipeline calls it.
func (m *MarkFrame) Arrive() {
	if m.settled {
		return
	}
	m.settled = true
	if m.Reached != nil {
		m.Reached()
	}
}

// Dropped reports that the mark was dropped; the pipeline calls it.
func (m *MarkFrame) Dropped() {
	if m.settled {
		return
	}
	m.settled = true
	if m.Lost != nil {
		m.Lost()
	}
}
