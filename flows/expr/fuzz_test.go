package expr_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	upstream "github.com/expr-lang/expr"

	"github.com/turnwise/turnwise/flows/expr"
)

// open is a scope of which no types are known, so that everything is decided by values.
func open() expr.Scope {
	return expr.NewScope(map[string]expr.Type{"state": expr.Any(), "result": expr.Any()})
}

// seeds are expressions of every form.
var seeds = []string{
	`state.age >= 18 and state.name startsWith "A"`, `result.code in ["open", "held"]`, `not (state.no startsWith '9')`,
	`state.a.b[0]["c"] ?? 1`, `default(state.x, {a: [1, 2.5, nil]})`, `a?.b?.c`, `if true {1} else {2}`, `1 < 2 < 3`,
	`-9223372036854775808 - 1`, `state.tags | join(", ") | upper()`, `state.tags[1:-1]`, `"ä" matches "[a-ü]"`, `2 ** 63`,
	`filter(state.tags, # == 1)`, `let x = 1; x`, `((((((1))))))`, `"\u00e4\n"`, `0x1F + 1_000`, `{(1): 2}`, `$env`, `1 ? 2 : 3`,
	`toJSON(state) == "x" ? state : result`, `replace("aa", "", "b")`, `b"bytes"`, "`raw`", `..`, `#`, `::len("x")`, `1 /* c */ + 2`,
}

// FuzzExpression: compiling and evaluating anything ends without a panic, errors point
// into the source, and values are plain.
func FuzzExpression(f *testing.F) {
	f.Add(strings.Repeat("1 in [", 1000)+"1"+strings.Repeat("]", 1000), "1")
	f.Add(strings.Repeat("-", 8000)+"1", "1")
	f.Add(strings.Repeat("1+", 4000)+"1", "1")
	f.Add(strings.Repeat("true?{a:1}:", 700)+"1", "1")
	f.Add("state"+strings.Repeat("?.a", 2000), "1")
	for _, s := range seeds {
		f.Add(s, `{"age": 36, "name": "Ada", "tags": ["a", 1, null], "a": {"b": [{"c": 1}]}}`)
	}
	f.Fuzz(func(t *testing.T, source, state string) {
		v, err := expr.Decode([]byte(state))
		if err != nil {
			v = nil
		}
		p, err := expr.Compile(source, open())
		if err != nil {
			checkPlaces(t, source, err)
			return
		}
		got, err := p.Eval(expr.Map{"state": v, "result": map[string]int{"code": 1}})
		if err != nil {
			checkPlaces(t, source, err)
			return
		}
		if again, err := expr.Plain(got); err != nil || !reflect.DeepEqual(got, again) {
			t.Errorf("%q gave %#v, which is not plain: %v", source, got, err)
		}
		if k := p.Type().Kinds(); !within(got, k) {
			t.Errorf("%q gave %#v, but its type is %s", source, got, p.Type())
		}
		for _, r := range p.Reads() {
			if r.Offset < 0 || r.Offset+r.Length > len(source) {
				t.Errorf("%q: read %v outside", source, r)
			}
		}
	})
}

// within tells whether a value is of one of the kinds.
func within(v any, k expr.Kind) bool {
	switch v.(type) {
	case nil:
		return k&expr.KindNull != 0
	case bool:
		return k&expr.KindBool != 0
	case int64:
		return k&expr.KindInt != 0
	case float64:
		return k&expr.KindFloat != 0
	case string:
		return k&expr.KindString != 0
	case []any:
		return k&expr.KindList != 0
	}
	return k&expr.KindObject != 0
}

// checkPlaces: every error points at whole characters of the source.
func checkPlaces(t *testing.T, source string, err error) {
	t.Helper()
	found := expr.All(err)
	if len(found) == 0 {
		t.Fatalf("%q: an error of another type: %v", source, err)
	}
	for _, e := range found {
		end := e.Offset + e.Length
		if e.Offset < 0 || end > len(source) || source != "" && e.Length < 1 {
			t.Fatalf("%q: %+v points outside", source, *e)
		}
		if utf8.ValidString(source) && !utf8.ValidString(source[e.Offset:end]) {
			t.Fatalf("%q: %+v cuts a character", source, *e)
		}
		if e.Message == "" || e.Code == "" {
			t.Fatalf("%q: an error that says nothing", source)
		}
	}
}

// FuzzTemplate: text without {{ is itself; errors point into the source.
func FuzzTemplate(f *testing.F) {
	for _, s := range seeds {
		f.Add("{{ " + s + " }}")
		f.Add("a {{" + s + "}} b {{ " + s)
	}
	f.Add(`{{ "}}" }} {{ {a: {b: 1}}}}`)
	f.Add("ä }} {{ '")
	f.Fuzz(func(t *testing.T, source string) {
		tpl, err := expr.ParseTemplate(source, open())
		if err != nil {
			checkPlaces(t, source, err)
			return
		}
		got, err := tpl.Eval(expr.Map{"state": map[string]any{"age": 36}})
		if err != nil {
			checkPlaces(t, source, err)
			return
		}
		if !strings.Contains(source, "{{") && got != source {
			t.Errorf("%q became %q", source, got)
		}
	})
}

// FuzzSchema: any document gives a type or an error.
func FuzzSchema(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#"}}}`)
	f.Add(`{"properties":{"a":{"$ref":"#"},"b":{"$ref":"#"},"c":{"$ref":"#"}}}`)
	f.Add(`{"anyOf":[{"type":["string","null"]},{"enum":[1,"x",null]}],"nullable":true}`)
	f.Fuzz(func(_ *testing.T, raw string) {
		typ, err := expr.FromSchema(json.RawMessage(raw))
		if err == nil {
			_ = typ.String()
			_, _ = typ.Field("a")
		}
	})
}

// TestTheLanguageIsExprLang draws expressions and holds their values against those of the
// library's own machine wherever both give one: precedence and operators are the same.
func TestTheLanguageIsExprLang(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	state := map[string]any{"a": int64(7), "b": int64(-2), "x": 2.5, "s": "hello", "w": "world", "t": true, "f": false,
		"l": []any{int64(1), int64(7), "hello"}, "o": map[string]any{"k": int64(3)}}
	env := map[string]any{"state": state, "result": nil}
	same := 0
	for range 20000 {
		source := draw(random, 1+random.IntN(3))
		p, err := expr.Compile(source, open())
		if err != nil {
			continue
		}
		got, err := p.Eval(expr.Map(env))
		if err != nil {
			continue
		}
		machine, err := upstream.Compile(source, upstream.Env(env))
		if err != nil {
			continue
		}
		want, err := upstream.Run(machine, env)
		if err != nil {
			continue
		}
		plain, err := expr.Plain(want)
		if err != nil {
			continue // the library divides by zero
		}
		if !reflect.DeepEqual(got, plain) {
			t.Fatalf("%s: %#v, expr-lang says %#v", source, got, plain)
		}
		same++
	}
	if same < 2000 {
		t.Errorf("only %d expressions gave values on both sides", same)
	}
}

// draw writes a random expression whose operands mostly fit.
func draw(r *rand.Rand, depth int) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	if depth == 0 {
		return pick("state.a", "state.b", "state.x", "state.s", "state.w", "state.t", "state.f", "state.l", "state.o.k", "1", "2.5", `"hello"`, "true", "nil", "[1, 7]", "state.l[1]")
	}
	a, b := draw(r, depth-1-r.IntN(depth)), draw(r, depth-1-r.IntN(depth))
	if r.IntN(4) == 0 {
		a = "(" + a + ")"
	}
	switch r.IntN(5) {
	case 0:
		return a + pick(" + ", " - ", " * ", " % ", " / ") + b
	case 1:
		return a + pick(" == ", " != ", " < ", " <= ", " > ", " >= ") + b
	case 2:
		return a + pick(" and ", " or ", " && ", " || ") + b
	case 3:
		return pick("not ", "-", "") + a + pick(" in ", " not in ", " contains ", " startsWith ", " endsWith ") + b
	}
	return pick(a+" ? "+b+" : 1", "("+a+") ?? ("+b+")", "len("+a+")", "max("+a+", "+b+")", "upper("+a+")", "{k: "+a+"}.k")
}

// TestTemplatesKeepTypes: one expression alone gives back any value as it is.
func TestTemplatesKeepTypes(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	tpl, err := expr.ParseTemplate("{{ state.v }}", open())
	if err != nil {
		t.Fatal(err)
	}
	for range 2000 {
		v := drawValue(random, 4)
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		read, err := expr.Decode(raw)
		if err != nil {
			t.Fatal(err)
		}
		for _, given := range []any{v, read} {
			got, err := tpl.Eval(expr.Map{"state": map[string]any{"v": given}})
			if err != nil || !reflect.DeepEqual(got, given) {
				t.Fatalf("%#v became %#v, %v", given, got, err)
			}
		}
	}
}

// drawValue makes a random plain value.
func drawValue(r *rand.Rand, depth int) any {
	n := 5
	if depth > 0 {
		n = 7
	}
	switch r.IntN(n) {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2:
		return int64(r.Uint64())
	case 3:
		return r.NormFloat64() + 0.5
	case 4:
		return strings.Repeat("é<", r.IntN(4))
	case 5:
		list := make([]any, r.IntN(4))
		for i := range list {
			list[i] = drawValue(r, depth-1)
		}
		return list
	}
	object := map[string]any{}
	for range r.IntN(4) {
		object[string(rune('a'+r.IntN(26)))] = drawValue(r, depth-1)
	}
	return object
}
