package schema_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/turnwise/turnwise/internal/schema"
)

func TestCheck(t *testing.T) {
	const booking = `{"type":"object","properties":{"n":{"type":"integer","minimum":1,"maximum":12},"day":{"type":"string","format":"date"}},
		"required":["n"],"additionalProperties":false}`
	cases := []struct{ name, document, complaint string }{
		{"a document that fits", `{"n":4}`, ""},
		{"too large a number", `{"n":40}`, "n: maximum: 40 is greater than 12"},
		{"a missing property", `{}`, "required: missing properties: [\"n\"]"},
		{"an unknown property", `{"n":4,"m":1}`, "additional"},
		{"a wrong type", `{"n":"four"}`, "n: type:"},
		{"a large integer", `{"n":123456789012345678901234567890}`, "n: "},
		{"no JSON", `{"n":`, "not valid JSON"},
		{"two documents", `{"n":1}{"n":1}`, "not valid JSON"},
	}
	s, err := schema.Compile(json.RawMessage(booking))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := s.Check(json.RawMessage(c.document))
			if c.complaint == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			var invalid *schema.Invalid
			if !errors.As(err, &invalid) || !strings.Contains(err.Error(), c.complaint) {
				t.Errorf("got %v, want %q", err, c.complaint)
			}
		})
	}
}

func TestSchemasThatCannotBeTrusted(t *testing.T) {
	many := `{"allOf":[` + strings.Repeat(`{"$ref":"#/$defs/a"},`, 30) + `{}],"$defs":{"a":{}}}`
	for name, raw := range map[string]string{
		"no JSON":                    `{"type":`,
		"a type that does not exist": `{"type":"table"}`,
		"a file":                     `{"$ref":"file:///etc/passwd"}`,
		"the network":                `{"$ref":"http://localhost/schema.json"}`,
		"a bottomless one":           strings.Repeat(`{"not":`, 100) + `{}` + strings.Repeat(`}`, 100),
		"very many references":       many,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := schema.Compile(json.RawMessage(raw)); err == nil {
				t.Error("compiled")
			}
		})
	}
	t.Run("references that lead back to themselves", func(t *testing.T) {
		for _, raw := range []string{
			`{"$ref":"#"}`,
			`{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"$ref":"#/$defs/a"}}}`,
			`{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}`,
			`{"dependentSchemas":{"a":{"$ref":"#"}}}`,
			`{"$dynamicRef":"#"}`,
		} {
			if _, err := schema.Compile(json.RawMessage(raw)); err == nil {
				t.Errorf("%s compiled", raw)
			}
		}
	})
	t.Run("but not those that go down into the document", func(t *testing.T) {
		s, err := schema.Compile(json.RawMessage(`{"type":"object","properties":{"a":{"$ref":"#"}},"additionalProperties":false}`))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Check(json.RawMessage(`{"a":{"a":{"a":{}}}}`)); err != nil {
			t.Error(err)
		}
		if s.Check(json.RawMessage(`{"a":{"a":{"b":{}}}}`)) == nil {
			t.Error("an unknown property deep down was accepted")
		}
	})
	t.Run("none refuses everything", func(t *testing.T) {
		var s *schema.Schema
		if s.Check(json.RawMessage(`{}`)) == nil {
			t.Error("accepted")
		}
	})
}

func FuzzCheck(f *testing.F) {
	f.Add(`{"type":"object","required":["a"]}`, `{"a":1}`)
	f.Add(`{"$ref":"#"}`, `1`)
	f.Add(`{"properties":{"a":{"$ref":"#"}}}`, `{"a":{"a":{}}}`)
	f.Add(`{"pattern":"^(a+)+$"}`, `"aaaaaaaaaaaaaaaaaaaa!"`)
	f.Fuzz(func(t *testing.T, raw, document string) {
		if len(raw) > 4096 || len(document) > 4096 {
			return
		}
		s, err := schema.Compile(json.RawMessage(raw))
		if err != nil {
			return
		}
		if s.Check(json.RawMessage(document)) == nil && !json.Valid([]byte(document)) {
			t.Errorf("%q was accepted", document)
		}
	})
}

// TestValuesAreCheckedAsTheirDocumentsAre holds decoded values against schemas.
func TestValuesAreCheckedAsTheirDocumentsAre(t *testing.T) {
	for _, source := range []string{`{"type":"integer","minimum":2}`, `{"type":"number"}`, `{"type":"string"}`, `{"enum":[1,"a",null,true]}`, `{"const":3}`, `{"type":"array","items":{"type":"integer"}}`,
		`{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}},"additionalProperties":false}`, `{"type":["null","boolean"]}`} {
		s, err := schema.Compile([]byte(source))
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []any{nil, true, int64(1), int64(3), 2.5, 3.0, "a", "b", []any{int64(1)}, []any{"x"}, map[string]any{"a": int64(1)}, map[string]any{"a": 1.5}, map[string]any{"b": nil}, map[string]any{}} {
			raw, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			if asText, asValue := s.Check(raw), s.CheckValue(v); (asText == nil) != (asValue == nil) {
				t.Errorf("%s, %s: %v as a document, %v as a value", source, raw, asText, asValue)
			}
		}
	}
}
