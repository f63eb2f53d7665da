package pipeline

// place gives each processor its node in l and ties neighbours together.
func (p *Pipeline) place(l *loop) {
	b := builder{loop: l, nodes: make([]node, p.count+2)}
	l.nodes = make([]*node, 0, p.count+2)
	first := b.add(&source{}, "source")
	last := b.chain(p.chain, first)
	b.tie(last, b.add(&sink{}, "sink"))
	for _, n := range l.nodes {
		n.route()
	}
}

// builder makes the nodes of a pipeline.
type builder struct {
	loop  *loop
	nodes []node
}

// add makes the next node.
func (b *builder) add(proc Processor, name string) *node {
	n := &b.nodes[len(b.loop.nodes)]
	n.proc, n.name, n.index, n.loop = proc, name, len(b.loop.nodes), b.loop
	b.loop.nodes = append(b.loop.nodes, n)
	n.bind()
	return n
}

// tie makes two nodes neighbours. One that has several is told elsewhere.
func (b *builder) tie(up, down *node) {
	if _, many := up.proc.(*fork); !many {
		up.next = down
	}
	if _, many := down.proc.(*join); !many {
		down.prev = up
	}
}

// chain adds a chain behind a node and returns its last node.
func (b *builder) chain(parts []part, prev *node) *node {
	for _, p := range parts {
		n := b.add(p.proc, p.name)
		b.tie(prev, n)
		prev = n
		if k, ok := p.proc.(*fork); ok {
			prev = b.section(k, p, n)
		}
	}
	return prev
}

// section adds the branches of a parallel section and returns its join.
func (b *builder) section(k *fork, p part, at *node) *node {
	heads, tails := make([]*node, len(p.branches)), make([]*node, len(p.branches))
	for i, branch := range p.branches {
		first := len(b.loop.nodes)
		tails[i] = b.chain(branch, at)
		if len(branch) > 0 {
			heads[i] = b.loop.nodes[first]
		}
	}
	end := b.add(k.join, p.end)
	for i, t := range tails {
		b.tie(t, end)
		if heads[i] == nil {
			heads[i] = end
		}
	}
	k.heads, k.join.tails, at.branches = heads, tails, heads
	return end
}
