package booking_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/turnwise/turnwise/examples/internal/talk"
	"github.com/turnwise/turnwise/examples/tablebooking/booking"
	"github.com/turnwise/turnwise/flows"
	"github.com/turnwise/turnwise/llm/offline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start begins a conversation with the offline model, on 1 January 2000, a
// Saturday, at midnight.
func start(t *testing.T, cfg booking.Config) *talk.Conversation {
	t.Helper()
	f := booking.New(cfg)
	return talk.Start(t, offline.New(offline.Config{}), flows.Config{GlobalFunctions: f.GlobalFunctions()}, f.Start())
}

func TestConversations(t *testing.T) {
	for name, c := range map[string]struct {
		says      []string
		nodes     string
		want      map[string]any // of the state
		last      string         // is part of what is said last
		goesOn    bool
		reference string
	}{
		"one thing at a time": {
			says:  []string{"yes", "four", "tomorrow at 7 pm", "my name is Ada Lovelace", "yes, that is right"},
			nodes: "greeting party_size date_time name confirm farewell",
			want:  map[string]any{"party_size": 4, "day": "2000-01-02", "time": "19:00", "name": "Ada Lovelace", "confirmation": "sent"},
			last:  "LT-0102-1900-4A", reference: "LT-0102-1900-4A",
		},
		"all in one sentence": {
			says:  []string{"a table for two on Monday at half past six in the evening please", "it's for Turing", "perfect"},
			nodes: "greeting name confirm farewell",
			want:  map[string]any{"party_size": 2, "day": "2000-01-03", "time": "18:30", "name": "Turing"},
			last:  "Goodbye", reference: "LT-0103-1830-2T",
		},
		"no table at eight": {
			says:  []string{"a table for six on Friday at 8 pm", "then 9", "Grace Hopper", "yes"},
			nodes: "greeting other_time name confirm farewell",
			want:  map[string]any{"time": "21:00", "name": "Grace Hopper"}, last: "Goodbye", reference: "LT-0107-2100-6G",
		},
		"none of the other times": {
			says: []string{"a table for six on Friday at 8 pm", "neither"}, nodes: "greeting other_time goodbye", last: "Goodbye",
		},
		"a party that is too large": {
			says: []string{"a table for twenty people", "twelve"}, nodes: "greeting date_time", want: map[string]any{"party_size": 12}, goesOn: true,
		},
		"a time that has passed": {
			says: []string{"a table for two", "yesterday at seven in the evening"}, nodes: "greeting date_time", last: "passed", goesOn: true,
		},
		"a time when the kitchen is closed": {
			says: []string{"a table for two", "tomorrow at three in the morning"}, nodes: "greeting date_time", last: "noon", goesOn: true,
		},
		"a change of mind with the new number": {
			says:  []string{"a table for two tomorrow at 7 pm", "my name is Ann", "we are five instead", "yes"},
			nodes: "greeting name confirm confirm farewell", want: map[string]any{"party_size": 5}, last: "Goodbye", reference: "LT-0102-1900-5A",
		},
		"a change of mind step by step": {
			says:  []string{"a table for two tomorrow at 7 pm", "my name is Ann", "no", "the number of people", "three", "yes"},
			nodes: "greeting name confirm change party_size confirm farewell", want: map[string]any{"party_size": 3}, last: "Goodbye", reference: "LT-0102-1900-3A",
		},
		"a change to a time that is full": {
			says:  []string{"a table for two tomorrow at 7 pm", "my name is Ann", "can we make it eight o'clock?", "seven then", "yes"},
			nodes: "greeting name confirm other_time confirm farewell", want: map[string]any{"time": "19:00"}, last: "Goodbye", reference: "LT-0102-1900-2A",
		},
		"a question in between": {
			says: []string{"a table for two", "when are you open?"}, nodes: "greeting date_time", last: "from noon to eleven", goesOn: true,
		},
		"a question about free times": {
			says: []string{"a table for two", "which times are free on Friday?"}, nodes: "greeting date_time", last: "19:00 and 21:00", goesOn: true,
		},
		"no": {says: []string{"no thanks"}, nodes: "greeting goodbye", last: "Goodbye"},
		"giving up half-way": {
			says: []string{"a table for two", "never mind"}, nodes: "greeting date_time goodbye", last: "Goodbye",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conversation := start(t, booking.Config{})
				if got := conversation.Pass(0); got != "Welcome to the Linden Tree! Would you like to book a table?" {
					t.Errorf("the bot begins with %q", got)
				}
				last := ""
				for _, line := range c.says {
					last = conversation.Say(line)
				}
				if got := conversation.Nodes(); got != c.nodes {
					t.Errorf("the way was %q, want %q", got, c.nodes)
				}
				if !strings.Contains(last, c.last) {
					t.Errorf("the last words are %q; they should say %q", last, c.last)
				}
				state := conversation.Flow.State()
				for name, want := range c.want {
					if got, _ := state.Get(name); got != want {
						t.Errorf("%s is %v, want %v", name, got, want)
					}
				}
				if got := booking.Reference.Value(state); got != c.reference {
					t.Errorf("the reference is %q, want %q", got, c.reference)
				}
				if conversation.Over() == c.goesOn {
					t.Errorf("the session is over: %v", conversation.Over())
				}
			})
		})
	}
}

// broken is a book of tables that cannot be read or written.
type broken struct{ booking.SampleTables }

func (broken) Reserve(context.Context, int, time.Time, string) (string, error) {
	return "", errors.New("disk on fire at 10.0.0.7")
}

func TestABookThatFailsIsNotToldAbout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, booking.Config{Tables: broken{}})
		c.Say("a table for two tomorrow at 7 pm")
		c.Say("my name is Ann")
		got := c.Say("yes")
		if strings.Contains(got, "10.0.0.7") || !strings.Contains(got, "sorry") || c.Flow.CurrentNode() != "confirm" {
			t.Errorf("at %s the bot says %q", c.Flow.CurrentNode(), got)
		}
	})
}

func TestTheOutlineIsClosed(t *testing.T) {
	f := booking.New(booking.Config{})
	o := f.Outline()
	if len(o.Nodes) != len(f.Nodes()) {
		t.Errorf("%d nodes are drawn of %d", len(o.Nodes), len(f.Nodes()))
	}
	reached := []string{o.Nodes[0].Name}
	for i := 0; i < len(reached); i++ {
		for _, e := range o.Edges {
			if e.From == reached[i] && !slices.Contains(reached, e.To) {
				reached = append(reached, e.To)
			}
		}
	}
	if len(reached) != len(o.Nodes) {
		t.Errorf("only %q can be reached", reached)
	}
}
