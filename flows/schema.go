package flows

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// schemaOf derives the JSON Schema of a function's arguments. A struct without
// fields means no arguments.
func schemaOf[A any]() (json.RawMessage, error) {
	t := reflect.TypeFor[A]()
	if t.Kind() == reflect.Struct && t.NumField() == 0 {
		return nil, nil
	}
	s, err := jsonschema.For[A](nil)
	if err != nil {
		return nil, fmt.Errorf("its arguments have no schema: %w", err)
	}
	if s.Type != "object" {
		return nil, fmt.Errorf("its arguments are a %s; use a struct", t)
	}
	if err := refine(s, t); err != nil {
		return nil, err
	}
	b, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("its arguments have no schema: %w", err)
	}
	return b, nil
}

// refine makes a derived schema one that models handle well: nothing may be null,
// an optional field is left out instead, and limits come from tags.
func refine(s *jsonschema.Schema, t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	s.Types = slices.DeleteFunc(s.Types, func(name string) bool { return name == "null" })
	if len(s.Types) == 1 {
		s.Type, s.Types = s.Types[0], nil
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		if s.Items != nil {
			return refine(s.Items, t.Elem())
		}
	case reflect.Map:
		if s.AdditionalProperties != nil {
			return refine(s.AdditionalProperties, t.Elem())
		}
	case reflect.Struct:
		return refineFields(s, t)
	}
	return nil
}

func refineFields(s *jsonschema.Schema, t reflect.Type) error {
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" {
			name = field.Name
		}
		p := s.Properties[name]
		if p == nil || field.Anonymous || !field.IsExported() {
			continue
		}
		if err := refine(p, field.Type); err != nil {
			return err
		}
		for _, rule := range tagRules {
			if value, ok := field.Tag.Lookup(rule.tag); ok {
				if err := rule.apply(p, value); err != nil {
					return fmt.Errorf("the tag %s:%q of the field %s: %w", rule.tag, value, field.Name, err)
				}
			}
		}
	}
	return nil
}

// tagRule puts the value of a struct tag into a schema.
type tagRule struct {
	tag   string
	apply func(s *jsonschema.Schema, value string) error
}

var tagRules = []tagRule{
	{"minimum", func(s *jsonschema.Schema, v string) error { return number(&s.Minimum, v) }},
	{"maximum", func(s *jsonschema.Schema, v string) error { return number(&s.Maximum, v) }},
	{"minLength", func(s *jsonschema.Schema, v string) error { return count(&s.MinLength, v) }},
	{"maxLength", func(s *jsonschema.Schema, v string) error { return count(&s.MaxLength, v) }},
	{"minItems", func(s *jsonschema.Schema, v string) error { return count(&s.MinItems, v) }},
	{"maxItems", func(s *jsonschema.Schema, v string) error { return count(&s.MaxItems, v) }},
	{"pattern", func(s *jsonschema.Schema, v string) error { s.Pattern = v; return nil }},
	{"format", func(s *jsonschema.Schema, v string) error { s.Format = v; return nil }},
	{"enum", enumerate},
	{"default", func(s *jsonschema.Schema, v string) error {
		value, err := typed(s, v)
		if err != nil {
			return err
		}
		s.Default, err = json.Marshal(value)
		return err
	}},
}

func number(to **float64, value string) error {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return errors.New("it must be a number")
	}
	*to = &n
	return nil
}

func count(to **int, value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		return errors.New("it must be a whole number")
	}
	*to = &n
	return nil
}

// enumerate lists the values of a field, or of a slice's items.
func enumerate(s *jsonschema.Schema, value string) error {
	if s.Type == "array" && s.Items != nil {
		s = s.Items
	}
	for _, v := range strings.Split(value, ",") {
		item, err := typed(s, strings.TrimSpace(v))
		if err != nil {
			return err
		}
		s.Enum = append(s.Enum, item)
	}
	return nil
}

// typed reads a tag's value as the schema's type.
func typed(s *jsonschema.Schema, value string) (any, error) {
	switch s.Type {
	case "integer", "number":
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return nil, errors.New("it must be a number")
		}
		return n, nil
	case "boolean":
		return strconv.ParseBool(value)
	}
	return value, nil
}
