package expr

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
)

// textFunctions work on strings. Places and lengths count characters, not bytes.
func textFunctions() map[string]function {
	two := []Kind{KindString, KindString}
	return map[string]function{
		"lower": onText("The text in lower case.", strings.ToLower),
		"upper": onText("The text in upper case.", strings.ToUpper),
		"trim":  onText("The text without space at its ends.", strings.TrimSpace),
		"trimPrefix": {args: "text, prefix", does: "The text without the prefix.", takes: two, gives: String(),
			call: func(_ *frame, a []any) (any, error) { return strings.TrimPrefix(a[0].(string), a[1].(string)), nil }},
		"trimSuffix": {args: "text, suffix", does: "The text without the suffix.", takes: two, gives: String(),
			call: func(_ *frame, a []any) (any, error) { return strings.TrimSuffix(a[0].(string), a[1].(string)), nil }},
		"replace": {args: "text, old, new", does: "The text with every old replaced by new.", takes: []Kind{KindString, KindString, KindString}, gives: String(), call: replace},
		"split": {args: "text, separator", does: "The parts of the text between separators.", takes: two, gives: List(String()),
			call: func(f *frame, a []any) (any, error) {
				if err := f.spend(16 * (1 + strings.Count(a[0].(string), a[1].(string)))); err != nil {
					return nil, err
				}
				parts := strings.Split(a[0].(string), a[1].(string))
				list := make([]any, len(parts))
				for i, p := range parts {
					list[i] = p
				}
				return list, nil
			}},
		"indexOf": {args: "text, part", does: "The place of the part in the text, counted from 0; -1 when it is not there.", takes: two, gives: Int(),
			call: func(_ *frame, a []any) (any, error) {
				i := strings.Index(a[0].(string), a[1].(string))
				if i > 0 {
					i = utf8.RuneCountInString(a[0].(string)[:i])
				}
				return int64(i), nil
			}},
	}
}

// replace is the function replace; what it makes is paid for before it is made.
func replace(f *frame, a []any) (any, error) {
	text, old, with := a[0].(string), a[1].(string), a[2].(string)
	if err := f.spend(strings.Count(text, old) * len(with)); err != nil {
		return nil, err
	}
	return strings.ReplaceAll(text, old, with), nil
}

// listFunctions work on lists and objects.
func listFunctions() map[string]function {
	list := []Kind{KindList}
	elem := func(args []Type) Type {
		if args[0].Kinds() == KindList {
			return args[0].Elem()
		}
		return Any()
	}
	return map[string]function{
		"len": {args: "value", does: "How many characters a string, elements a list, or fields an object has.", takes: []Kind{KindString | KindList | KindObject}, gives: Int(), call: length},
		"first": {args: "list", does: "The first element; missing when the list is empty.", takes: list, typed: elem,
			call: func(_ *frame, a []any) (any, error) { return endOf(a[0].([]any), 0) }},
		"last": {args: "list", does: "The last element; missing when the list is empty.", takes: list, typed: elem,
			call: func(_ *frame, a []any) (any, error) { return endOf(a[0].([]any), -1) }},
		"sum":  {args: "list", does: "The sum of a list of numbers.", takes: list, gives: Number(), call: sum},
		"join": {args: "list, separator", does: "The elements as text, with the separator between them.", takes: []Kind{KindList, KindString}, optional: 1, gives: String(), call: join},
		"keys": {args: "object", does: "The names of the object's fields, sorted.", takes: []Kind{KindObject}, gives: List(String()),
			call: func(_ *frame, a []any) (any, error) {
				names := []any{}
				for _, name := range slices.Sorted(maps.Keys(a[0].(map[string]any))) {
					names = append(names, name)
				}
				return names, nil
			}},
		"values": {args: "object", does: "The values of the object's fields, in the order of their names.", takes: []Kind{KindObject}, gives: List(Any()),
			call: func(_ *frame, a []any) (any, error) {
				object, values := a[0].(map[string]any), []any{}
				for _, name := range slices.Sorted(maps.Keys(object)) {
					values = append(values, object[name])
				}
				return values, nil
			}},
	}
}

// length is the function len.
func length(_ *frame, a []any) (any, error) {
	switch v := a[0].(type) {
	case string:
		return int64(utf8.RuneCountInString(v)), nil
	case []any:
		return int64(len(v)), nil
	}
	return int64(len(a[0].(map[string]any))), nil
}

// endOf is the first element or, counted from the end, the last.
func endOf(list []any, i int64) (any, error) {
	e := place{}.error(CodeMissing, "the list is empty")
	e.Hint = missingHint
	return element(list, i, e, place{})
}

// sum is the function sum; integers stay integers.
func sum(_ *frame, a []any) (any, error) {
	var total any = int64(0)
	for _, v := range a[0].([]any) {
		v, err := single(v, place{})
		if err != nil {
			return nil, err
		}
		if kindOf(v)&KindNumber == 0 {
			return nil, flaw(CodeType, "sum takes a list of numbers, one is %s", kindName(v))
		}
		if total, err = arithmetic("+", total, v, place{}); err != nil {
			return nil, err
		}
	}
	return total, nil
}

// join is the function join.
func join(f *frame, a []any) (any, error) {
	list, separator := a[0].([]any), ""
	if len(a) > 1 {
		separator = a[1].(string)
	}
	var b strings.Builder
	for i, v := range list {
		if i > 0 {
			b.WriteString(separator)
		}
		v, err := whollyPlain(f, v)
		if err != nil {
			return nil, err
		}
		text := Render(v)
		if err := f.spend(len(text) + len(separator)); err != nil {
			return nil, err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// slice compiles a[from:to] of a list or a string; what lies outside is left out.
func (c *compiler) slice(n *ast.SliceNode) (eval, Type) {
	base, t := c.operand(n.Node, KindList|KindString, "a slice")
	at := c.at(n)
	bound := func(n ast.Node) eval {
		if n == nil {
			return nil
		}
		run, _ := c.operand(n, KindInt, "a slice")
		return run
	}
	from, to := bound(n.From), bound(n.To)
	return func(f *frame) (any, error) {
		v, err := base(f)
		if err != nil {
			return nil, err
		}
		if err := f.spend(size(v)); err != nil {
			return nil, at.of(err)
		}
		text, isText := v.(string)
		list, _ := v.([]any)
		runes := []rune(text)
		whole := max(len(runes), len(list))
		i, j, err := bounds(f, from, to, whole)
		if err != nil {
			return nil, err
		}
		if isText {
			return string(runes[i:j]), nil
		}
		return list[i:j:j], nil
	}, partOf(t)
}

// partOf is the type of a part: a list of the same elements, or a string.
func partOf(t Type) Type {
	if t.Kinds() == KindList {
		return List(t.Elem())
	}
	return keep(t, KindList|KindString)
}

// bounds evaluates the ends of a slice and cuts them to what there is; negative ones
// count from the end.
func bounds(f *frame, from, to eval, whole int) (i, j int, err error) {
	at := func(run eval, otherwise int) (int, error) {
		if run == nil {
			return otherwise, nil
		}
		v, err := run(f)
		if err != nil {
			return 0, err
		}
		n := v.(int64)
		if n < 0 {
			n += int64(whole)
		}
		return int(min(max(n, 0), int64(whole))), nil
	}
	if i, err = at(from, 0); err != nil {
		return 0, 0, err
	}
	if j, err = at(to, whole); err != nil {
		return 0, 0, err
	}
	return min(i, j), j, nil
}
