package offline_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/llm/offline"
)

// FuzzArgumentsFitTheSchema has anything said to a function with any schema. What
// is called must fit it, in the judgement of another validator than the model's
// own.
func FuzzArgumentsFitTheSchema(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"type":"object","properties":{"size":{"type":"integer","minimum":1,"maximum":12}},"required":["size"]}`, "four people"},
		{`{"type":"object","properties":{"d":{"type":"string","format":"date"},"t":{"type":"string","format":"time"}},"required":["d","t"]}`, "tomorrow at seven"},
		{`{"type":"object","properties":{"when":{"type":"string","format":"date-time"}},"required":["when"]}`, "friday, noon"},
		{`{"type":"object","properties":{"e":{"type":"string","format":"email","maxLength":9}},"required":["e"]}`, "a at b dot com"},
		{`{"type":"object","properties":{"c":{"type":"string","pattern":"^[A-Z]{2}[0-9]{4}$"}},"required":["c"]}`, "AB1234"},
		{`{"type":"object","properties":{"x":{"enum":["red","green",3,null,true]}},"required":["x"]}`, "green"},
		{`{"type":"object","properties":{"x":{"type":"array","items":{"type":"integer"},"uniqueItems":true,"minItems":2}},"required":["x"]}`, "1, 2 and 2"},
		{`{"type":"object","properties":{"ok":{"type":"boolean","const":true}},"required":["ok"]}`, "no"},
		{`{"type":"object","properties":{"n":{"type":"number","multipleOf":0.1,"exclusiveMinimum":0}},"required":["n"],"additionalProperties":false}`, "0.3"},
		{`{"type":"object","properties":{"name":{"type":"string","minLength":3}},"required":["name","other"]}`, "my name is Al"},
		{`{"type":"object","properties":{"a":{"anyOf":[{"type":"null"},{"type":"string"}]},"b":{"$ref":"#/$defs/b"}},"$defs":{"b":{"type":"integer"}},"required":["b"]}`, "five"},
		{`{"type":"object","properties":{"text":{"type":"string","maxLength":5}},"required":["text"],"not":{}}`, "it is broken"},
		{`{"type":["object","null"],"properties":7}`, "hello"},
		{`true`, "yes"}, {`false`, "yes"}, {`{"$ref":"#"}`, "yes"}, {`{`, "yes"}, {``, "yes"}, {`null`, "record it"},
	} {
		f.Add(seed[0], seed[1])
	}
	m := offline.New(offline.Config{Now: wednesday})
	f.Fuzz(func(t *testing.T, schema, words string) {
		convo := frames.NewLLMContext("Ask the guest for it.")
		convo.SetTools([]frames.Tool{{Name: "record_it", Description: "Record it", Parameters: json.RawMessage(schema), Examples: []string{words}}})
		convo.SetToolChoice(frames.ToolChoiceRequired)
		convo.AddUserMessage(words)
		text, calls := ask(t, m, &llm.Request{Context: convo.Snapshot()})
		if text == "" && len(calls) == 0 {
			t.Errorf("%q is met with silence", words)
		}
		for _, c := range calls {
			if len(schema) > 0 && schema != "null" {
				checkArgs(t, schema, c.Args)
			} else if string(c.Args) != "{}" {
				t.Errorf("without a schema the arguments are %s", c.Args)
			}
		}
	})
}

func checkArgs(t *testing.T, schema string, args json.RawMessage) {
	var value any
	if err := json.Unmarshal(args, &value); err != nil {
		t.Fatalf("the arguments %q are not JSON: %v", args, err)
	}
	if !json.Valid([]byte(schema)) {
		t.Fatalf("a function with the broken schema %q was called", schema)
	}
	var s jsonschema.Schema
	if strings.Contains(schema, "Ref") || strings.Contains(schema, "ref") || strings.Contains(schema, `\u`) || json.Unmarshal([]byte(schema), &s) != nil {
		return // this validator recurses without end along references
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return // the validators differ in what they take for a schema
	}
	if err := resolved.Validate(value); err != nil {
		t.Errorf("the arguments %s do not fit %s: %v", args, schema, err)
	}
}
