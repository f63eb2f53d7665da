package offline

import (
	"strings"
	"time"

	"github.com/turnwise/turnwise/llm/offline/internal/speech"
	"github.com/turnwise/turnwise/llm/offline/internal/words"
)

// whatIAm is the honest answer to the question.
const whatIAm = "I'm a small built-in stand-in, not an AI model: I follow this conversation by simple rules, without any network."

// responder finds words. h is what the user said, nil when the bot speaks first.
type responder struct {
	*scene
	h   *hearing
	now time.Time
}

// say joins sentences.
func say(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		if p == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(p)
	}
	return b.String()
}

// opening speaks for the node.
func (r *responder) opening() string {
	out := make([]string, 0, len(r.script.Parts)+1)
	greets, asks := false, false
	for _, p := range r.script.Parts {
		greets = greets || p.Kind == speech.Greet
		asks = asks || p.Kind == speech.Ask || p.Kind == speech.Close
		out = append(out, r.part(p))
	}
	text := say(out...)
	switch {
	case text == "" && !asks:
		return say("Hello!", r.firstQuestion())
	case greets && !asks, r.readsBack() && !asks:
		return say(text, r.firstQuestion())
	}
	return text
}

func (r *responder) readsBack() bool {
	for _, p := range r.script.Parts {
		if p.Kind == speech.Recap {
			return true
		}
	}
	return false
}

// part is one part of the script in words.
func (r *responder) part(p speech.Part) string {
	switch p.Kind {
	case speech.Greet:
		return "Hello!"
	case speech.Close:
		if p.Text != "" {
			return p.Text
		}
		return "Goodbye!"
	case speech.Ask:
		return r.withOptions(p.Text)
	case speech.Recap:
		return r.recap()
	case speech.Values:
		return r.tell(p.Text)
	case speech.Offer:
		return r.offer(p.Text)
	}
	return p.Text
}

// withOptions names what can be chosen when a question asks for a choice and does
// not say so itself.
func (r *responder) withOptions(question string) string {
	if !strings.HasSuffix(question, "?") || strings.ContainsAny(question, ":,") {
		return question
	}
	q := readQuestion(question)
	for i := range r.set.tools {
		for k := range r.set.tools[i].slots {
			s := &r.set.tools[i].slots[k]
			if s.kind != kindEnum || !s.required || len(s.options) > 8 || len(s.options) < 2 || !q.asks(s) || q.polar {
				continue
			}
			names := make([]string, len(s.options))
			for n, o := range s.options {
				names[n] = o.text
				if strings.Contains(words.Lower(question), words.Lower(o.text)) {
					return question
				}
			}
			return strings.TrimSuffix(question, "?") + ": " + either(names) + "?"
		}
	}
	return question
}

// firstQuestion asks for what the first function needs, or how to help.
func (r *responder) firstQuestion() string {
	for i := range r.set.tools {
		t := &r.set.tools[i]
		for k := range t.slots {
			if t.slots[k].required {
				return r.ask(&t.slots[k])
			}
		}
		if t.answer > 0 && r.readsBack() {
			return "Is that right?"
		}
	}
	if r.readsBack() {
		return ""
	}
	return "How can I help you?"
}

// question is what the node wants to know, if it asks anything.
func (r *responder) question() string {
	questions := r.script.Questions()
	if len(questions) == 0 {
		if r.readsBack() {
			return r.firstQuestion()
		}
		return ""
	}
	return r.withOptions(questions[len(questions)-1])
}

// ask asks for a slot: in the words of the node where it asks for it, and else in
// those of the schema.
func (r *responder) ask(s *slot) string {
	shared := false
	for _, text := range r.script.Questions() {
		q := readQuestion(text)
		if !q.asks(s) {
			continue
		}
		if !r.asksOthersToo(&q, s) {
			return r.withOptions(text)
		}
		shared = true
	}
	switch {
	case shared && s.kind == kindTime:
		return "And at what time?"
	case shared && s.kind == kindDate:
		return "And on which day?"
	}
	return s.question
}

// asksOthersToo reports whether a question is about other slots with the same
// function as well, of which some are known already.
func (r *responder) asksOthersToo(q *question, s *slot) bool {
	for i := range r.set.tools {
		t := &r.set.tools[i]
		for k := range t.slots {
			if &t.slots[k] != s {
				continue
			}
			for o := range t.slots {
				if o != k && t.slots[o].required && q.asks(&t.slots[o]) {
					return true
				}
			}
		}
	}
	return false
}

// askFor asks for what a function still needs.
func (r *responder) askFor(s *slot) string {
	if s.question == "" && len(r.script.Questions()) == 0 {
		return "Could you tell me more?"
	}
	return r.ask(s)
}

// again asks once more and says why.
func (r *responder) again(s *slot, problem string) string {
	if strings.HasSuffix(problem, "?") {
		return problem
	}
	return say("Sorry,", lowerStart(problem), r.ask(s))
}

func lowerStart(s string) string {
	if strings.HasPrefix(s, "I ") || s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

func (r *responder) unusable() string {
	return say("Sorry, I cannot use that as it stands.", r.question())
}

// reply answers words that call for no function.
func (r *responder) reply() string {
	goOn := r.question()
	h := r.h
	switch {
	case r.aboutMe():
		return say(whatIAm, goOn)
	case h.says("say that again") || h.says("repeat that") || h.says("repeat") || h.says("pardon") || h.says("come again") || h.says("what did you say"):
		if r.ever != "" {
			return r.ever
		}
	case h.says("what can you do") || h.says("what can i say") || h.says("what can i ask") || h.says("help") && h.topics() <= 1:
		return say(r.abilities(), goOn)
	}
	if h.inquires() {
		if h.says("did i", "have i", "i say", "i said", "my") {
			if known := r.recollect(h.Text); known != "" {
				return say(known, goOn)
			}
		}
		if fact := r.fact(h.Text); fact != "" {
			return say(fact, goOn)
		}
	}
	if r.last == "" {
		// The user was faster than the node.
		return r.opening()
	}
	return r.smallTalk(goOn)
}

func (r *responder) smallTalk(goOn string) string {
	h := r.h
	switch {
	case h.says("thanks") || h.says("thank you") || h.says("cheers"):
		return say("You're welcome.", goOn)
	case h.says("bye") || h.says("goodbye") || h.says("see you") || h.says("good night"):
		return "Goodbye!"
	case h.topics() <= 1 && (h.says("hello") || h.says("hi") || h.says("hey") || h.says("good morning") || h.says("good evening") || h.says("good afternoon")):
		return say("Hello!", goOn)
	case h.says("how are you"):
		return say("I'm fine, thank you.", goOn)
	case r.closes():
		return r.opening()
	case goOn != "" && h.inquires():
		return say("Sorry, I don't know that.", goOn)
	case goOn != "":
		return say("Sorry, I didn't get that.", goOn)
	}
	return say("Sorry, I'm only a simple stand-in and don't know what to say to that.", r.abilities())
}

func (r *responder) closes() bool {
	for _, p := range r.script.Parts {
		if p.Kind == speech.Close {
			return true
		}
	}
	return false
}

// aboutMe recognizes questions about what the bot is.
func (r *responder) aboutMe() bool {
	return r.h.says("who are you", "what are you", "are you a robot", "are you a bot", "are you a human", "are you human", "are you real",
		"are you a real", "are you an ai", "are you ai", "are you a machine", "are you a person", "are you a computer", "are you chatgpt", "which model are you",
		"what model are you", "is this a bot", "is this a robot", "am i talking to a", "am i speaking to a", "are you an assistant", "are you a real person")
}

// abilities lists what can be asked for.
func (r *responder) abilities() string {
	var names []string
	for i := range r.set.tools {
		if len(names) < 6 {
			names = append(names, topicOf(r.set.tools[i].label))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "Here I know about: " + series(names, "and") + "."
}

// topicOf is a function's name without the verb that is about its working.
func topicOf(label string) string {
	verb, rest, ok := strings.Cut(label, " ")
	if ok && (words.Plumbing(words.Stem(verb)) || verb == "do") {
		return rest
	}
	return label
}

// fact is a statement of the instructions that answers a question; empty if there
// is none.
func (r *responder) fact(text string) string {
	want := topics(words.Split(text, 60))
	if len(want) == 0 {
		return ""
	}
	best, bestScore := "", 0.49
	for _, facts := range [...][]string{r.script.Facts, r.persona.Facts} {
		for _, fact := range facts {
			about := aboutOf(fact)
			hit := 0
			for _, c := range want {
				if about[c] {
					hit++
				}
			}
			if score := float64(hit) / float64(len(want)); score > bestScore {
				best, bestScore = fact, score
			}
		}
	}
	return best
}
