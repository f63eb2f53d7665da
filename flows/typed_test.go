package flows_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/turnwise/turnwise/flows"
)

type order struct {
	People int               `json:"people" jsonschema:"how many people come" minimum:"1" maximum:"12"`
	Room   string            `json:"room,omitempty" enum:"inside, terrace" default:"inside"`
	Day    string            `json:"day" format:"date"`
	Wishes []string          `json:"wishes,omitempty" enum:"quiet,window" maxItems:"2"`
	Guests []guest           `json:"guests,omitempty" minItems:"0"`
	Level  *int              `json:"level,omitempty" enum:"1,2"`
	Notes  map[string][]byte `json:"notes,omitempty"`
	Card   string            `json:"card,omitempty" minLength:"2" maxLength:"4" pattern:"^[0-9]+$"`
	hidden int
}

type guest struct {
	Name string `json:"name" jsonschema:"as they say it"`
}

func TestTheSchemaOfATypedFunction(t *testing.T) {
	f := flows.Func("book", "books", func(context.Context, order, *flows.FlowManager) (string, *flows.NodeConfig, error) {
		return "", nil, nil
	})
	want := `{"type":"object","properties":{` +
		`"people":{"type":"integer","description":"how many people come","minimum":1,"maximum":12},` +
		`"room":{"type":"string","default":"inside","enum":["inside","terrace"]},` +
		`"day":{"type":"string","format":"date"},` +
		`"wishes":{"type":"array","maxItems":2,"items":{"type":"string","enum":["quiet","window"]}},` +
		`"guests":{"type":"array","minItems":0,"items":{"type":"object","properties":{"name":{"type":"string","description":"as they say it"}},"required":["name"],"additionalProperties":false}},` +
		`"level":{"type":"integer","enum":[1,2]},` +
		`"notes":{"type":"object","additionalProperties":{"type":"array","items":{"type":"integer","minimum":0,"maximum":255}}},` +
		`"card":{"type":"string","minLength":2,"maxLength":4,"pattern":"^[0-9]+$"}},` +
		`"required":["people","day"],"additionalProperties":false}`
	if !sameJSON(t, string(f.Parameters), want) {
		t.Errorf("the schema is\n%s\nwant\n%s", f.Parameters, want)
	}
	if strings.Contains(string(f.Parameters), "null") {
		t.Errorf("something may be null: %s", f.Parameters)
	}
	if i, j := strings.Index(string(f.Parameters), "people"), strings.Index(string(f.Parameters), "card"); i > j {
		t.Errorf("the properties are not in the order of the fields: %s", f.Parameters)
	}
	_ = order{}.hidden
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := errors.Join(json.Unmarshal([]byte(a), &x), json.Unmarshal([]byte(b), &y)); err != nil {
		t.Fatal(err)
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return string(p) == string(q)
}

func TestTagsThatMakeNoSenseAreReported(t *testing.T) {
	type badNumber struct {
		N int `json:"n" minimum:"few"`
	}
	type badCount struct {
		S string `json:"s" maxLength:"-1"`
	}
	type badEnum struct {
		N int `json:"n" enum:"1,two"`
	}
	for name, f := range map[string]flows.NodeFunction{
		"a limit in words":       typedNothing[badNumber](),
		"a negative length":      typedNothing[badCount](),
		"an enum of other type":  typedNothing[badEnum](),
		"arguments not a struct": typedNothing[int](),
	} {
		t.Run(name, func(t *testing.T) {
			s := newStub(t, nil)
			if err := s.fm.Initialize(t.Context(), node("n", f)); !errors.Is(err, flows.ErrInvalidNode) {
				t.Errorf("Initialize gave %v", err)
			}
		})
	}
}

func typedNothing[A any]() flows.NodeFunction {
	return flows.Func("f", "", func(context.Context, A, *flows.FlowManager) (string, *flows.NodeConfig, error) { return "", nil, nil })
}

func TestATypedFunctionGetsItsArguments(t *testing.T) {
	virtual(t, "when they fit its schema, and else the model is told", func(t *testing.T) {
		var got []order
		book := flows.Func("book", "books", func(_ context.Context, o order, _ *flows.FlowManager) (string, *flows.NodeConfig, error) {
			got = append(got, o)
			return "booked", nil, nil
		})
		s := start(t, nil, step{call("book", `{"people":13,"day":"2026-02-03"}`)}, step{call("book", `{"people":4,"day":"2026-02-03"}`)})
		s.initialize(node("a", book))
		s.wantAsked(3)
		if len(got) != 1 || got[0].People != 4 || got[0].Day != "2026-02-03" {
			t.Errorf("the function got %+v", got)
		}
		if r := s.request(1); !strings.Contains(r, "error") {
			t.Errorf("request 1:\n%s", r)
		}
	})
}

func TestDataResultsAreToldFaithfully(t *testing.T) {
	type nothing struct{}
	tell := func(result any) flows.NodeFunction {
		return flows.Data("look", "looks", func(context.Context, nothing, *flows.FlowManager) (any, error) { return result, nil })
	}
	for name, c := range map[string]struct {
		result any
		want   string
	}{
		"a string":        {"as it stands", "as it stands"},
		"an empty string": {"", ""},
		"zero":            {0, "0"},
		"false":           {false, "false"},
		"an empty list":   {[]int{}, "[]"},
		"an empty object": {nothing{}, "{}"},
		"nothing":         {nil, "null"},
		"raw JSON":        {json.RawMessage(`{"a": 1}`), `{"a": 1}`},
		"a struct":        {guest{"Ann"}, `{"name":"Ann"}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStub(t, nil)
			if err := s.fm.Initialize(t.Context(), node("n", tell(c.result))); err != nil {
				t.Fatal(err)
			}
			if got, err := s.call("look", "{}"); got != c.want || err != nil {
				t.Errorf("told %q, %v; want %q", got, err, c.want)
			}
		})
	}
	t.Run("one that is no JSON is an error", func(t *testing.T) {
		s := newStub(t, nil)
		if err := s.fm.Initialize(t.Context(), node("n", tell(make(chan int)))); err != nil {
			t.Fatal(err)
		}
		if got, err := s.call("look", "{}"); err == nil {
			t.Errorf("told %q", got)
		}
	})
}

func TestEdges(t *testing.T) {
	b := node("b")
	stays := flows.EdgeTo("stay", "", func(context.Context, *flows.FlowManager) (*flows.NodeConfig, error) { return nil, nil })
	chosen := flows.EdgeTo("choose", "", func(_ context.Context, fm *flows.FlowManager) (*flows.NodeConfig, error) {
		return node(fm.CurrentNode() + "-next"), nil
	}, flows.WithTargets("a-next"))
	s := newStub(t, nil)
	if err := s.fm.Initialize(t.Context(), node("a", flows.Edge("go", "leads on", b), stays, chosen)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.call("stay", "{}"); err != nil || s.fm.CurrentNode() != "a" {
		t.Errorf("stay: %v, at %s", err, s.fm.CurrentNode())
	}
	if _, err := s.call("choose", "{}"); err != nil || s.fm.CurrentNode() != "a-next" {
		t.Errorf("choose: %v, at %s", err, s.fm.CurrentNode())
	}
}

func TestOptions(t *testing.T) {
	f := flows.Edge("go", "leads on", node("b"), flows.WithTargets("b", "c"), flows.WithExamples("next please"), flows.WithTimeout(1),
		flows.WithFiller("one moment", 2), flows.WithCancelOnInterruption(), flows.WithAsync(), flows.WithDuplicates(1), flows.WithRespond(flows.RespondNever))
	if len(f.To) != 2 || f.Examples[0] != "next please" || f.Timeout != 1 || f.Filler != "one moment" || f.FillerAfter != 2 ||
		!f.CancelOnInterruption || !f.Async || f.Duplicates != 1 || f.Respond != flows.RespondNever {
		t.Errorf("the function is %+v", f)
	}
	if f := flows.Edge("go", "", node("b")); len(f.To) != 1 || f.To[0] != "b" {
		t.Errorf("an edge leads to %v", f.To)
	}
}
