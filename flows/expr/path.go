package expr

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/expr-lang/expr/ast"
)

// step is one field or index of a path.
type step struct {
	name  string // of a field
	index int64  // into a list, when isInt
	isInt bool
	gone  *Error // what to say when there is nothing
}

// maxPath bounds how many fields and indexes follow one another.
const maxPath = 64

// path compiles a name and the fields below it: one closure for as much as is known
// without a value.
func (c *compiler) path(n ast.Node) (eval, Type) {
	root, members := flatten(n)
	if len(members) > maxPath {
		return c.fail(c.at(root).error(CodeLimit, "a path may be %d steps long, this has %d", maxPath, len(members)))
	}
	name, is := root.(*ast.IdentifierNode)
	if !is {
		run, t := c.node(root)
		return c.members(run, t, members)
	}
	if name.Value == "null" {
		return constant(nil)
	}
	t, known := c.scope.Type(name.Value)
	if !known {
		return c.fail(c.unknownName(name))
	}
	// The fields that are written out are walked at once.
	steps, read := []step(nil), []string{name.Value}
	failed := len(c.errs)
	for len(members) > 0 {
		s, fixed := fixedStep(members[0].Property)
		if !fixed {
			break
		}
		t = c.member(t, members[0], s, read)
		read = append(read, s.text())
		s.gone = c.missing(members[0], read)
		steps = append(steps, s)
		members = members[1:]
	}
	end := n
	if len(members) > 0 {
		end = members[0].Node
	}
	at := c.at(end)
	offset, length := at.span()
	c.reads = append(c.reads, Read{Path: read, Offset: offset, Length: length, Guarded: c.guard > 0})
	if len(c.errs) > failed {
		t = Any()
	}
	run := walk(name.Value, c.missing(root, read[:1]), steps, at)
	return c.members(run, t, members)
}

// flatten gives the root of a path and its members in order.
func flatten(n ast.Node) (ast.Node, []*ast.MemberNode) {
	var members []*ast.MemberNode
	for {
		m, is := n.(*ast.MemberNode)
		if !is {
			break
		}
		members = append(members, m)
		n = m.Node
	}
	for i, j := 0, len(members)-1; i < j; i, j = i+1, j-1 {
		members[i], members[j] = members[j], members[i]
	}
	return n, members
}

// fixedStep reads a field or an index that is written out.
func fixedStep(property ast.Node) (step, bool) {
	switch p := property.(type) {
	case *ast.StringNode:
		return step{name: p.Value}, true
	case *ast.IntegerNode:
		return step{index: int64(p.Value), isInt: true}, true
	case *ast.UnaryNode:
		if i, is := p.Node.(*ast.IntegerNode); is && p.Operator == "-" {
			return step{index: -int64(i.Value), isInt: true}, true
		}
	}
	return step{}, false
}

// text is the step as part of a Read's path.
func (s step) text() string {
	if s.isInt {
		return strconv.FormatInt(s.index, 10)
	}
	return s.name
}

// walk evaluates a path all of which is written out.
func walk(name string, gone *Error, steps []step, at place) eval {
	return func(f *frame) (any, error) {
		if err := f.spend(1 + len(steps)); err != nil {
			return nil, err
		}
		v, ok := f.values.Value(name)
		if !ok {
			return nil, gone
		}
		v, err := single(v, at)
		for i := range steps {
			if err != nil {
				return nil, err
			}
			s := &steps[i]
			if object, is := v.(map[string]any); is && !s.isInt {
				next, has := object[s.name]
				if !has {
					return nil, s.gone
				}
				v, err = single(next, at)
				continue
			}
			v, err = s.take(v, at)
		}
		return v, err
	}
}

// single makes the top of a value plain, so that what is below is only looked at when
// it is used.
func single(v any, at place) (any, error) {
	p, err := scalar(v)
	if err == nil {
		return p, nil
	}
	if p, err = Plain(v); err != nil {
		return nil, at.error(CodeValue, "%v", err)
	}
	return p, nil
}

// take is the step on a value that is not an object with that field.
func (s *step) take(v any, at place) (any, error) {
	switch v := v.(type) {
	case nil:
		return nil, s.gone
	case []any:
		if !s.isInt {
			return nil, at.error(CodeType, "%q is a field, and this is a list", s.name)
		}
		return element(v, s.index, s.gone, at)
	case map[string]any:
		return nil, at.error(CodeType, "%d is an index, and this is an object", s.index)
	}
	return nil, at.error(CodeType, "%s of %s: it has neither fields nor elements", strconv.Quote(s.text()), kindName(v))
}

// element is a list's element; a negative index counts from the end.
func element(list []any, i int64, gone *Error, at place) (any, error) {
	if i < 0 {
		i += int64(len(list))
	}
	if i < 0 || i >= int64(len(list)) {
		return nil, gone
	}
	return single(list[i], at)
}

// member is the type of a field or element.
func (c *compiler) member(t Type, m *ast.MemberNode, s step, path []string) Type {
	switch {
	case s.isInt:
		if !t.CanBe(KindList) {
			c.fail(c.at(m.Property).error(CodeType, "%s is %s, which has no elements", dotted(path), t))
			return Any()
		}
		return t.Elem()
	case !t.CanBe(KindObject):
		c.fail(c.at(m.Property).error(CodeType, "%s is %s, which has no field %q", dotted(path), t, s.name))
		return Any()
	}
	f, known := t.Field(s.name)
	if known || c.guard > 0 {
		return f
	}
	e := c.at(m.Property).error(CodeField, "%s has no field %q", dotted(path), s.name)
	if near := nearest(s.name, t.Fields()); near != "" {
		e.Hint = fmt.Sprintf("did you mean %q?", near)
	} else if names := t.Fields(); len(names) > 0 && len(names) <= 12 {
		e.Hint = "it has " + strings.Join(names, ", ")
	}
	c.fail(e)
	return Any()
}

// members compiles what comes behind a value that is not known: f(x).name, a[i].
func (c *compiler) members(run eval, t Type, members []*ast.MemberNode) (eval, Type) {
	for _, m := range members {
		run, t = c.dynamic(run, t, m)
	}
	return run, t
}

// dynamic compiles one member of any value.
func (c *compiler) dynamic(base eval, t Type, m *ast.MemberNode) (eval, Type) {
	at := c.at(m)
	if s, fixed := fixedStep(m.Property); fixed {
		t = c.member(t, m, s, []string{"this"})
		s.gone = at.error(CodeMissing, "%s is not there", strconv.Quote(s.text()))
		s.gone.Hint = missingHint
		return func(f *frame) (any, error) {
			v, err := base(f)
			if err != nil {
				return nil, err
			}
			return s.of(v, at)
		}, t
	}
	key, kt := c.node(m.Property)
	if !kt.CanBe(KindString | KindNumber) {
		c.fail(c.at(m.Property).error(CodeType, "an index is a number or a name, this is %s", kt))
	}
	et := Any()
	if t.Kinds() == KindList {
		et = t.Elem()
	}
	return func(f *frame) (any, error) {
		v, err := base(f)
		if err != nil {
			return nil, err
		}
		k, err := key(f)
		if err != nil {
			return nil, err
		}
		s := step{}
		switch k := k.(type) {
		case string:
			s.name = k
		case int64:
			s.index, s.isInt = k, true
		default:
			return nil, at.error(CodeType, "an index is an integer or a name, this is %s", kindName(k))
		}
		s.gone = at.error(CodeMissing, "%s is not there", strconv.Quote(s.text()))
		s.gone.Hint = missingHint
		if err := f.spend(1); err != nil {
			return nil, err
		}
		return s.of(v, at)
	}, et
}

// of is the step on any value.
func (s *step) of(v any, at place) (any, error) {
	if object, is := v.(map[string]any); is && !s.isInt {
		next, has := object[s.name]
		if !has {
			return nil, s.gone
		}
		return single(next, at)
	}
	return s.take(v, at)
}

const missingHint = "give another value with ?? or default(…)"

// missing is what to say when a value on a path is not there.
func (c *compiler) missing(n ast.Node, path []string) *Error {
	e := c.at(n).error(CodeMissing, "%s is not there", dotted(path))
	e.Hint = missingHint
	return e
}

// dotted writes a path as expressions do.
func dotted(path []string) string {
	var b strings.Builder
	for i, p := range path {
		switch {
		case i == 0:
			b.WriteString(p)
		case strings.IndexFunc(p, func(r rune) bool { return !unicode.IsDigit(r) && r != '-' }) < 0 && p != "":
			b.WriteString("[" + p + "]")
		case strings.IndexFunc(p, func(r rune) bool { return !unicode.IsDigit(r) && !unicode.IsLetter(r) && r != '_' }) < 0 && p != "":
			b.WriteString("." + p)
		default:
			b.WriteString("[" + strconv.Quote(p) + "]")
		}
	}
	return b.String()
}

// unknownName tells what to do about a name that is not there.
func (c *compiler) unknownName(n *ast.IdentifierNode) *Error {
	at := c.at(n)
	if why, gone := c.scope.gone[n.Value]; gone {
		e := at.error(CodeName, "%s is not there", n.Value)
		e.Hint = why
		return e
	}
	e := at.error(CodeName, "there is no %s here", n.Value)
	if near := nearest(n.Value, c.scope.Names()); near != "" {
		e.Hint = fmt.Sprintf("did you mean %s?", near)
		return e
	}
	for _, root := range c.scope.Names() {
		if t, _ := c.scope.Type(root); t.d != nil {
			if _, has := t.d.fields[n.Value]; has {
				e.Hint = fmt.Sprintf("did you mean %s.%s?", root, n.Value)
				return e
			}
		}
	}
	e.Hint = "text goes in quotes; there are " + strings.Join(c.scope.Names(), ", ")
	return e
}
