package openai

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/turnwise/turnwise/frames"
)

// Bounds of what one response may ask for.
const (
	maxCalls     = 128
	maxArguments = 1 << 20
)

// calls puts the calls of a response together from their fragments.
type calls struct {
	list []*call
	size int // bytes of all arguments
}

type call struct {
	index *int // nil when the server gives none
	id    string
	name  string
	args  []byte
}

// add takes the next fragment.
func (c *calls) add(f *fragment) error {
	k := c.find(f)
	if k == nil {
		if len(c.list) == maxCalls {
			return fmt.Errorf("%w: more than %d calls in one response", errMalformed, maxCalls)
		}
		k = &call{index: f.Index}
		c.list = append(c.list, k)
	}
	if k.id == "" {
		k.id = f.ID
	}
	if f.Function.Name != k.name { // some servers repeat it with every fragment
		k.name += f.Function.Name
	}
	args := f.arguments()
	if c.size += len(args) + len(f.Function.Name); c.size > maxArguments {
		return fmt.Errorf("%w: more than 1 MiB of arguments in one response", errMalformed)
	}
	k.args = append(k.args, args...)
	return nil
}

// find is the call a fragment belongs to, nil when it begins one. The index
// decides, unless a server gives several calls the same one; without an index
// the id does; a fragment with neither belongs to the last call, unless it names
// a function.
func (c *calls) find(f *fragment) *call {
	for _, k := range slices.Backward(c.list) {
		switch {
		case f.Index != nil && k.index != nil:
			if *f.Index == *k.index {
				return k.unless(f.ID != "" && k.id != "" && f.ID != k.id && f.Function.Name != "")
			}
		case f.ID != "":
			if f.ID == k.id {
				return k
			}
		default:
			return k.unless(f.Function.Name != "")
		}
	}
	return nil
}

func (k *call) unless(other bool) *call {
	if other {
		return nil
	}
	return k
}

// finish is the calls in the order of their indices. Ids that are missing or in
// use already are replaced: an id names one call of the conversation.
func (c *calls) finish(history []*frames.Entry) ([]frames.ToolCall, error) {
	if !slices.ContainsFunc(c.list, func(k *call) bool { return k.index == nil }) {
		slices.SortStableFunc(c.list, func(a, b *call) int { return cmp.Compare(*a.index, *b.index) })
	}
	out := make([]frames.ToolCall, 0, len(c.list))
	for _, k := range c.list {
		if k.name == "" {
			return nil, fmt.Errorf("%w: a call names no function", errMalformed)
		}
		same := func(t frames.ToolCall) bool { return t.ID == k.id }
		if k.id == "" || slices.ContainsFunc(out, same) || called(history, same) {
			k.id = "call_" + rand.Text()
		}
		out = append(out, frames.ToolCall{ID: k.id, Name: k.name, Args: k.args})
	}
	return out, nil
}

func called(history []*frames.Entry, same func(frames.ToolCall) bool) bool {
	return slices.ContainsFunc(history, func(e *frames.Entry) bool {
		return slices.ContainsFunc(e.Message().ToolCalls, same)
	})
}

// torn is the name of the first call whose arguments are no complete object, ""
// when all are.
func (c *calls) torn() string {
	for _, k := range c.list {
		var object map[string]json.RawMessage
		if json.Unmarshal(k.args, &object) != nil || object == nil {
			return k.name
		}
	}
	return ""
}
