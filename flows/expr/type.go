package expr

import (
	"slices"
	"strconv"
	"strings"
)

// Kind is a set of the basic kinds a value may be of.
type Kind uint8

// The basic kinds. A value is of exactly one of them.
const (
	KindNull Kind = 1 << iota
	KindBool
	KindInt   // a number that is an integer
	KindFloat // a number that is a fraction
	KindString
	KindList
	KindObject

	KindNumber = KindInt | KindFloat
	kindAny    = KindNull | KindBool | KindNumber | KindString | KindList | KindObject
)

// Type is what is known of a value before there is one. The zero Type is [Any]: nothing
// is known. Types are values; none of their methods changes them.
type Type struct{ d *detail }

// detail is never changed after it was made.
type detail struct {
	kinds  Kind
	elem   Type            // of a list, and of an object whose fields are not named
	fields map[string]Type // of an object
	open   bool            // the object may have other fields, of type elem
	enum   []any           // the only values, plain; nil when there is no such list
}

// Any is the type of which nothing is known.
func Any() Type { return Type{} }

// Null is the type of nil alone.
func Null() Type { return of(KindNull) }

// Bool is true or false.
func Bool() Type { return of(KindBool) }

// Int is an integer.
func Int() Type { return of(KindInt) }

// Number is an integer or a fraction.
func Number() Type { return of(KindNumber) }

// String is text.
func String() Type { return of(KindString) }

// List is a list whose elements are of one type.
func List(elem Type) Type { return Type{&detail{kinds: KindList, elem: elem}} }

// Object has these fields and, when an expression is checked, no others. The map is
// kept; it must not be changed.
func Object(fields map[string]Type) Type {
	return Type{&detail{kinds: KindObject, fields: fields}}
}

// OpenObject has these fields and may have others, of type other.
func OpenObject(fields map[string]Type, other Type) Type {
	return Type{&detail{kinds: KindObject, fields: fields, open: true, elem: other}}
}

// Enum is one of the given values: nil, booleans, numbers or strings.
func Enum(values ...any) Type {
	d := &detail{enum: make([]any, 0, len(values))}
	for _, v := range values {
		p, err := Plain(v)
		if err != nil {
			return Any()
		}
		d.kinds |= kindOf(p)
		d.enum = append(d.enum, p)
	}
	if d.kinds&(KindList|KindObject) != 0 {
		return Any()
	}
	return Type{d}
}

// Union is a value of one type or the other.
func Union(a, b Type) Type {
	if a.d == nil || b.d == nil || a.d == b.d {
		return a.merged(b)
	}
	x, y := a.d, b.d
	u := &detail{kinds: x.kinds | y.kinds}
	if xe, ye := x.values(), y.values(); xe != nil && ye != nil {
		u.enum = slices.Concat(xe, ye)
	}
	switch xo, yo := x.kinds&KindObject != 0, y.kinds&KindObject != 0; {
	case xo && yo:
		u.fields, u.open = mergeFields(x.fields, y.fields), x.open || y.open
	case xo:
		u.fields, u.open = x.fields, x.open
	case yo:
		u.fields, u.open = y.fields, y.open
	}
	const holds = KindList | KindObject
	switch xh, yh := x.kinds&holds != 0, y.kinds&holds != 0; {
	case xh && yh:
		u.elem = Union(x.elem, y.elem)
	case xh:
		u.elem = x.elem
	case yh:
		u.elem = y.elem
	}
	return Type{u}
}

// merged is the union when one of the two is Any or both are the same.
func (t Type) merged(other Type) Type {
	if t.d == other.d {
		return t
	}
	return Any()
}

// mergeFields has the fields of both; what both have may be of either type.
func mergeFields(a, b map[string]Type) map[string]Type {
	all := make(map[string]Type, len(a)+len(b))
	for name, t := range a {
		all[name] = t
	}
	for name, t := range b {
		if has, both := all[name]; both {
			t = Union(has, t)
		}
		all[name] = t
	}
	return all
}

// values are the only values of the type, nil when there are others.
func (d *detail) values() []any {
	if d.enum == nil && d.kinds == KindNull {
		return []any{nil}
	}
	return d.enum
}

// of is the type of a basic kind.
func of(k Kind) Type {
	if k == kindAny {
		return Any()
	}
	return Type{&detail{kinds: k, open: true}}
}

// Kinds are the kinds a value of this type may be of.
func (t Type) Kinds() Kind {
	if t.d == nil {
		return kindAny
	}
	return t.d.kinds
}

// CanBe tells whether a value of this type may be of one of the kinds.
func (t Type) CanBe(k Kind) bool { return t.Kinds()&k != 0 }

// Values are the only values the type allows (JSON Schema: enum), nil when it does not
// list them. The slice must not be changed.
func (t Type) Values() []any {
	if t.d == nil {
		return nil
	}
	return t.d.enum
}

// Field is the type of an object's field. known is false when the type can have no such
// field; a type that may be an object of any shape has every field, of type Any.
func (t Type) Field(name string) (field Type, known bool) {
	switch {
	case t.d == nil:
		return Any(), true
	case t.d.kinds&KindObject == 0:
		return Any(), false
	}
	if f, has := t.d.fields[name]; has {
		return f, true
	}
	return t.d.elem, t.d.open
}

// Fields are the names of the fields that are known, sorted.
func (t Type) Fields() []string {
	if t.d == nil {
		return nil
	}
	names := make([]string, 0, len(t.d.fields))
	for name := range t.d.fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Elem is the type of a list's elements.
func (t Type) Elem() Type {
	if t.d == nil {
		return Any()
	}
	return t.d.elem
}

// Overlaps tells whether some value may be of both types. It looks at kinds and
// listed values, not into lists and objects. Integers and fractions overlap.
func (t Type) Overlaps(u Type) bool {
	a, b := t.Kinds(), u.Kinds()
	if a&KindNumber != 0 && b&KindNumber != 0 {
		a, b = a|KindNumber, b|KindNumber
	}
	if a&b == 0 {
		return false
	}
	x, y := t.Values(), u.Values()
	if x == nil || y == nil {
		return true
	}
	return slices.ContainsFunc(x, func(v any) bool {
		return slices.ContainsFunc(y, func(w any) bool { return scalarEqual(v, w) })
	})
}

// String names the type for people: "integer", "string or null", "list of string",
// "one of "glass", "screen"".
func (t Type) String() string {
	if t.d == nil {
		return "anything"
	}
	if t.d.enum != nil {
		return t.d.enumString()
	}
	var names []string
	add := func(k Kind, name string) {
		if t.d.kinds&k == k {
			names = append(names, name)
		}
	}
	add(KindBool, "boolean")
	switch t.d.kinds & KindNumber {
	case KindNumber:
		names = append(names, "number")
	case KindInt:
		names = append(names, "integer")
	case KindFloat:
		names = append(names, "fraction")
	}
	add(KindString, "string")
	if list := "list"; t.d.elem.d != nil && t.d.kinds&KindList != 0 {
		add(KindList, list+" of "+t.d.elem.String())
	} else {
		add(KindList, list)
	}
	add(KindObject, "object")
	add(KindNull, "null")
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, " or ")
}

// enumString lists the first values.
func (d *detail) enumString() string {
	const shown = 6
	var b strings.Builder
	if len(d.enum) > 1 {
		b.WriteString("one of ")
	}
	for i, v := range d.enum {
		if i == shown {
			b.WriteString(", …")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		if s, is := v.(string); is {
			b.WriteString(strconv.Quote(s))
		} else {
			b.WriteString(Render(v))
		}
	}
	return b.String()
}
