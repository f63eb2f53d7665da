package offline

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
)

// chatRequest is the body of a chat completion, as far as it is used.
type chatRequest struct {
	Model         string          `json:"model"`
	Messages      []chatMessage   `json:"messages"`
	Tools         []chatTool      `json:"tools"`
	ToolChoice    json.RawMessage `json:"tool_choice"`
	Parallel      *bool           `json:"parallel_tool_calls"`
	Stream        bool            `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Temperature         *float64 `json:"temperature"`
	MaxTokens           int      `json:"max_tokens"`
	MaxCompletionTokens int      `json:"max_completion_tokens"`
	N                   int      `json:"n"`
	User                string   `json:"user"`
}

type chatMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	Name       string          `json:"name"`
	ToolCalls  []chatCall      `json:"tool_calls"`
	ToolCallID string          `json:"tool_call_id"`
}

type chatCall struct {
	Index    *int         `json:"index,omitempty"`
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

type chatTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// invalid is a request that cannot be served; param names the part of it.
type invalid struct{ param, what string }

func (e *invalid) Error() string { return e.what }

// request turns a body into what the model takes.
func (c *chatRequest) request() (*llm.Request, error) {
	if len(c.Messages) == 0 {
		return nil, &invalid{"messages", "messages must hold at least one message"}
	}
	if c.N > 1 {
		return nil, &invalid{"n", "only one choice is supported; n must be 1"}
	}
	if c.MaxTokens < 0 {
		return nil, &invalid{"max_tokens", "max_tokens must not be negative"}
	}
	if c.MaxCompletionTokens < 0 {
		return nil, &invalid{"max_completion_tokens", "max_completion_tokens must not be negative"}
	}
	convo := frames.NewLLMContext("")
	messages, err := c.history(convo)
	if err != nil {
		return nil, err
	}
	tools, err := c.tools()
	if err != nil {
		return nil, err
	}
	choice, err := c.choice(tools)
	if err != nil {
		return nil, err
	}
	convo.Apply(frames.ContextUpdate{Append: messages, Tools: tools, Choice: &choice})
	return &llm.Request{
		Context: convo.Snapshot(), SessionID: c.User, Temperature: c.Temperature, MaxTokens: max(c.MaxTokens, c.MaxCompletionTokens),
	}, nil
}

// history reads the messages; a system message at their head is the persona.
func (c *chatRequest) history(convo *frames.LLMContext) ([]frames.Message, error) {
	out := make([]frames.Message, 0, len(c.Messages))
	names := map[string]string{}
	for i := range c.Messages {
		m := &c.Messages[i]
		text, err := contentOf(m.Content)
		if err != nil {
			return nil, &invalid{fmt.Sprintf("messages[%d].content", i), err.Error()}
		}
		msg := frames.Message{Role: frames.Role(m.Role), Text: text, Name: m.Name, ToolCallID: m.ToolCallID}
		switch msg.Role {
		case frames.RoleSystem:
			if i == 0 {
				convo.SetSystem(text)
				continue
			}
		case frames.RoleAssistant:
			for _, call := range m.ToolCalls {
				names[call.ID] = call.Function.Name
				msg.ToolCalls = append(msg.ToolCalls, frames.ToolCall{ID: call.ID, Name: call.Function.Name, Args: json.RawMessage(call.Function.Arguments)})
			}
		case frames.RoleTool:
			if _, ok := names[m.ToolCallID]; !ok {
				return nil, &invalid{fmt.Sprintf("messages[%d].tool_call_id", i), "a message with role tool must answer a tool call of an assistant message before it"}
			}
			msg.Name = names[m.ToolCallID]
		case frames.RoleDeveloper, frames.RoleUser:
		default:
			return nil, &invalid{fmt.Sprintf("messages[%d].role", i), fmt.Sprintf("%q is not a role; use system, developer, user, assistant or tool", m.Role)}
		}
		out = append(out, msg)
	}
	return out, nil
}

// contentOf reads content that is text, null, or a list of parts of which the
// texts count.
func contentOf(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return "", errors.New("content must be a string or a list of parts")
	}
	var b strings.Builder
	for _, p := range parts {
		if p.Type != "text" {
			return "", fmt.Errorf("parts of type %q are not understood by a model of text", p.Type)
		}
		b.WriteString(p.Text)
	}
	return b.String(), nil
}

// maxTools is as many tools as the API allows.
const maxTools = 128

func (c *chatRequest) tools() (*frames.Toolset, error) {
	if len(c.Tools) > maxTools {
		return nil, &invalid{"tools", fmt.Sprintf("at most %d tools are allowed", maxTools)}
	}
	tools := make([]frames.Tool, 0, len(c.Tools))
	for i := range c.Tools {
		t := &c.Tools[i]
		switch {
		case t.Type != "function":
			return nil, &invalid{fmt.Sprintf("tools[%d].type", i), "only tools of type function are supported"}
		case t.Function.Name == "":
			return nil, &invalid{fmt.Sprintf("tools[%d].function.name", i), "a function needs a name"}
		}
		tools = append(tools, frames.Tool{Name: t.Function.Name, Description: t.Function.Description, Parameters: t.Function.Parameters})
	}
	return frames.NewToolset(tools...), nil
}

func (c *chatRequest) choice(tools *frames.Toolset) (frames.ToolChoice, error) {
	if len(c.ToolChoice) == 0 || string(c.ToolChoice) == "null" {
		return frames.ToolChoiceAuto, nil
	}
	var word string
	if json.Unmarshal(c.ToolChoice, &word) == nil {
		switch choice := frames.ToolChoice(word); choice {
		case frames.ToolChoiceAuto, frames.ToolChoiceNone, frames.ToolChoiceRequired:
			return choice, nil
		}
		return "", &invalid{"tool_choice", "tool_choice must be none, auto, required or name a function"}
	}
	var named chatTool
	if json.Unmarshal(c.ToolChoice, &named) != nil {
		return "", &invalid{"tool_choice", "tool_choice must be a string or an object"}
	}
	if _, ok := tools.Lookup(named.Function.Name); !ok {
		return "", &invalid{"tool_choice", fmt.Sprintf("tool_choice names %q, which is not among the tools", named.Function.Name)}
	}
	return frames.ToolChoice(named.Function.Name), nil
}
