package pipeline

// place gives each processor its node in l.
func (p *Pipeline) place(l *loop) {
	procs := make([]Processor, 0, len(p.procs)+2)
	procs = append(procs, &source{})
	procs = append(procs, p.procs...)
	procs = append(procs, &sink{})
	nodes := make([]node, len(procs))
	l.nodes = make([]*node, len(procs))
	for i, proc := range procs {
		n := &nodes[i]
		n.proc, n.index, n.loop = proc, i, l
		switch i {
		case 0:
			n.name = "source"
		case len(procs) - 1:
			n.name = "sink"
		default:
			n.name = p.names[i-1]
		}
		if i > 0 {
			n.prev = l.nodes[i-1]
			n.prev.next = n
			n.prev.below = []*node{n}
		}
		n.bind()
		l.nodes[i] = n
	}
	for _, n := range l.nodes {
		n.route()
	}
}
