package openai

import (
	"encoding/json"
	"strings"

	"github.com/turnwise/turnwise/frames"
)

// The wire forms. They are shared by all models, so that a conversation that
// moves from one to another is not encoded again. A message's form begins with a
// comma; the first of a body is sent without it.
var (
	wirePlain  = &frames.Encoder{Message: appendMessage, Tools: appendTools}
	wireSystem = &frames.Encoder{Message: appendMessageAsSystem, Tools: appendTools}
)

type wireMessage struct {
	Role       frames.Role `json:"role"`
	Content    *string     `json:"content"`
	Name       string      `json:"name,omitempty"`
	ToolCalls  []wireCall  `json:"tool_calls,omitempty"`
	ToolCallID string      `json:"tool_call_id,omitempty"`
}

type wireCall struct {
	ID       string           `json:"id"`
	Type     string           `json:"type"`
	Function wireCallFunction `json:"function"`
}

type wireCallFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type wireTool struct {
	Type     string       `json:"type"`
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

func appendMessage(dst []byte, m *frames.Message) []byte {
	return appendAs(dst, m, m.Role)
}

func appendMessageAsSystem(dst []byte, m *frames.Message) []byte {
	role := m.Role
	if role == frames.RoleDeveloper {
		role = frames.RoleSystem
	}
	return appendAs(dst, m, role)
}

func appendAs(dst []byte, m *frames.Message, role frames.Role) []byte {
	w := wireMessage{Role: role, Content: &m.Text}
	switch role {
	case frames.RoleAssistant:
		w.Name = wireName(m.Name)
		w.ToolCalls = wireCalls(m.ToolCalls)
		if m.Text == "" && len(w.ToolCalls) > 0 {
			w.Content = nil
		}
	case frames.RoleTool:
		w.ToolCallID = m.ToolCallID
	default:
		w.Name = wireName(m.Name)
	}
	return appendJSON(append(dst, ','), w)
}

func wireCalls(calls []frames.ToolCall) []wireCall {
	out := make([]wireCall, len(calls))
	for i, c := range calls {
		out[i] = wireCall{ID: c.ID, Type: "function", Function: wireCallFunction{
			Name: wireName(c.Name), Arguments: wireArguments(c.Args),
		}}
	}
	return out
}

// wireArguments are arguments as every server takes them in a history: an object.
func wireArguments(args json.RawMessage) string {
	var object map[string]json.RawMessage
	text := strings.TrimSpace(string(args))
	switch {
	case text == "":
		return "{}"
	case json.Unmarshal(args, &object) == nil && object != nil:
		return text
	}
	return string(appendJSON(nil, map[string]string{"invalid_arguments": text}))
}

// wireName is a name as every server takes it: 64 letters, digits, dashes and
// underscores at most. Models make up others, and a server that refuses such a
// name refuses every later request of the conversation.
func wireName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, name)
	return clean[:min(len(clean), 64)]
}

// appendTools appends the tools as a JSON array, or nothing when a schema is not
// JSON; [brokenTool] finds which.
func appendTools(dst []byte, tools []frames.Tool) []byte {
	out := make([]wireTool, len(tools))
	for i, t := range tools {
		schema := t.Parameters
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out[i] = wireTool{Type: "function", Function: wireFunction{Name: t.Name, Description: t.Description, Parameters: schema}}
	}
	return appendJSON(dst, out)
}

func brokenTool(tools []frames.Tool) string {
	for _, t := range tools {
		if len(t.Parameters) > 0 && !json.Valid(t.Parameters) {
			return t.Name
		}
	}
	return ""
}

// appendJSON appends v, or nothing when v cannot be encoded.
func appendJSON(dst []byte, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return dst
	}
	return append(dst, b...)
}
