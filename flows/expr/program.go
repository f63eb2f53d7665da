package expr

import "fmt"

// Program is a compiled expression.
type Program struct {
	source string
	run    eval
	typ    Type
	reads  []Read
}

// Read is a value an expression looks at.
type Read struct {
	// Path is the name and the fields below it as far as they are known without a
	// value: state, parcel, code. An index that is a number is one too: tags, 0.
	Path []string
	// Offset and Length tell where it stands in the source, in bytes.
	Offset, Length int
	// Guarded: it may be missing, since ?? or default gives another value.
	Guarded bool
}

// Compile reads and checks an expression. It fails with [Errors] that hold every mistake
// found.
func Compile(source string, scope Scope) (*Program, error) {
	p, errs := compile(source, scope)
	if len(errs) > 0 {
		return nil, errs
	}
	return p, nil
}

// CompileCondition is Compile for what must be true or false.
func CompileCondition(source string, scope Scope) (*Program, error) {
	p, errs := compile(source, scope)
	if len(errs) > 0 {
		return nil, errs
	}
	if !p.typ.CanBe(KindBool) {
		return nil, Errors{{Code: CodeType, Length: len(source),
			Message: fmt.Sprintf("a condition must be true or false, this is %s", p.typ)}}
	}
	return p, nil
}

// Source is the text it was compiled from.
func (p *Program) Source() string { return p.source }

// Type is what is known of the value it gives.
func (p *Program) Type() Type { return p.typ }

// Reads are the values it may look at, in the order of the source. The slice must not
// be changed.
func (p *Program) Reads() []Read { return p.reads }

// Eval evaluates the expression. The value is plain (see [Plain]); lists and objects may
// be shared with values and must not be changed. The error is an *[Error] whose place
// is in the source.
func (p *Program) Eval(values Values) (any, error) {
	f := frame{values: values, left: maxCost}
	v, err := p.run(&f)
	if err != nil {
		return nil, p.placed(err)
	}
	return p.finish(v)
}

// placed gives an error of its own to the caller; one without a place is about all of
// the source.
func (p *Program) placed(err error) error {
	e, is := err.(*Error)
	if !is {
		return err
	}
	own := *e
	if own.Length == 0 {
		own.Length = len(p.source)
	}
	return &own
}

// finish makes the whole value plain; those that came from outside may not be.
func (p *Program) finish(v any) (any, error) {
	switch v.(type) {
	case []any, map[string]any:
	default:
		return v, nil
	}
	out, err := Plain(v)
	if err != nil {
		return nil, &Error{Code: CodeValue, Length: len(p.source), Message: err.Error()}
	}
	return out, nil
}

// Bool evaluates a condition. A value that is neither true nor false is an error.
func (p *Program) Bool(values Values) (bool, error) {
	v, err := p.Eval(values)
	if err != nil {
		return false, err
	}
	b, is := v.(bool)
	if !is {
		return false, &Error{Code: CodeType, Length: len(p.source),
			Message: fmt.Sprintf("a condition must be true or false, this gave %s", kindName(v))}
	}
	return b, nil
}
