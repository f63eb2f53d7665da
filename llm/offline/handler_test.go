package offline_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	openai "github.com/sashabaranov/go-openai"

	"github.com/turnwise/turnwise/llm/offline"
)

// serve starts the handler and a client of the API.
func serve(t *testing.T) (*openai.Client, string) {
	t.Helper()
	server := httptest.NewServer(offline.Handler(offline.New(offline.Config{Now: wednesday})))
	t.Cleanup(server.Close)
	cfg := openai.DefaultConfig("no key is needed")
	cfg.BaseURL = server.URL + "/v1"
	return openai.NewClientWithConfig(cfg), server.URL
}

func chat(user string) openai.ChatCompletionRequest {
	return openai.ChatCompletionRequest{
		Model: "any",
		Messages: []openai.ChatCompletionMessage{
			{Role: openai.ChatMessageRoleSystem, Content: "Ask how many people are coming."},
			{Role: openai.ChatMessageRoleUser, Content: user},
		},
		Tools: []openai.Tool{
			{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
				Name: "record_party_size", Description: "Record the number of people in the party.",
				Parameters: json.RawMessage(`{"type":"object","properties":{"size":{"type":"integer","maximum":12}},"required":["size"]}`),
			}},
			{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{Name: "opening_hours", Description: "Tells when the restaurant is open."}},
		},
	}
}

func TestAClientGetsWordsAndCalls(t *testing.T) {
	client, _ := serve(t)
	answer, err := client.CreateChatCompletion(t.Context(), chat("hello"))
	if err != nil {
		t.Fatal(err)
	}
	if c := answer.Choices[0]; c.Message.Content != "How many people are coming?" || c.FinishReason != openai.FinishReasonStop || c.Message.Role != "assistant" {
		t.Errorf("the answer is %+v", c)
	}
	if answer.Usage.TotalTokens == 0 || answer.Usage.TotalTokens != answer.Usage.PromptTokens+answer.Usage.CompletionTokens {
		t.Errorf("the usage is %+v", answer.Usage)
	}
	answer, err = client.CreateChatCompletion(t.Context(), chat("four, and what are your opening hours?"))
	if err != nil {
		t.Fatal(err)
	}
	calls := answer.Choices[0].Message.ToolCalls
	if len(calls) != 2 || calls[0].Function.Name != "record_party_size" || calls[0].Function.Arguments != `{"size":4}` || calls[1].Function.Name != "opening_hours" {
		t.Errorf("the calls are %+v", calls)
	}
	if answer.Choices[0].FinishReason != openai.FinishReasonToolCalls {
		t.Errorf("it ends by %s", answer.Choices[0].FinishReason)
	}
}

func TestAClientGetsAStream(t *testing.T) {
	client, _ := serve(t)
	req := chat("hello")
	req.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	text, _, finish, usage, pieces := readStream(t, client, req)
	if text != "How many people are coming?" || finish != openai.FinishReasonStop || pieces < 5 {
		t.Errorf("the stream says %q in %d pieces and ends by %q", text, pieces, finish)
	}
	if usage == nil || usage.TotalTokens == 0 {
		t.Errorf("the usage is %+v", usage)
	}
}

func TestAStreamCarriesCallsInFragments(t *testing.T) {
	client, _ := serve(t)
	_, calls, finish, usage, pieces := readStream(t, client, chat("four, and what are your opening hours?"))
	if len(calls) != 2 || calls[0].Function.Arguments != `{"size":4}` || calls[1].Function.Arguments != "{}" || calls[0].ID == calls[1].ID {
		t.Errorf("the calls are %+v", calls)
	}
	if finish != openai.FinishReasonToolCalls || pieces < 5 || usage != nil {
		t.Errorf("the stream ends by %q after %d pieces with the usage %v", finish, pieces, usage)
	}
	req := chat("four, and what are your opening hours?")
	req.ParallelToolCalls = false
	if _, calls, _, _, _ = readStream(t, client, req); len(calls) != 1 {
		t.Errorf("without parallel calls there are %d", len(calls))
	}
}

func readStream(t *testing.T, client *openai.Client, req openai.ChatCompletionRequest) (text string, calls []openai.ToolCall, finish openai.FinishReason, usage *openai.Usage, pieces int) {
	t.Helper()
	stream, err := client.CreateChatCompletionStream(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	for {
		part, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return text, calls, finish, usage, pieces
		}
		if err != nil {
			t.Fatal(err)
		}
		pieces++
		if part.Usage != nil {
			usage = part.Usage
		}
		for _, c := range part.Choices {
			text += c.Delta.Content
			if c.FinishReason != "" {
				finish = c.FinishReason
			}
			for _, call := range c.Delta.ToolCalls {
				if *call.Index == len(calls) {
					calls = append(calls, call)
					continue
				}
				calls[*call.Index].Function.Arguments += call.Function.Arguments
			}
		}
	}
}

func TestAClientGoesRoundTheToolLoop(t *testing.T) {
	client, _ := serve(t)
	req := chat("when are you open?")
	answer, err := client.CreateChatCompletion(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	call := answer.Choices[0].Message.ToolCalls[0]
	req.Messages = append(req.Messages, answer.Choices[0].Message,
		openai.ChatCompletionMessage{Role: openai.ChatMessageRoleTool, ToolCallID: call.ID, Content: "From noon to eleven."})
	answer, err = client.CreateChatCompletion(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if got := answer.Choices[0].Message.Content; got != "From noon to eleven. How many people are coming?" {
		t.Errorf("it says %q", got)
	}
}

func TestAClientChoosesTheTool(t *testing.T) {
	client, _ := serve(t)
	for choice, want := range map[any]string{
		"none": "", "auto": "opening_hours", "required": "opening_hours",
	} {
		req := chat("when are you open?")
		req.ToolChoice = choice
		answer, err := client.CreateChatCompletion(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if calls := answer.Choices[0].Message.ToolCalls; len(calls) > 0 {
			got = calls[0].Function.Name
		}
		if got != want {
			t.Errorf("with %v it calls %q, want %q", choice, got, want)
		}
	}
	req := chat("when are you open?")
	req.ToolChoice = openai.ToolChoice{Type: openai.ToolTypeFunction, Function: openai.ToolFunction{Name: "nothing_like_it"}}
	_, err := client.CreateChatCompletion(t.Context(), req)
	var bad *openai.APIError
	if !errors.As(err, &bad) || bad.HTTPStatusCode != http.StatusBadRequest || bad.Param == nil || *bad.Param != "tool_choice" {
		t.Errorf("a tool that is not offered gives %v", err)
	}
}

func TestModelsAreListed(t *testing.T) {
	client, _ := serve(t)
	list, err := client.ListModels(t.Context())
	if err != nil || len(list.Models) != 1 || list.Models[0].ID != offline.Name {
		t.Errorf("the models are %+v, %v", list, err)
	}
	if one, err := client.GetModel(t.Context(), offline.Name); err != nil || one.ID != offline.Name {
		t.Errorf("the model is %+v, %v", one, err)
	}
	if _, err := client.GetModel(t.Context(), "gpt"); err == nil {
		t.Error("a model that is not there was found")
	}
}

func TestBadRequestsAreRefusedWithAReason(t *testing.T) {
	_, url := serve(t)
	const ok = `"messages":[{"role":"user","content":"hi"}]`
	for _, c := range []struct {
		method, path, kind, body string
		status                   int
		code                     string
	}{
		{"POST", "/v1/chat/completions", "application/json", "{", 400, "invalid_json"},
		{"POST", "/v1/chat/completions", "application/json", "", 400, "invalid_json"},
		{"POST", "/v1/chat/completions", "application/json", "{}", 400, "invalid_value"},
		{"POST", "/v1/chat/completions", "application/json", `{"messages":[{"role":"king"}]}`, 400, "invalid_value"},
		{"POST", "/v1/chat/completions", "application/json", `{"messages":[{"role":"tool","tool_call_id":"x"}]}`, 400, "invalid_value"},
		{"POST", "/v1/chat/completions", "application/json", `{"messages":[{"role":"user","content":7}]}`, 400, "invalid_value"},
		{"POST", "/v1/chat/completions", "application/json", `{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, 400, "invalid_value"},
		{"POST", "/v1/chat/completions", "application/json", `{"n":2,` + ok + `}`, 400, "invalid_value"},
		{"POST", "/v1/chat/completions", "application/json", `{"max_tokens":-1,` + ok + `}`, 400, "invalid_value"},
		{"POST", "/v1/chat/completions", "application/json", `{"max_completion_tokens":-1,` + ok + `}`, 400, "invalid_value"},
		{"POST", "/v1/chat/completions", "application/json", `{"tools":[{"type":"function","function":{}}],` + ok + `}`, 400, "invalid_value"},
		{"POST", "/v1/chat/completions", "application/json", `{"tools":[{"type":"magic"}],` + ok + `}`, 400, "invalid_value"},
		{"POST", "/v1/chat/completions", "application/json", `{"tool_choice":"sometimes",` + ok + `}`, 400, "invalid_value"},
		{"POST", "/v1/chat/completions", "text/plain", "{}", 415, "unsupported_media_type"},
		{"POST", "/v1/chat/completions", "application/json", `{"x":"` + strings.Repeat("a", 9<<20) + `"}`, 413, "body_too_large"},
		{"GET", "/v1/chat/completions", "", "", 405, "method_not_allowed"},
		{"DELETE", "/v1/models", "", "", 405, "method_not_allowed"},
		{"GET", "/v2/anything", "", "", 404, "unknown_url"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, url+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", c.kind)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var body struct {
			Error struct{ Message, Type, Code string }
		}
		err = json.NewDecoder(resp.Body).Decode(&body)
		resp.Body.Close()
		short := c.body[:min(len(c.body), 60)]
		if err != nil || resp.StatusCode != c.status || body.Error.Code != c.code || body.Error.Message == "" || body.Error.Type == "" {
			t.Errorf("%s %s %s gives %d %+v, want %d %s", c.method, c.path, short, resp.StatusCode, body.Error, c.status, c.code)
		}
	}
}

func TestContentMayComeInParts(t *testing.T) {
	client, _ := serve(t)
	req := chat("")
	req.Messages[1] = openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, MultiContent: []openai.ChatMessagePart{
		{Type: openai.ChatMessagePartTypeText, Text: "we are "}, {Type: openai.ChatMessagePartTypeText, Text: "four"},
	}}
	answer, err := client.CreateChatCompletion(t.Context(), req)
	if err != nil || len(answer.Choices[0].Message.ToolCalls) != 1 {
		t.Errorf("the answer is %+v, %v", answer, err)
	}
}

func TestAClientThatLeavesEndsTheResponse(t *testing.T) {
	m := offline.New(offline.Config{WordDelay: 1 << 40})
	done := make(chan struct{})
	handler := offline.Handler(m)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r)
		close(done)
	}))
	defer server.Close()
	cfg := openai.DefaultConfig("")
	cfg.BaseURL = server.URL + "/v1"
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := openai.NewClientWithConfig(cfg).CreateChatCompletionStream(ctx, chat("hello"))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	stream.Close()
	<-done
}

func FuzzTheHandlerAnswersAnything(f *testing.F) {
	for _, body := range []string{
		`{"messages":[{"role":"user","content":"four people tomorrow"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}}]}`,
		`{"stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"system","content":"Greet the user and ask"},{"role":"user","content":[{"type":"text","text":"x"}]}]}`,
		`{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{"}}]},{"role":"tool","tool_call_id":"a","content":"{\"x\":[1,{\"y\":null}]}"}]}`,
		`{"messages":[{"role":"developer","content":"Confirm the details back."}],"tool_choice":{"type":"function","function":{"name":"f"}},"max_tokens":1}`,
		`[]`, `{"messages":null}`, "\xff",
	} {
		f.Add([]byte(body))
	}
	handler := offline.Handler(offline.New(offline.Config{Now: wednesday}))
	statuses := []int{200, 400}
	f.Fuzz(func(t *testing.T, body []byte) {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", bytes.NewReader(body))
		handler.ServeHTTP(w, r)
		if !slices.Contains(statuses, w.Code) {
			t.Errorf("the status is %d", w.Code)
		}
		if kind := w.Header().Get("Content-Type"); kind == "application/json" && !json.Valid(w.Body.Bytes()) {
			t.Errorf("the answer %q is not JSON", w.Body)
		} else if kind == "text/event-stream" && !strings.HasSuffix(w.Body.String(), "data: [DONE]\n\n") {
			t.Errorf("the stream %q has no end", w.Body)
		}
	})
}
