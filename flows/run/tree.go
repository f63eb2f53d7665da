package run

import (
	"fmt"

	"github.com/turnwise/turnwise/flows/expr"
)

// tree is a value in which strings are templates.
type tree struct {
	leaf   *expr.Template
	list   []tree
	object []assignment
	value  any // when it is none of these
	kind   byte
}

// The kinds of trees.
const (
	treeValue = iota
	treeLeaf
	treeList
	treeObject
)

// parseTree reads a value whose strings are templates.
func parseTree(v any, scope expr.Scope) (tree, error) {
	switch v := v.(type) {
	case string:
		t, err := expr.ParseTemplate(v, scope)
		if err != nil {
			return tree{}, err
		}
		if t.Literal() {
			return tree{value: v}, nil
		}
		return tree{leaf: t, kind: treeLeaf}, nil
	case []any:
		list := make([]tree, len(v))
		for i, x := range v {
			var err error
			if list[i], err = parseTree(x, scope); err != nil {
				return tree{}, fmt.Errorf("[%d]: %w", i, err)
			}
		}
		return tree{list: list, kind: treeList}, nil
	case map[string]any:
		object, err := parseAssignments(v, scope)
		return tree{object: object, kind: treeObject}, err
	}
	p, err := expr.Plain(v)
	return tree{value: p}, err
}

// parseAssignments reads fields and their values, in the order of the names.
func parseAssignments(fields map[string]any, scope expr.Scope) ([]assignment, error) {
	var all []assignment
	for _, name := range sorted(fields) {
		t, err := parseTree(fields[name], scope)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, assignment{name, t})
	}
	return all, nil
}

// eval gives the value.
func (t *tree) eval(values expr.Values) (any, error) {
	switch t.kind {
	case treeLeaf:
		return t.leaf.Eval(values)
	case treeList:
		list := make([]any, len(t.list))
		for i := range t.list {
			v, err := t.list[i].eval(values)
			if err != nil {
				return nil, err
			}
			list[i] = v
		}
		return list, nil
	case treeObject:
		return evalAll(t.object, values)
	}
	return t.value, nil
}

// evalAll evaluates assignments; each sees the values as they were before all of them.
func evalAll(all []assignment, values expr.Values) (map[string]any, error) {
	object := make(map[string]any, len(all))
	for i := range all {
		v, err := all[i].value.eval(values)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", all[i].name, err)
		}
		object[all[i].name] = v
	}
	return object, nil
}

// reads are the paths the tree looks at.
func (t *tree) reads(found func(path []string)) {
	if t.leaf != nil {
		for _, r := range t.leaf.Reads() {
			found(r.Path)
		}
	}
	for i := range t.list {
		t.list[i].reads(found)
	}
	for i := range t.object {
		t.object[i].value.reads(found)
	}
}
