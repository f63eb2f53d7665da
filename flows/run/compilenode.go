package run

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/turnwise/turnwise/flows/expr"
)

// tool compiles a tool.
func (c *compiler) tool(name string, d *docTool) *tool {
	t := &tool{name: name, description: d.Description, permissions: d.Permissions, risk: d.Risk, timeout: time.Duration(d.Timeout), retry: d.Retry.compile(), idempotent: d.Idempotent,
		effect: !d.ReadOnly && (d.HTTP == nil || d.HTTP.Method != "" && !strings.EqualFold(d.HTTP.Method, "GET") && !strings.EqualFold(d.HTTP.Method, "HEAD"))}
	if d.MCP != nil {
		return t // the server knows what it takes
	}
	t.parameters = object(d.Parameters)
	t.check = c.schema("tool "+name, t.parameters)
	return t
}

// compile is the retry as the reducer uses it.
func (d docRetry) compile() retry {
	return retry{attempts: d.MaxAttempts, delay: time.Duration(d.Delay), longest: time.Duration(d.MaxDelay), backoff: d.Backoff, on: d.On}
}

// object is the schema of an object with these properties; all are required but those
// that say optional.
func object(properties map[string]json.RawMessage) json.RawMessage {
	required := []string{}
	for _, name := range sorted(properties) {
		var p struct {
			Optional bool `json:"optional"`
		}
		if json.Unmarshal(properties[name], &p) == nil && !p.Optional {
			required = append(required, name)
		}
	}
	if properties == nil {
		properties = map[string]json.RawMessage{}
	}
	raw, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false})
	if err != nil {
		return nil
	}
	return raw
}

// parameters resolves references to the flow's state within parameters.
func parameters(doc *docFlow, properties map[string]json.RawMessage) json.RawMessage {
	resolved := map[string]json.RawMessage{}
	for name, raw := range properties {
		var ref struct {
			Ref string `json:"$ref"`
		}
		if json.Unmarshal(raw, &ref) == nil {
			if field, is := strings.CutPrefix(ref.Ref, "#/state/"); is && doc.State[field] != nil {
				raw = doc.State[field]
			}
		}
		resolved[name] = raw
	}
	return object(resolved)
}

// callOf compiles a call of a tool; what it does not say itself is the tool's.
func (c *compiler) callOf(f *flow, name string, args map[string]any, timeout time.Duration, again retry) *callOf {
	t := f.tools[name]
	if server, _, dotted := strings.Cut(name, "."); t == nil && dotted && slices.Contains(f.servers, server) {
		t = &tool{name: name, effect: true}
		f.tools[name] = t
	}
	if t == nil {
		c.errorf("there is no tool %q", name)
		t = &tool{}
	}
	if again.attempts == 0 {
		again = t.retry
	}
	return &callOf{tool: name, args: c.assignments(args), timeout: cmp.Or(timeout, t.timeout), retry: again, effect: t.effect}
}

// function compiles a function.
func (c *compiler) function(f *flow, doc *docFlow, name string, d *docFunction) *function {
	fn := &function{name: name, description: d.Description, examples: d.Examples, save: c.assignments(d.Save), result: c.tree(d.Result), next: c.edges(d.Next),
		visit: d.Visit, clear: d.Clear, correct: d.Correct, filler: c.text(d.Filler), quietReply: d.Respond == "none"}
	fn.raw = parameters(doc, d.Parameters)
	fn.parameters = c.schema("function "+name, fn.raw)
	if d.Call != "" {
		fn.call = c.callOf(f, d.Call, d.Args, time.Duration(d.Timeout), retry{})
	}
	return fn
}

// node compiles a node.
func (c *compiler) node(f *flow, doc *docFlow, name string, d *docNode) *node {
	n := &node{name: name, title: d.Title, flow: f, persona: c.text(d.Persona), say: c.text(d.Say), task: c.text(string(d.Task)), next: c.edges(d.Next), onError: d.OnError,
		maxVisits: d.MaxVisits, onMaxVisits: d.OnMaxVisits, tools: d.Tools, collect: d.Collect, attempts: d.Attempts, onAttempts: d.OnAttempts, save: c.assignments(d.Save),
		silence: c.silences(d.Silence), use: d.Use, input: c.assignments(d.Input)}
	for _, fn := range sorted(d.Functions) {
		one := d.Functions[fn]
		n.functions = append(n.functions, c.function(f, doc, fn, &one))
	}
	for _, check := range d.Check {
		n.checks = append(n.checks, docCheckOf(c, check))
	}
	for _, phrase := range d.Closure {
		n.closure = append(n.closure, normalise(phrase))
	}
	if d.OutOfScope != nil {
		n.scope = &scopeOf{about: d.OutOfScope.About, to: d.OutOfScope.To}
	}
	if d.Require != nil {
		n.require = &requirement{when: c.condition(d.Require.When), to: d.Require.Else}
	}
	if d.Meanwhile != nil {
		n.meanwhile, n.hold = d.Meanwhile.Talk, c.text(d.Meanwhile.Say)
	}
	c.kind(f, doc, n, d)
	return n
}

// docCheckOf compiles a check.
func docCheckOf(c *compiler, d docCheck) check {
	return check{when: c.condition(d.When), say: c.text(d.Say)}
}

// kind finds out the node's kind and compiles what belongs to it.
func (c *compiler) kind(f *flow, doc *docFlow, n *node, d *docNode) {
	switch {
	case len(d.Collect) > 0:
		n.kind = kindCollect
	case d.FollowUp != "":
		n.kind, n.task = kindFollowUp, c.text(d.FollowUp)
	case d.Call != "":
		n.kind = kindCall
		n.call = c.callOf(f, d.Call, d.Args, time.Duration(d.Timeout), d.Retry.compile())
		c.callNode(f, n, d)
	case d.Agent != nil:
		n.kind = kindAgent
		n.call = &callOf{prompt: c.text(d.Agent.Prompt), args: c.assignments(d.Agent.Input), outputRaw: d.Agent.Output, output: c.schema("output", d.Agent.Output),
			timeout: time.Duration(d.Timeout), retry: d.Retry.compile()}
	case d.Set != nil:
		n.kind, n.save = kindSet, c.assignments(d.Set)
	case d.Branch != nil:
		n.kind, n.next = kindBranch, c.edges(d.Branch)
	case d.Human != nil:
		n.kind = kindHuman
		c.human(n, d)
	case d.Parallel != nil:
		c.parallel(f, doc, n, d.Parallel)
	case d.Loop != nil:
		c.loop(f, doc, n, d.Loop)
	case d.Use != "":
		n.kind = kindUse
	case d.End != nil:
		n.kind = kindEnd
		n.finish = &finish{outcome: d.End.Outcome, success: d.End.Success == nil || *d.End.Success, say: c.text(d.End.Say), value: c.tree(d.End.Value)}
	case c.customKind(f, n):
		n.kind = kindCustom
	case d.Task != "" || len(d.Functions) > 0:
		n.kind = kindTalk
	case d.Say != "":
		n.kind = kindSay
	default:
		c.errorf("it is of no kind that can be run")
	}
}

// callNode compiles what only nodes that call have.
func (c *compiler) callNode(f *flow, n *node, d *docNode) {
	n.call.async = d.Async
	if d.Async {
		n.wait = &waitOf{kind: InterruptCallback, audience: AudienceHost, raw: d.Answer, deadline: time.Duration(d.Deadline), onTimeout: d.OnTimeout}
		n.wait.schema = c.schema("answer", d.Answer)
		n.wait.initial, n.wait.hasInitial = c.value(d.Default)
	}
	if d.Undo != nil {
		n.call.undo = c.callOf(f, d.Undo.Call, d.Undo.Args, time.Duration(d.Undo.Timeout), retry{})
	}
	if d.Confirm == nil || d.Confirm.When == "never" {
		return
	}
	t := f.tools[d.Call]
	if d.Confirm.When == "risk" && (t == nil || t.risk != "high") {
		return
	}
	by := d.Confirm.By
	if by == "" {
		by = AudienceUser
	}
	n.call.confirm = &confirm{by: by, say: c.text(d.Confirm.Say), onRefuse: d.OnRefuse}
}

// human compiles a wait for a person.
func (c *compiler) human(n *node, d *docNode) {
	h := d.Human
	form := h.Form
	if len(form) == 0 && len(h.Options) > 0 {
		if raw, err := json.Marshal(map[string]any{"enum": h.Options}); err == nil {
			form = raw
		}
	}
	ask := h.Ask
	if ask == "" {
		ask = AudienceOperator
	}
	n.wait = &waitOf{kind: InterruptForm, audience: ask, title: c.text(h.Title), raw: form, schema: c.schema("form", form),
		deadline: time.Duration(cmp.Or(h.Deadline, d.Deadline)), onTimeout: d.OnTimeout}
	n.wait.initial, n.wait.hasInitial = c.value(h.Default)
}

// customKind looks for the key of a custom kind.
func (c *compiler) customKind(f *flow, n *node) bool {
	keys := c.raw[f.name][n.name]
	for _, key := range sorted(c.kinds) {
		config, has := keys[key]
		if !has {
			continue
		}
		plain, err := expr.Plain(config)
		if err != nil {
			c.errorf("%w", err)
		}
		n.custom = c.kinds[key]
		if object, is := plain.(map[string]any); is {
			n.config = object
		} else {
			n.config = map[string]any{key: plain}
		}
		return true
	}
	return false
}
