// Package drawing draws the graph of a flow as SVG: nodes in layers from the first
// one down, edges between them, and stable names on everything, so that a page can
// style and light up what it shows.
//
// It is a small layered layout of its own. A full graph library draws more kinds
// of graph, but the one that runs without cgo compiles a WebAssembly module when
// the program starts (about 140 ms and 48 MB), which is ten times what the rest
// of a server needs to be ready.
package drawing

import (
	"errors"
	"fmt"
)

// Graph is what to draw.
type Graph struct {
	// Title names the drawing for those who cannot see it.
	Title string
	// Nodes in the order in which they are met; the first is the start. Names are
	// unique and not empty.
	Nodes []Node
	// Edges between nodes of the graph. Several from one node to the same other
	// are drawn as one with all their labels.
	Edges []Edge
}

// Node is one node of a [Graph].
type Node struct {
	// Name identifies it.
	Name string
	// Title is what is written in it; empty means the name.
	Title string
	// End marks a node in which the conversation ends.
	End bool
}

// Edge is one way from a node to another.
type Edge struct {
	From, To string
	// Label names what takes this way, e.g. a function; may be empty. Labels are
	// drawn as long as they do not crowd the picture; the edge's own title, which
	// browsers show to who points at it, always has them.
	Label string
}

// ErrGraph is wrapped by the errors of [SVG].
var ErrGraph = errors.New("drawing: not a graph")

// MaxNodes and MaxEdges are the largest graph that is drawn.
const (
	MaxNodes = 500
	MaxEdges = 2000
)

// SVG draws g. The same graph gives the same bytes. Every node is a group with
// id="node-<name>" and data-node, every edge a group with data-from and data-to;
// colours are presentation attributes, which any style sheet overrides through the
// classes "node", "start", "end", "edge", "line", "head" and "label".
func SVG(g Graph) ([]byte, error) {
	if len(g.Nodes) > MaxNodes || len(g.Edges) > MaxEdges {
		return nil, fmt.Errorf("%w: %d nodes and %d edges are more than the %d and %d that can be drawn", ErrGraph,
			len(g.Nodes), len(g.Edges), MaxNodes, MaxEdges)
	}
	l, err := newLayout(g)
	if err != nil {
		return nil, err
	}
	l.rank()
	l.layer()
	l.order()
	l.place()
	return l.write(g.Title), nil
}
