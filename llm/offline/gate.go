package offline

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// gate checks whole argument objects before a call is made. The zero gate refuses
// everything: a call that cannot be checked is not made.
type gate struct{ schema *jsonschema.Schema }

// maxReferences bounds a schema's references: each may double the work of a check.
const maxReferences = 24

var errNoLoading = errors.New("offline: a schema may refer to itself only")

// noLoader keeps schemas from reading files and the network.
type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, errNoLoading }

// newGate compiles a schema, which may come from anywhere. A broken one gives the
// zero gate.
func newGate(schema json.RawMessage) gate {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil || references(doc) > maxReferences {
		return gate{}
	}
	const place = "mem:///parameters.json"
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	if c.AddResource(place, doc) != nil {
		return gate{}
	}
	compiled, err := c.Compile(place)
	if err != nil {
		return gate{}
	}
	return gate{compiled}
}

// references counts a schema's references.
func references(doc any) int {
	n := 0
	switch v := doc.(type) {
	case map[string]any:
		for key, inner := range v {
			switch key {
			case "$ref", "$dynamicRef", "$recursiveRef":
				n++
			}
			n += references(inner)
		}
	case []any:
		for _, inner := range v {
			n += references(inner)
		}
	}
	return n
}

func (g gate) accepts(args json.RawMessage) bool {
	if g.schema == nil {
		return false
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(args))
	return err == nil && g.schema.Validate(v) == nil
}
