package expr_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/turnwise/turnwise/flows/expr"
)

// scope is that of a flow with a few typed variables.
func scope(t testing.TB) expr.Scope {
	t.Helper()
	state, err := expr.FromSchema(json.RawMessage(`{"type":"object","properties":{
		"age":{"type":"integer"}, "price":{"type":"number"}, "name":{"type":"string"}, "ok":{"type":"boolean"},
		"damage":{"enum":["glass","screen","other"]}, "tags":{"type":"array","items":{"type":"string"}},
		"nick":{"type":["string","null"]}, "any":{}, "parcel":{"type":"object"},
		"owner":{"type":"object","properties":{"name":{"type":"string"},"home":{"$ref":"#/$defs/home"}}}},
		"$defs":{"home":{"type":"object","properties":{"city":{"type":"string"}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	return expr.NewScope(map[string]expr.Type{"state": state, "result": expr.Any(), "now": expr.NowType()}).
		Without("answer", "there is an answer behind a wait only")
}

// values fit the scope.
func values() expr.Map {
	return expr.Map{
		"state": map[string]any{"age": int64(36), "price": 2.5, "name": "Ada", "ok": true, "damage": "glass",
			"tags": []any{"prod", "eu"}, "nick": nil, "parcel": map[string]any{"code": "held", "n": json.Number("9007199254740993")},
			"owner": map[string]any{"home": map[string]any{"city": "Rome"}}},
		"result": map[string]any{"n": json.Number("90"), "s": "90", "list": []string{"a"}, "zero": 0, "empty": ""},
	}
}

func TestEval(t *testing.T) {
	for source, want := range map[string]any{
		`90 >= 90`:                             true,
		`result.n >= 90`:                       true,
		`"prod" in state.tags`:                 true,
		`"test" not in state.tags`:             true,
		`result.n == result.s`:                 false, // 90 is not "90"
		`result.n != result.s`:                 true,
		`1 == 1.0`:                             true,
		`true or false and false`:              true, // and binds tighter than or
		`state.age + 1`:                        int64(37),
		`state.age / 8`:                        4.5,
		`state.age % 5`:                        int64(1),
		`2 ** 10`:                              int64(1024),
		`-state.age`:                           int64(-36),
		`state.parcel.n`:                       int64(9007199254740993),
		`state.parcel.n == 9007199254740992.0`: false,
		`state.tags[0]`:                        "prod",
		`state.tags[-1]`:                       "eu",
		`state["tags"][0]`:                     "prod",
		`state.tags[5] ?? "none"`:              "none",
		`state.owner.home.city`:                "Rome",
		`state.owner.work.city ?? "nowhere"`:   "nowhere",
		`result.a.b.c.d ?? 1`:                  int64(1),
		`default(result.a.b, 2)`:               int64(2),
		`result.a.b | default(3)`:              int64(3),
		`(result.a + 1) ?? 4`:                  int64(4),
		`result.a?.b`:                          nil,
		`state.nick`:                           nil,
		`state.nick == nil`:                    true,
		`state.nick ?? "friend"`:               "friend",
		`result.zero ?? 5`:                     int64(0), // a value that is false or empty is a value
		`result.empty ?? "x"`:                  "",
		`state.name startsWith "A"`:            true,
		`not (state.name startsWith "9")`:      true,
		`state.name matches "^A.a$"`:           true,
		`state.ok ? "yes" : "no"`:              "yes",
		`if state.ok {1} else {2}`:             int64(1),
		`{a: [1, state.age]}`:                  map[string]any{"a": []any{int64(1), int64(36)}},
		`[1, {a: 2.0}] == [1.0, {a: 2}]`:       true,
		`state.name + "!"`:                     "Ada!",
		`state.name[1:]`:                       "da",
		`"äöü"[1:2]`:                           "ö",
		`len("äöü")`:                           int64(3),
		`state.tags + ["x"]`:                   []any{"prod", "eu", "x"},
		`state.tags[:1]`:                       []any{"prod"},
		`first(result.list)`:                   "a",
		`first([]) ?? "none"`:                  "none",
		`upper(trim("  hi "))`:                 "HI",
		`split("a,b", ",")`:                    []any{"a", "b"},
		`state.tags | join("+")`:               "prod+eu",
		`replace("aXa", "X", "-")`:             "a-a",
		`int("42") + 1`:                        int64(43),
		`round(2.5)`:                           int64(3),
		`max(1, 2.5, 2)`:                       2.5,
		`min(3, 2)`:                            int64(2),
		`abs(-3)`:                              int64(3),
		`sum([1, 2])`:                          int64(3),
		`keys({b: 1, a: 2})`:                   []any{"a", "b"},
		`string(state.tags)`:                   `["prod","eu"]`,
		`fromJSON('{"n": 1}').n`:               int64(1),
		`type(state.age)`:                      "integer",
		`"code" in state.parcel`:               true,
		`1 < 2 < 3`:                            true,
		`null == nil`:                          true,
		`indexOf("häb", "b")`:                  int64(2),
	} {
		p, err := expr.Compile(source, scope(t))
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		got, err := p.Eval(values())
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %#v, %v, want %#v", source, got, err, want)
		}
	}
}

// TestCompileErrors: each mistake is found without a value, at its place.
func TestCompileErrors(t *testing.T) {
	for _, c := range []struct {
		source string
		code   expr.Code
		at     string // the part of the source the error points at
		says   string
	}{
		{`"vip" > 3`, expr.CodeType, `"vip" > 3`, "orders two numbers or two strings"},
		{`state.name > 3`, expr.CodeType, `state.name > 3`, "not string and 3"},
		{`90 == "90"`, expr.CodeType, `90 == "90"`, "never equal"},
		{`state.age == "36"`, expr.CodeType, `state.age == "36"`, "never equal"},
		{`state.damage == "glas"`, expr.CodeType, `state.damage == "glas"`, `did you mean "glass"?`},
		{`state.damage in ["glass", "scren"]`, expr.CodeType, `"scren"`, `did you mean "screen"?`},
		{`state.age in state.tags`, expr.CodeType, `state.age in state.tags`, "never in"},
		{`stat.age`, expr.CodeName, `stat`, "did you mean state?"},
		{`age > 3`, expr.CodeName, `age`, "did you mean state.age?"},
		{`answer.x`, expr.CodeName, `answer`, "behind a wait only"},
		{`state.ag > 3`, expr.CodeField, `ag`, `did you mean "age"?`},
		{`"ä" + state.nam`, expr.CodeField, `nam`, `did you mean "name"?`},
		{`state.age.x`, expr.CodeType, `x`, `has no field "x"`},
		{`state.owner.home.town`, expr.CodeField, `town`, `it has city`},
		{`state.age[0]`, expr.CodeType, `0`, "no elements"},
		{`state.age and true`, expr.CodeType, `state.age`, "must be true or false"},
		{`not state.name`, expr.CodeType, `state.name`, "must be true or false"},
		{`state.name + 1`, expr.CodeType, `state.name + 1`, "string(…)"},
		{`state.name * 2`, expr.CodeType, `state.name`, "* takes number"},
		{`state.name matches "("`, expr.CodeValue, `"("`, "pattern is broken"},
		{`state.name matches state.name`, expr.CodeUnsupported, `state.name`, "written out"},
		{`filter(state.tags, # == "a")`, expr.CodeUnsupported, "", "loop"},
		{`any(state.tags, {# == "a"})`, expr.CodeUnsupported, "", "loop"},
		{`let x = 1; x`, expr.CodeUnsupported, "", "no variables"},
		{`1; 2`, expr.CodeUnsupported, "", "no ;"},
		{`state.name.upper()`, expr.CodeUnsupported, "", "no methods"},
		{`now()`, expr.CodeFunction, "", "no function now"},
		{`uper("a")`, expr.CodeFunction, "", "did you mean upper(text)?"},
		{`trim()`, expr.CodeArguments, "", "trim(text)"},
		{`trim(1)`, expr.CodeType, "1", "trim takes string"},
		{`1..3`, expr.CodeUnsupported, "1..3", "no operator"},
		{`state.age = 3`, expr.CodeSyntax, "=", "compare with =="},
		{`{{ state.age }} > 3`, expr.CodeSyntax, "", "without {{ }}"},
		{`state.age >`, expr.CodeSyntax, "", "unexpected"},
		{``, expr.CodeSyntax, "", "no expression"},
		{`"a`, expr.CodeSyntax, "", ""},
		{strings.Repeat("1+", 5000) + "1", expr.CodeLimit, "", "bytes long"},
	} {
		_, err := expr.Compile(c.source, scope(t))
		found := expr.All(err)
		if len(found) == 0 {
			t.Errorf("%s: no error", c.source)
			continue
		}
		e := found[0]
		if e.Code != c.code || !strings.Contains(e.Error(), c.says) {
			t.Errorf("%s: %s %q, want %s %q", c.source, e.Code, e.Error(), c.code, c.says)
		}
		if at := c.source[e.Offset : e.Offset+e.Length]; c.at != "" && at != c.at {
			t.Errorf("%s: points at %q, want %q", c.source, at, c.at)
		}
	}
}

func TestAllMistakesAtOnce(t *testing.T) {
	_, err := expr.Compile(`state.ag > 3 and stat.name == 4 or state.tags < 2`, scope(t))
	found := expr.All(err)
	if len(found) != 3 {
		t.Fatalf("%d mistakes, want 3: %v", len(found), err)
	}
	var one *expr.Error
	if !errors.As(err, &one) || one.Code != expr.CodeField {
		t.Errorf("the first is %v", one)
	}
}

// TestEvalErrors: what cannot be known before is an error of the evaluation, at its place.
func TestEvalErrors(t *testing.T) {
	for _, c := range []struct {
		source string
		code   expr.Code
		at     string
	}{
		{`result.s > 3`, expr.CodeType, `result.s > 3`},
		{`result.nothing`, expr.CodeMissing, `result.nothing`},
		{`1 + result.nothing.deeper`, expr.CodeMissing, `result.nothing`},
		{`state.tags[7]`, expr.CodeMissing, `state.tags[7`},
		{`result.zero.x`, expr.CodeType, `result.zero.x`},
		{`result.s and true`, expr.CodeType, `result.s`},
		{`1 / (state.age - 36)`, expr.CodeValue, ``},
		{`state.age % 0`, expr.CodeValue, ``},
		{`9223372036854775807 + state.age`, expr.CodeValue, ``},
		{`4611686018427387904 * 2`, expr.CodeValue, ``},
		{`int("x")`, expr.CodeValue, ``},
		{`int(2.5)`, expr.CodeValue, ``},
		{`state.nick + "x"`, expr.CodeType, `state.nick`},
		{`first([])`, expr.CodeMissing, ``},
	} {
		p, err := expr.Compile(c.source, scope(t))
		if err == nil {
			_, err = p.Eval(values())
		}
		found := expr.All(err)
		if len(found) == 0 || found[0].Code != c.code {
			t.Errorf("%s: %v, want %s", c.source, err, c.code)
			continue
		}
		if at := c.source[found[0].Offset : found[0].Offset+found[0].Length]; c.at != "" && at != c.at {
			t.Errorf("%s: points at %q, want %q", c.source, at, c.at)
		}
	}
}

func TestCostIsBounded(t *testing.T) {
	source := `"0123456789abcdef"`
	for range 30 {
		source = `replace(` + source + `, "0", "00000000000000000000000000000000")`
	}
	p, err := expr.Compile(source, scope(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = p.Eval(values()); len(expr.All(err)) == 0 || expr.All(err)[0].Code != expr.CodeLimit {
		t.Errorf("%v, want the limit", err)
	}
	loop := map[string]any{}
	loop["self"] = loop
	p, err = expr.Compile(`result == state`, expr.NewScope(map[string]expr.Type{"result": expr.Any(), "state": expr.Any()}))
	if err != nil {
		t.Fatal(err)
	}
	other := map[string]any{}
	other["self"] = other
	if _, err := p.Eval(expr.Map{"result": loop, "state": other}); err == nil {
		t.Error("values that hold themselves were compared")
	}
}

// TestTemplates is W5.
func TestReads(t *testing.T) {
	tpl, err := expr.ParseTemplate(`{{ state.owner.home.city }}: {{ result.a[0].b ?? state.tags[state.age] | default(1) }}`, scope(t))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range tpl.Reads() {
		line := strings.Join(r.Path, ".")
		if r.Guarded {
			line += "?"
		}
		got = append(got, line+" "+tpl.Source()[r.Offset:r.Offset+r.Length])
	}
	want := []string{"state.owner.home.city state.owner.home.city", "result.a.0.b? result.a[0].b", "state.tags? state.tags", "state.age? state.age"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("reads %q, want %q", got, want)
	}
}

func TestTypes(t *testing.T) {
	for source, want := range map[string]string{
		`state.age + 1`:               "integer",
		`state.age / 2`:               "number",
		`state.nick ?? "x"`:           "string",
		`state.nick`:                  "string or null",
		`state.tags[0]`:               "string",
		`state.damage`:                `one of "glass", "screen", "other"`,
		`state.ok ? 1 : "x"`:          `one of 1, "x"`,
		`state.any`:                   "anything",
		`[state.age]`:                 "list of integer",
		`{a: 1}`:                      "object",
		`state.age > 1 or state.ok`:   "boolean",
		`now.weekday == "sunday"`:     "boolean",
		`state.owner.none ?? nil`:     "anything",
		`result.x.y`:                  "anything",
		`"x" + state.name`:            "string",
		`default(state.nick, "none")`: "string",
	} {
		p, err := expr.Compile(source, scope(t))
		if err != nil {
			t.Errorf("%s: %v", source, err)
		} else if got := p.Type().String(); got != want {
			t.Errorf("%s: %s, want %s", source, got, want)
		}
	}
}

func TestConditionMustBeBoolean(t *testing.T) {
	if _, err := expr.CompileCondition(`state.age`, scope(t)); err == nil {
		t.Error("a number passed as a condition")
	}
	p, err := expr.CompileCondition(`result.s`, scope(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Bool(values()); err == nil {
		t.Error("a string passed as a condition")
	}
}

func TestPlain(t *testing.T) {
	type word string
	in := map[string]any{"a": 1, "b": []any{json.Number("2"), float32(0.5)}, "c": map[string]int{"x": 3}, "d": word("w"), "e": uint64(math.MaxUint64)}
	got, err := expr.Plain(in)
	want := map[string]any{"a": int64(1), "b": []any{int64(2), 0.5}, "c": map[string]any{"x": int64(3)}, "d": "w", "e": float64(math.MaxUint64)}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%#v, %v", got, err)
	}
	if _, is := in["a"].(int); !is {
		t.Error("the value given was changed")
	}
	for _, bad := range []any{struct{}{}, math.NaN(), func() {}, make(chan int), map[int]string{}, json.Number("x"), &in} {
		if v, err := expr.Plain([]any{bad}); err == nil {
			t.Errorf("%T became %v", bad, v)
		}
	}
}

func TestProgramsAreSafeForConcurrentUse(t *testing.T) {
	tpl, err := expr.ParseTemplate(`{{ state.name }} {{ result.gone }}`, scope(t))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				if _, err := tpl.Eval(values()); len(expr.All(err)) != 1 {
					t.Error("no error for a missing value")
				}
			}
		})
	}
	all.Wait()
}
