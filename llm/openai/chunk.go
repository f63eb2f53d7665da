package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/turnwise/turnwise/frames"
)

// event is what is read of one event of a response. Servers differ in much of
// the rest, so nothing else is looked at, and a field of an unexpected type
// counts as missing.
type event struct {
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Index        int    `json:"index"`
	Delta        delta  `json:"delta"`
	FinishReason string `json:"finish_reason"`
}

type delta struct {
	Content          any        `json:"content"`
	Refusal          string     `json:"refusal"`
	ToolCalls        []fragment `json:"tool_calls"`
	Reasoning        string     `json:"reasoning"`
	ReasoningContent string     `json:"reasoning_content"`
}

// fragment is a piece of a call.
type fragment struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

type usage struct {
	PromptTokens        int `json:"prompt_tokens"`
	CompletionTokens    int `json:"completion_tokens"`
	TotalTokens         int `json:"total_tokens"`
	PromptTokensDetails struct {
		CachedTokens int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionTokensDetails struct {
		ReasoningTokens int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// errMalformed is wrapped when an event is not what the protocol says.
var errMalformed = errors.New("the server's stream is malformed")

// decode reads an event.
func decode(raw []byte) (*event, error) {
	e := &event{}
	err := json.Unmarshal(raw, e)
	var unexpected *json.UnmarshalTypeError
	if errors.As(err, &unexpected) && unexpected.Field != "" {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: an event is not a JSON object: %w", errMalformed, err)
	}
	return e, nil
}

// failure is the error object in the event, nil without one.
func (e *event) failure() json.RawMessage {
	switch string(e.Error) {
	case "", "null", "{}", `""`, "false":
		return nil
	}
	return e.Error
}

// first is the choice that is listened to, nil without one.
func (e *event) first() *choice {
	for i := range e.Choices {
		if e.Choices[i].Index == 0 {
			return &e.Choices[i]
		}
	}
	return nil
}

// text is what the user gets. A refusal is an answer too.
func (d *delta) text() string {
	text, ok := d.Content.(string)
	if !ok {
		text = partsText(d.Content)
	}
	return text + d.Refusal
}

// busy reports whether the model works on something that is not text.
func (d *delta) busy() bool {
	return len(d.ToolCalls) > 0 || d.Reasoning != "" || d.ReasoningContent != ""
}

// partsText is the text of a content that is a list of parts.
func partsText(content any) string {
	parts, _ := content.([]any)
	var b strings.Builder
	for _, p := range parts {
		part, _ := p.(map[string]any)
		if part["type"] == "text" {
			text, _ := part["text"].(string)
			b.WriteString(text)
		}
	}
	return b.String()
}

// arguments are the fragment's: usually a string with a piece of JSON, from some
// servers the whole object.
func (f *fragment) arguments() []byte {
	raw := f.Function.Arguments
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if raw[0] != '"' {
		return raw
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return nil
	}
	return []byte(text)
}

// count is the usage, nil when there is none in it.
func (u *usage) count() *frames.TokenUsage {
	if u == nil || *u == (usage{}) {
		return nil
	}
	total := u.TotalTokens
	if total == 0 {
		total = u.PromptTokens + u.CompletionTokens
	}
	return &frames.TokenUsage{
		Prompt: u.PromptTokens, Completion: u.CompletionTokens, Total: total,
		CachedPrompt: u.PromptTokensDetails.CachedTokens, Reasoning: u.CompletionTokensDetails.ReasoningTokens,
	}
}
