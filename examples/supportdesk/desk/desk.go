// Package desk is a flow of a shop's support desk. It shows what the table booking
// does not: an async function with a filler, entries that reset or summarize the
// history, a handler that chooses between nodes, and a node that is set from
// outside.
package desk

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/turnwise/turnwise/flows"
	"github.com/turnwise/turnwise/frames"
)

// The variables of the flow.
var (
	Order  = flows.NewKey[string]("order")
	Status = flows.NewKey[string]("status")
)

// Carrier says where parcels are. Asking one takes its time.
type Carrier interface {
	Trace(ctx context.Context, order string) (string, error)
}

// SlowCarrier is a carrier that answers after a while.
type SlowCarrier struct{ Delay time.Duration }

// Trace implements [Carrier].
func (c SlowCarrier) Trace(ctx context.Context, _ string) (string, error) {
	select {
	case <-time.After(c.Delay):
		return "The parcel is in the van and comes today before six.", nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Flow is the flow; it serves any number of conversations at a time.
type Flow struct {
	carrier                        Carrier
	identify, order, fault, person *flows.NodeConfig
}

const persona = "You are the support desk of a small shop for lamps. You are calm and helpful, and brief: one or two sentences at a time. " +
	"Lamps can be sent back within thirty days. Spare parts are free for two years."

func task(text string) []frames.Message {
	return []frames.Message{{Role: frames.RoleDeveloper, Text: text}}
}

// New makes the flow.
func New(carrier Carrier) *Flow {
	f := &Flow{carrier: carrier}
	f.person = &flows.NodeConfig{
		Name: "person", Title: "A person takes over",
		// The colleague gets the gist and not the whole talk.
		ContextStrategy: flows.ContextSummarize,
		TaskMessages:    task("Tell the customer that a colleague will call them back within the hour. Thank them for their patience and say goodbye."),
		PostActions:     []flows.Action{flows.EndConversation("")},
	}
	f.identify = &flows.NodeConfig{
		Name: "identify", Title: "Which order", RoleMessage: persona,
		// Another order is another matter: nothing of the last one is kept.
		ContextStrategy: flows.ContextReset,
		TaskMessages:    task("Ask for the number of the order. It is the letter L and four digits, as in L1234."),
		Functions: []flows.NodeFunction{
			flows.Func("find_order", "Finds an order by its number.", f.findOrder, flows.WithTargets("order"), flows.WithExamples("it is L1234", "my order is L4711")),
		},
	}
	trace := flows.Data("trace_parcel", "Asks the carrier where the parcel is. This takes a while; the conversation goes on.", f.trace,
		flows.WithAsync(), flows.WithTimeout(30*time.Second), flows.WithFiller("The carrier is a little slow today.", 2*time.Second),
		flows.WithExamples("where is my parcel?", "when does it arrive?", "it has not come yet"))
	again := flows.EdgeTo("another_order", "The customer asks about another order.", f.another,
		flows.WithTargets("identify"), flows.WithExamples("I have another order", "it is about a different order"))
	f.fault = &flows.NodeConfig{
		Name: "fault", Title: "Something is broken",
		TaskMessages: task("Ask what is broken: the shade, the cable or the switch?"),
		Functions: []flows.NodeFunction{
			flows.Func("send_part", "Sends a spare part.", f.sendPart, flows.WithTargets("order"), flows.WithExamples("the switch", "it is the cable")),
		},
	}
	f.order = &flows.NodeConfig{
		Name: "order", Title: "About the order",
		TaskMessages: task("Ask whether it is about the delivery or about something broken."),
		Functions: []flows.NodeFunction{
			trace,
			flows.Edge("report_fault", "Something about the lamp is broken.", f.fault, flows.WithExamples("the lamp is broken", "it does not work")),
			again,
		},
	}
	return f
}

// Start is the node in which a conversation begins.
func (f *Flow) Start() *flows.NodeConfig { return f.identify }

// Person is the node in which a person takes over. It can be set from outside.
func (f *Flow) Person() *flows.NodeConfig { return f.person }

// Nodes lists all nodes, the first being Start's.
func (f *Flow) Nodes() []*flows.NodeConfig {
	return []*flows.NodeConfig{f.identify, f.order, f.fault, f.person}
}

// GlobalFunctions are offered at every node.
func (f *Flow) GlobalFunctions() []flows.NodeFunction {
	return []flows.NodeFunction{
		flows.Edge("hand_over", "The customer wants to talk to a person.", f.person,
			flows.WithExamples("I want to talk to a person", "give me a human", "let me speak to somebody")),
	}
}

// Outline is the flow's graph, for drawing.
func (f *Flow) Outline() flows.Outline { return flows.NewOutline(f.GlobalFunctions(), f.Nodes()...) }

type (
	none   struct{}
	number struct {
		Order string `json:"order" jsonschema:"Number of the order, like L1234" pattern:"^L[0-9]{4}$"`
	}
	part struct {
		Part string `json:"part" jsonschema:"What is broken" enum:"shade,cable,switch"`
	}
)

func (f *Flow) findOrder(_ context.Context, n number, fm *flows.FlowManager) (string, *flows.NodeConfig, error) {
	if n.Order == "L0000" {
		return "", nil, errors.New("there is no order of that number; ask the customer to look again")
	}
	Order.Set(fm.State(), n.Order)
	return `{"status":"ok"}`, f.order, nil
}

func (f *Flow) trace(ctx context.Context, _ none, fm *flows.FlowManager) (string, error) {
	where, err := f.carrier.Trace(ctx, Order.Value(fm.State()))
	if err != nil {
		return "", errors.New("the carrier does not answer; offer that a person looks into it")
	}
	Status.Set(fm.State(), where)
	return where, nil
}

func (f *Flow) sendPart(_ context.Context, p part, fm *flows.FlowManager) (string, *flows.NodeConfig, error) {
	Status.Set(fm.State(), p.Part+" sent")
	// The same node, with news of its own on entry.
	next := *f.order
	next.PreActions = []flows.Action{flows.Say(fmt.Sprintf("A new %s is on its way, free of charge.", p.Part))}
	next.TaskMessages = task("Ask if there is anything else about the order.")
	return `{"status":"sent"}`, &next, nil
}

func (f *Flow) another(_ context.Context, fm *flows.FlowManager) (*flows.NodeConfig, error) {
	Order.Delete(fm.State())
	Status.Delete(fm.State())
	return f.identify, nil
}
