package vad

import (
	"fmt"
	"time"

	"github.com/turnwise/turnwise/audio"
)

// State is what a [Machine] hears.
type State uint8

// The states, in the order in which an utterance goes through them. Starting falls
// back to Quiet, and Stopping to Speaking, when the change does not last.
const (
	// Quiet means that nobody speaks.
	Quiet State = iota
	// Starting means that speech may have begun.
	Starting
	// Speaking means that somebody speaks.
	Speaking
	// Stopping means that speech may be over.
	Stopping
)

// String names the state.
func (s State) String() string {
	switch s {
	case Quiet:
		return "quiet"
	case Starting:
		return "starting"
	case Speaking:
		return "speaking"
	case Stopping:
		return "stopping"
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// Event is a change of state.
type Event struct {
	// From and To are the states before and after.
	From, To State
	// At is when the change was decided, counted in the stream from its beginning:
	// the end of the window that decided it.
	At time.Duration
	// Since is when what is heard now began: for Starting and Speaking the first
	// window of speech, for Stopping and Quiet the end of the last one.
	Since time.Duration
	// Confidence is the detector's for the deciding window; 0 when stopped from
	// outside.
	Confidence float32
	// Volume is the smoothed volume at that window.
	Volume float64
}

// Started reports whether speech counts from here on.
func (e Event) Started() bool { return e.From == Starting && e.To == Speaking }

// Stopped reports whether speech is over.
func (e Event) Stopped() bool { return e.To == Quiet && e.From != Starting }

// Machine turns a stream into events. It is used by one goroutine at a time. Create
// it with [NewMachine].
type Machine struct {
	detector Detector
	params   Params
	format   audio.Format

	buf    []int16 // of the window that is being filled
	state  State
	volume float64
	pos    int64 // samples judged
	since  int64 // where what is heard now began, see Event.Since
	last   int64 // end of the last window of speech
	events []Event

	confidence float32
}

// NewMachine returns a Machine in state Quiet. Zero fields of params take their
// defaults. The error wraps [ErrParams] or names what is wrong with the detector.
func NewMachine(detector Detector, params Params) (*Machine, error) {
	params = params.withDefaults()
	if err := params.Validate(); err != nil {
		return nil, err
	}
	format := audio.Mono(detector.Rate())
	if err := format.Validate(); err != nil {
		return nil, fmt.Errorf("vad: detector: %w", err)
	}
	if detector.Window() <= 0 {
		return nil, fmt.Errorf("vad: detector has windows of %d samples", detector.Window())
	}
	return &Machine{
		detector: detector,
		params:   params,
		format:   format,
		buf:      make([]int16, 0, detector.Window()),
	}, nil
}

// SetParams changes the parameters from the next window on, as a node of a flow may
// ask. Zero fields take their defaults.
func (m *Machine) SetParams(params Params) error {
	params = params.withDefaults()
	if err := params.Validate(); err != nil {
		return err
	}
	m.params = params
	return nil
}

// Params are those in use.
func (m *Machine) Params() Params { return m.params }

// Feed judges the next samples, mono at the detector's rate, and returns the changes
// of state they bring, oldest first. Pieces may have any length, none included: all
// whole windows are judged, and what is left waits for the next piece. The events
// are valid until the next call of Feed or Stop.
func (m *Machine) Feed(samples []int16) []Event {
	m.events = m.events[:0]
	size := cap(m.buf)
	if len(m.buf) > 0 {
		n := min(size-len(m.buf), len(samples))
		m.buf = append(m.buf, samples[:n]...)
		samples = samples[n:]
		if len(m.buf) < size {
			return nil
		}
		m.judge(m.buf)
		m.buf = m.buf[:0]
	}
	for ; len(samples) >= size; samples = samples[size:] {
		m.judge(samples[:size])
	}
	m.buf = append(m.buf, samples...)
	return m.events
}

// judge takes one window.
func (m *Machine) judge(window []int16) {
	begin := m.pos
	m.pos += int64(len(window))
	m.confidence = m.detector.Confidence(window)
	keep := max(m.params.Smoothing, 0)
	m.volume = keep*m.volume + (1-keep)*Volume(audio.Level(window))
	speech := m.confidence >= float32(m.params.Confidence) && m.volume >= m.params.MinVolume
	if speech {
		m.last = m.pos
	}
	switch m.state {
	case Quiet:
		if speech {
			m.change(Starting, begin)
			m.settle(Speaking, m.params.Start)
		}
	case Starting:
		if speech {
			m.settle(Speaking, m.params.Start)
		} else {
			m.change(Quiet, m.last)
		}
	case Speaking:
		if !speech {
			m.change(Stopping, m.last)
			m.settle(Quiet, m.params.Stop)
		}
	case Stopping:
		if speech {
			m.change(Speaking, begin)
		} else {
			m.settle(Quiet, m.params.Stop)
		}
	}
}

// settle goes on to a state once what is heard has lasted long enough, to the
// nearest window.
func (m *Machine) settle(next State, wait time.Duration) {
	lasted := m.format.Duration(int(m.pos - m.since))
	if lasted+m.format.Duration(cap(m.buf))/2 > wait {
		m.change(next, m.since)
	}
}

func (m *Machine) change(to State, since int64) {
	m.events = append(m.events, Event{
		From: m.state, To: to,
		At:         m.format.Duration(int(m.pos)),
		Since:      m.format.Duration(int(since)),
		Confidence: m.confidence,
		Volume:     m.volume,
	})
	m.state, m.since = to, since
}

// Stop ends speech from outside, as when no sound has come in for a while: the state
// becomes Quiet, and the rest of a window is dropped. It returns the event, or false
// if it was quiet already.
func (m *Machine) Stop() (Event, bool) {
	m.buf = m.buf[:0]
	if m.state == Quiet {
		return Event{}, false
	}
	m.events = m.events[:0]
	m.confidence = 0
	m.change(Quiet, m.last)
	return m.events[0], true
}

// State is the present state.
func (m *Machine) State() State { return m.state }

// Speaking reports whether somebody speaks: state Speaking or Stopping.
func (m *Machine) Speaking() bool { return m.state >= Speaking }

// Confidence is the detector's for the last window.
func (m *Machine) Confidence() float32 { return m.confidence }

// Volume is the smoothed volume after the last window.
func (m *Machine) Volume() float64 { return m.volume }

// Reset forgets the stream, and the detector's with it. Times start at 0 again.
func (m *Machine) Reset() {
	m.detector.Reset()
	*m = Machine{detector: m.detector, params: m.params, format: m.format, buf: m.buf[:0], events: m.events[:0]}
}
