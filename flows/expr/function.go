package expr

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// Function describes one function of the language, for documentation and editors.
type Function struct {
	Name string // as it is called
	Use  string // its arguments and what it gives: "trim(text)"
	Does string // one sentence
}

// Functions are all functions of the language, sorted by name.
func Functions() []Function {
	list := []Function{{"default", "default(value, other)", "The other value where the first is missing or null, like ??."}}
	for name, f := range functions() {
		list = append(list, Function{name, name + "(" + f.args + ")", f.does})
	}
	slices.SortFunc(list, func(a, b Function) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// function is one that takes values and gives one.
type function struct {
	args, does string
	takes      []Kind // of each argument
	optional   int    // how many of the last arguments may be left out
	many       bool   // the last may be repeated
	gives      Type
	typed      func(args []Type) Type // overrides gives
	call       func(f *frame, args []any) (any, error)
}

// flaw is an error of a function, without a place.
func flaw(code Code, format string, args ...any) error {
	return place{}.error(code, format, args...)
}

// names of the functions that loop, for a better answer than "there is no such function".
func loops(name string) bool {
	return slices.Contains([]string{"all", "none", "any", "one", "filter", "map", "count", "find", "findIndex",
		"findLast", "findLastIndex", "groupBy", "sortBy", "reduce"}, name)
}

// call compiles name(args).
func (c *compiler) call(n ast.Node, name string, args []ast.Node) (eval, Type) {
	if loops(name) {
		return c.unsupported(n, name+" is a loop, and expressions have none", "use a loop node, or a tool")
	}
	if name == "default" {
		if len(args) != 2 {
			return c.fail(c.at(n).error(CodeArguments, "default takes a value and another one for when it is missing"))
		}
		return c.coalesce(args[0], args[1])
	}
	all := functions()
	f, known := all[name]
	if !known {
		e := c.at(n).error(CodeFunction, "there is no function %s", name)
		names := make([]string, 0, len(all))
		for name := range all {
			names = append(names, name)
		}
		slices.Sort(names)
		if near := nearest(name, names); near != "" {
			e.Hint = fmt.Sprintf("did you mean %s(%s)?", near, all[near].args)
		}
		return c.fail(e)
	}
	if len(args) < len(f.takes)-f.optional || len(args) > len(f.takes) && !f.many {
		return c.fail(c.at(n).error(CodeArguments, "%s is called as %s(%s)", name, name, f.args))
	}
	return c.apply(n, name, f, args)
}

// apply compiles a call whose number of arguments is right.
func (c *compiler) apply(n ast.Node, name string, f function, args []ast.Node) (eval, Type) {
	runs, types := make([]eval, len(args)), make([]Type, len(args))
	for i, arg := range args {
		runs[i], types[i] = c.operand(arg, f.takes[min(i, len(f.takes)-1)], name)
	}
	at := c.at(n)
	t := f.gives
	if f.typed != nil {
		t = f.typed(types)
	}
	return func(fr *frame) (any, error) {
		var small [3]any
		values := small[:0]
		for _, run := range runs {
			v, err := run(fr)
			if err != nil {
				return nil, err
			}
			if err := fr.spend(1 + size(v)); err != nil {
				return nil, err
			}
			values = append(values, v)
		}
		v, err := f.call(fr, values)
		if err != nil {
			return nil, at.of(err)
		}
		return v, fr.spend(size(v))
	}, t
}

// size is what looking at all of a value's top costs.
func size(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	}
	return 1
}

// functions are all but default. It is a function so that nothing can change them.
func functions() map[string]function {
	all := map[string]function{}
	for _, group := range []map[string]function{textFunctions(), numberFunctions(), listFunctions(), conversions()} {
		for name, f := range group {
			all[name] = f
		}
	}
	return all
}

// onText is a function of one string.
func onText(does string, call func(string) string) function {
	return function{args: "text", does: does, takes: []Kind{KindString}, gives: String(),
		call: func(_ *frame, args []any) (any, error) { return call(args[0].(string)), nil }}
}

// numberFunctions compute.
func numberFunctions() map[string]function {
	round := func(does string, to func(float64) float64) function {
		return function{args: "number", does: does, takes: []Kind{KindNumber}, gives: Int(),
			call: func(_ *frame, args []any) (any, error) {
				f, is := args[0].(float64)
				if !is {
					return args[0], nil
				}
				return whole(to(f))
			}}
	}
	extreme := func(does string, sign int) function {
		return function{args: "number, …", does: does, takes: []Kind{KindNumber, KindNumber}, many: true, gives: Number(),
			typed: func(args []Type) Type {
				for _, t := range args {
					if t.Kinds()&KindNumber != KindInt {
						return Number()
					}
				}
				return Int()
			},
			call: func(_ *frame, args []any) (any, error) {
				best := args[0]
				for _, v := range args[1:] {
					if s, _ := compare(v, best); s == sign {
						best = v
					}
				}
				return best, nil
			}}
	}
	return map[string]function{
		"round": round("The nearest integer; a half goes away from zero.", math.Round),
		"floor": round("The greatest integer that is not greater.", math.Floor),
		"ceil":  round("The least integer that is not less.", math.Ceil),
		"min":   extreme("The least of the numbers.", -1),
		"max":   extreme("The greatest of the numbers.", 1),
		"abs": {args: "number", does: "The number without its sign.", takes: []Kind{KindNumber},
			typed: func(args []Type) Type { return keep(args[0], KindNumber) },
			call: func(_ *frame, args []any) (any, error) {
				if s, _ := compare(args[0], int64(0)); s < 0 {
					return arithmetic("-", int64(0), args[0], place{})
				}
				return args[0], nil
			}},
	}
}

// whole makes an integer of a number without a fraction.
func whole(f float64) (any, error) {
	if f >= 1<<63 || f < -1<<63 || math.IsNaN(f) {
		return nil, flaw(CodeValue, "%v does not fit into an integer of 64 bits", f)
	}
	return int64(f), nil
}

// conversions make values of one kind from values of another.
func conversions() map[string]function {
	const single = KindBool | KindNumber | KindString
	return map[string]function{
		"int": {args: "value", does: "The integer a string spells or a number without a fraction is.", takes: []Kind{KindNumber | KindString}, gives: Int(), call: toInt},
		"float": {args: "value", does: "The number a string spells, as a fraction.", takes: []Kind{KindNumber | KindString}, gives: Number(),
			call: func(_ *frame, args []any) (any, error) {
				s, is := args[0].(string)
				if !is {
					return toFloat(args[0]), nil
				}
				f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
				if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
					return nil, flaw(CodeValue, "%q is not a number", shortened(s))
				}
				return f, nil
			}},
		"string": {args: "value", does: "The value as it stands inside a template.", takes: []Kind{kindAny}, gives: String(),
			call: func(f *frame, args []any) (any, error) {
				v, err := whollyPlain(f, args[0])
				if err != nil {
					return nil, err
				}
				return Render(v), nil
			}},
		"bool": {args: "value", does: `The boolean that the string "true" or "false" spells.`, takes: []Kind{single}, gives: Bool(),
			call: func(_ *frame, args []any) (any, error) {
				switch args[0] {
				case true, "true":
					return true, nil
				case false, "false":
					return false, nil
				}
				return nil, flaw(CodeValue, "%s is neither true nor false", shortened(Render(args[0])))
			}},
		"type": {args: "value", does: `The kind of the value: "string", "integer", "fraction", "boolean", "list", "object" or "null".`, takes: []Kind{kindAny}, gives: String(),
			call: func(_ *frame, args []any) (any, error) { return kindName(args[0]), nil }},
		"toJSON": {args: "value", does: "The value as JSON.", takes: []Kind{kindAny}, gives: String(),
			call: func(f *frame, args []any) (any, error) {
				v, err := whollyPlain(f, args[0])
				if err != nil {
					return nil, err
				}
				return encode(v), nil
			}},
		"fromJSON": {args: "text", does: "The value that JSON text spells.", takes: []Kind{KindString}, gives: Any(),
			call: func(_ *frame, args []any) (any, error) {
				v, err := Decode([]byte(args[0].(string)))
				if err != nil {
					return nil, flaw(CodeValue, "the text is not JSON")
				}
				return v, nil
			}},
	}
}

// toInt is the function int.
func toInt(_ *frame, args []any) (any, error) {
	switch v := args[0].(type) {
	case float64:
		if v != math.Trunc(v) {
			return nil, flaw(CodeValue, "%v is not an integer; round, floor and ceil make one", v)
		}
		return whole(v)
	case string:
		i, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
		if err != nil {
			return nil, flaw(CodeValue, "%q is not an integer", shortened(v))
		}
		return i, nil
	}
	return args[0], nil
}

// whollyPlain makes a value plain and pays for all that is in it.
func whollyPlain(f *frame, v any) (any, error) {
	p, err := Plain(v)
	if err != nil {
		return nil, flaw(CodeValue, "%v", err)
	}
	return p, f.spend(weight(p))
}

// weight counts what is in a plain value.
func weight(v any) int {
	n := size(v)
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			n += weight(x)
		}
	case map[string]any:
		for name, x := range v {
			n += len(name) + weight(x)
		}
	}
	return n
}

// shortened is text for an error message.
func shortened(s string) string {
	const most = 40
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
