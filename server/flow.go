package server

import (
	"github.com/turnwise/turnwise/flows"
	"github.com/turnwise/turnwise/server/internal/drawing"
)

// Flow describes what a bot talks about, for the page and for anyone who asks
// /api/flow. It holds nothing that a user of the bot may not know.
type Flow struct {
	// Name identifies the flow, and Title is what people are shown.
	Name  string `json:"name"`
	Title string `json:"title"`
	// Model describes who answers.
	Model ModelInfo `json:"model"`
	// Voice tells whether the bot can be called. The server fills it in.
	Voice VoiceInfo `json:"voice"`
	// Outline is the graph; it is empty for a bot without a flow.
	flows.Outline
}

// ModelInfo describes the model that answers.
type ModelInfo struct {
	// Name is the provider's name of the model; may be empty.
	Name string `json:"name"`
	// StandIn tells that no language model answers, and Note what does instead,
	// in a sentence or two for users.
	StandIn bool   `json:"standIn,omitempty"`
	Note    string `json:"note,omitempty"`
}

// Describer is the side of a [Bot] that can say what it talks about.
type Describer interface {
	// Describe is called once, when somebody asks.
	Describe() Flow
}

// describe asks the bot for its flow.
func describe(b Bot) Flow {
	if d, ok := b.(Describer); ok {
		return d.Describe()
	}
	return Flow{}
}

// SVG draws the flow's graph. Every node is a group with id="node-<name>" and
// data-node, every edge one with data-from and data-to; style sheets colour them
// through the classes node, start, end, edge, line, head and label.
func (f Flow) SVG() ([]byte, error) {
	g := drawing.Graph{Title: "Graph of the flow " + f.Title}
	for _, n := range f.Nodes {
		g.Nodes = append(g.Nodes, drawing.Node{Name: n.Name, Title: n.Title, End: n.End})
	}
	for _, e := range f.Edges {
		g.Edges = append(g.Edges, drawing.Edge{From: e.From, To: e.To, Label: e.Function})
	}
	return drawing.SVG(g)
}
