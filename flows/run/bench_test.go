package run_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/turnwise/turnwise/flows/run"
)

// BenchmarkAdvance advances a run that has come through fifty nodes by a function call
// that saves a field and leads on.
func BenchmarkAdvance(b *testing.B) {
	var source strings.Builder
	source.WriteString("turnwise: 1\nflow: long\nstate: {n: {type: integer, default: 0}")
	for i := range 10 {
		fmt.Fprintf(&source, ", f%d: {type: string, default: text}", i)
	}
	source.WriteString("}\nstart: n0\nnodes:\n")
	for i := range 50 {
		fmt.Fprintf(&source, "  n%d: {task: Talk., functions: {go: {description: Go., save: {n: '{{ state.n + 1 }}'}, next: [{when: state.n < 0, to: n0}, {to: n%d}]}}}\n", i, (i+1)%50)
	}
	h := start(b, source.String(), run.Start{}, nil)
	in := h.input(nil)
	r := h.run
	for i := range 50 {
		in.Responses[0] = run.FunctionCall{ID: fmt.Sprint(i), Name: "go"}
		next, _, err := h.plan.Advance(r, in)
		if err != nil {
			b.Fatal(err)
		}
		r = next
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := h.plan.Advance(r, in); err != nil {
			b.Fatal(err)
		}
	}
}
