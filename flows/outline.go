package flows

import "slices"

// Outline is what a flow's graph looks like, for drawing and for checking by eye.
// It is made from what nodes and functions say about themselves; handlers decide
// where the conversation really goes, and a flow that differs from its outline
// works all the same.
type Outline struct {
	// Nodes in the order they were given, the first being where the flow begins;
	// nodes that are only led to come last.
	Nodes []OutlineNode `json:"nodes"`
	// Edges lead from node to node. Those of global functions are not among them.
	Edges []OutlineEdge `json:"edges"`
	// GlobalFunctions are offered at every node.
	GlobalFunctions []OutlineFunction `json:"globalFunctions,omitempty"`
}

// OutlineNode is a node of an [Outline].
type OutlineNode struct {
	Name string `json:"name"`
	// Title is what to show people.
	Title string `json:"title"`
	// Functions are those that stay at the node.
	Functions []OutlineFunction `json:"functions,omitempty"`
	// End tells that the node ends the conversation.
	End bool `json:"end,omitempty"`
}

// OutlineEdge is a way from one node to another.
type OutlineEdge struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Function string `json:"function"`
}

// OutlineFunction is a function of an [Outline].
type OutlineFunction struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// To names where a global function leads; empty when it stays.
	To []string `json:"to,omitempty"`
}

// NewOutline outlines a flow from its global functions and its nodes, the first of
// which is where it begins.
func NewOutline(global []NodeFunction, nodes ...*NodeConfig) Outline {
	var o Outline
	for _, n := range nodes {
		if n != nil {
			o.addNode(n)
		}
	}
	for i := range global {
		f := &global[i]
		o.GlobalFunctions = append(o.GlobalFunctions, OutlineFunction{Name: f.Name, Description: f.Description, To: slices.Clone(f.To)})
		for _, to := range f.To {
			o.mention(to)
		}
	}
	for _, e := range o.Edges {
		o.mention(e.To)
	}
	return o
}

func (o *Outline) addNode(n *NodeConfig) {
	node := OutlineNode{Name: n.name(), Title: n.Title, End: ends(n)}
	if node.Title == "" {
		node.Title = node.Name
	}
	for i := range n.Functions {
		f := &n.Functions[i]
		if len(f.To) == 0 {
			node.Functions = append(node.Functions, OutlineFunction{Name: f.Name, Description: f.Description})
		}
		for _, to := range f.To {
			o.Edges = append(o.Edges, OutlineEdge{From: node.Name, To: to, Function: f.Name})
		}
	}
	if o.find(node.Name) < 0 {
		o.Nodes = append(o.Nodes, node)
	}
}

// mention makes sure that a node which is led to is in the picture.
func (o *Outline) mention(name string) {
	if o.find(name) < 0 {
		o.Nodes = append(o.Nodes, OutlineNode{Name: name, Title: name})
	}
}

func (o *Outline) find(name string) int {
	return slices.IndexFunc(o.Nodes, func(n OutlineNode) bool { return n.Name == name })
}

func ends(n *NodeConfig) bool {
	is := func(a Action) bool { return a.Type == ActionEndConversation }
	return slices.ContainsFunc(n.PreActions, is) || slices.ContainsFunc(n.PostActions, is)
}
