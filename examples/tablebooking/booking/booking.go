// Package booking is a flow that takes table bookings for a small restaurant: it
// asks for the size of the party, day and time, offers another time when there is
// no table, asks for a name, reads the booking back and says goodbye. What a guest
// says in one sentence is not asked for again, and anything can be changed before
// the booking is made.
package booking

import (
	"time"

	"github.com/turnwise/turnwise/flows"
)

// What the flow is called.
const (
	Name  = "table-booking"
	Title = "Table booking"
)

// The variables of the flow. Day is YYYY-MM-DD and Time HH:MM.
var (
	People    = flows.NewKey[int]("party_size")
	Day       = flows.NewKey[string]("day")
	Time      = flows.NewKey[string]("time")
	GuestName = flows.NewKey[string]("name")
	Reference = flows.NewKey[string]("reference")
)

// Config is what a flow needs from outside. The zero value is a restaurant with
// sample tables.
type Config struct {
	// Tables knows which tables are free; nil means [SampleTables].
	Tables Tables
	// Now tells the time, so that nobody books in the past; nil means [time.Now].
	Now func() time.Time
}

// Flow is the flow. It never changes and serves any number of conversations at a
// time; what one of them has reached is in its state.
type Flow struct {
	tables Tables
	now    func() time.Time

	greeting, partySize, dateTime, otherTime, name, confirm, change, farewell, goodbye *flows.NodeConfig
}

// New makes the flow.
func New(cfg Config) *Flow {
	f := &Flow{tables: cfg.Tables, now: cfg.Now}
	if f.tables == nil {
		f.tables = SampleTables{}
	}
	if f.now == nil {
		f.now = time.Now
	}
	f.makeNodes()
	return f
}

// Start is the node in which a conversation begins.
func (f *Flow) Start() *flows.NodeConfig { return f.greeting }

// Nodes lists all nodes, the first being Start's.
func (f *Flow) Nodes() []*flows.NodeConfig {
	return []*flows.NodeConfig{f.greeting, f.partySize, f.dateTime, f.otherTime, f.name, f.confirm, f.change, f.farewell, f.goodbye}
}

// GlobalFunctions are offered at every node; some nodes have a no_booking of their
// own, which then counts.
func (f *Flow) GlobalFunctions() []flows.NodeFunction {
	return []flows.NodeFunction{
		flows.Data("opening_hours", "Tells when the restaurant is open.", f.openingHours,
			flows.WithExamples("When are you open?", "What are your opening hours?")),
		flows.Edge("no_booking", "The guest gives up: they no longer want a table.", f.goodbye,
			flows.WithExamples("never mind", "forget it", "cancel it", "cancel the booking", "goodbye")),
	}
}

// Outline is the flow's graph, for drawing.
func (f *Flow) Outline() flows.Outline { return flows.NewOutline(f.GlobalFunctions(), f.Nodes()...) }
