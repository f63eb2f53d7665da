package expr

import (
	"fmt"
	"slices"
	"strings"
)

// maxRendered bounds the text a template gives, in bytes.
const maxRendered = 1 << 20

// Template is text with {{ expressions }} in it.
type Template struct {
	source string
	parts  []part
	typ    Type
	reads  []Read
}

// part is a piece of text or, when program is not nil, an expression.
type part struct {
	text    string
	program *Program
	offset  int // of the expression in the template
}

// ParseTemplate reads and checks a template. It fails with [Errors]; their places are
// in the whole source.
func ParseTemplate(source string, scope Scope) (*Template, error) {
	t := &Template{source: source, typ: String()}
	var errs Errors
	if len(source) > maxRendered {
		return nil, Errors{{Code: CodeLimit, Length: len(source), Message: fmt.Sprintf("the text is longer than %d bytes", maxRendered)}}
	}
	for at := 0; at < len(source); {
		open := strings.Index(source[at:], "{{")
		if open < 0 {
			t.parts = append(t.parts, part{text: source[at:]})
			break
		}
		open += at
		if open > at {
			t.parts = append(t.parts, part{text: source[at:open]})
		}
		end := closing(source, open+2)
		if end < 0 {
			errs = append(errs, &Error{Code: CodeTemplate, Offset: open, Length: 2,
				Message: "the {{ is never closed", Hint: `write }} behind the expression, or {{ "{{" }} for the two braces themselves`})
			break
		}
		errs = append(errs, t.add(open+2, end, scope)...)
		at = end + 2
	}
	if len(errs) > 0 {
		return nil, errs
	}
	if len(t.parts) == 1 && t.parts[0].program != nil {
		t.typ = t.parts[0].program.typ
	}
	return t, nil
}

// add compiles the expression between two places of the source.
func (t *Template) add(from, to int, scope Scope) Errors {
	inner := t.source[from:to]
	trimmed := strings.TrimLeft(inner, " \t\r\n")
	offset := from + len(inner) - len(trimmed)
	trimmed = strings.TrimRight(trimmed, " \t\r\n")
	if trimmed == "" {
		return Errors{{Code: CodeTemplate, Offset: from - 2, Length: to - from + 4, Message: "there is no expression between {{ and }}"}}
	}
	p, errs := compile(trimmed, scope)
	for _, e := range errs {
		e.Offset += offset
	}
	if len(errs) > 0 {
		return errs
	}
	t.parts = append(t.parts, part{program: p, offset: offset})
	for _, r := range p.reads {
		r.Offset += offset
		t.reads = append(t.reads, r)
	}
	return nil
}

// closing finds the }} that ends an expression, past strings and braces within it.
func closing(source string, at int) int {
	depth := 0
	var quote byte
	for i := at; i < len(source); i++ {
		c := source[i]
		switch {
		case quote != 0:
			if c == '\\' && quote != '`' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '{':
			depth++
		case c == '}' && depth > 0:
			depth--
		case c == '}' && i+1 < len(source) && source[i+1] == '}':
			return i
		}
	}
	return -1
}

// Source is the text it was read from.
func (t *Template) Source() string { return t.source }

// Type is what is known of the value it gives: that of the expression when the template
// is exactly one, else a string.
func (t *Template) Type() Type { return t.typ }

// Literal tells whether there is no expression in it: it always gives its source.
func (t *Template) Literal() bool {
	return !slices.ContainsFunc(t.parts, func(p part) bool { return p.program != nil })
}

// Reads are the values it may look at, in the order of the source. The slice must not
// be changed.
func (t *Template) Reads() []Read { return t.reads }

// Eval gives the value: that of the expression when the template is exactly one, of its
// own type, else text with every value rendered (see [Render]). It shares what [Program.Eval]
// shares. The error is an *[Error] whose place is in the whole source.
func (t *Template) Eval(values Values) (any, error) {
	if len(t.parts) == 1 && t.parts[0].program != nil {
		return t.parts[0].eval(values)
	}
	return t.Text(values)
}

// Text gives the value as text, also that of a single expression.
func (t *Template) Text(values Values) (string, error) {
	switch {
	case len(t.parts) == 0:
		return "", nil
	case len(t.parts) == 1 && t.parts[0].program == nil:
		return t.parts[0].text, nil
	}
	var b strings.Builder
	for _, p := range t.parts {
		if p.program == nil {
			b.WriteString(p.text)
			continue
		}
		v, err := p.eval(values)
		if err != nil {
			return "", err
		}
		b.WriteString(Render(v))
		if b.Len() > maxRendered {
			return "", &Error{Code: CodeLimit, Offset: p.offset, Length: len(p.program.source),
				Message: fmt.Sprintf("the text would be longer than %d bytes", maxRendered)}
		}
	}
	return b.String(), nil
}

// eval evaluates the part's expression, with places in the whole source.
func (p part) eval(values Values) (any, error) {
	v, err := p.program.Eval(values)
	if e, is := err.(*Error); is {
		moved := *e
		moved.Offset += p.offset
		return nil, &moved
	}
	return v, err
}
