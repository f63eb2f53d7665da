package expr

import (
	"errors"
	"strings"
)

// Code is the class of an [Error]. Codes are stable: programs may switch on them.
type Code string

// The classes of errors. Those up to CodeLimit are found when an expression is
// compiled; CodeMissing, CodeType, CodeValue and CodeLimit also when it is evaluated.
const (
	CodeSyntax      Code = "syntax"      // it cannot be read
	CodeTemplate    Code = "template"    // a {{ without }}, or nothing between them
	CodeUnsupported Code = "unsupported" // a part of the language that flows do not have: loops, variables, methods
	CodeName        Code = "name"        // a name that does not exist here
	CodeField       Code = "field"       // a field the schema does not know
	CodeFunction    Code = "function"    // a function that does not exist
	CodeArguments   Code = "arguments"   // too few or too many arguments
	CodeType        Code = "type"        // a value of the wrong type
	CodeValue       Code = "value"       // a value out of range: overflow, division by zero, a broken pattern
	CodeMissing     Code = "missing"     // a value that is not there, and no ?? or default
	CodeLimit       Code = "limit"       // too long, too deep, or too costly
)

// Error tells what is wrong with an expression or a template, and where.
type Error struct {
	Code    Code
	Offset  int    // where in the source, in bytes
	Length  int    // how far it reaches, in bytes; at least 1 within a source that is not empty
	Message string // what is wrong, as part of a sentence: no capital, no full stop
	Hint    string // what to do about it; may be empty
}

// Error is the message, with the hint when there is one.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + " (" + e.Hint + ")"
}

// Errors are all the mistakes found in one source, in the order of their places. It is
// what [Compile] and [ParseTemplate] fail with.
type Errors []*Error

// Error lists the messages.
func (e Errors) Error() string {
	all := make([]string, len(e))
	for i, one := range e {
		all[i] = one.Error()
	}
	return strings.Join(all, "; ")
}

// Unwrap lets errors.As find the first *Error.
func (e Errors) Unwrap() []error {
	all := make([]error, len(e))
	for i, one := range e {
		all[i] = one
	}
	return all
}

// All gives the mistakes within err, also when it is a single [Error]; none when err
// is nil or does not come from this package.
func All(err error) []*Error {
	var many Errors
	if errors.As(err, &many) {
		return many
	}
	var one *Error
	if errors.As(err, &one) {
		return []*Error{one}
	}
	return nil
}
