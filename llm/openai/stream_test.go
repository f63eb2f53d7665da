package openai_test

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
)

// twoCalls is text and two calls whose arguments come in turns, with all kinds of
// things that are legal in between.
const twoCalls = "\xef\xbb\xbf: hello\r\n" +
	`data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}` + "\r\n\r\n" +
	`data: {"id":"c","choices":[{"index":0,"delta":{"content":"Grüße 👋, "}}]}` + "\n\n" +
	"event: message\nid: 7\n" + `data:{"id":"c","choices":[{"index":0,"delta":{"content":"moment."}}]}` + "\n\n" +
	"data: {\"id\":\"c\",\ndata: \"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[\ndata: " +
	`{"index":0,"id":"call_w","type":"function","function":{"name":"get_weather","arguments":""}}]}}]}` + "\n\n" +
	": keep-alive\n\n" +
	`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"ci"}}]}}]}` + "\n\n" +
	`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_t","type":"function","function":{"name":"get_time","arguments":"{\"zo"}},{"index":0,"function":{"arguments":"ty\":\"Par"}}]}}]}` + "\n\n" +
	`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"is\"}"}},{"index":1,"function":{"arguments":"ne\":1}"}}]}}]}` + "\n\n" +
	`data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\n" + usageEvent + doneEvent

const twoCallsResult = `{"Text":"Grüße 👋, moment.","Calls":[{"ID":"call_w","Name":"get_weather","Args":{"city":"Paris"}},` +
	`{"ID":"call_t","Name":"get_time","Args":{"zone":1}}],"Usage":{"Prompt":12,"Completion":5,"Total":17,"CachedPrompt":8,"Reasoning":2},"Finish":"tool_calls"}`

func TestStreamReadsAResponseWhateverTheReadsAre(t *testing.T) {
	check := func(t *testing.T, pieces ...string) {
		t.Helper()
		r := play(t, io.EOF, pieces...)
		if r.Err != nil || r.String() != twoCallsResult {
			t.Fatalf("got %v, %v\nwant %s", r, r.Err, twoCallsResult)
		}
	}
	t.Run("in one piece", func(t *testing.T) { check(t, twoCalls) })
	t.Run("byte by byte", func(t *testing.T) { check(t, strings.Split(twoCalls, "")...) })
	t.Run("split at every byte", func(t *testing.T) {
		for i := range len(twoCalls) {
			check(t, twoCalls[:i], twoCalls[i:])
		}
	})
}

func TestCutStreamIsAnErrorAndCallsNothing(t *testing.T) {
	complete := strings.Index(twoCalls, `"finish_reason":"tool_calls"}]}`) + len(`"finish_reason":"tool_calls"}]}`)
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF} {
		for i := range len(twoCalls) {
			r := play(t, end, twoCalls[:i])
			if i < complete {
				e := wantError(t, r.Err, frames.ErrorNetwork)
				if !strings.Contains(e.Error(), llm.ErrCut.Error()) || len(r.Calls) > 0 || r.Finish != "" {
					t.Fatalf("cut at %d by %v: %v, %v", i, end, r, r.Err)
				}
			} else if end == io.ErrUnexpectedEOF && i == complete {
				continue // the line is not whole, but may be: either is right
			} else if r.Err != nil || len(r.Calls) != 2 || r.Finish != llm.FinishCalls {
				t.Fatalf("cut at %d by %v, after the finish reason: %v, %v", i, end, r, r.Err)
			}
		}
	}
}

func call(fields string) string { return delta(`"tool_calls":[{` + fields + `}]`) }

func TestStreamUnderstandsManyServers(t *testing.T) {
	cases := []struct {
		name, stream, want string
	}{
		{"a server that never says done",
			delta(`"content":"Hi"`) + finish("stop"),
			`{"Text":"Hi","Calls":null,"Usage":null,"Finish":"stop"}`},
		{"a server that says done and gives no finish reason",
			delta(`"content":"Hi"`) + doneEvent,
			`{"Text":"Hi","Calls":null,"Usage":null,"Finish":"stop"}`},
		{"no empty lines between events",
			strings.ReplaceAll(delta(`"content":"H"`)+delta(`"content":"i"`)+finish("stop")+doneEvent, "\n\n", "\n"),
			`{"Text":"Hi","Calls":null,"Usage":null,"Finish":"stop"}`},
		{"no line end after the last event",
			delta(`"content":"Hi"`) + strings.TrimSpace(finish("stop")),
			`{"Text":"Hi","Calls":null,"Usage":null,"Finish":"stop"}`},
		{"reasoning is not text",
			delta(`"reasoning_content":"hm"`) + delta(`"reasoning":"hm","content":null`) + delta(`"content":"Hi"`) + finish("stop"),
			`{"Text":"Hi","Calls":null,"Usage":null,"Finish":"stop"}`},
		{"content in parts",
			delta(`"content":[{"type":"thinking","text":"hm"},{"type":"text","text":"Hi"},7]`) + finish("stop"),
			`{"Text":"Hi","Calls":null,"Usage":null,"Finish":"stop"}`},
		{"a refusal is an answer",
			delta(`"refusal":"I may not"`) + finish("stop"),
			`{"Text":"I may not","Calls":null,"Usage":null,"Finish":"stop"}`},
		{"fields of unexpected types",
			`data: {"id":7,"created":"now","usage":"none","choices":[{"index":0,"logprobs":[],"delta":{"role":7,"content":"Hi"}}]}` + "\n\n" + finish("stop"),
			`{"Text":"Hi","Calls":null,"Usage":null,"Finish":"stop"}`},
		{"a null error in every chunk",
			`data: {"error":null,"choices":[{"index":0,"delta":{"content":"Hi"}}]}` + "\n\n" + finish("stop"),
			`{"Text":"Hi","Calls":null,"Usage":null,"Finish":"stop"}`},
		{"other choices are not listened to",
			event(`{"index":1,"delta":{"content":"Ho"}},{"index":0,"delta":{"content":"Hi"}}`) + event(`{"index":1,"finish_reason":"length"}`) + finish("stop"),
			`{"Text":"Hi","Calls":null,"Usage":null,"Finish":"stop"}`},
		{"usage without a total",
			delta(`"content":"Hi"`) + finish("stop") + `data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}` + "\n\n",
			`{"Text":"Hi","Calls":null,"Usage":{"Prompt":3,"Completion":4,"Total":7,"CachedPrompt":0,"Reasoning":0},"Finish":"stop"}`},
		{"finish reason stop with a call",
			call(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`) + finish("stop") + doneEvent,
			`{"Text":"","Calls":[{"ID":"a","Name":"f","Args":{}}],"Usage":null,"Finish":"tool_calls"}`},
		{"finish reason length",
			delta(`"content":"Hi"`) + finish("length"),
			`{"Text":"Hi","Calls":null,"Usage":null,"Finish":"length"}`},
		{"finish reason length after a complete call",
			call(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`) + finish("length"),
			`{"Text":"","Calls":[{"ID":"a","Name":"f","Args":{}}],"Usage":null,"Finish":"length"}`},
		{"the content filter stops a response and its calls",
			delta(`"content":"Hi"`) + call(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`) + finish("content_filter"),
			`{"Text":"Hi","Calls":null,"Usage":null,"Finish":"content_filter"}`},
		{"an unheard-of finish reason",
			delta(`"content":"Hi"`) + finish("eos"),
			`{"Text":"Hi","Calls":null,"Usage":null,"Finish":"stop"}`},
		{"no index, ids in every fragment",
			call(`"id":"a","function":{"name":"f","arguments":"{\"x\""}`) + call(`"id":"b","function":{"name":"g","arguments":"{}"}`) +
				call(`"id":"a","function":{"arguments":":1}"}`) + finish("tool_calls"),
			`{"Text":"","Calls":[{"ID":"a","Name":"f","Args":{"x":1}},{"ID":"b","Name":"g","Args":{}}],"Usage":null,"Finish":"tool_calls"}`},
		{"no index, id only in the first fragment",
			call(`"id":"a","function":{"name":"f","arguments":"{\"x\""}`) + call(`"function":{"arguments":":1}"}`) +
				call(`"id":"b","function":{"name":"f","arguments":"{}"}`) + finish("tool_calls"),
			`{"Text":"","Calls":[{"ID":"a","Name":"f","Args":{"x":1}},{"ID":"b","Name":"f","Args":{}}],"Usage":null,"Finish":"tool_calls"}`},
		{"several whole calls with the same index",
			delta(`"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}},{"index":0,"id":"b","function":{"name":"f","arguments":"{\"x\":2}"}}]`) + finish("tool_calls"),
			`{"Text":"","Calls":[{"ID":"a","Name":"f","Args":{}},{"ID":"b","Name":"f","Args":{"x":2}}],"Usage":null,"Finish":"tool_calls"}`},
		{"indices out of order and far apart",
			call(`"index":900000000,"id":"b","function":{"name":"g","arguments":"{}"}`) + call(`"index":-3,"id":"a","function":{"name":"f","arguments":"{}"}`) + finish("tool_calls"),
			`{"Text":"","Calls":[{"ID":"a","Name":"f","Args":{}},{"ID":"b","Name":"g","Args":{}}],"Usage":null,"Finish":"tool_calls"}`},
		{"id and name repeated in every fragment",
			call(`"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}`) + call(`"index":0,"id":"a","function":{"name":"f","arguments":":1}"}`) + finish("tool_calls"),
			`{"Text":"","Calls":[{"ID":"a","Name":"f","Args":{"x":1}}],"Usage":null,"Finish":"tool_calls"}`},
		{"a name in pieces",
			call(`"index":0,"id":"a","function":{"name":"get_"}`) + call(`"index":0,"function":{"name":"time","arguments":"{}"}`) + finish("tool_calls"),
			`{"Text":"","Calls":[{"ID":"a","Name":"get_time","Args":{}}],"Usage":null,"Finish":"tool_calls"}`},
		{"arguments as an object",
			call(`"index":0,"id":"a","function":{"name":"f","arguments":{"x": 1.50}}`) + finish("tool_calls"),
			`{"Text":"","Calls":[{"ID":"a","Name":"f","Args":{"x":1.50}}],"Usage":null,"Finish":"tool_calls"}`},
		{"a failure after the finish reason",
			delta(`"content":"Hi"`) + finish("stop") + `data: {"error":{"message":"late"}}` + "\n\n",
			`{"Text":"Hi","Calls":null,"Usage":null,"Finish":"stop"}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := play(t, io.EOF, c.stream)
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			if r.String() != c.want {
				t.Errorf("got  %s\nwant %s", r, c.want)
			}
		})
	}
}

func TestArgumentsArePassedOnAsTheModelWroteThem(t *testing.T) {
	for _, args := range []string{``, `null`, `[]`, `"x"`, `{"a":1}{"a":1}`, `{"a":`, ` {"a":1} `, "{\u0000}", `{"é":"👋"}`} {
		escaped := strings.NewReplacer(`"`, `\"`, "\x00", `\u0000`).Replace(args)
		r := play(t, io.EOF, call(`"index":0,"id":"a","function":{"name":"f","arguments":"`+escaped+`"}`)+finish("tool_calls")+doneEvent)
		if r.Err != nil || len(r.Calls) != 1 || string(r.Calls[0].Args) != args {
			t.Errorf("arguments %q came as %q (%v)", args, r.Calls, r.Err)
		}
	}
}

func TestCallIDsAreUnique(t *testing.T) {
	convo := frames.NewLLMContext("")
	convo.Append(
		frames.Message{Role: frames.RoleAssistant, ToolCalls: []frames.ToolCall{{ID: "call_0", Name: "f"}}},
		frames.Message{Role: frames.RoleTool, ToolCallID: "call_0", Text: "done"},
	)
	stream := call(`"index":0,"function":{"name":"f","arguments":"{}"}`) + call(`"index":1,"function":{"name":"f","arguments":"{}"}`) +
		call(`"index":2,"id":"call_0","function":{"name":"f","arguments":"{}"}`) +
		call(`"index":3,"id":"call_1","function":{"name":"f","arguments":"{}"}`) +
		call(`"index":4,"id":"call_1","function":{"name":"f","arguments":"{}"}`) + finish("tool_calls")
	m := newModel(t, newServer(t, sse(stream)).URL)
	r := collect(t.Context(), m, &llm.Request{Context: convo.Snapshot()})
	seen := map[string]bool{"": true, "call_0": true}
	for _, c := range r.Calls {
		if seen[c.ID] {
			t.Errorf("id %q is empty or used before", c.ID)
		}
		seen[c.ID] = true
	}
	if len(r.Calls) != 5 || !seen["call_1"] {
		t.Errorf("want five calls, one with the server's own id: %v, %v", r, r.Err)
	}
}

func TestBusyModelGivesSignsOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body, w := io.Pipe()
		m := newModel(t, "http://fake.test", withBody(body))
		go func() {
			_, _ = io.WriteString(w, call(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`))
			for range 40 { // ten seconds of arguments
				time.Sleep(250 * time.Millisecond)
				_, _ = io.WriteString(w, call(`"index":0,"function":{"arguments":" "}`))
			}
			_, _ = io.WriteString(w, finish("tool_calls")+doneEvent)
			_ = w.Close()
		}()
		var signs int
		last := time.Now()
		for c, err := range m.Stream(t.Context(), ask("hello")) {
			if err != nil {
				t.Fatal(err)
			}
			if gap := time.Since(last); gap > time.Second {
				t.Errorf("nothing for %v", gap)
			}
			last = time.Now()
			if c == (llm.Chunk{}) {
				signs++
			}
		}
		if signs < 10 || signs > 21 {
			t.Errorf("%d signs of life in ten seconds", signs)
		}
	})
}

func TestServerThatKeepsTheConnectionOpenDelaysTheEndOnlyALittle(t *testing.T) {
	for name, stream := range map[string]struct {
		events string
		within time.Duration
	}{
		"after done":          {delta(`"content":"Hi"`) + finish("stop") + usageEvent + doneEvent, 100 * time.Millisecond},
		"after the usage":     {delta(`"content":"Hi"`) + finish("stop") + usageEvent, 100 * time.Millisecond},
		"instead of an usage": {delta(`"content":"Hi"`) + finish("stop"), 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				body, w := io.Pipe()
				m := newModel(t, "http://fake.test", withBody(body))
				go func() { _, _ = io.WriteString(w, stream.events) }()
				begin := time.Now()
				r := collect(t.Context(), m, ask("hello"))
				if r.Err != nil || r.Text != "Hi" || r.Finish != llm.FinishStop {
					t.Errorf("got %v, %v", r, r.Err)
				}
				if took := time.Since(begin); took > stream.within {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}
