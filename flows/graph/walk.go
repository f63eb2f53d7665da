package graph

import (
	"maps"
	"slices"
)

// PlacedNode is a node and where it stands in its flow.
type PlacedNode struct {
	// Name of the node, unique in the flow.
	Name string
	// Node itself.
	Node *Node
	// Path of the node.
	Path Path
	// Owner is the parallel or loop node in whose body it stands; "" for the flow's own.
	Owner string
	// Branch is the name of the body.
	Branch string
}

// AllNodes are the flow's nodes and those within them, each behind its owner, sorted by
// name. Of several nodes with the same name all are listed.
func (f *Flow) AllNodes() []PlacedNode {
	return appendNodes(nil, f.Nodes, Path("nodes"), "", "", 0)
}

// maxBodies is how deep bodies may be within each other.
const maxBodies = 20

func appendNodes(all []PlacedNode, nodes map[string]*Node, path Path, owner, branch string, depth int) []PlacedNode {
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		n := nodes[name]
		if n == nil {
			continue
		}
		at := path.Key(name)
		all = append(all, PlacedNode{name, n, at, owner, branch})
		if depth >= maxBodies {
			continue
		}
		for _, b := range slices.Sorted(maps.Keys(n.Bodies())) {
			inner := at.Key("loop").Key("body")
			if n.Parallel != nil {
				inner = at.Key("parallel").Key("branches").Key(b)
			}
			all = appendNodes(all, n.Bodies()[b], inner, name, b, depth+1)
		}
	}
	return all
}
