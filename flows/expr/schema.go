package expr

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// maxSchemaDepth and maxSchemaParts bound how deep and how far a schema is followed, which
// may refer to itself; what is beyond is of type Any.
const (
	maxSchemaDepth = 32
	maxSchemaParts = 10_000
)

// FromSchema reads a type out of a JSON Schema. It understands type, enum, const,
// nullable, properties, additionalProperties, items, anyOf, oneOf, allOf and references
// within the schema ("#/$defs/address"); what it does not understand is [Any], so a type
// never says more than the schema does, with one exception: an object that names its
// properties and is silent on additionalProperties is taken to have no others, because
// another name in an expression is nearly always a slip.
func FromSchema(raw json.RawMessage) (Type, error) {
	v, err := Decode(raw)
	if err != nil {
		return Any(), fmt.Errorf("expr: reading a schema: %w", err)
	}
	r := schemaReader{root: v}
	return r.read(v, 0), nil
}

// schemaReader follows references from the root of one schema.
type schemaReader struct {
	root  any
	parts int // read so far
}

func (r *schemaReader) read(v any, depth int) Type {
	s, is := v.(map[string]any)
	if r.parts++; !is || depth > maxSchemaDepth || r.parts > maxSchemaParts {
		return Any()
	}
	if ref, is := s["$ref"].(string); is {
		return r.read(r.resolve(ref), depth+1)
	}
	t := r.plainType(s, depth)
	if nullable, _ := s["nullable"].(bool); nullable && t.d != nil {
		t = Union(t, Null())
	}
	return t
}

// plainType reads the keywords that say what a value is.
func (r *schemaReader) plainType(s map[string]any, depth int) Type {
	if c, has := s["const"]; has {
		return Enum(c)
	}
	if values, is := s["enum"].([]any); is {
		return Enum(values...)
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if list, is := s[keyword].([]any); is && len(list) > 0 {
			t := r.read(list[0], depth+1)
			for _, one := range list[1:] {
				t = Union(t, r.read(one, depth+1))
			}
			return t
		}
	}
	if list, is := s["allOf"].([]any); is && s["type"] == nil && s["properties"] == nil {
		if len(list) == 1 {
			return r.read(list[0], depth+1)
		}
		return Any()
	}
	return r.byType(s, depth)
}

// byType reads type and what belongs to lists and objects.
func (r *schemaReader) byType(s map[string]any, depth int) Type {
	var names []any
	switch t := s["type"].(type) {
	case string:
		names = []any{t}
	case []any:
		names = t
	default:
		if _, has := s["properties"]; !has {
			return Any()
		}
		names = []any{"object"}
	}
	if len(names) == 0 {
		return Any()
	}
	all := r.named(names[0], s, depth)
	for _, name := range names[1:] {
		all = Union(all, r.named(name, s, depth))
	}
	return all
}

// named is the type with one of JSON Schema's names.
func (r *schemaReader) named(name any, s map[string]any, depth int) Type {
	switch name {
	case "null":
		return Null()
	case "boolean":
		return Bool()
	case "integer":
		return Int()
	case "number":
		return Number()
	case "string":
		return String()
	case "array":
		return List(r.read(s["items"], depth+1))
	case "object":
		return r.object(s, depth)
	}
	return Any()
}

func (r *schemaReader) object(s map[string]any, depth int) Type {
	properties, _ := s["properties"].(map[string]any)
	fields := make(map[string]Type, len(properties))
	for name, p := range maps.All(properties) {
		fields[name] = r.read(p, depth+1)
	}
	more, given := s["additionalProperties"]
	_, patterns := s["patternProperties"]
	_, parts := s["allOf"]
	switch {
	case patterns || parts:
		return OpenObject(fields, Any())
	case given && more == false:
		return Object(fields)
	case given:
		return OpenObject(fields, r.read(more, depth+1))
	case len(fields) > 0:
		return Object(fields)
	}
	return OpenObject(fields, Any())
}

// resolve finds what a reference within the schema points to, nil when there is nothing.
func (r *schemaReader) resolve(ref string) any {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	at := r.root
	for _, part := range strings.Split(strings.TrimPrefix(path, "/"), "/") {
		if part == "" {
			continue
		}
		object, is := at.(map[string]any)
		if !is {
			return nil
		}
		at = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]
	}
	return at
}
