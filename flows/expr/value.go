package expr

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
)

// maxDepth bounds how deep values are followed, so that a value that holds itself ends.
const maxDepth = 500

// Values gives the values of names while an expression is evaluated. It is asked once
// for each use of a name, so a value can be made when it is needed.
type Values interface {
	// Value is the value of a name, and whether there is one. Besides the plain values
	// (see Plain) it may be anything Plain understands.
	Value(name string) (any, bool)
}

// Map are values by name.
type Map map[string]any

// Value is the value of a name.
func (m Map) Value(name string) (any, bool) {
	v, ok := m[name]
	return v, ok
}

// Plain makes a value plain, copying what is not: nil, bool, int64, float64, string,
// []any and map[string]any of plain values. It understands Go's numbers, json.Number,
// json.RawMessage, and slices and maps with string keys of such values. What is plain
// already is given back as it is.
func Plain(v any) (any, error) { return plain(v, 0) }

func plain(v any, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("expr: a value is nested deeper than %d", maxDepth)
	}
	switch v := v.(type) {
	case []any:
		return plainList(v, depth)
	case map[string]any:
		return plainObject(v, depth)
	}
	p, err := scalar(v)
	if err == nil || !errors.Is(err, errNotScalar) {
		return p, err
	}
	return reflected(v, depth)
}

// plainList copies a list from its first element on that is not plain.
func plainList(list []any, depth int) (any, error) {
	if list == nil {
		return nil, nil
	}
	var copied []any
	for i, v := range list {
		p, err := plain(v, depth+1)
		if err != nil {
			return nil, err
		}
		if copied == nil && !same(p, v) {
			copied = append(make([]any, 0, len(list)), list[:i]...)
		}
		if copied != nil {
			copied = append(copied, p)
		}
	}
	if copied != nil {
		return copied, nil
	}
	return list, nil
}

// plainObject copies an object when one of its fields is not plain.
func plainObject(object map[string]any, depth int) (any, error) {
	if object == nil {
		return nil, nil
	}
	var copied map[string]any
	for name, v := range object {
		p, err := plain(v, depth+1)
		if err != nil {
			return nil, err
		}
		if copied == nil && !same(p, v) {
			copied = make(map[string]any, len(object))
			for n, v := range object {
				copied[n] = v
			}
		}
		if copied != nil {
			copied[name] = p
		}
	}
	if copied != nil {
		return copied, nil
	}
	return object, nil
}

// same tells whether making v plain gave v itself. Only kinds and identity are
// compared, never contents.
func same(p, v any) bool {
	switch v := v.(type) {
	case nil, bool, int64, float64, string:
		return true
	case []any:
		q, is := p.([]any)
		return is && len(q) == len(v) && (len(v) == 0 || &q[0] == &v[0])
	case map[string]any:
		q, is := p.(map[string]any)
		return is && reflect.ValueOf(q).UnsafePointer() == reflect.ValueOf(v).UnsafePointer()
	}
	return false
}

// errNotScalar: the value is neither plain nor a single value that can be made plain.
var errNotScalar = errors.New("expr: not a single value")

// scalar makes a single value plain; lists and objects that are not nil pass as they are.
func scalar(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, string, int64:
		return v, nil
	case []any:
		if v == nil {
			return nil, nil
		}
		return v, nil
	case map[string]any:
		if v == nil {
			return nil, nil
		}
		return v, nil
	case float64:
		return fraction(v)
	case int:
		return int64(v), nil
	case json.Number:
		return number(string(v))
	}
	return nil, errNotScalar
}

// fraction refuses what JSON cannot say.
func fraction(f float64) (any, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("expr: %v is not a number JSON knows", f)
	}
	return f, nil
}

// number reads a number as JSON writes it: an integer when it is written as one and
// fits, else a fraction.
func number(text string) (any, error) {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return i, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("expr: %q is not a number", text)
	}
	return fraction(f)
}

// reflected makes values of other Go types plain.
func reflected(v any, depth int) (any, error) {
	if raw, is := v.(json.RawMessage); is {
		return Decode(raw)
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Bool:
		return r.Bool(), nil
	case reflect.String:
		return r.String(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return r.Int(), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if u := r.Uint(); u > math.MaxInt64 {
			return float64(u), nil
		}
		return int64(r.Uint()), nil
	case reflect.Float32, reflect.Float64:
		return fraction(r.Float())
	case reflect.Slice, reflect.Array:
		list := make([]any, r.Len())
		for i := range list {
			p, err := plain(r.Index(i).Interface(), depth+1)
			if err != nil {
				return nil, err
			}
			list[i] = p
		}
		return list, nil
	case reflect.Map:
		return reflectedMap(r, depth)
	}
	return nil, fmt.Errorf("expr: a value of Go type %T cannot be used; give what JSON could say", v)
}

// reflectedMap makes a map with string keys plain.
func reflectedMap(r reflect.Value, depth int) (any, error) {
	if r.Type().Key().Kind() != reflect.String {
		return nil, fmt.Errorf("expr: a value of Go type %s cannot be used: its keys are not strings", r.Type())
	}
	object := make(map[string]any, r.Len())
	for it := r.MapRange(); it.Next(); {
		p, err := plain(it.Value().Interface(), depth+1)
		if err != nil {
			return nil, err
		}
		object[it.Key().String()] = p
	}
	return object, nil
}

// Decode reads one JSON document as a plain value; integers stay integers.
func Decode(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("expr: not valid JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("expr: something follows the JSON document")
	}
	return Plain(v)
}

// kindOf is the kind of a plain value, 0 for any other.
func kindOf(v any) Kind {
	switch v.(type) {
	case nil:
		return KindNull
	case bool:
		return KindBool
	case int64:
		return KindInt
	case float64:
		return KindFloat
	case string:
		return KindString
	case []any:
		return KindList
	case map[string]any:
		return KindObject
	}
	return 0
}

// kindName is what people call the kind of a value.
func kindName(v any) string { return of(kindOf(v)).String() }

// Render writes a plain value as it stands inside text: strings as they are, null as
// nothing, numbers in decimal, everything else as JSON.
func Render(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return encode(v)
}

// encode writes a value as JSON, with <, > and & as they are.
func encode(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return ""
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
