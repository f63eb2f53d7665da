// Package schema checks JSON documents against JSON Schemas that may come from
// anywhere.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

const (
	// maxReferences bounds a schema's references: each may double the work of a
	// check.
	maxReferences = 24
	// maxComplaints bounds what an error lists.
	maxComplaints = 5
)

var (
	errLoading    = errors.New("a schema may refer to itself only")
	errReferences = fmt.Errorf("more than %d references", maxReferences)
)

// Schema is a compiled schema. It is safe for concurrent use; the nil Schema
// refuses everything.
type Schema struct{ compiled *jsonschema.Schema }

// noLoader keeps schemas from reading files and the network.
type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, errLoading }

// Compile reads a schema. References to anything outside it are refused.
func Compile(raw json.RawMessage) (*Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("schema: not valid JSON: %w", err)
	}
	if references(doc) > maxReferences {
		return nil, fmt.Errorf("schema: %w", errReferences)
	}
	const place = "mem:///schema.json"
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	if err := c.AddResource(place, doc); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	compiled, err := c.Compile(place)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return &Schema{compiled}, nil
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

// Invalid tells what does not fit, in words for whoever wrote the document.
type Invalid struct {
	// Complaints name places and what is wrong there, e.g. "party_size: maximum:
	// got 40, want 12".
	Complaints []string
}

// Error lists the complaints.
func (e *Invalid) Error() string { return strings.Join(e.Complaints, "; ") }

// Check holds a document against the schema. It fails with an [*Invalid] where the
// document does not fit.
func (s *Schema) Check(document json.RawMessage) error {
	if s == nil {
		return &Invalid{Complaints: []string{"there is no schema to check it"}}
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return &Invalid{Complaints: []string{"not valid JSON"}}
	}
	err = s.compiled.Validate(v)
	var invalid *jsonschema.ValidationError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &invalid):
		e := &Invalid{}
		e.collect(invalid, message.NewPrinter(language.English))
		return e
	}
	return &Invalid{Complaints: []string{err.Error()}}
}

// collect takes in the leaves of an error's tree.
func (e *Invalid) collect(v *jsonschema.ValidationError, p *message.Printer) {
	for _, cause := range v.Causes {
		e.collect(cause, p)
	}
	if len(v.Causes) > 0 || len(e.Complaints) >= maxComplaints {
		return
	}
	if _, group := v.ErrorKind.(*kind.Group); group {
		return
	}
	text := v.ErrorKind.LocalizedString(p)
	if place := strings.Join(v.InstanceLocation, "."); place != "" {
		text = place + ": " + text
	}
	e.Complaints = append(e.Complaints, text)
}
