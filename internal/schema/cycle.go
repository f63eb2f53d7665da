package schema

import (
	"errors"
	"strconv"
	"strings"
)

// maxReferences bounds a schema's references: each may double the work of a check.
const maxReferences = 24

var (
	errReferences = errors.New("more than " + strconv.Itoa(maxReferences) + " references")
	errOutside    = errors.New("a reference must point into the schema itself, as in #/$defs/name")
	errDynamic    = errors.New("dynamic references are not supported")
	errCycle      = errors.New("a reference leads back to itself")
	errDepth      = errors.New("it is nested more than " + strconv.Itoa(maxDepth) + " deep")
	errID         = errors.New("$id is not supported")
)

// inPlace are the keywords whose schemas look at the same place of the document.
var inPlace = []string{"not", "if", "then", "else", "allOf", "anyOf", "oneOf", "dependentSchemas", "dependencies"}

// walker looks for references that would make a check run for ever or look
// elsewhere.
type walker struct {
	root any
	refs int
	deep int
}

// maxDepth bounds a schema's nesting.
const maxDepth = 64

// inspect refuses what a check could not end on.
func inspect(doc any) error {
	w := &walker{root: doc}
	if err := w.count(doc); err != nil {
		return err
	}
	return w.every(doc)
}

// count bounds the references and refuses those that lead outside.
func (w *walker) count(v any) error {
	if w.deep++; w.deep > maxDepth {
		return errDepth
	}
	defer func() { w.deep-- }()
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			switch key {
			case "$dynamicRef", "$recursiveRef":
				if _, is := inner.(string); is {
					return errDynamic
				}
			case "$id":
				// An id changes what references mean.
				if _, is := inner.(string); is {
					return errID
				}
			case "$ref":
				ref, is := inner.(string)
				if !is {
					break // a property of that name
				}
				if _, ok := w.resolve(ref); !ok {
					return errOutside
				}
				if w.refs++; w.refs > maxReferences {
					return errReferences
				}
			}
			if err := w.count(inner); err != nil {
				return err
			}
		}
	case []any:
		for _, inner := range v {
			if err := w.count(inner); err != nil {
				return err
			}
		}
	}
	return nil
}

// every looks for cycles from each place that may be a schema.
func (w *walker) every(v any) error {
	switch v := v.(type) {
	case map[string]any:
		if err := w.follow(v, 0); err != nil {
			return err
		}
		for _, inner := range v {
			if err := w.every(inner); err != nil {
				return err
			}
		}
	case []any:
		for _, inner := range v {
			if err := w.every(inner); err != nil {
				return err
			}
		}
	}
	return nil
}

// follow goes along what looks at the same place of the document. A way with more
// references than the schema has goes in circles.
func (w *walker) follow(v any, refs int) error {
	s, is := v.(map[string]any)
	if !is {
		return nil
	}
	if ref, is := s["$ref"].(string); is {
		if refs > w.refs {
			return errCycle
		}
		target, _ := w.resolve(ref)
		if err := w.follow(target, refs+1); err != nil {
			return err
		}
	}
	for _, key := range inPlace {
		var err error
		switch inner := s[key].(type) {
		case []any:
			for _, one := range inner {
				err = errors.Join(err, w.follow(one, refs))
			}
		case map[string]any:
			err = w.follow(inner, refs)
			if key == "dependentSchemas" || key == "dependencies" {
				for _, one := range inner {
					err = errors.Join(err, w.follow(one, refs))
				}
			}
		}
		if err != nil {
			return errCycle
		}
	}
	return nil
}

// resolve finds what a reference within the schema points to.
func (w *walker) resolve(ref string) (any, bool) {
	if ref == "#" {
		return w.root, true
	}
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil, false
	}
	at := w.root
	for step := range strings.SplitSeq(path, "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch v := at.(type) {
		case map[string]any:
			if at, ok = v[step]; !ok {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			at = v[i]
		default:
			return nil, false
		}
	}
	return at, true
}
