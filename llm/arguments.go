package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/turnwise/turnwise/frames"
)

// maxToolsets bounds the toolsets whose compiled schemas a service remembers.
const maxToolsets = 16

// validator checks arguments. It is safe for concurrent use.
type validator struct {
	// check refuses a decoded argument object that does not fit.
	check func(args any) error
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
		return validator{check: func(any) error { return nil }, none: true}
	}
	var schema jsonschema.Schema
	err := json.Unmarshal(tool.Parameters, &schema)
	if err == nil {
		var resolved *jsonschema.Resolved
		if resolved, err = schema.Resolve(nil); err == nil {
			return validator{check: resolved.Validate, none: len(schema.Properties) == 0 && len(schema.Required) == 0}
		}
	}
	err = fmt.Errorf("the parameter schema of %s is broken: %w", tool.Name, err)
	return validator{check: func(any) error { return err }}
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
	if err := validate.check(value); err != nil {
		return nil, fmt.Errorf("the arguments do not fit the function: %w", err)
	}
	return json.RawMessage(trimmed), nil
}
