package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// APIError is what a server said about a failure, bounded and without secrets. It
// is found in an [*llm.Error] with [errors.As].
type APIError struct {
	// Message is for people.
	Message string
	// Type and Code are the server's own words, e.g. "invalid_request_error" and
	// "context_length_exceeded". Either may be empty.
	Type, Code string
	// Param names the field of the request that is wrong, if one is.
	Param string
}

// Error is the message with the code.
func (e *APIError) Error() string {
	words := make([]string, 0, 3)
	for _, w := range []string{e.Type, e.Code, e.Param} {
		if w != "" {
			words = append(words, w)
		}
	}
	if len(words) == 0 {
		return e.Message
	}
	return fmt.Sprintf("%s (%s)", e.Message, strings.Join(words, ", "))
}

// detail is what could be read of an error body.
type detail struct {
	APIError
	inner    string // a more precise code further down
	reported bool   // the body said that it is an error
}

func (d *detail) empty() bool { return d.APIError == APIError{} }

// parseDetail reads an error body in any of the forms that servers use: OpenAI's
// {"error": {…}}, {"error": "text"}, the object alone, a list of one, FastAPI's
// {"detail": …}, plain text, HTML.
func parseDetail(body []byte) *detail {
	d := &detail{}
	var v any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if decoder.Decode(&v) != nil {
		d.Message = plainText(body)
		return d
	}
	d.take(v)
	if d.empty() {
		d.Message = strings.TrimSpace(string(body))
	}
	return d
}

func (d *detail) take(v any) {
	switch v := v.(type) {
	case []any:
		if len(v) > 0 {
			d.take(v[0])
		}
	case string:
		d.Message = v
	case map[string]any:
		if inside, ok := v["error"]; ok && inside != nil {
			d.reported = true
			d.take(inside)
			return
		}
		d.takeObject(v)
	}
}

func (d *detail) takeObject(v map[string]any) {
	d.Type, d.Code, d.Param = word(v["type"]), word(v["code"]), word(v["param"])
	if d.Type == "" {
		d.Type = word(v["status"])
	}
	for _, key := range []string{"message", "detail", "msg", "error_description"} {
		if d.Message = sentence(v[key]); d.Message != "" {
			break
		}
	}
	if v["object"] == "error" || v["type"] == "error" {
		d.reported = true
	}
	if inner, ok := v["innererror"].(map[string]any); ok {
		d.inner = word(inner["code"])
	}
}

// word is a value that is one word.
func word(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

// sentence is a value that may be text, or a list or an object with text in it.
func sentence(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

// plainText is a body that is not JSON; of HTML, the text between the tags.
func plainText(body []byte) string {
	var b strings.Builder
	inTag := false
	html := bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))
	for _, r := range string(body) {
		switch {
		case html && r == '<':
			inTag = true
			b.WriteByte(' ')
		case html && r == '>':
			inTag = false
		case !inTag:
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(b.String())
}
