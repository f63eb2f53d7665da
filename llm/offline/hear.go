package offline

import (
	"strings"
	"time"

	"github.com/turnwise/turnwise/llm/offline/internal/values"
	"github.com/turnwise/turnwise/llm/offline/internal/words"
)

// question is what was asked before somebody spoke.
type question struct {
	concepts []string
	// count, when and polar tell that it asks how many, at what time, and for
	// yes or no.
	count, when, polar bool
}

// readQuestion finds what a text asks: its questions, or else all of it.
func readQuestion(text string) question {
	var q question
	tokens := words.Split(text, values.MaxTokens)
	from := 0
	if end := lastQuestion(tokens); end > 0 {
		from = sentenceStart(tokens, end)
		tokens = tokens[:end]
		q.polar = from < len(tokens) && polarStart(tokens[from:])
	}
	for _, t := range tokens[from:] {
		switch {
		case t.Low == "many" || t.Low == "number":
			q.count = true
		case t.Low == "when":
			q.when = true
		}
		if t.Kind == words.Word && !t.Stop && !words.Plumbing(t.Concept) {
			q.concepts = append(q.concepts, t.Concept)
		}
	}
	return q
}

func lastQuestion(tokens []words.Token) int {
	for i := len(tokens) - 1; i >= 0; i-- {
		if tokens[i].Text == "?" {
			return i
		}
	}
	return 0
}

func sentenceStart(tokens []words.Token, end int) int {
	for i := end - 1; i >= 0; i-- {
		if t := tokens[i].Text; (t == "." || t == "!" || t == "?") && i+1 < end && !tokens[i+1].Glued {
			return i + 1
		}
	}
	return 0
}

// polarStart recognizes a question for yes or no by its first word, and by a tag
// at its end.
func polarStart(tokens []words.Token) bool {
	switch tokens[0].Low {
	case "could", "can", "may":
		return len(tokens) < 3 || tokens[1].Low != "you" && tokens[1].Low != "i"
	case "is", "are", "do", "does", "did", "was", "were", "would", "will", "shall", "should", "has", "have", "am", "isn't", "aren't":
		return true
	}
	last := tokens[len(tokens)-1].Low
	return last == "right" || last == "correct" || last == "ok" || last == "okay"
}

// asks reports whether the question is about a slot.
func (q *question) asks(s *slot) bool {
	switch s.kind {
	case kindInteger, kindNumber:
		if q.count && len(q.concepts) == 0 {
			return true
		}
	case kindDate, kindTime, kindDateTime:
		if q.when {
			return true
		}
	case kindBool:
		if q.polar {
			return true
		}
	}
	return q.touches(s.about)
}

func (q *question) touches(about map[string]bool) bool {
	for _, c := range q.concepts {
		if about[c] {
			return true
		}
	}
	return false
}

// hearing is one thing the user said, with what it answers.
type hearing struct {
	*values.Reading
	asked question
	// denied marks the tokens that a "not" stands before.
	denied []bool
	// evening tells that times without am or pm are likely in the evening.
	evening bool
	now     time.Time
}

func hear(text, before string, now time.Time, evening bool) *hearing {
	h := &hearing{Reading: values.Read(text, now), asked: readQuestion(before), evening: evening, now: now}
	h.denied = denials(h.Tokens)
	return h
}

// deniedWords is how many words with a topic a negation reaches.
const deniedWords = 3

// denials marks the words the user does not mean. "I haven't got my parcel" is
// about a parcel all the same, "I don't want a parcel" is not.
func denials(tokens []words.Token) []bool {
	out := make([]bool, len(tokens))
	left := 0
	for i, t := range tokens {
		switch {
		case t.Kind == words.Mark || t.Low == "but" || t.Low == "just" || t.Low == "instead":
			left = 0
		case negation(tokens, i):
			left = deniedWords
		case left > 0:
			out[i] = true
			if !t.Stop {
				left--
			}
		}
	}
	return out
}

func negation(tokens []words.Token, i int) bool {
	at := func(k int) string {
		if k < 0 || k >= len(tokens) {
			return ""
		}
		return tokens[k].Low
	}
	switch at(i) {
	case "no", "without", "never":
		return true
	case "not":
		switch at(i - 1) {
		case "has", "have", "had", "did", "does", "was", "were", "could", "can":
			return false
		case "do":
			return wish(at(i+1)) || i == 1
		}
		return true
	case "don't", "dont", "wouldn't", "didn't":
		return wish(at(i+1)) || i == 0 || at(i-1) == "please"
	}
	return false
}

func wish(w string) bool {
	switch w {
	case "want", "need", "like", "wish", "mean", "wanna":
		return true
	}
	return false
}

// inquires reports whether the user asks something.
func (h *hearing) inquires() bool {
	if len(h.Tokens) == 0 {
		return false
	}
	if h.Tokens[len(h.Tokens)-1].Text == "?" {
		return true
	}
	switch h.Tokens[0].Low {
	case "what", "where", "when", "why", "how", "who", "which", "is", "are", "do", "does", "can", "could", "would", "will":
		return true
	}
	return false
}

// topics counts the tokens that carry a topic.
func (h *hearing) topics() int {
	n := 0
	for i := range h.Tokens {
		if topical(&h.Tokens[i]) {
			n++
		}
	}
	return n
}

func topical(t *words.Token) bool { return t.Kind == words.Digits || t.Kind == words.Word && !t.Stop }

// says reports whether the text contains one of the phrases, word by word.
func (h *hearing) says(phrases ...string) bool {
	for _, p := range phrases {
		for i := range h.Tokens {
			if h.saysAt(i, p) {
				return true
			}
		}
	}
	return false
}

func (h *hearing) saysAt(i int, phrase string) bool {
	for more := true; more; i++ {
		var word string
		word, phrase, more = strings.Cut(phrase, " ")
		if i >= len(h.Tokens) || h.Tokens[i].Low != word {
			return false
		}
	}
	return true
}
