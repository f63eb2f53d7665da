package expr_test

import (
	"fmt"
	"testing"

	"github.com/turnwise/turnwise/flows/expr"
)

func BenchmarkCondition(b *testing.B) {
	p, err := expr.Compile(`state.age >= 18 and state.name startsWith "A"`, scope(b))
	if err != nil {
		b.Fatal(err)
	}
	var given expr.Values = values()
	b.ReportAllocs()
	for b.Loop() {
		if yes, err := p.Bool(given); err != nil || !yes {
			b.Fatal(err)
		}
	}
}

func BenchmarkTemplate(b *testing.B) {
	tpl, err := expr.ParseTemplate(`{{ state.name }} is {{ state.age }} and lives in {{ state.owner.home.city ?? "nowhere" }}.`, scope(b))
	if err != nil {
		b.Fatal(err)
	}
	var given expr.Values = values()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tpl.Eval(given); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	s := scope(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := expr.Compile(`state.age >= 18 and upper(state.name) startsWith "A"`, s); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleParseTemplate() {
	scope := expr.NewScope(map[string]expr.Type{
		"state": expr.Object(map[string]expr.Type{"party": expr.Int(), "name": expr.String()}),
	})
	values := expr.Map{"state": map[string]any{"party": 4}}
	for _, text := range []string{"{{ state.party }}", "A table for {{ state.party }}", `{{ state.name ?? "nobody" }}`, "{{ state.nmae }}"} {
		t, err := expr.ParseTemplate(text, scope)
		if err != nil {
			fmt.Println("error:", err)
			continue
		}
		v, err := t.Eval(values)
		fmt.Printf("%#v %v\n", v, err)
	}
	// Output:
	// 4 <nil>
	// "A table for 4" <nil>
	// "nobody" <nil>
	// error: state has no field "nmae" (did you mean "name"?)
}
