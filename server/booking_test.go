package server_test

import (
	"testing"

	"github.com/gorilla/websocket"

	"github.com/turnwise/turnwise/examples/tablebooking/booking"
	"github.com/turnwise/turnwise/llm/offline"
	"github.com/turnwise/turnwise/server"
)

func TestATableIsBookedWithTheOfflineModel(t *testing.T) {
	flow := booking.New(booking.Config{})
	_, address := serve(t, server.Config{Bot: &server.FlowBot{
		Name: booking.Name, Title: booking.Title, Model: offline.New(offline.Config{}),
		Start: flow.Start, Nodes: flow.Nodes(), GlobalFunctions: flow.GlobalFunctions(),
	}})
	c := dial(t, address)
	c.ready()
	for _, turn := range []struct{ hears, says string }{
		{"book a table?", "a table for four please"},
		{"Which day", "tomorrow at half past seven"},
		{"name for the booking", "Ada Lovelace"},
		{"Is everything right?", "yes"},
	} {
		c.hears(turn.hears)
		c.say(turn.says)
	}
	c.hears("Goodbye!")
	if code := c.closed(); code != websocket.CloseNormalClosure {
		t.Errorf("the end closed with %d", code)
	}
	state := map[string]any{}
	for _, f := range c.flow() {
		if f.Event == server.FlowState {
			state = f.State
		}
	}
	if state["party_size"] != 4.0 || state["time"] != "19:30" || state["name"] != "Ada Lovelace" || state["reference"] == nil {
		t.Errorf("what was booked is %v", state)
	}
}
