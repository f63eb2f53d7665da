// Package schema checks JSON documents against JSON Schemas that may come from
// anywhere.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// maxComplaint bounds what an error says, in bytes.
const maxComplaint = 300

// Schema is a compiled schema. It is safe for concurrent use; the nil Schema
// refuses everything.
type Schema struct{ compiled *jsonschema.Resolved }

// Compile reads a schema. References to anything outside it are refused, and so
// are those that a check would follow for ever.
func Compile(raw json.RawMessage) (*Schema, error) {
	doc, err := decode(raw)
	if err != nil {
		return nil, fmt.Errorf("schema: not valid JSON: %w", err)
	}
	if err := inspect(doc); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	compiled, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if err := checkTypes(doc); err != nil {
		return nil, err
	}
	return &Schema{compiled}, nil
}

// decode reads one JSON document and nothing behind it.
func decode(raw json.RawMessage) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the document")
	}
	return v, nil
}

// checkTypes refuses types that do not exist at the top, where a mistake is most
// likely: the compiler takes any word.
func checkTypes(doc any) error {
	s, _ := doc.(map[string]any)
	name, is := s["type"].(string)
	if !is {
		return nil
	}
	switch name {
	case "object", "array", "string", "number", "integer", "boolean", "null":
		return nil
	}
	return fmt.Errorf("schema: there is no type %q", name)
}

// Invalid tells what does not fit, in words for whoever wrote the document.
type Invalid struct {
	// Complaint names the place and what is wrong there, e.g. "n: maximum: 40 is
	// greater than 12".
	Complaint string
}

// Error is the complaint.
func (e *Invalid) Error() string { return e.Complaint }

// Check holds a document against the schema. It fails with an [*Invalid] where the
// document does not fit.
func (s *Schema) Check(document json.RawMessage) error {
	if s == nil {
		return &Invalid{"there is no schema to check it"}
	}
	v, err := decode(document)
	if err != nil {
		return &Invalid{"not valid JSON"}
	}
	return s.validate(v)
}

// CheckValue is Check for a value that is decoded already: nil, booleans, numbers of
// Go's kinds, strings, []any and map[string]any of such values.
func (s *Schema) CheckValue(v any) error {
	if s == nil {
		return &Invalid{"there is no schema to check it"}
	}
	return s.validate(v)
}

// validate holds a decoded document against the schema.
func (s *Schema) validate(v any) error {
	if err := s.compiled.Validate(v); err != nil {
		return &Invalid{shorten(err.Error())}
	}
	return nil
}

// shorten takes the library's trail of places out of its message: of "validating
// root: validating /properties/n: …" what is behind the last place is left, with
// the names of the properties on the way.
func shorten(text string) string {
	var place []string
	for {
		rest, ok := strings.CutPrefix(text, "validating ")
		if !ok {
			break
		}
		where, what, ok := strings.Cut(rest, ": ")
		if !ok {
			break
		}
		if i := strings.LastIndex(where, "/properties/"); i >= 0 {
			place = append(place, where[i+len("/properties/"):])
		}
		text = what
	}
	// Numbers are printed as fractions and with six digits.
	text = strings.NewReplacer(".000000", "", "/1 is ", " is ").Replace(text)
	if len(place) > 0 {
		text = place[len(place)-1] + ": " + text
	}
	if len(text) > maxComplaint {
		text = strings.ToValidUTF8(text[:maxComplaint], "") + " …"
	}
	return text
}
