// Package graph holds flows as data: the types, reading them from YAML and JSON, checking
// them, and drawing them.
//
// A [Flow] is a plain Go value. A flow file and a Go program that builds the same flow give
// the same value, [reflect.DeepEqual], with the same [Flow.Hash]:
//
//	set, findings := graph.Load(os.DirFS("flows"), "claim.yaml", graph.Options{})
//	findings = append(findings, graph.Check(set, graph.CheckOptions{})...)
//
// Conditions and templates are kept as they are written; flows/expr compiles them. Where
// something stands in a file is not part of the flow: a [Set] knows it by its [Path], so
// that a [Finding] about a flow built in Go still says which node and key it means.
//
// [Flow.Document] is the flow as JSON with the keys of flow files, which is what runs are
// made of and what the hash is of.
package graph
