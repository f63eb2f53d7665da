package run

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/turnwise/turnwise/flows/expr"
	"github.com/turnwise/turnwise/internal/schema"
)

// Options are what a program adds to a flow.
type Options struct {
	// Kinds are custom node kinds, by the key that makes them in a flow.
	Kinds map[string]Kind
}

// Compile makes a plan of a flow: a JSON document with the keys of flow files. It fails
// on what cannot be run, with all the places; it is no substitute for checking a flow.
func Compile(document []byte, o Options) (*Plan, error) {
	var doc docFlow
	if err := decode(document, &doc); err != nil {
		return nil, fmt.Errorf("run: reading the flow: %w", err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, document); err != nil {
		return nil, fmt.Errorf("run: reading the flow: %w", err)
	}
	sum := sha256.Sum256(compact.Bytes())
	p := &Plan{flows: map[string]*flow{}, hash: hex.EncodeToString(sum[:])}
	c := &compiler{plan: p, kinds: o.Kinds, raw: rawNodes(document)}
	p.main = c.flow(doc.Flow, &doc)
	for _, name := range sorted(doc.Flows) {
		one := doc.Flows[name]
		f := c.flow(name, &one)
		if p.main.name == "" {
			p.main = f
		}
	}
	for _, name := range sorted(p.flows) {
		c.finish(p.flows[name])
	}
	if len(p.flows) == 0 {
		c.errorf("there is no flow")
	}
	return p, errors.Join(c.errs...)
}

// rawNodes gives the nodes of each flow undecoded, for the keys of custom kinds.
func rawNodes(document []byte) map[string]map[string]map[string]any {
	type nodes struct {
		Flow  string                    `json:"flow"`
		Nodes map[string]map[string]any `json:"nodes"`
	}
	var all struct {
		nodes
		Flows map[string]nodes `json:"flows"`
	}
	out := map[string]map[string]map[string]any{}
	if decode(document, &all) == nil {
		out[all.Flow] = all.nodes.Nodes
		for name, f := range all.Flows {
			out[name] = f.Nodes
		}
	}
	return out
}

// compiler collects what is wrong with a document.
type compiler struct {
	plan  *Plan
	kinds map[string]Kind
	raw   map[string]map[string]map[string]any
	scope expr.Scope
	where string
	errs  []error
}

// errorf notes a fault at the place being read.
func (c *compiler) errorf(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("run: %s: %w", c.where, fmt.Errorf(format, args...)))
}

// flow compiles one flow.
func (c *compiler) flow(name string, doc *docFlow) *flow {
	c.where = "flow " + name
	f := &flow{name: name, version: doc.Version, start: doc.Start, onError: doc.OnError, corrections: doc.Corrections,
		abandon: time.Duration(doc.Abandon), nodes: map[string]*node{}, askers: map[string][]*node{}, tools: map[string]*tool{}, state: map[string]*field{}, inputs: map[string]*field{}}
	if len(doc.Nodes) == 0 {
		return f
	}
	c.plan.flows[name] = f
	if f.corrections == "" {
		f.corrections = correctDependency
	}
	depends := map[string][]string{}
	for n, raw := range doc.State {
		f.state[n], depends[n] = c.field(n, raw)
	}
	for n, raw := range doc.Inputs {
		f.inputs[n], _ = c.field(n, raw)
	}
	f.dependents = transitive(depends)
	c.scope = openScope()
	f.persona, f.greet, f.welcomeBack, f.key = c.text(doc.Persona), c.text(doc.Greet), c.text(doc.WelcomeBack), c.text(doc.Key)
	f.silence = c.silences(doc.Silence)
	if doc.Policy != nil {
		f.allow = map[string]bool{}
		for _, t := range doc.Policy.Allow {
			f.allow[t] = true
		}
	}
	for n, t := range doc.Tools {
		if t.MCP == nil {
			f.tools[n] = c.tool(n, &t)
			continue
		}
		f.servers = append(f.servers, n)
		for _, one := range t.MCP.Allow {
			f.tools[n+"."+one] = c.tool(n+"."+one, &t)
		}
	}
	for _, n := range sorted(doc.Functions) {
		d := doc.Functions[n]
		f.functions = append(f.functions, c.function(f, doc, n, &d))
	}
	for _, n := range sorted(doc.Nodes) {
		c.where = "flow " + name + ", node " + n
		d := doc.Nodes[n]
		f.nodes[n] = c.node(f, doc, n, &d)
	}
	return f
}

// openScope has every name, of any type: types are the business of checking a flow.
func openScope() expr.Scope {
	names := map[string]expr.Type{}
	for _, n := range []string{"state", "inputs", "args", "result", "answer", "nodes", "visits", "outcome", "item", "user", "callback", "now", "env", "error", "node"} {
		names[n] = expr.Any()
	}
	return expr.NewScope(names)
}

// transitive turns what each field depends on into what depends on each field, also
// through others.
func transitive(depends map[string][]string) map[string][]string {
	out := map[string][]string{}
	for _, from := range sorted(depends) {
		seen := map[string]bool{from: true}
		for queue := depends[from]; len(queue) > 0; queue = queue[1:] {
			if on := queue[0]; !seen[on] {
				seen[on] = true
				out[on] = append(out[on], from)
				queue = slices.Concat(queue, depends[on])
			}
		}
	}
	return out
}

// field compiles a variable.
func (c *compiler) field(name string, raw json.RawMessage) (*field, []string) {
	var d docField
	if err := json.Unmarshal(raw, &d); err != nil {
		c.errorf("field %s: %w", name, err)
		return &field{name: name}, nil
	}
	f := &field{name: name, raw: raw, description: d.Description, sensitive: d.Sensitive, locked: d.Correct != nil && !*d.Correct}
	f.schema = c.schema("field "+name, raw)
	if len(d.Default) > 0 {
		v, err := expr.Decode(d.Default)
		if err != nil {
			c.errorf("field %s: %w", name, err)
		}
		f.initial, f.hasInitial = v, true
	}
	return f, d.DependsOn
}

// schema compiles a schema, nil when there is none.
func (c *compiler) schema(what string, raw json.RawMessage) *schema.Schema {
	if len(raw) == 0 {
		return nil
	}
	s, err := schema.Compile(raw)
	if err != nil {
		c.errorf("%s: %w", what, err)
	}
	return s
}

// text compiles a template, nil when it is empty.
func (c *compiler) text(source string) *expr.Template {
	if source == "" {
		return nil
	}
	t, err := expr.ParseTemplate(source, c.scope)
	if err != nil {
		c.errorf("%q: %w", source, err)
	}
	return t
}

// condition compiles a condition, nil when it is empty.
func (c *compiler) condition(source string) *expr.Program {
	if source == "" {
		return nil
	}
	p, err := expr.CompileCondition(source, c.scope)
	if err != nil {
		c.errorf("when %q: %w", source, err)
	}
	return p
}

// assignments compiles values by name.
func (c *compiler) assignments(values map[string]any) []assignment {
	all, err := parseAssignments(values, c.scope)
	if err != nil {
		c.errs = append(c.errs, fmt.Errorf("run: %s: %w", c.where, err))
	}
	return all
}

// tree compiles a value, nil when there is none.
func (c *compiler) tree(v any) *tree {
	if v == nil {
		return nil
	}
	t, err := parseTree(v, c.scope)
	if err != nil {
		c.errorf("%w", err)
	}
	return &t
}

// edges compiles a next.
func (c *compiler) edges(next docNext) []edge {
	var all []edge
	for _, one := range next {
		all = append(all, edge{when: c.condition(one.When), to: one.To, clear: one.Clear})
	}
	return all
}

// silences compiles steps of silence.
func (c *compiler) silences(steps []docSilence) []silence {
	var all []silence
	for _, s := range steps {
		all = append(all, silence{after: time.Duration(s.After), say: c.text(s.Say), to: s.To})
	}
	return all
}

// value decodes a value, and tells whether there is one.
func (c *compiler) value(raw json.RawMessage) (any, bool) {
	if len(raw) == 0 {
		return nil, false
	}
	v, err := expr.Decode(raw)
	if err != nil {
		c.errorf("%w", err)
	}
	return v, true
}

// finish checks that what a flow names exists.
func (c *compiler) finish(f *flow) {
	c.where = "flow " + f.name
	need := func(what, to string) {
		if to != "" && to != "back" && !leads(f, to) {
			c.errorf("%s leads to %q, which is no node", what, to)
		}
	}
	if f.nodes[f.start] == nil {
		c.errorf("start is %q, which is no node", f.start)
	}
	need("on_error", f.onError)
	all := f.functions
	if f.outer != nil {
		all = nil // they lead through the flow around
	}
	for _, name := range sorted(f.nodes) {
		n := f.nodes[name]
		for _, e := range n.next {
			need(name, e.to)
		}
		for _, to := range []string{n.onError, n.onMaxVisits, n.onAttempts, n.meanwhile} {
			need(name, to)
		}
		if n.require != nil {
			need(name, n.require.to)
		}
		if n.scope != nil {
			need(name, n.scope.to)
		}
		if n.wait != nil {
			need(name, n.wait.onTimeout)
		}
		if n.kind == kindUse && (c.plan.flows[n.use] == nil || c.plan.flows[n.use].outer != nil) {
			c.errorf("%s uses %q, which is no flow", name, n.use)
		}
		for _, field := range n.collect {
			f.askers[field] = append(f.askers[field], n)
			if f.state[field] == nil {
				c.errorf("%s collects %q, which is no field", name, field)
			}
		}
		all = append(all[:len(all):len(all)], n.functions...)
	}
	for _, d := range all {
		need("function "+d.name, d.visit)
		for _, e := range d.next {
			need("function "+d.name, e.to)
		}
	}
}
