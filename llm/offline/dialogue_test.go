package offline_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/llm/offline"
)

// wednesday is 3 June 2026, half past two in the afternoon.
func wednesday() time.Time { return time.Date(2026, time.June, 3, 14, 30, 0, 0, time.UTC) }

// node is one state of a conversation, as a flow would put it into the context.
type node struct {
	role, task string
	functions  []function
}

// function is a tool with what happens when it is called.
type function struct {
	name, description, schema string
	examples                  []string
	run                       func(args map[string]any) (result string, next string)
}

// flow is nodes by name, and functions offered at all of them.
type flow struct {
	nodes  map[string]node
	global []function
}

// dialogue is a user talking to the model along a flow.
type dialogue struct {
	t     *testing.T
	model *offline.Model
	flow  flow
	convo *frames.LLMContext
	now   node
	log   []string
}

func begin(t *testing.T, f flow, first string) *dialogue {
	d := &dialogue{t: t, model: offline.New(offline.Config{Now: wednesday}), flow: f, convo: frames.NewLLMContext("")}
	d.enter(first)
	d.respond()
	return d
}

func (d *dialogue) enter(name string) {
	n, ok := d.flow.nodes[name]
	if !ok {
		d.t.Fatalf("there is no node %q", name)
	}
	d.now = n
	var tools []frames.Tool
	for _, f := range append(append([]function{}, n.functions...), d.flow.global...) {
		tools = append(tools, frames.Tool{Name: f.name, Description: f.description, Parameters: json.RawMessage(f.schema), Examples: f.examples})
	}
	u := frames.ContextUpdate{Tools: frames.NewToolset(tools...), Append: []frames.Message{{Role: frames.RoleDeveloper, Text: n.task}}}
	if n.role != "" {
		u.System = &n.role
	}
	d.convo.Apply(u)
}

// respond lets the model speak, and runs what it calls, until it has spoken.
func (d *dialogue) respond() {
	for range 6 {
		text, calls := ask(d.t, d.model, &llm.Request{Context: d.convo.Snapshot()})
		if len(calls) == 0 {
			d.log = append(d.log, "bot: "+text)
			d.convo.AddAssistantMessage(text)
			return
		}
		d.run(calls)
	}
	d.t.Fatalf("the model does not stop calling functions:\n%s", strings.Join(d.log, "\n"))
}

func (d *dialogue) run(calls []frames.ToolCall) {
	d.convo.Append(frames.Message{Role: frames.RoleAssistant, ToolCalls: calls})
	next := ""
	for _, c := range calls {
		d.log = append(d.log, "call: "+c.Name+" "+string(c.Args))
		var args map[string]any
		if err := json.Unmarshal(c.Args, &args); err != nil {
			d.t.Fatalf("the arguments %q are no object: %v", c.Args, err)
		}
		result, to := "ok", ""
		for _, f := range append(append([]function{}, d.now.functions...), d.flow.global...) {
			if f.name == c.Name && f.run != nil {
				result, to = f.run(args)
				break
			}
		}
		if to != "" && next == "" {
			next = to
		}
		d.convo.Append(frames.Message{Role: frames.RoleTool, Name: c.Name, ToolCallID: c.ID, Text: result})
	}
	if next != "" {
		d.enter(next)
	}
}

func (d *dialogue) say(text string) *dialogue {
	d.log = append(d.log, "user: "+text)
	d.convo.AddUserMessage(text)
	d.respond()
	return d
}

// expect compares what happened, line by line.
func (d *dialogue) expect(want string) {
	d.t.Helper()
	got := strings.Join(d.log, "\n")
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(want)) {
		lines = append(lines, strings.TrimSpace(line))
	}
	if w := strings.Join(lines, "\n"); got != w {
		d.t.Errorf("the conversation went\n%s\n\nwant\n%s", got, w)
	}
}

// ask collects one response.
func ask(t testing.TB, m llm.Model, req *llm.Request) (string, []frames.ToolCall) {
	t.Helper()
	var text strings.Builder
	var calls []frames.ToolCall
	finish := ""
	for chunk, err := range m.Stream(context.Background(), req) {
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(chunk.Text)
		if chunk.Call != nil {
			calls = append(calls, *chunk.Call)
		}
		finish = chunk.Finish
	}
	if finish == "" {
		t.Fatal("the response has no end")
	}
	return text.String(), calls
}

func to(next string) func(map[string]any) (string, string) {
	return func(map[string]any) (string, string) { return "ok", next }
}

func stay(result string) func(map[string]any) (string, string) {
	return func(map[string]any) (string, string) { return result, "" }
}
