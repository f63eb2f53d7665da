package offline

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
)

// maxBody bounds a request's body.
const maxBody = 8 << 20

// Handler serves a model over the chat completions API of OpenAI, so that any
// client of it can be tried out: POST /v1/chat/completions, streaming and not, with
// tool calls, and GET /v1/models. It needs no key and ignores one. The same paths
// without /v1 work too. It is safe for concurrent use.
func Handler(m *Model) http.Handler {
	api := &api{model: m}
	mux := http.NewServeMux()
	for _, prefix := range [...]string{"", "/v1"} {
		mux.HandleFunc("POST "+prefix+"/chat/completions", api.complete)
		mux.HandleFunc("GET "+prefix+"/models", api.models)
		mux.HandleFunc("GET "+prefix+"/models/{id}", api.oneModel)
		mux.HandleFunc(prefix+"/chat/completions", only(http.MethodPost))
		mux.HandleFunc(prefix+"/models", only(http.MethodGet))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, http.StatusNotFound, "invalid_request_error", "unknown_url", "", "there is nothing at "+r.Method+" "+r.URL.Path)
	})
	return mux
}

type api struct{ model *Model }

func only(method string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", method)
		fail(w, http.StatusMethodNotAllowed, "invalid_request_error", "method_not_allowed", "", "only "+method+" is allowed here")
	}
}

// fail answers with an error object.
func fail(w http.ResponseWriter, status int, typ, code, param, message string) {
	body := map[string]any{"message": message, "type": typ, "code": code, "param": nil}
	if param != "" {
		body["param"] = param
	}
	reply(w, status, map[string]any{"error": body})
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// The client may be gone; there is nobody to tell.
	_ = json.NewEncoder(w).Encode(body)
}

type modelInfo struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func (a *api) info() modelInfo {
	return modelInfo{ID: a.model.ModelName(), Object: "model", Created: 0, OwnedBy: "turnwise"}
}

func (a *api) models(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]any{"object": "list", "data": []modelInfo{a.info()}})
}

func (a *api) oneModel(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("id") != a.model.ModelName() {
		fail(w, http.StatusNotFound, "invalid_request_error", "model_not_found", "model", "the only model here is "+a.model.ModelName())
		return
	}
	reply(w, http.StatusOK, a.info())
}

// complete serves a chat completion. Any model name is taken: clients insist on
// their own.
func (a *api) complete(w http.ResponseWriter, r *http.Request) {
	if kind := r.Header.Get("Content-Type"); kind != "" {
		if media, _, err := mime.ParseMediaType(kind); err != nil || media != "application/json" {
			fail(w, http.StatusUnsupportedMediaType, "invalid_request_error", "unsupported_media_type", "", "the body must be application/json")
			return
		}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		refuseBody(w, err)
		return
	}
	var c chatRequest
	if err := json.Unmarshal(body, &c); err != nil {
		fail(w, http.StatusBadRequest, "invalid_request_error", "invalid_json", "", "the body is not a chat completion request: "+err.Error())
		return
	}
	req, err := c.request()
	if err != nil {
		var bad *invalid
		param := ""
		if errors.As(err, &bad) {
			param = bad.param
		}
		fail(w, http.StatusBadRequest, "invalid_request_error", "invalid_value", param, err.Error())
		return
	}
	head := completion{ID: "chatcmpl-" + idOf(req), Created: a.model.now().Unix(), Model: c.Model}
	if head.Model == "" {
		head.Model = a.model.ModelName()
	}
	single := c.Parallel != nil && !*c.Parallel
	if c.Stream {
		a.stream(w, r, req, head, c.StreamOptions.IncludeUsage, single)
		return
	}
	a.whole(w, r, req, head, single)
}

func refuseBody(w http.ResponseWriter, err error) {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		fail(w, http.StatusRequestEntityTooLarge, "invalid_request_error", "body_too_large", "", "the body is larger than 8 MB")
		return
	}
	fail(w, http.StatusBadRequest, "invalid_request_error", "unreadable_body", "", "the body could not be read")
}

// completion is what every part of an answer begins with.
type completion struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	Model   string `json:"model"`
}

type wholeChoice struct {
	Index        int          `json:"index"`
	Message      wholeMessage `json:"message"`
	FinishReason string       `json:"finish_reason"`
}

type wholeMessage struct {
	Role      string     `json:"role"`
	Content   *string    `json:"content"`
	ToolCalls []chatCall `json:"tool_calls,omitempty"`
}

type chatUsage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

func usageOf(u *frames.TokenUsage) *chatUsage {
	if u == nil {
		return nil
	}
	return &chatUsage{Prompt: u.Prompt, Completion: u.Completion, Total: u.Total}
}

// whole answers in one piece.
func (a *api) whole(w http.ResponseWriter, r *http.Request, req *llm.Request, head completion, single bool) {
	text, message := "", wholeMessage{Role: "assistant"}
	finish, used := "", (*chatUsage)(nil)
	for chunk, err := range a.model.Stream(r.Context(), req) {
		if err != nil {
			fail(w, http.StatusInternalServerError, "server_error", "cancelled", "", "the response was not finished")
			return
		}
		text += chunk.Text
		if chunk.Call != nil && !(single && len(message.ToolCalls) > 0) {
			message.ToolCalls = append(message.ToolCalls, chatCall{
				ID: chunk.Call.ID, Type: "function", Function: chatFunction{chunk.Call.Name, string(chunk.Call.Args)},
			})
		}
		finish, used = chunk.Finish, usageOf(chunk.Usage)
	}
	if len(message.ToolCalls) == 0 {
		message.Content = &text
	}
	head.Object = "chat.completion"
	reply(w, http.StatusOK, struct {
		completion
		Choices []wholeChoice `json:"choices"`
		Usage   *chatUsage    `json:"usage,omitempty"`
	}{head, []wholeChoice{{Message: message, FinishReason: finish}}, used})
}
