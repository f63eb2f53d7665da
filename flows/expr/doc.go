// Package expr evaluates the conditions and templates of flow files.
//
// The language is that of github.com/expr-lang/expr: its parser reads what is
// written here. Where that language is lenient this package is not:
//
//   - A name that does not exist, a field a schema does not know, a comparison of
//     things that can never be equal, an argument of the wrong type are errors when
//     the expression is compiled, as far as [Scope] tells the types.
//   - A missing value is an error and not nil, unless ?? or default(…) gives one. Both
//     look through any depth: state.parcel.owner.name ?? "nobody" also holds when
//     there is no parcel.
//   - Integers are int64 and stay integers, also out of JSON; what overflows is an
//     error. Only / makes a fraction, and dividing by zero is an error.
//   - 90 is not "90", and there is no comparing "vip" with 3.
//   - There are no loops, no predicates, no variables, no methods, and no functions
//     but those of this package ([Functions]); what an expression may cost is bounded.
//     Nothing outside [Values] can be reached or changed.
//
// Compile once, evaluate often:
//
//	scope := expr.NewScope(map[string]expr.Type{"state": expr.Object(map[string]expr.Type{"age": expr.Int()})})
//	adult, err := expr.Compile("state.age >= 18", scope)
//	…
//	yes, err := adult.Bool(expr.Map{"state": map[string]any{"age": int64(36)}})
//
// [ParseTemplate] reads text with {{ expressions }} in it. Text that is exactly one
// {{ expression }} keeps the type of its value.
//
// A [Program], a [Template], a [Type] and a [Scope] never change once they are made and
// may be used from any goroutine.
package expr
