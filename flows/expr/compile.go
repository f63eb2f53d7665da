package expr

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

// maxSource bounds an expression, in bytes. It bounds how deep one can be, too.
const maxSource = 8 << 10

// maxCost bounds what one evaluation may do: a step, an element looked at and a byte
// made cost one each.
const maxCost = 1 << 20

// eval is a compiled node.
type eval func(f *frame) (any, error)

// frame is one evaluation.
type frame struct {
	values Values
	left   int // of the cost limit
}

// errCost: the evaluation did too much.
var errCost = &Error{Code: CodeLimit, Message: "the expression costs too much", Hint: "give it less to look at"}

// spend takes from what is left.
func (f *frame) spend(n int) error {
	if f.left -= n; f.left < 0 {
		return errCost
	}
	return nil
}

// compiler turns the parser's tree into closures and checks types on the way.
type compiler struct {
	source string
	scope  Scope
	errs   Errors
	reads  []Read
	guard  int // how many ?? or default are around
}

// compile reads and checks an expression.
func compile(source string, scope Scope) (*Program, Errors) {
	if len(source) > maxSource {
		return nil, Errors{{Code: CodeLimit, Length: len(source), Message: fmt.Sprintf("an expression may be %d bytes long, this is %d", maxSource, len(source))}}
	}
	if !utf8.ValidString(source) {
		return nil, Errors{{Code: CodeSyntax, Length: len(source), Message: "the expression is not valid UTF-8"}}
	}
	if strings.TrimSpace(source) == "" {
		return nil, Errors{{Code: CodeSyntax, Length: len(source), Message: "there is no expression"}}
	}
	c := &compiler{source: source, scope: scope}
	node, err := c.parse()
	if err != nil {
		return nil, Errors{err}
	}
	run, typ := c.node(node)
	if len(c.errs) > 0 {
		slices.SortStableFunc(c.errs, func(a, b *Error) int { return a.Offset - b.Offset })
		return nil, c.errs
	}
	return &Program{source: source, run: run, typ: typ, reads: c.reads}, nil
}

// parse reads the source; a parser that panics is a syntax error like any other.
func (c *compiler) parse() (node ast.Node, failed *Error) {
	defer func() {
		if r := recover(); r != nil {
			failed = &Error{Code: CodeSyntax, Length: len(c.source), Message: "the expression cannot be read"}
		}
	}()
	tree, err := parser.Parse(c.source)
	if err == nil && tree.Node != nil {
		return tree.Node, nil
	}
	failed = &Error{Code: CodeSyntax, Length: len(c.source), Message: "the expression cannot be read"}
	var at *file.Error
	if errors.As(err, &at) {
		failed.Message = at.Message
		failed.Offset, failed.Length = byteSpan(c.source, at.From, at.To)
		failed.Hint = syntaxHint(c.source)
	}
	return nil, failed
}

// syntaxHint tells what is usually meant by what the language does not have.
func syntaxHint(source string) string {
	switch {
	case strings.Contains(source, "{{"):
		return "write a condition without {{ }}"
	case strings.Contains(source, "===") || !strings.ContainsAny(source, "=!<>") && strings.Contains(source, " is "):
		return "compare with =="
	case strings.Contains(strings.NewReplacer("==", "", "!=", "", "<=", "", ">=", "").Replace(source), "="):
		return "compare with ==; nothing can be set here"
	}
	return ""
}

// byteSpan turns the parser's places, which count runes, into an offset and a length
// within the source, at least one byte long.
func byteSpan(source string, from, to int) (offset, length int) {
	offset, end := len(source), len(source)
	n := 0
	for i := range source {
		if n == from {
			offset = i
		}
		if n == to {
			end = i
			break
		}
		n++
	}
	if offset >= len(source) && len(source) > 0 {
		_, size := utf8.DecodeLastRuneInString(source)
		return len(source) - size, size
	}
	return offset, max(end-offset, 1)
}

// place is where a node stands, for errors made later; it is looked up when there is one.
// The zero place is not known.
type place struct {
	source string
	node   ast.Node
}

// at is the place of a node with all that belongs to it.
func (c *compiler) at(n ast.Node) place { return place{c.source, n} }

// span is the offset and the length in bytes, 0 and 0 when they are not known.
func (p place) span() (offset, length int) {
	if p.node == nil {
		return 0, 0
	}
	from, to := extent(p.node)
	return byteSpan(p.source, from, to)
}

// extent is where a node begins and ends, in runes.
func extent(n ast.Node) (from, to int) {
	loc := n.Location()
	from, to = loc.From, loc.To
	w := &widener{from: from, to: to, none: from == 0 && to == 0}
	ast.Walk(&n, w)
	return w.from, w.to
}

// widener finds the outermost places of a tree.
type widener struct {
	from, to int
	none     bool
}

// Visit looks at one node.
func (w *widener) Visit(n *ast.Node) {
	loc := (*n).Location()
	if loc.To == 0 {
		return
	}
	if w.none || loc.From < w.from {
		w.from = loc.From
	}
	w.none = false
	w.to = max(w.to, loc.To)
}

// error makes an error at the place.
func (p place) error(code Code, format string, args ...any) *Error {
	offset, length := p.span()
	return &Error{Code: code, Offset: offset, Length: length, Message: fmt.Sprintf(format, args...)}
}

// fail notes a mistake and gives a node that stands for it, of which nothing is known,
// so that the rest is checked as well.
func (c *compiler) fail(e *Error) (eval, Type) {
	c.errs = append(c.errs, e)
	return func(*frame) (any, error) { return nil, e }, Any()
}

// constant gives a node that is always the same value.
func constant(v any) (eval, Type) {
	t := Any()
	if k := kindOf(v); k&(KindList|KindObject) == 0 {
		t = Type{&detail{kinds: k, enum: []any{v}}}
	}
	return func(*frame) (any, error) { return v, nil }, t
}

// node compiles one node and tells its type.
func (c *compiler) node(n ast.Node) (eval, Type) {
	switch n := n.(type) {
	case *ast.NilNode:
		return constant(nil)
	case *ast.BoolNode:
		return constant(n.Value)
	case *ast.IntegerNode:
		return constant(int64(n.Value))
	case *ast.FloatNode:
		return constant(n.Value)
	case *ast.StringNode:
		return constant(n.Value)
	case *ast.IdentifierNode, *ast.MemberNode:
		return c.path(n)
	case *ast.ChainNode:
		return c.chain(n)
	case *ast.UnaryNode:
		return c.unary(n)
	case *ast.BinaryNode:
		return c.binary(n)
	case *ast.ConditionalNode:
		return c.conditional(n)
	case *ast.ArrayNode:
		return c.list(n)
	case *ast.MapNode:
		return c.object(n)
	case *ast.SliceNode:
		return c.slice(n)
	case *ast.BuiltinNode:
		return c.call(n, n.Name, n.Arguments)
	case *ast.CallNode:
		if name, is := n.Callee.(*ast.IdentifierNode); is {
			return c.call(n, name.Value, n.Arguments)
		}
		return c.unsupported(n, "values have no methods", "")
	case *ast.VariableDeclaratorNode:
		return c.unsupported(n, "expressions have no variables", "use a set node to keep a value")
	case *ast.SequenceNode:
		return c.unsupported(n, "one expression is one value; there is no ;", "")
	}
	return c.unsupported(n, "this is not part of the language", "")
}

// unsupported refuses a part of the language that flows do not have.
func (c *compiler) unsupported(n ast.Node, message, hint string) (eval, Type) {
	e := c.at(n).error(CodeUnsupported, "%s", message)
	e.Hint = hint
	return c.fail(e)
}

// chain compiles a?.b: null when anything on the way is missing.
func (c *compiler) chain(n *ast.ChainNode) (eval, Type) {
	c.guard++
	inner, t := c.node(n.Node)
	c.guard--
	return func(f *frame) (any, error) {
		v, err := inner(f)
		if isMissing(err) {
			return nil, nil
		}
		return v, err
	}, Union(t, Null())
}

// isMissing tells whether an evaluation failed because a value is not there.
func isMissing(err error) bool {
	e, is := err.(*Error)
	return is && e.Code == CodeMissing
}

// conditional compiles a ? b : c and if a { b } else { c }.
func (c *compiler) conditional(n *ast.ConditionalNode) (eval, Type) {
	cond := c.truth(n.Cond)
	yes, yt := c.node(n.Exp1)
	no, nt := c.node(n.Exp2)
	return func(f *frame) (any, error) {
		b, err := cond(f)
		if err != nil {
			return nil, err
		}
		if b {
			return yes(f)
		}
		return no(f)
	}, Union(yt, nt)
}

// truth compiles what must be true or false.
func (c *compiler) truth(n ast.Node) func(f *frame) (bool, error) {
	run, t := c.node(n)
	at := c.at(n)
	if !t.CanBe(KindBool) {
		c.fail(at.error(CodeType, "this must be true or false, it is %s", t))
	}
	return func(f *frame) (bool, error) {
		v, err := run(f)
		if err != nil {
			return false, err
		}
		b, is := v.(bool)
		if !is {
			return false, at.error(CodeType, "this must be true or false, it is %s", kindName(v))
		}
		return b, nil
	}
}

// list compiles [a, b].
func (c *compiler) list(n *ast.ArrayNode) (eval, Type) {
	run, types := c.items(n)
	if len(types) == 0 {
		return run, List(Any())
	}
	elem := types[0]
	for _, t := range types[1:] {
		elem = Union(elem, t)
	}
	return run, List(elem)
}

// items compiles a list and tells the type of each element.
func (c *compiler) items(n *ast.ArrayNode) (eval, []Type) {
	items, types := make([]eval, len(n.Nodes)), make([]Type, len(n.Nodes))
	for i, node := range n.Nodes {
		items[i], types[i] = c.node(node)
	}
	return func(f *frame) (any, error) {
		if err := f.spend(len(items)); err != nil {
			return nil, err
		}
		list := make([]any, len(items))
		for i, item := range items {
			v, err := item(f)
			if err != nil {
				return nil, err
			}
			list[i] = v
		}
		return list, nil
	}, types
}

// object compiles {a: b}.
func (c *compiler) object(n *ast.MapNode) (eval, Type) {
	names, items := make([]string, len(n.Pairs)), make([]eval, len(n.Pairs))
	fields := make(map[string]Type, len(n.Pairs))
	for i, p := range n.Pairs {
		pair := p.(*ast.PairNode)
		key, is := pair.Key.(*ast.StringNode)
		if !is {
			c.unsupported(pair.Key, "the names of an object's fields are written out", "")
			key = &ast.StringNode{}
		}
		names[i] = key.Value
		items[i], fields[key.Value] = c.node(pair.Value)
	}
	return func(f *frame) (any, error) {
		if err := f.spend(len(items)); err != nil {
			return nil, err
		}
		object := make(map[string]any, len(items))
		for i, item := range items {
			v, err := item(f)
			if err != nil {
				return nil, err
			}
			object[names[i]] = v
		}
		return object, nil
	}, Object(fields)
}
