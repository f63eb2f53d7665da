package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/llm/openai"
)

// sent is a request as the server got it.
type sent struct {
	header http.Header
	path   string
	length int64
	raw    []byte
	body   map[string]any
	typed  goopenai.ChatCompletionRequest
}

// send makes one request and returns what the server got.
func send(t *testing.T, req *llm.Request, change ...func(*openai.Config)) *sent {
	t.Helper()
	var got sent
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		got.raw, _ = io.ReadAll(r.Body)
		got.header, got.path, got.length = r.Header, r.URL.Path, r.ContentLength
		sse(delta(`"content":"Hi"`)+finish("stop")+doneEvent)(w, r)
	})
	if r := collect(t.Context(), newModel(t, s.URL+"/v1", change...), req); r.Err != nil {
		t.Fatal(r.Err)
	}
	if err := json.Unmarshal(got.raw, &got.body); err != nil {
		t.Fatalf("the body is not JSON: %v\n%s", err, got.raw)
	}
	if err := json.Unmarshal(got.raw, &got.typed); err != nil {
		t.Fatalf("go-openai does not understand the body: %v\n%s", err, got.raw)
	}
	if got.length != int64(len(got.raw)) {
		t.Errorf("length is %d, announced were %d", len(got.raw), got.length)
	}
	return &got
}

func wantJSON(t *testing.T, what string, got any, want string) {
	t.Helper()
	var w any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, w) {
		b, _ := json.Marshal(got)
		t.Errorf("%s is\n%s\nwant\n%s", what, b, want)
	}
}

func conversation() *frames.LLMContext {
	convo := frames.NewLLMContext("You are \"Anna\".\n<b>")
	convo.Append(
		frames.Message{Role: frames.RoleDeveloper, Text: "Ask for the size."},
		frames.Message{Role: frames.RoleUser, Text: "für 4 👋\u2028\xff", Name: "Jo Do"},
		frames.Message{Role: frames.RoleAssistant, Text: "One moment.", ToolCalls: []frames.ToolCall{
			{ID: "a", Name: "size", Args: json.RawMessage(`{"n": 4}`)},
			{ID: "b", Name: "bad.name()", Args: json.RawMessage(`{"n":`)},
		}},
		frames.Message{Role: frames.RoleTool, ToolCallID: "a", Name: "size", Text: "ok"},
		frames.Message{Role: frames.RoleTool, ToolCallID: "b", Name: "bad.name()", Text: "no such function"},
		frames.Message{Role: frames.RoleAssistant, ToolCalls: []frames.ToolCall{{ID: "c", Name: "none"}}},
		frames.Message{Role: frames.RoleTool, ToolCallID: "c", Text: ""},
		frames.Message{Role: frames.RoleAssistant},
	)
	return convo
}

func TestEveryRoleIsSent(t *testing.T) {
	got := send(t, &llm.Request{Context: conversation().Snapshot()})
	wantJSON(t, "messages", got.body["messages"], `[
		{"role":"system","content":"You are \"Anna\".\n<b>"},
		{"role":"developer","content":"Ask for the size."},
		{"role":"user","content":"für 4 👋\u2028\ufffd","name":"Jo_Do"},
		{"role":"assistant","content":"One moment.","tool_calls":[
			{"id":"a","type":"function","function":{"name":"size","arguments":"{\"n\": 4}"}},
			{"id":"b","type":"function","function":{"name":"bad_name__","arguments":"{\"invalid_arguments\":\"{\\\"n\\\":\"}"}}]},
		{"role":"tool","tool_call_id":"a","content":"ok"},
		{"role":"tool","tool_call_id":"b","content":"no such function"},
		{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"none","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"c","content":""},
		{"role":"assistant","content":""}]`)
	if got.path != "/v1/chat/completions" || got.header.Get("Authorization") != "Bearer sk-very-secret-key" {
		t.Errorf("sent to %s with %q", got.path, got.header.Get("Authorization"))
	}
	for _, field := range []string{"tools", "tool_choice", "parallel_tool_calls", "temperature", "max_tokens"} {
		if v, ok := got.body[field]; ok {
			t.Errorf("%s is %v, want none", field, v)
		}
	}
	wantJSON(t, "stream_options", got.body["stream_options"], `{"include_usage":true}`)
	wantJSON(t, "model", got.body["model"], `"test-model"`)
	wantJSON(t, "stream", got.body["stream"], `true`)
}

func TestHistoryWithoutPersonaAndPersonaWithoutHistory(t *testing.T) {
	convo := frames.NewLLMContext("")
	convo.AddUserMessage("hello")
	got := send(t, &llm.Request{Context: convo.Snapshot()})
	wantJSON(t, "messages", got.body["messages"], `[{"role":"user","content":"hello"}]`)
	got = send(t, &llm.Request{Context: frames.NewLLMContext("Greet.").Snapshot()})
	wantJSON(t, "messages", got.body["messages"], `[{"role":"system","content":"Greet."}]`)
}

func TestOddArgumentsInTheHistoryBecomeObjects(t *testing.T) {
	for args, want := range map[string]string{
		``: `{}`, ` `: `{}`, `{}`: `{}`, `null`: `{"invalid_arguments":"null"}`, `[1]`: `{"invalid_arguments":"[1]"}`,
		`{"a":1}{"a":1}`: `{"invalid_arguments":"{\"a\":1}{\"a\":1}"}`, `{"a":"é"}`: `{"a":"é"}`,
	} {
		convo := frames.NewLLMContext("")
		convo.Append(frames.Message{Role: frames.RoleAssistant, ToolCalls: []frames.ToolCall{{ID: "a", Name: "f", Args: []byte(args)}}})
		got := send(t, &llm.Request{Context: convo.Snapshot()}).typed.Messages[0].ToolCalls[0].Function.Arguments
		if got != want {
			t.Errorf("arguments %q were sent as %s, want %s", args, got, want)
		}
	}
}

func TestToolsAndChoiceAreSent(t *testing.T) {
	tools := frames.NewToolset(
		frames.Tool{Name: "book", Description: "Books.", Parameters: []byte(`{"type":"object","properties":{"n":{"type":"integer"}}}`), Examples: []string{"a table"}, Binding: 7},
		frames.Tool{Name: "leave"},
	)
	for choice, want := range map[frames.ToolChoice]string{
		"":                        `null`,
		frames.ToolChoiceAuto:     `null`,
		frames.ToolChoiceNone:     `"none"`,
		frames.ToolChoiceRequired: `"required"`,
		"leave":                   `{"type":"function","function":{"name":"leave"}}`,
	} {
		req := ask("hello")
		req.Context.Tools, req.Context.Choice = tools, choice
		parallel := choice == "leave"
		got := send(t, req, func(c *openai.Config) { c.ParallelToolCalls = &parallel })
		wantJSON(t, "tools", got.body["tools"], `[
			{"type":"function","function":{"name":"book","description":"Books.","parameters":{"type":"object","properties":{"n":{"type":"integer"}}}}},
			{"type":"function","function":{"name":"leave","parameters":{"type":"object","properties":{}}}}]`)
		wantJSON(t, "tool_choice", got.body["tool_choice"], want)
		if got.body["parallel_tool_calls"] != parallel {
			t.Errorf("parallel_tool_calls is %v", got.body["parallel_tool_calls"])
		}
	}
	t.Run("not without tools", func(t *testing.T) {
		parallel := true
		req := ask("hello")
		req.Context.Choice = frames.ToolChoiceRequired
		got := send(t, req, func(c *openai.Config) { c.ParallelToolCalls = &parallel })
		if got.body["tool_choice"] != nil || got.body["parallel_tool_calls"] != nil {
			t.Errorf("sent %s", got.raw)
		}
	})
}

func TestOptionsAreSent(t *testing.T) {
	cold, hot := 0.0, 1.25
	req := func() *llm.Request {
		return &llm.Request{Context: conversation().Snapshot(), SessionID: "s-1\""}
	}
	t.Run("none by default", func(t *testing.T) {
		got := send(t, req())
		if strings.Contains(string(got.raw), "s-1") {
			t.Error("the session's id was sent")
		}
	})
	t.Run("of the configuration", func(t *testing.T) {
		got := send(t, req(), func(c *openai.Config) {
			c.Temperature, c.MaxTokens, c.SessionField, c.DeveloperAsSystem, c.NoUsage = &cold, 300, "prompt_cache_key", true, true
			c.Extra = map[string]any{"reasoning_effort": "low", "seed": 7, "nested": map[string]any{"a": []int{1}}}
			c.Headers = map[string]string{"openai-project": "p1", "User-Agent": "mine"}
		})
		wantJSON(t, "temperature", got.body["temperature"], `0`)
		wantJSON(t, "max_tokens", got.body["max_tokens"], `300`)
		wantJSON(t, "prompt_cache_key", got.body["prompt_cache_key"], `"s-1\""`)
		wantJSON(t, "reasoning_effort", got.body["reasoning_effort"], `"low"`)
		wantJSON(t, "nested", got.body["nested"], `{"a":[1]}`)
		wantJSON(t, "stream_options", got.body["stream_options"], `null`)
		if role := got.typed.Messages[1].Role; role != "system" {
			t.Errorf("the developer message's role is %q", role)
		}
		if got.header.Get("OpenAI-Project") != "p1" || got.header.Get("User-Agent") != "mine" {
			t.Errorf("headers are %v", got.header)
		}
	})
	t.Run("of the request first", func(t *testing.T) {
		r := req()
		r.Temperature, r.MaxTokens = &hot, 20
		got := send(t, r, func(c *openai.Config) {
			c.Temperature, c.MaxTokens, c.MaxTokensField = &cold, 300, openai.FieldMaxCompletionTokens
			c.Extra = map[string]any{"stream_options": map[string]any{"include_usage": true, "include_obfuscation": false}}
			c.APIKey, c.Headers = "", map[string]string{"Api-Key": "another-secret"}
		})
		wantJSON(t, "temperature", got.body["temperature"], `1.25`)
		wantJSON(t, "max_completion_tokens", got.body["max_completion_tokens"], `20`)
		wantJSON(t, "stream_options", got.body["stream_options"], `{"include_usage":true,"include_obfuscation":false}`)
		if got.header.Get("Api-Key") != "another-secret" || got.header.Get("Authorization") != "" {
			t.Errorf("headers are %v", got.header)
		}
	})
}

func TestCostOfARequestDoesNotGrowWithItsMessages(t *testing.T) {
	m := newModel(t, "http://fake.test", withTransport(&wireFake{pieces: []string{delta(`"content":"Hi"`) + finish("stop")}, err: io.EOF}))
	allocations := func(messages int) float64 {
		convo := longConversation(messages)
		return testing.AllocsPerRun(20, func() { collect(t.Context(), m, &llm.Request{Context: convo.Snapshot()}) })
	}
	if few, many := allocations(10), allocations(1000); many > few+10 {
		t.Errorf("%v allocations with 10 messages, %v with 1,000", few, many)
	}
}
