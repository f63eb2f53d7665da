package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/internal/schema"
)

// maxToolsets bounds the toolsets whose compiled schemas a service remembers.
const maxToolsets = 16

// validator checks arguments. It is safe for concurrent use.
type validator struct {
	schema *schema.Schema // nil accepts everything
	broken error          // what is wrong with the schema
	// none tells that the function takes no arguments at all.
	none bool
}

// schemaCache remembers compiled parameter schemas per toolset. It is used on the
// loop; the validators it gives out are used by handlers' goroutines.
type schemaCache struct {
	sets map[*frames.Toolset]map[string]validator
	age  []*frames.Toolset
}

// validator is the check for a tool's arguments.
func (s *schemaCache) validator(set *frames.Toolset, tool frames.Tool) validator {
	byName := s.sets[set]
	if byName == nil {
		if s.sets == nil {
			s.sets = map[*frames.Toolset]map[string]validator{}
		}
		if len(s.age) >= maxToolsets {
			delete(s.sets, s.age[0])
			s.age = s.age[1:]
		}
		byName = map[string]validator{}
		s.sets[set] = byName
		s.age = append(s.age, set)
	}
	v, ok := byName[tool.Name]
	if !ok {
		v = compile(tool)
		byName[tool.Name] = v
	}
	return v
}

// compile makes the check of a tool's parameters. A schema that does not compile
// refuses everything: running a function unchecked would be worse.
func compile(tool frames.Tool) validator {
	if len(tool.Parameters) == 0 {
		return validator{none: true}
	}
	compiled, err := schema.Compile(tool.Parameters)
	if err != nil {
		return validator{broken: fmt.Errorf("the parameter schema of %s is broken: %w", tool.Name, err)}
	}
	var shape struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	_ = json.Unmarshal(tool.Parameters, &shape) // it compiled; other shapes have neither
	return validator{schema: compiled, none: len(shape.Properties) == 0 && len(shape.Required) == 0}
}

// check refuses an argument object that does not fit.
func (v validator) check(args json.RawMessage) error {
	switch {
	case v.broken != nil:
		return v.broken
	case v.schema == nil:
		return nil
	}
	return v.schema.Check(args)
}

// errNoArguments and its like are told to the model.
var (
	errNoArguments = errors.New("the arguments are missing; call the function again with a JSON object")
	errNotObject   = errors.New("the arguments must be one JSON object")
)

// arguments checks what the model wrote as arguments. It never invents any: only
// for a function that takes none do absent ones count as an empty object.
func arguments(raw json.RawMessage, validate validator) (json.RawMessage, error) {
	trimmed := bytes.TrimSpace(raw)
	if len(trimmed) == 0 {
		if !validate.none {
			return nil, errNoArguments
		}
		trimmed = []byte("{}")
	}
	dec := json.NewDecoder(bytes.NewReader(trimmed))
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, fmt.Errorf("the arguments are not valid JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errNotObject
	}
	if _, ok := value.(map[string]any); !ok {
		return nil, errNotObject
	}
	if err := validate.check(trimmed); err != nil {
		return nil, fmt.Errorf("the arguments do not fit the function: %w", err)
	}
	return json.RawMessage(trimmed), nil
}
