package offline

import (
	"encoding/json"
	"strings"

	"github.com/turnwise/turnwise/llm/offline/internal/speech"
	"github.com/turnwise/turnwise/llm/offline/internal/words"
)

// results tells what functions returned and goes on with the node.
func (r *responder) results() string {
	parts := make([]string, 0, len(r.scene.results)+1)
	waiting := false
	for _, res := range r.scene.results {
		if res.pending {
			waiting = true
			continue
		}
		parts = append(parts, tellResult(res.text))
	}
	text := say(parts...)
	switch {
	case text == "" && waiting:
		return "One moment, please."
	case text == "":
		text = "All right."
	}
	if strings.HasSuffix(text, "?") || r.closesOnly() {
		return text
	}
	return say(text, r.question())
}

func (r *responder) closesOnly() bool { return r.closes() && len(r.script.Questions()) == 0 }

// tellResult says a function's result. One that only acknowledges says nothing.
func tellResult(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || acknowledges(text) {
		return ""
	}
	raw := json.RawMessage(text)
	if !json.Valid(raw) {
		return speech.Sentence(text, ".")
	}
	if text[0] == '{' {
		return tellObject(raw)
	}
	said := plain(raw, 3)
	if said == "" || acknowledges(said) {
		return ""
	}
	return speech.Sentence(said, ".")
}

func acknowledges(text string) bool {
	switch words.Lower(strings.Trim(text, ". !\"")) {
	case "ok", "okay", "success", "done", "true", "recorded", "saved", "stored", "{}", "[]", "null", "succeeded", "completed", "yes", "noted", "ended":
		return true
	}
	return false
}

// tellObject says a JSON object: its message if it has one, an error as an
// apology, and else its members.
func tellObject(raw json.RawMessage) string {
	var parts []string
	failed, reason := false, ""
	for _, m := range members(raw) {
		text := plain(m.value, 2)
		switch m.name {
		case "error", "reason":
			failed, reason = failed || m.name == "error", text
			continue
		case "status", "ok", "success", "result":
			switch text {
			case "timeout":
				return "I'm sorry, that took too long."
			case "cancelled":
				return "That was cancelled."
			case "error", "failed", "failure":
				failed = true
				continue
			case "yes":
				continue
			}
			if acknowledges(text) {
				continue
			}
		case "message", "text", "answer", "note", "say", "summary", "speech":
			if isText(m.value) && text != "" && !failed {
				return speech.Sentence(text, ".")
			}
		}
		if text != "" {
			parts = append(parts, words.Identifier(m.name)+": "+text)
		}
	}
	if failed {
		if reason == "" {
			return "I'm sorry, that did not work."
		}
		return speech.Sentence("I'm sorry, that did not work: "+reason, ".")
	}
	if len(parts) == 0 {
		return ""
	}
	return speech.Sentence(strings.Join(parts, ", "), ".")
}

func isText(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '"' }
