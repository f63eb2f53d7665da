package offline

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
)

// writeTimeout bounds the time for one event of a stream.
const writeTimeout = 30 * time.Second

// event is one event of a streamed completion.
type event struct {
	completion
	Choices []deltaChoice `json:"choices"`
	Usage   *chatUsage    `json:"usage,omitempty"`
}

type deltaChoice struct {
	Index        int     `json:"index"`
	Delta        delta   `json:"delta"`
	FinishReason *string `json:"finish_reason"`
}

type delta struct {
	Role      string     `json:"role,omitempty"`
	Content   *string    `json:"content,omitempty"`
	ToolCalls []chatCall `json:"tool_calls,omitempty"`
}

// eventStream writes server-sent events and remembers that writing failed.
type eventStream struct {
	w      http.ResponseWriter
	out    *http.ResponseController
	head   completion
	failed bool
}

func (s *eventStream) send(d delta, finish *string) {
	s.write(event{completion: s.head, Choices: []deltaChoice{{Delta: d, FinishReason: finish}}})
}

func (s *eventStream) write(e event) {
	data, err := json.Marshal(e)
	if err != nil {
		s.failed = true
		return
	}
	s.raw(data)
}

func (s *eventStream) raw(data []byte) {
	if s.failed {
		return
	}
	// Recorders and some wrappers know no deadlines; a stream without works too.
	_ = s.out.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, err := fmt.Fprintf(s.w, "data: %s\n\n", data); err != nil {
		s.failed = true
		return
	}
	s.failed = s.out.Flush() != nil
}

// stream answers piece by piece.
func (a *api) stream(w http.ResponseWriter, r *http.Request, req *llm.Request, head completion, withUsage, single bool) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	head.Object = "chat.completion.chunk"
	s := &eventStream{w: w, out: http.NewResponseController(w), head: head}
	empty := ""
	s.send(delta{Role: "assistant", Content: &empty}, nil)
	calls := 0
	var used *chatUsage
	for chunk, err := range a.model.Stream(r.Context(), req) {
		if err != nil || s.failed {
			return
		}
		if chunk.Text != "" {
			s.send(delta{Content: &chunk.Text}, nil)
		}
		if chunk.Call != nil && !(single && calls > 0) {
			s.call(calls, chunk.Call)
			calls++
		}
		if chunk.Finish != "" {
			used = usageOf(chunk.Usage)
			s.send(delta{}, &chunk.Finish)
		}
	}
	if withUsage {
		s.write(event{completion: head, Choices: []deltaChoice{}, Usage: used})
	}
	s.raw([]byte("[DONE]"))
}

// fragment is how many bytes of arguments go into one event.
const fragment = 8

// call sends a call as models do: its name first, then its arguments in pieces.
func (s *eventStream) call(index int, c *frames.ToolCall) {
	s.send(delta{ToolCalls: []chatCall{{Index: &index, ID: c.ID, Type: "function", Function: chatFunction{Name: c.Name}}}}, nil)
	for rest := string(c.Args); rest != ""; {
		n := min(fragment, len(rest))
		for n < len(rest) && !utf8.RuneStart(rest[n]) {
			n++
		}
		s.send(delta{ToolCalls: []chatCall{{Index: &index, Function: chatFunction{Arguments: rest[:n]}}}}, nil)
		rest = rest[n:]
	}
}

// idOf names an answer: the same for the same request.
func idOf(req *llm.Request) string {
	h := fnv.New64a()
	for _, e := range req.Context.Entries {
		m := e.Message()
		fmt.Fprint(h, m.Role, m.Text, m.ToolCallID, len(m.ToolCalls), "/")
	}
	return fmt.Sprintf("%016x", h.Sum64())
}
