package openai

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
)

// body is a request's JSON as a list of byte slices that exist already: a head,
// the wire forms of the messages, a tail. Any number of readers may read it at
// once, which the HTTP client needs to send a request again.
type body struct {
	head    []byte
	system  *frames.Entry
	entries []*frames.Entry
	tail    []byte
	wire    *frames.Encoder
	size    int64
}

// template is what all requests of a model have in common.
type template struct {
	wire           *frames.Encoder
	head           []byte // `{"model":…,` and the extra fields, each with a comma
	toolsTail      []byte // what follows the tools, e.g. `,"parallel_tool_calls":true`
	temperature    *float64
	maxTokens      int
	maxTokensField string
	sessionField   string
}

func newTemplate(c *Config) (*template, error) {
	t := &template{
		wire: wirePlain, temperature: c.Temperature, maxTokens: c.MaxTokens,
		maxTokensField: c.maxTokensField(), sessionField: c.SessionField,
	}
	if c.DeveloperAsSystem {
		t.wire = wireSystem
	}
	if c.ParallelToolCalls != nil {
		t.toolsTail = strconv.AppendBool([]byte(`,"parallel_tool_calls":`), *c.ParallelToolCalls)
	}
	t.head = appendField([]byte("{"), "model", c.Model)
	t.head = appendField(t.head, "stream", true)
	extra := maps.Clone(c.Extra)
	if _, set := extra["stream_options"]; !set && !c.NoUsage {
		t.head = append(t.head, `"stream_options":{"include_usage":true},`...)
	}
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		before := len(t.head)
		if t.head = appendField(t.head, name, extra[name]); len(t.head) == before {
			return nil, fmt.Errorf("%w: Extra[%q] cannot be written as JSON", ErrConfig, name)
		}
	}
	return t, nil
}

// appendField appends a field and a comma, or nothing when v is no JSON.
func appendField(dst []byte, name string, v any) []byte {
	value := appendJSON(nil, v)
	if len(value) == 0 {
		return dst
	}
	dst = append(appendJSON(dst, name), ':')
	return append(append(dst, value...), ',')
}

// body makes the body of a request. Its cost does not depend on how long the
// messages are, only on how many there are, unless they are new.
func (t *template) body(req *llm.Request) (*body, error) {
	s := &req.Context
	if s.System == nil && len(s.Entries) == 0 {
		return nil, errors.New("the conversation is empty: add a system or user message first")
	}
	head, err := t.appendHead(req)
	if err != nil {
		return nil, err
	}
	tail, err := t.appendTail(s)
	if err != nil {
		return nil, err
	}
	b := &body{head: head, system: s.System, entries: s.Entries, tail: tail, wire: t.wire}
	b.size = int64(len(head)+len(tail)) - 1 // the first comma is not sent
	if b.system != nil {
		b.size += int64(len(b.system.Encoded(b.wire)))
	}
	for _, e := range b.entries {
		b.size += int64(len(e.Encoded(b.wire)))
	}
	return b, nil
}

func (t *template) appendHead(req *llm.Request) ([]byte, error) {
	dst := append(make([]byte, 0, len(t.head)+160), t.head...)
	temperature := t.temperature
	if req.Temperature != nil {
		temperature = req.Temperature
	}
	if temperature != nil {
		if math.IsNaN(*temperature) || math.IsInf(*temperature, 0) {
			return nil, errors.New("the temperature is not a number")
		}
		dst = append(strconv.AppendFloat(append(dst, `"temperature":`...), *temperature, 'g', -1, 64), ',')
	}
	limit := t.maxTokens
	if req.MaxTokens > 0 {
		limit = req.MaxTokens
	}
	if limit > 0 {
		dst = append(append(append(dst, '"'), t.maxTokensField...), `":`...)
		dst = append(strconv.AppendInt(dst, int64(limit), 10), ',')
	}
	if t.sessionField != "" && req.SessionID != "" {
		dst = appendField(dst, t.sessionField, req.SessionID)
	}
	return append(dst, `"messages":[`...), nil
}

func (t *template) appendTail(s *frames.Snapshot) ([]byte, error) {
	if s.Tools.Len() == 0 {
		return []byte("]}"), nil
	}
	tools := s.Tools.Encoded(t.wire)
	if len(tools) == 0 {
		return nil, fmt.Errorf("the parameters of tool %q are not JSON", brokenTool(s.Tools.Tools()))
	}
	dst := make([]byte, 0, len(tools)+len(t.toolsTail)+128)
	dst = append(append(dst, `],"tools":`...), tools...)
	switch choice := s.Choice; choice {
	case "", frames.ToolChoiceAuto:
	case frames.ToolChoiceNone, frames.ToolChoiceRequired:
		dst = append(append(append(dst, `,"tool_choice":"`...), choice...), '"')
	default:
		if _, ok := s.Tools.Lookup(string(choice)); !ok {
			return nil, fmt.Errorf("the tool choice %q is not among the tools on offer (%q)", choice, s.Tools.Names())
		}
		dst = append(dst, `,"tool_choice":{"type":"function","function":{"name":`...)
		dst = append(appendJSON(dst, string(choice)), "}}"...)
	}
	return append(append(dst, t.toolsTail...), '}'), nil
}

// reader starts to read the body from its beginning.
func (b *body) reader() io.ReadCloser { return &bodyReader{body: b, segment: b.head} }

// bodyReader walks through the segments of a body.
type bodyReader struct {
	body    *body
	segment []byte // what is left of the segment under way
	next    int    // the entry that follows it
	started bool   // the first message has been begun
	ended   bool   // the tail has been begun
}

// Read copies as much as fits.
func (r *bodyReader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if len(r.segment) == 0 && !r.advance() {
			break
		}
		c := copy(p[n:], r.segment)
		r.segment = r.segment[c:]
		n += c
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// advance takes the next segment, and reports false when there is none.
func (r *bodyReader) advance() bool {
	b := r.body
	switch {
	case !r.started && b.system != nil:
		r.segment = b.system.Encoded(b.wire)[1:]
	case r.next < len(b.entries):
		r.segment = b.entries[r.next].Encoded(b.wire)
		r.next++
		if !r.started {
			r.segment = r.segment[1:]
		}
	case !r.ended:
		r.segment, r.ended = b.tail, true
	default:
		return false
	}
	r.started = true
	return true
}

// Close does nothing: the body belongs to the conversation.
func (r *bodyReader) Close() error { return nil }
