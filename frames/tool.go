package frames

import (
	"encoding/json"
	"sync/atomic"
)

// Tool is a function that a model is offered.
type Tool struct {
	Name        string
	Description string
	// Parameters is the JSON Schema of the argument object; empty means no
	// arguments.
	Parameters json.RawMessage
	// Examples are things a user may say that call for the function. Models that
	// have no use for them ignore them.
	Examples []string
	// Binding says how the model service runs the function; it is opaque here
	// and never sent. Nil means the function registered under Name.
	Binding any
}

// ToolChoice restricts what the model may call: [ToolChoiceAuto],
// [ToolChoiceNone], [ToolChoiceRequired], or the name of a tool it must call.
type ToolChoice string

// The general choices. The zero value is the same as auto.
const (
	ToolChoiceAuto     ToolChoice = "auto"
	ToolChoiceNone     ToolChoice = "none"
	ToolChoiceRequired ToolChoice = "required"
)

// Toolset is an immutable list of tools, the unit in which a conversation's tools
// are swapped. It remembers its wire form, as an [Entry] does. The nil Toolset is
// empty.
type Toolset struct {
	tools []Tool
	index map[string]int
	wire  atomic.Pointer[wireForm]
}

// NewToolset makes a toolset of the tools in their order. Of two tools with the
// same name the first is kept.
func NewToolset(tools ...Tool) *Toolset {
	s := &Toolset{index: make(map[string]int, len(tools))}
	for _, t := range tools {
		if _, taken := s.index[t.Name]; taken {
			continue
		}
		s.index[t.Name] = len(s.tools)
		s.tools = append(s.tools, t)
	}
	return s
}

// Len is the number of tools.
func (s *Toolset) Len() int {
	if s == nil {
		return 0
	}
	return len(s.tools)
}

// Tools lists the tools in order. The slice must not be changed.
func (s *Toolset) Tools() []Tool {
	if s == nil {
		return nil
	}
	return s.tools
}

// Lookup finds a tool by its name.
func (s *Toolset) Lookup(name string) (Tool, bool) {
	if s == nil {
		return Tool{}, false
	}
	i, ok := s.index[name]
	if !ok {
		return Tool{}, false
	}
	return s.tools[i], true
}

// Names lists the tools' names in order.
func (s *Toolset) Names() []string {
	names := make([]string, 0, s.Len())
	for _, t := range s.Tools() {
		names = append(names, t.Name)
	}
	return names
}

// Encoded is the toolset in enc's wire form, made once. It must not be changed.
func (s *Toolset) Encoded(enc *Encoder) []byte {
	if s.Len() == 0 {
		return nil
	}
	if w := s.wire.Load(); w != nil && w.by == enc {
		return w.bytes
	}
	b := enc.Tools(nil, s.tools)
	s.wire.Store(&wireForm{by: enc, bytes: b})
	return b
}
