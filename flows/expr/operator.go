package expr

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// unary compiles not a, !a, -a, +a.
func (c *compiler) unary(n *ast.UnaryNode) (eval, Type) {
	if n.Operator == "not" || n.Operator == "!" {
		cond := c.truth(n.Node)
		return func(f *frame) (any, error) {
			b, err := cond(f)
			if err != nil {
				return nil, err
			}
			return !b, nil
		}, Bool()
	}
	run, t := c.operand(n.Node, KindNumber, n.Operator)
	at := c.at(n)
	minus := n.Operator == "-"
	return func(f *frame) (any, error) {
		v, err := run(f)
		if err != nil || !minus {
			return v, err
		}
		return arithmetic("-", int64(0), v, at)
	}, keep(t, KindNumber)
}

// keep is a type without its listed values, cut to some kinds.
func keep(t Type, k Kind) Type {
	if k &= t.Kinds(); k != 0 {
		return of(k)
	}
	return Any()
}

// operand compiles a value that must be of one of the kinds.
func (c *compiler) operand(n ast.Node, k Kind, operator string) (eval, Type) {
	run, t := c.node(n)
	at := c.at(n)
	if !t.CanBe(k) {
		c.fail(at.error(CodeType, "%s takes %s, this is %s", operator, of(k), t))
	}
	return func(f *frame) (any, error) {
		v, err := run(f)
		if err != nil {
			return nil, err
		}
		if kindOf(v)&k == 0 {
			return nil, at.error(CodeType, "%s takes %s, this is %s", operator, of(k), kindName(v))
		}
		return v, nil
	}, t
}

// binary compiles a operator b.
func (c *compiler) binary(n *ast.BinaryNode) (eval, Type) {
	switch n.Operator {
	case "??":
		return c.coalesce(n.Left, n.Right)
	case "and", "&&", "or", "||":
		return c.logic(n)
	case "==", "!=":
		return c.equality(n)
	case "<", "<=", ">", ">=":
		return c.order(n)
	case "+", "-", "*", "/", "%", "**", "^":
		return c.arithmetic(n)
	case "in":
		return c.in(n)
	case "contains", "startsWith", "endsWith":
		return c.text(n)
	case "matches":
		return c.matches(n)
	}
	return c.unsupported(n, fmt.Sprintf("there is no operator %s", n.Operator), "")
}

// coalesce compiles a ?? b: b where a is missing or null.
func (c *compiler) coalesce(left, right ast.Node) (eval, Type) {
	c.guard++
	a, at := c.node(left)
	c.guard--
	b, bt := c.node(right)
	return func(f *frame) (any, error) {
		v, err := a(f)
		if err == nil && v != nil {
			return v, nil
		}
		if err != nil && !isMissing(err) {
			return nil, err
		}
		return b(f)
	}, Union(withoutNull(at), bt)
}

// withoutNull is the type of what is there.
func withoutNull(t Type) Type {
	if t.d == nil || t.d.kinds&KindNull == 0 || t.d.enum != nil {
		return t
	}
	d := *t.d
	d.kinds &^= KindNull
	return Type{&d}
}

// logic compiles and, or; the right side is looked at only when it decides.
func (c *compiler) logic(n *ast.BinaryNode) (eval, Type) {
	a, b := c.truth(n.Left), c.truth(n.Right)
	decides := n.Operator == "or" || n.Operator == "||"
	return func(f *frame) (any, error) {
		v, err := a(f)
		if err != nil {
			return nil, err
		}
		if v == decides {
			return v, nil
		}
		w, err := b(f)
		if err != nil {
			return nil, err
		}
		return w, nil
	}, Bool()
}

// equality compiles ==, !=.
func (c *compiler) equality(n *ast.BinaryNode) (eval, Type) {
	a, t := c.node(n.Left)
	b, u := c.node(n.Right)
	c.comparable(n, t, u)
	at, want := c.at(n), n.Operator == "=="
	return func(f *frame) (any, error) {
		v, w, err := both(f, a, b)
		if err != nil {
			return nil, err
		}
		eq, err := equal(f, v, w, 0)
		if err != nil {
			return nil, at.of(err)
		}
		return eq == want, nil
	}, Bool()
}

// of gives an error without a place its place.
func (p place) of(err error) error {
	if e, is := err.(*Error); is && e.Length == 0 {
		placed := *e
		placed.Offset, placed.Length = p.span()
		return &placed
	}
	return err
}

// comparable notes a comparison of what can never be equal. Null may be compared with
// anything: whether a value is there is a fair question.
func (c *compiler) comparable(n ast.Node, t, u Type) {
	if t.Overlaps(u) || t.Kinds() == KindNull || u.Kinds() == KindNull {
		return
	}
	e := c.at(n).error(CodeType, "%s is never equal to %s", t, u)
	values, said := t.Values(), u.Values()
	if len(values) == 1 {
		values, said = said, values
	}
	if len(said) == 1 && len(values) > 1 {
		if word, is := said[0].(string); is {
			var words []string
			for _, v := range values {
				if s, is := v.(string); is {
					words = append(words, s)
				}
			}
			if near := nearest(word, words); near != "" {
				e.Hint = fmt.Sprintf("did you mean %q?", near)
			}
		}
	}
	c.fail(e)
}

// both evaluates two operands.
func both(f *frame, a, b eval) (v, w any, err error) {
	if err = f.spend(1); err != nil {
		return nil, nil, err
	}
	if v, err = a(f); err != nil {
		return nil, nil, err
	}
	w, err = b(f)
	return v, w, err
}

// order compiles <, <=, >, >= of two numbers or two strings.
func (c *compiler) order(n *ast.BinaryNode) (eval, Type) {
	a, t := c.node(n.Left)
	b, u := c.node(n.Right)
	at, op := c.at(n), n.Operator
	numbers := t.CanBe(KindNumber) && u.CanBe(KindNumber)
	if !numbers && !(t.CanBe(KindString) && u.CanBe(KindString)) {
		c.fail(at.error(CodeType, "%s orders two numbers or two strings, not %s and %s", op, t, u))
	}
	return func(f *frame) (any, error) {
		v, w, err := both(f, a, b)
		if err != nil {
			return nil, err
		}
		sign, ok := compare(v, w)
		if !ok {
			return nil, at.error(CodeType, "%s orders two numbers or two strings, not %s and %s", op, kindName(v), kindName(w))
		}
		switch op {
		case "<":
			return sign < 0, nil
		case "<=":
			return sign <= 0, nil
		case ">":
			return sign > 0, nil
		}
		return sign >= 0, nil
	}, Bool()
}

// in compiles a in list, and name in object.
func (c *compiler) in(n *ast.BinaryNode) (eval, Type) {
	a, t := c.node(n.Left)
	at := c.at(n)
	var b eval
	if list, is := n.Right.(*ast.ArrayNode); is {
		var types []Type
		b, types = c.items(list)
		for i, item := range list.Nodes {
			c.comparable(item, t, types[i])
		}
	} else {
		var u Type
		b, u = c.operand(n.Right, KindList|KindObject, "in")
		if u.Kinds() == KindList && !t.Overlaps(u.Elem()) {
			c.fail(at.error(CodeType, "%s is never in %s", t, u))
		}
	}
	return func(f *frame) (any, error) {
		v, w, err := both(f, a, b)
		if err != nil {
			return nil, err
		}
		if object, is := w.(map[string]any); is {
			name, is := v.(string)
			if !is {
				return nil, at.error(CodeType, "the names of an object are strings, this is %s", kindName(v))
			}
			_, has := object[name]
			return has, nil
		}
		for _, item := range w.([]any) {
			item, err := single(item, at)
			if err != nil {
				return nil, err
			}
			eq, err := equal(f, v, item, 0)
			if err != nil {
				return nil, at.of(err)
			}
			if eq {
				return true, nil
			}
		}
		return false, nil
	}, Bool()
}

// text compiles contains, startsWith, endsWith.
func (c *compiler) text(n *ast.BinaryNode) (eval, Type) {
	a, _ := c.operand(n.Left, KindString, n.Operator)
	b, _ := c.operand(n.Right, KindString, n.Operator)
	test := strings.Contains
	switch n.Operator {
	case "startsWith":
		test = strings.HasPrefix
	case "endsWith":
		test = strings.HasSuffix
	}
	return func(f *frame) (any, error) {
		v, w, err := both(f, a, b)
		if err != nil {
			return nil, err
		}
		if err := f.spend(len(v.(string)) / 16); err != nil {
			return nil, err
		}
		return test(v.(string), w.(string)), nil
	}, Bool()
}

// matches compiles a matches pattern. The pattern is written out, so that a broken one
// is found before a conversation does.
func (c *compiler) matches(n *ast.BinaryNode) (eval, Type) {
	a, _ := c.operand(n.Left, KindString, "matches")
	pattern, is := n.Right.(*ast.StringNode)
	if !is {
		return c.unsupported(n.Right, "the pattern of matches is written out in quotes", "")
	}
	re, err := regexp.Compile(pattern.Value)
	if err != nil {
		return c.fail(c.at(n.Right).error(CodeValue, "the pattern is broken: %v", err))
	}
	at := c.at(n)
	return func(f *frame) (any, error) {
		v, err := a(f)
		if err != nil {
			return nil, err
		}
		if err := f.spend(len(v.(string))); err != nil {
			return nil, at.of(err)
		}
		return re.MatchString(v.(string)), nil
	}, Bool()
}
