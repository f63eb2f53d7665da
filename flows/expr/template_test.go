package expr_test

import (
	"reflect"
	"testing"

	"github.com/turnwise/turnwise/flows/expr"
)

func TestTemplates(t *testing.T) {
	for source, want := range map[string]any{
		`{{ state.age }}`:                    int64(36),
		`{{state.tags}}`:                     []any{"prod", "eu"},
		`n={{ state.age }}`:                  "n=36",
		`{{ state.age }} `:                   "36 ",
		`[{{ state.nick }}]`:                 "[]",
		`{{ state.nick }}`:                   nil,
		`{{ state.tags[0] }}!`:               "prod!",
		`{{ state.tags }} {{ state.ok }}`:    `["prod","eu"] true`,
		`{{ state.price }}/{{ 2.0 }}`:        "2.5/2",
		`{{ {"a": {"b": 1}} }}`:              map[string]any{"a": map[string]any{"b": int64(1)}},
		`{{ {"a": {"b": 1}}}}`:               map[string]any{"a": map[string]any{"b": int64(1)}},
		`{{ "}}" }}`:                         "}}",
		`a } b }} c`:                         "a } b }} c",
		``:                                   "",
		`{{ result.none ?? "<&>" }} {{ 1 }}`: "<&> 1",
	} {
		tpl, err := expr.ParseTemplate(source, scope(t))
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got, err := tpl.Eval(values()); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %#v, %v, want %#v", source, got, err, want)
		}
	}
}

func TestTemplateErrorsPointIntoTheText(t *testing.T) {
	for _, c := range []struct{ source, at string }{
		{`Grüße, {{ state.nam }}`, "nam"},
		{`{{ state.age }} and {{ stat }}`, "stat"},
		{`ä {{ state.age`, "{{"},
		{`x {{ }}`, "{{ }}"},
	} {
		_, err := expr.ParseTemplate(c.source, scope(t))
		found := expr.All(err)
		if len(found) != 1 || c.source[found[0].Offset:found[0].Offset+found[0].Length] != c.at {
			t.Errorf("%s: %+v, want one at %q", c.source, found, c.at)
		}
	}
	tpl, err := expr.ParseTemplate(`ä {{ 1 }} {{ result.gone }}`, scope(t))
	if err != nil {
		t.Fatal(err)
	}
	_, err = tpl.Eval(values())
	if e := expr.All(err); len(e) != 1 || tpl.Source()[e[0].Offset:] != "result.gone }}" {
		t.Errorf("%+v", e)
	}
}
