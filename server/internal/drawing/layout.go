package drawing

import (
	"fmt"
	"slices"
)

// item is one box of the layout: a node, or the place where an edge passes a
// layer.
type item struct {
	node  int // index of the node; -1 for an edge's
	edge  int // index of the edge; -1 for a node's
	label bool
	rank  int
	pos   int // place in its layer
	w, h  float64
	x     float64 // centre

	up, down []link
}

// link joins an item with one in the next layer.
type link struct {
	to     *item
	weight float64
}

// edge is a merged edge. While it is laid out it points down; back tells that
// it really points up.
type edge struct {
	from, to int // in layout direction
	back     bool
	labels   []string
	path     []*item // from, passes, to
}

type layout struct {
	nodes  []Node
	index  map[string]int
	edges  []*edge
	loops  map[int][]string // self edges: labels by node
	plain  bool             // there are too many labels to draw them
	ranks  []int            // of nodes, doubled: odd layers hold labels
	items  []*item          // of nodes, by index
	layers [][]*item
	tops   []float64 // y of each layer
	height []float64
	bounds struct{ w, h float64 }
}

// crowded is how many labels more than nodes there may be for them to be drawn.
const crowded = 4

// newLayout checks the graph and merges parallel edges.
func newLayout(g Graph) (*layout, error) {
	l := &layout{nodes: g.Nodes, index: make(map[string]int, len(g.Nodes)), loops: map[int][]string{}}
	for i, n := range g.Nodes {
		if n.Name == "" {
			return nil, fmt.Errorf("%w: node %d has no name", ErrGraph, i+1)
		}
		if _, taken := l.index[n.Name]; taken {
			return nil, fmt.Errorf("%w: two nodes are called %q", ErrGraph, n.Name)
		}
		l.index[n.Name] = i
	}
	merged := map[[2]int]*edge{}
	for _, e := range g.Edges {
		from, ok := l.index[e.From]
		if !ok {
			return nil, fmt.Errorf("%w: an edge leaves %q, which is not a node", ErrGraph, e.From)
		}
		to, ok := l.index[e.To]
		if !ok {
			return nil, fmt.Errorf("%w: an edge leads to %q, which is not a node", ErrGraph, e.To)
		}
		if from == to {
			l.loops[from] = append(l.loops[from], e.Label)
			continue
		}
		m := merged[[2]int{from, to}]
		if m == nil {
			m = &edge{from: from, to: to}
			merged[[2]int{from, to}] = m
			l.edges = append(l.edges, m)
		}
		if e.Label != "" && !slices.Contains(m.labels, e.Label) {
			m.labels = append(m.labels, e.Label)
		}
	}
	labels := 0
	for _, e := range l.edges {
		labels += len(e.labels)
	}
	l.plain = labels > crowded+len(l.nodes)
	return l, nil
}

// rank turns edges that close a cycle around and gives every node its layer: one
// below the lowest that leads to it.
func (l *layout) rank() {
	out := make([][]*edge, len(l.nodes))
	for _, e := range l.edges {
		out[e.from] = append(out[e.from], e)
	}
	const (
		unseen = iota
		open
		done
	)
	state := make([]int, len(l.nodes))
	var order []int // done last first
	var visit func(n int)
	visit = func(n int) {
		state[n] = open
		for _, e := range out[n] {
			switch state[e.to] {
			case open:
				e.back = true
			case unseen:
				visit(e.to)
			}
		}
		state[n] = done
		order = append(order, n)
	}
	for n := range l.nodes {
		if state[n] == unseen {
			visit(n)
		}
	}
	for _, e := range l.edges {
		if e.back {
			e.from, e.to = e.to, e.from
		}
	}
	l.ranks = make([]int, len(l.nodes))
	down := make([][]*edge, len(l.nodes))
	for _, e := range l.edges {
		down[e.from] = append(down[e.from], e)
	}
	for _, n := range slices.Backward(order) {
		for _, e := range down[n] {
			l.ranks[e.to] = max(l.ranks[e.to], l.ranks[n]+2)
		}
	}
}

// layer makes the items: the nodes, and for every edge one in each layer between.
func (l *layout) layer() {
	depth := 0
	for _, r := range l.ranks {
		depth = max(depth, r+1)
	}
	l.layers = make([][]*item, depth)
	l.items = make([]*item, len(l.nodes))
	for i, n := range l.nodes {
		it := &item{node: i, edge: -1, rank: l.ranks[i], w: nodeWidth(n), h: nodeHeight}
		if len(l.loops[i]) > 0 {
			it.w += 2 * loopWidth
		}
		l.items[i] = it
		l.add(it)
	}
	for i, e := range l.edges {
		top, bottom := l.items[e.from], l.items[e.to]
		at := top.rank + 1
		if e.back {
			at = bottom.rank - 1
		}
		e.path = append(e.path, top)
		for r := top.rank + 1; r < bottom.rank; r++ {
			it := &item{node: -1, edge: i, rank: r, w: passWidth}
			if r == at && len(e.labels) > 0 && !l.plain {
				it.label = true
				it.w, it.h = labelSize(e.labels)
			}
			e.path = append(e.path, it)
			l.add(it)
		}
		e.path = append(e.path, bottom)
		for k, it := range e.path[1:] {
			before := e.path[k]
			weight := 1.0
			if before.node < 0 {
				weight *= 4
			}
			if it.node < 0 {
				weight *= 4
			}
			before.down = append(before.down, link{it, weight})
			it.up = append(it.up, link{before, weight})
		}
	}
}

func (l *layout) add(it *item) {
	it.pos = len(l.layers[it.rank])
	l.layers[it.rank] = append(l.layers[it.rank], it)
}
