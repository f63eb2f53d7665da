package graph

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"
)

// Document is the flow as JSON with the keys of flow files, and with it the flows it uses,
// under "flows". Keys are sorted, what is not set is left out, and a text or a node stands
// alone where a list of one would say the same, so equal flows give equal bytes.
//
// others are the flows that may be used, by name; a flow that is used and not among them
// is left out. It fails when a value in the flow is not JSON.
func (f *Flow) Document(others map[string]*Flow) ([]byte, error) {
	doc, err := encodeFlow(f)
	if err != nil {
		return nil, err
	}
	doc["turnwise"] = Version
	used := map[string]any{}
	if err := addUsed(f, f, others, used); err != nil {
		return nil, err
	}
	if len(used) > 0 {
		doc["flows"] = used
	}
	raw, err := marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("graph: flow %s: %w", f.Name, err)
	}
	return raw, nil
}

// Hash is the SHA-256 of the document, in hexadecimal: what a run is pinned to.
func (f *Flow) Hash(others map[string]*Flow) (string, error) {
	doc, err := f.Document(others)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(doc)
	return hex.EncodeToString(sum[:]), nil
}

// addUsed adds the flows that f uses, directly and through others, but main.
func addUsed(main, f *Flow, others map[string]*Flow, used map[string]any) error {
	for _, n := range f.AllNodes() {
		other := others[n.Node.Use]
		if n.Node.Use == "" || n.Node.Use == main.Name || other == nil || used[n.Node.Use] != nil {
			continue
		}
		doc, err := encodeFlow(other)
		if err != nil {
			return err
		}
		used[n.Node.Use] = doc
		if err := addUsed(main, other, others, used); err != nil {
			return err
		}
	}
	return nil
}

func encodeFlow(f *Flow) (map[string]any, error) {
	doc, is := encode(reflect.ValueOf(f)).(map[string]any)
	if !is {
		return nil, fmt.Errorf("graph: there is no flow")
	}
	return doc, nil
}

// marshal writes plain values as JSON with sorted keys.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// encode turns a value of this package into plain values, leaving out what is not set.
func encode(v reflect.Value) any {
	switch x := v.Interface().(type) {
	case Duration:
		return x.String()
	case Next:
		if len(x) == 1 && x[0].When == "" && x[0].Clear == nil {
			return x[0].To
		}
	case Task:
		if len(x) == 1 && x[0].Role == "" {
			return string(x[0].Content)
		}
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return encode(v.Elem())
	case reflect.Struct:
		return encodeStruct(v)
	case reflect.Map:
		out := make(map[string]any, v.Len())
		for it := v.MapRange(); it.Next(); {
			out[it.Key().String()] = encode(it.Value())
		}
		return out
	case reflect.Slice:
		out := make([]any, v.Len())
		for i := range out {
			out[i] = encode(v.Index(i))
		}
		return out
	case reflect.String:
		return v.String()
	}
	return v.Interface()
}

func encodeStruct(v reflect.Value) map[string]any {
	out := map[string]any{}
	for _, f := range fieldsOf(v.Type()) {
		field := v.Field(f.index)
		switch {
		case f.inline:
			if inner, is := encode(field).(map[string]any); is {
				maps.Copy(out, inner)
			}
		case f.optional && (field.IsZero() || field.Kind() != reflect.Pointer && field.Kind() != reflect.Interface && emptyList(field)):
		default:
			out[f.key] = encode(field)
		}
	}
	return out
}

func emptyList(v reflect.Value) bool {
	return (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0
}

// field is a field of a struct as files know it.
type field struct {
	key      string
	index    int
	optional bool
	inline   bool
	kind     reflect.Type
}

// fieldsOf reads the tags of a struct.
func fieldsOf(t reflect.Type) []field {
	all := make([]field, 0, t.NumField())
	for i := range t.NumField() {
		key, rest, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		all = append(all, field{key: key, index: i, optional: strings.Contains(rest, "omitempty"), inline: strings.Contains(rest, "inline"), kind: t.Field(i).Type})
	}
	return all
}
