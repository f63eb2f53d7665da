package expr

import (
	"cmp"
	"math"
	"math/bits"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// arithmetic compiles + - * / % **; + also joins two strings or two lists.
func (c *compiler) arithmetic(n *ast.BinaryNode) (eval, Type) {
	op, takes := n.Operator, KindNumber
	if op == "+" {
		takes |= KindString | KindList
	}
	a, t := c.operand(n.Left, takes, op)
	b, u := c.operand(n.Right, takes, op)
	at := c.at(n)
	group := func(t Type) Kind {
		k := t.Kinds() & takes
		if k&KindNumber != 0 {
			k |= KindNumber
		}
		return k
	}
	if group(t) != 0 && group(u) != 0 && group(t)&group(u) == 0 {
		e := at.error(CodeType, "%s cannot take %s and %s", op, t, u)
		if op == "+" {
			e.Hint = "string(…) makes text of a value"
		}
		c.fail(e)
	}
	return func(f *frame) (any, error) {
		v, w, err := both(f, a, b)
		if err != nil {
			return nil, err
		}
		switch x := v.(type) {
		case string:
			if y, is := w.(string); is {
				if err := f.spend(len(x) + len(y)); err != nil {
					return nil, at.of(err)
				}
				return x + y, nil
			}
		case []any:
			if y, is := w.([]any); is {
				if err := f.spend(len(x) + len(y)); err != nil {
					return nil, at.of(err)
				}
				return append(append(make([]any, 0, len(x)+len(y)), x...), y...), nil
			}
		default:
			if kindOf(w)&KindNumber != 0 {
				return arithmetic(op, v, w, at)
			}
		}
		return nil, at.error(CodeType, "%s cannot take %s and %s", op, kindName(v), kindName(w))
	}, arithmeticType(op, t, u, group(t)&group(u))
}

// arithmeticType is what an operator makes of two types.
func arithmeticType(op string, t, u Type, common Kind) Type {
	if common&^KindNumber != 0 || common == 0 {
		return keep(Type{}, max(common, KindString))
	}
	integers := t.Kinds()&KindFloat == 0 && u.Kinds()&KindFloat == 0
	switch {
	case op == "%" || integers && op != "/" && op != "**" && op != "^":
		return Int()
	}
	return Number()
}

// arithmetic computes with two numbers. Two integers give an integer, but for /, which
// always gives a fraction.
func arithmetic(op string, v, w any, at place) (any, error) {
	a, ai := v.(int64)
	b, bi := w.(int64)
	if op == "/" || op == "%" {
		if toFloat(w) == 0 {
			return nil, at.error(CodeValue, "division by zero")
		}
	}
	if op == "%" && !(ai && bi) {
		return nil, at.error(CodeType, "%% takes two integers, not %s and %s", kindName(v), kindName(w))
	}
	if raise := op == "**" || op == "^"; ai && bi && op != "/" && !(raise && b < 0) {
		if i, ok := integers(op, a, b); ok {
			return i, nil
		}
		return nil, at.error(CodeValue, "the result of %s does not fit into an integer of 64 bits", op)
	}
	x, y := toFloat(v), toFloat(w)
	var r float64
	switch op {
	case "+":
		r = x + y
	case "-":
		r = x - y
	case "*":
		r = x * y
	case "/":
		r = x / y
	default:
		r = math.Pow(x, y)
	}
	if math.IsInf(r, 0) || math.IsNaN(r) {
		return nil, at.error(CodeValue, "the result of %s is not a number", op)
	}
	return r, nil
}

// integers computes with integers; ok is false when the result does not fit.
func integers(op string, a, b int64) (r int64, ok bool) {
	switch op {
	case "+":
		r = a + b
		return r, (r > a) == (b > 0)
	case "-":
		r = a - b
		return r, (r < a) == (b > 0)
	case "*":
		return multiply(a, b)
	case "%":
		if b == -1 {
			return 0, true
		}
		return a % b, true
	}
	return power(a, b)
}

// multiply multiplies; ok is false when the product does not fit.
func multiply(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	negative := (a < 0) != (b < 0)
	switch {
	case hi != 0 || lo > 1<<63 || lo == 1<<63 && !negative:
		return 0, false
	case negative:
		return -int64(lo), true
	}
	return int64(lo), true
}

// magnitude is a number without its sign; that of the least integer fits, too.
func magnitude(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}

// power raises to a power that is not negative; ok is false when it does not fit.
func power(a, b int64) (int64, bool) {
	switch {
	case b == 0 || a == 1 || a == -1 && b%2 == 0:
		return 1, true
	case a == 0 || a == -1:
		return a, true
	}
	r, ok := int64(1), true
	for ; b > 0 && ok; b-- {
		r, ok = multiply(r, a)
	}
	return r, ok
}

// toFloat is a number as a fraction.
func toFloat(v any) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return math.NaN()
}

// compare orders two numbers or two strings; ok is false for anything else.
func compare(v, w any) (sign int, ok bool) {
	switch a := v.(type) {
	case string:
		if b, is := w.(string); is {
			return strings.Compare(a, b), true
		}
	case int64:
		switch b := w.(type) {
		case int64:
			return cmp.Compare(a, b), true
		case float64:
			return compareMixed(a, b), true
		}
	case float64:
		switch b := w.(type) {
		case int64:
			return -compareMixed(b, a), true
		case float64:
			return cmp.Compare(a, b), true
		}
	}
	return 0, false
}

// compareMixed orders an integer and a fraction without losing digits of either.
func compareMixed(i int64, f float64) int {
	switch {
	case f >= 1<<63:
		return -1
	case f < -1<<63:
		return 1
	}
	whole := math.Trunc(f)
	if c := cmp.Compare(i, int64(whole)); c != 0 {
		return c
	}
	return cmp.Compare(0, f-whole)
}

// scalarEqual compares two single values; different kinds are never equal, integers and
// fractions are equal when they are the same number.
func scalarEqual(v, w any) bool {
	if sign, ok := compare(v, w); ok {
		return sign == 0
	}
	switch v := v.(type) {
	case nil:
		return w == nil
	case bool:
		b, is := w.(bool)
		return is && v == b
	}
	return false
}

// equal compares two values with all that is in them.
func equal(f *frame, v, w any, depth int) (bool, error) {
	if err := f.spend(1); err != nil {
		return false, err
	}
	if depth > maxDepth {
		return false, errCost
	}
	switch a := v.(type) {
	case []any:
		b, is := w.([]any)
		if !is || len(a) != len(b) {
			return false, nil
		}
		for i := range a {
			if eq, err := equalInside(f, a[i], b[i], depth); err != nil || !eq {
				return false, err
			}
		}
		return true, nil
	case map[string]any:
		b, is := w.(map[string]any)
		if !is || len(a) != len(b) {
			return false, nil
		}
		for name, x := range a {
			y, has := b[name]
			if !has {
				return false, nil
			}
			if eq, err := equalInside(f, x, y, depth); err != nil || !eq {
				return false, err
			}
		}
		return true, nil
	}
	return scalarEqual(v, w), nil
}

// equalInside compares what is inside lists and objects, which may not be plain yet.
func equalInside(f *frame, v, w any, depth int) (bool, error) {
	a, err := single(v, place{})
	if err != nil {
		return false, err
	}
	b, err := single(w, place{})
	if err != nil {
		return false, err
	}
	return equal(f, a, b, depth+1)
}
