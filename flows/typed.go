package flows

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/turnwise/turnwise/llm"
)

// FunctionOption sets an optional field of a [NodeFunction].
type FunctionOption func(*NodeFunction)

// WithTargets names the nodes that the handler may lead to, for drawing.
func WithTargets(nodes ...string) FunctionOption {
	return func(f *NodeFunction) { f.To = nodes }
}

// WithExamples gives things a user may say that call for the function.
func WithExamples(examples ...string) FunctionOption {
	return func(f *NodeFunction) { f.Examples = examples }
}

// WithTimeout bounds a call.
func WithTimeout(d time.Duration) FunctionOption {
	return func(f *NodeFunction) { f.Timeout = d }
}

// WithFiller speaks a line when a call takes longer than after; 0 means the
// service's default.
func WithFiller(text string, after time.Duration) FunctionOption {
	return func(f *NodeFunction) { f.Filler, f.FillerAfter = text, after }
}

// WithCancelOnInterruption cancels a call when the user barges in.
func WithCancelOnInterruption() FunctionOption {
	return func(f *NodeFunction) { f.CancelOnInterruption = true }
}

// WithAsync lets the conversation go on while a call runs.
func WithAsync() FunctionOption { return func(f *NodeFunction) { f.Async = true } }

// WithDuplicates says what a call does that repeats one under way.
func WithDuplicates(p llm.DuplicatePolicy) FunctionOption {
	return func(f *NodeFunction) { f.Duplicates = p }
}

// WithRespond says whether a successful call is followed by a reply.
func WithRespond(p RespondPolicy) FunctionOption {
	return func(f *NodeFunction) { f.Respond = p }
}

func (f NodeFunction) with(options []FunctionOption) NodeFunction {
	for _, o := range options {
		o(&f)
	}
	return f
}

// Func makes a function from a Go func with typed arguments. A is a struct; the
// parameters' JSON Schema is derived from it: names and which are optional from
// json tags, descriptions from jsonschema tags, and limits from further ones:
//
//	type booking struct {
//		People int    `json:"people" jsonschema:"how many people come" minimum:"1" maximum:"12"`
//		Room   string `json:"room,omitempty" jsonschema:"where to sit" enum:"inside,terrace"`
//		Day    string `json:"day" format:"date"`
//	}
//
// The tags are minimum, maximum, minLength, maxLength, minItems, maxItems, enum
// (separated by commas), pattern, format and default. An A without a schema is
// reported when the node is entered.
//
// fn returns what a [Handler] returns.
func Func[A any](name, description string, fn func(ctx context.Context, args A, fm *FlowManager) (string, *NodeConfig, error), options ...FunctionOption) NodeFunction {
	f := NodeFunction{Name: name, Description: description}
	f.Parameters, f.err = schemaOf[A]()
	if fn != nil {
		f.Handler = func(ctx context.Context, raw json.RawMessage, fm *FlowManager) (string, *NodeConfig, error) {
			args, err := decode[A](raw)
			if err != nil {
				return "", nil, err
			}
			return fn(ctx, args, fm)
		}
	}
	return f.with(options)
}

// Data makes a function that tells the model something and stays at its node. The
// result is told as JSON, except that a string is told as it stands. Arguments are
// as for [Func].
func Data[A, R any](name, description string, fn func(ctx context.Context, args A, fm *FlowManager) (R, error), options ...FunctionOption) NodeFunction {
	if fn == nil {
		return Func[A](name, description, nil, options...)
	}
	return Func(name, description, func(ctx context.Context, args A, fm *FlowManager) (string, *NodeConfig, error) {
		result, err := fn(ctx, args, fm)
		if err != nil {
			return "", nil, err
		}
		text, err := resultText(result)
		return text, nil, err
	}, options...)
}

// Edge makes a function without arguments that leads to a node.
func Edge(name, description string, to *NodeConfig, options ...FunctionOption) NodeFunction {
	f := NodeFunction{Name: name, Description: description}
	if to == nil {
		f.err = fmt.Errorf("it leads to a nil node")
		return f
	}
	f.To = []string{to.name()}
	f.Handler = func(context.Context, json.RawMessage, *FlowManager) (string, *NodeConfig, error) {
		return edgeResult, to, nil
	}
	return f.with(options)
}

// EdgeTo is [Edge] for a node that is made, or chosen, when the call comes. A nil
// node stays. Name the nodes it may lead to with [WithTargets].
func EdgeTo(name, description string, to func(ctx context.Context, fm *FlowManager) (*NodeConfig, error), options ...FunctionOption) NodeFunction {
	f := NodeFunction{Name: name, Description: description}
	if to != nil {
		f.Handler = func(ctx context.Context, _ json.RawMessage, fm *FlowManager) (string, *NodeConfig, error) {
			next, err := to(ctx, fm)
			return edgeResult, next, err
		}
	}
	return f.with(options)
}

// edgeResult is what the model is told of an edge that only leads on.
const edgeResult = `{"status":"ok"}`

func decode[A any](raw json.RawMessage) (A, error) {
	var args A
	if len(raw) == 0 {
		return args, nil
	}
	if err := json.Unmarshal(raw, &args); err != nil {
		return args, fmt.Errorf("the arguments do not fit the function: %w", err)
	}
	return args, nil
}

func resultText(result any) (string, error) {
	switch r := result.(type) {
	case string:
		return r, nil
	case json.RawMessage:
		return string(r), nil
	}
	b, err := json.Marshal(result)
	if err != nil {
		return "", fmt.Errorf("flows: the result cannot be told: %w", err)
	}
	return string(b), nil
}
