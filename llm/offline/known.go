package offline

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm/offline/internal/speech"
	"github.com/turnwise/turnwise/llm/offline/internal/words"
)

// value is something that became known in a conversation.
type value struct {
	name string
	raw  json.RawMessage
	// by is the function whose argument or result it is.
	by string
	// argument tells that the user said it, rather than a function.
	argument bool
}

// known lists the arguments of the calls that were made and the members of their
// results, the latest of each name, in the order they first came up.
func (r *responder) known() []value {
	var out []value
	add := func(by string, object json.RawMessage, argument bool) {
		for _, m := range members(object) {
			at := -1
			for i := range out {
				if out[i].name == m.name && out[i].argument == argument {
					at = i
				}
			}
			if at < 0 {
				out = append(out, value{name: m.name, by: by, argument: argument})
				at = len(out) - 1
			}
			out[at].raw = m.value
		}
	}
	low := max(0, len(r.entries)-maxLookBack)
	for i, e := range r.entries[low:] {
		m := e.Message()
		switch m.Role {
		case frames.RoleAssistant:
			for _, c := range m.ToolCalls {
				if !r.failed(low+i, c.ID) {
					add(c.Name, c.Args, true)
				}
			}
		case frames.RoleTool:
			if strings.HasPrefix(m.Text, "{") && !isRunning(m.Text) {
				add(m.Name, json.RawMessage(m.Text), false)
			}
		}
	}
	return out
}

// failed reports whether a call at an entry had an error for a result.
func (r *responder) failed(at int, id string) bool {
	for _, e := range r.entries[at+1:] {
		m := e.Message()
		if m.Role != frames.RoleTool {
			return false
		}
		if m.ToolCallID == id {
			return strings.HasPrefix(m.Text, `{"error"`) || strings.Contains(m.Text, `"status":"timeout"`) || strings.Contains(m.Text, `"status":"cancelled"`)
		}
	}
	return false
}

// recap reads back what the user said.
func (r *responder) recap() string {
	var parts []string
	for _, v := range r.known() {
		if v.argument {
			if text := recite(v); text != "" {
				parts = append(parts, text)
			}
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "Let me read that back: " + strings.Join(parts, ", ") + "."
}

// recite says a value so that it can be understood without its name.
func recite(v value) string {
	label := words.Identifier(v.name)
	about := aboutOf(label)
	text := plain(v.raw, 2)
	switch {
	case text == "":
		return ""
	case isBool(v.raw):
		if about["confirm"] || about["correct"] || about["satisf"] {
			return ""
		}
		return label + ": " + text
	case isNumber(v.raw) && (about["people"] || counting(label) && aboutOf(words.Identifier(v.by))["people"]):
		if text == "1" {
			return "1 person"
		}
		return text + " people"
	case spokenDay(v.raw) != "":
		return "on " + spokenDay(v.raw)
	case spokenTime(v.raw) != "":
		return "at " + spokenTime(v.raw)
	case about["nam"]:
		return "under the name " + text
	case len(strings.Fields(text)) > 4:
		return label + ": " + strings.TrimRight(text, ".!?")
	}
	return label + " " + text
}

func isBool(raw json.RawMessage) bool { return string(raw) == "true" || string(raw) == "false" }

func isNumber(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] >= '0' && raw[0] <= '9' }

// counting reports a name that only says that something is counted.
func counting(label string) bool {
	switch label {
	case "size", "count", "number", "n", "amount", "total", "num":
		return true
	}
	return false
}

// spokenDay writes a date or a date with a time for the ear.
func spokenDay(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return t.Format("Monday, 2 January")
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t.Format("Monday, 2 January at 15:04")
	}
	return ""
}

func spokenTime(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	for _, layout := range [...]string{"15:04", "15:04:05", "15:04:05Z07:00"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.Format("15:04")
		}
	}
	return ""
}

// plain says a JSON value, to a depth; empty for null and nothing.
func plain(raw json.RawMessage, depth int) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" || depth < 0 {
		return ""
	}
	switch raw[0] {
	case '{':
		var parts []string
		for _, m := range members(raw) {
			if text := plain(m.value, depth-1); text != "" && len(parts) < 12 {
				parts = append(parts, words.Identifier(m.name)+": "+text)
			}
		}
		return strings.Join(parts, ", ")
	case '[':
		var list []json.RawMessage
		var parts []string
		if json.Unmarshal(raw, &list) == nil {
			for _, item := range list[:min(len(list), 12)] {
				if text := plain(item, depth-1); text != "" {
					parts = append(parts, text)
				}
			}
		}
		return series(parts, "and")
	case '"':
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return ""
		}
		if day := spokenDay(raw); day != "" {
			return day
		}
		return strings.TrimSpace(s)
	case 't':
		return "yes"
	case 'f':
		return "no"
	}
	return string(raw)
}

// lookup finds a known value that a noun phrase names.
func (r *responder) lookup(phrase string) (value, bool) {
	want := aboutOf(phrase)
	known := r.known()
	for i := len(known) - 1; i >= 0; i-- {
		for concept := range aboutOf(words.Identifier(known[i].name)) {
			if want[concept] && plain(known[i].raw, 2) != "" {
				return known[i], true
			}
		}
	}
	return value{}, false
}

// recollect recites what the user said about what a question asks; empty if that
// is not known.
func (r *responder) recollect(question string) string {
	want := aboutOf(question)
	known := r.known()
	for i := len(known) - 1; i >= 0; i-- {
		if !known[i].argument {
			continue
		}
		for concept := range aboutOf(words.Identifier(known[i].name + " " + known[i].by)) {
			if text := recite(known[i]); want[concept] && text != "" {
				return "I have " + text + "."
			}
		}
	}
	return ""
}

// tell says the values a phrase names, or a fact about it.
func (r *responder) tell(phrase string) string {
	if v, ok := r.lookup(phrase); ok {
		return speech.Sentence(words.Identifier(v.name)+": "+plain(v.raw, 2), ".")
	}
	return r.fact(phrase)
}

// offer offers the values a phrase names, or the thing itself.
func (r *responder) offer(phrase string) string {
	if v, ok := r.lookup(phrase); ok {
		return "I can offer " + plain(v.raw, 2) + "."
	}
	return speech.Sentence("would you like "+phrase, "?")
}

// maxSummary bounds the summary, in bytes.
const maxSummary = 1500

// summary tells what was said in the conversation, or in the transcript that is
// its last message.
func (r *responder) summary() string {
	var said []string
	for _, e := range r.entries {
		if m := e.Message(); m.Role == frames.RoleUser && m.Text != "" && !commands(m.Text) {
			said = append(said, linesOf(m.Text)...)
		}
	}
	var b strings.Builder
	if recap := r.recap(); recap != "" {
		b.WriteString("Known: " + strings.TrimPrefix(recap, "Let me read that back: ") + " ")
	}
	if len(said) == 0 {
		b.WriteString("The user has said nothing yet.")
		return b.String()
	}
	b.WriteString("The user said: ")
	for i, s := range said {
		if b.Len() > maxSummary {
			b.WriteString(" …")
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(`"` + strings.ToValidUTF8(s[:min(len(s), 200)], "") + `"`)
	}
	b.WriteByte('.')
	return b.String()
}

// linesOf takes the user's lines out of a transcript; any other text is one line.
func linesOf(text string) []string {
	if !strings.Contains(text, "User: ") {
		return []string{strings.TrimSpace(text)}
	}
	var out []string
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "User: "); ok {
			out = append(out, rest)
		}
	}
	return out
}
