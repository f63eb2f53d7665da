package offline_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/llm/offline"
)

// properties are schemas of slots of every kind, some of them hard to please.
var properties = []string{
	`{"type":"integer","minimum":2,"maximum":9,"description":"Number of guests"}`, `{"type":"integer","exclusiveMinimum":3}`,
	`{"type":"number","multipleOf":0.5}`, `{"type":"number","exclusiveMaximum":4.5}`, `{"type":"boolean"}`, `{"type":["integer","null"]}`,
	`{"enum":["red","dark_red","blue"]}`, `{"enum":[1,2,"three",null]}`, `{"enum":["18:00","19:30"]}`, `{"oneOf":[{"const":1,"title":"one"},{"const":2,"title":"two"}]}`,
	`{"type":"string","format":"date"}`, `{"type":"string","format":"time"}`, `{"type":"string","format":"date-time"}`, `{"type":"string","format":"email","maxLength":14}`,
	`{"type":"string","format":"date","pattern":"^2026-"}`, `{"type":"string","pattern":"^[A-Z]{2}[0-9]{4}$"}`, `{"type":"string","pattern":"^[a-z ]+$","minLength":8}`,
	`{"type":"string","description":"The name","maxLength":3}`, `{"type":"string","description":"Phone number"}`, `{"type":"string","format":"uuid"}`,
	`{"type":"array","items":{"type":"integer","maximum":5},"uniqueItems":true,"maxItems":2}`, `{"type":"array","items":{"enum":["red","blue"]},"minItems":2}`,
	`{"type":"array","items":{"type":"string","maxLength":6}}`, `{"type":"object","properties":{"x":{"type":"integer"}}}`, `{"const":"fixed"}`, `{}`, `false`, `true`,
	`{"type":"string","not":{"const":"Anna"},"description":"Name"}`, `{"type":"string","contentEncoding":"base64"}`,
}

var fragments = []string{
	"four", "yes", "no", "tomorrow", "at half past seven", "anna@example.com", "AB1234", "red", "dark red", "blue and red", "my name is Anna", "Anna", "12", "3.5",
	"next friday", "19:30", "+44 20 7946 0958", "two", "the second one", "1, 2 and 2", "it is broken", "not red", "please", "record it", "minus 5", "\"quoted\"",
	"a\\b", "é", "\x00", "<b>", "twenty-one", "for six people", "\xff",
}

func TestWhateverIsSaidArgumentsFitTheSchema(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	m := offline.New(offline.Config{Now: wednesday})
	called := 0
	for range 1500 {
		schema, words := randomSchema(random), randomWords(random)
		convo := frames.NewLLMContext("Ask the guest for it. Ask how many, when and what name.")
		convo.SetTools([]frames.Tool{{Name: "record_it", Description: "Record it.", Parameters: json.RawMessage(schema)}})
		convo.AddUserMessage(words)
		_, calls := ask(t, m, &llm.Request{Context: convo.Snapshot()})
		for _, c := range calls {
			called++
			strictlyFits(t, schema, words, c.Args)
		}
	}
	if called < 100 {
		t.Errorf("only %d of 1500 utterances led to a call", called)
	}
}

func randomSchema(random *rand.Rand) string {
	var b strings.Builder
	var required []string
	for i := range 1 + random.IntN(3) {
		name := fmt.Sprintf("p%d", i)
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", name, properties[random.IntN(len(properties))])
		if random.IntN(2) == 0 {
			required = append(required, fmt.Sprintf("%q", name))
		}
	}
	return fmt.Sprintf(`{"type":"object","properties":{%s},"required":[%s],"additionalProperties":false}`, b.String(), strings.Join(required, ","))
}

func randomWords(random *rand.Rand) string {
	var parts []string
	for range 1 + random.IntN(4) {
		parts = append(parts, fragments[random.IntN(len(fragments))])
	}
	return strings.Join(parts, " ")
}

// strictlyFits checks formats as well, which many validators do not.
func strictlyFits(t *testing.T, schema, words string, args json.RawMessage) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("mem:///s.json", doc); err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(args))
	if err != nil {
		t.Fatalf("the arguments %q are not JSON: %v", args, err)
	}
	if err := c.MustCompile("mem:///s.json").Validate(value); err != nil {
		t.Errorf("%q gives the arguments %s, which do not fit %s: %v", words, args, schema, err)
	}
	checkArgs(t, schema, args)
}

func TestAModelServesManySessionsAtOnce(t *testing.T) {
	m := offline.New(offline.Config{Now: wednesday})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				convo := desk()
				convo.AddUserMessage("three nights")
				if _, calls := ask(t, m, &llm.Request{Context: convo.Snapshot()}); len(calls) != 1 {
					t.Errorf("the calls are %v", calls)
				}
			}
		})
	}
	all.Wait()
}
