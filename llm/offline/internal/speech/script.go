package speech

import (
	"strings"

	"github.com/turnwise/turnwise/llm/offline/internal/words"
)

// Kind is what a part of a script does.
type Kind uint8

// The kinds.
const (
	// Say is spoken as it stands.
	Say Kind = iota
	// Greet opens a conversation.
	Greet
	// Ask is a question.
	Ask
	// Recap reads back what is known; Text, if any, says what is read back.
	Recap
	// Values tells the values that Text names, such as "the alternatives".
	Values
	// Offer is Values in the form of a question.
	Offer
	// Close ends a conversation.
	Close
)

// Part is one thing to say.
type Part struct {
	Kind Kind
	// Text is ready to be spoken, except where the kind says otherwise.
	Text string
}

// Script is what a text of instructions gives to say.
type Script struct {
	Parts []Part
	// Facts are statements that may answer a question.
	Facts []string
	// Summary tells that the text asks for a summary of the conversation.
	Summary bool
}

// maxInstructions bounds how much of a text is read.
const maxInstructions = 8000

// NewScript reads instructions. tools are the names of functions, whose mention
// makes a sentence a matter between the author and the model.
func NewScript(text string, tools []string) *Script {
	if len(text) > maxInstructions {
		text = strings.ToValidUTF8(text[:maxInstructions], "")
	}
	s := &Script{}
	for _, sentence := range sentences(text) {
		s.sentence(sentence, tools)
	}
	return s
}

// Questions lists the script's questions.
func (s *Script) Questions() []string {
	var out []string
	for _, p := range s.Parts {
		if p.Kind == Ask {
			out = append(out, p.Text)
		}
	}
	return out
}

func (s *Script) add(kind Kind, text string) { s.Parts = append(s.Parts, Part{kind, text}) }

func (s *Script) sentence(sentence string, tools []string) {
	lead := withoutLead(sentence)
	fields := strings.Fields(lead)
	if len(fields) == 0 {
		return
	}
	low := bare(fields[0])
	kind := verbKind(low)
	switch {
	case asksForSummary(fields):
		s.Summary = true
	case conditional(low):
	case mentions(lead, tools) && kind != greetVerb && !strings.ContainsAny(lead, `"“`):
		s.beforeMention(lead, tools)
	case direct(lead, low):
		s.direct(lead)
	case kind != noVerb:
		for _, c := range clauses(lead) {
			s.clause(c)
		}
	case aboutRoles(fields, lead != sentence):
	case len(fields) > 3:
		s.Facts = append(s.Facts, Sentence(sentence, "."))
	}
}

// asksForSummary recognizes what is asked of a model beside a conversation.
func asksForSummary(fields []string) bool {
	kind := words.Stem(bare(fields[0]))
	if kind != "summariz" && kind != "summaris" && kind != "condens" {
		return false
	}
	for _, f := range fields[1:] {
		switch bare(f) {
		case "conversation", "dialogue", "dialog", "chat", "transcript", "discussion", "messages", "history", "call", "far":
			return true
		}
	}
	return false
}

// beforeMention keeps the clauses before the one that is about a function: "ask
// for the size, then call record_size".
func (s *Script) beforeMention(sentence string, tools []string) {
	if verbKind(bare(strings.Fields(sentence)[0])) == noVerb {
		return
	}
	for _, c := range clauses(sentence) {
		if mentions(c, tools) {
			return
		}
		s.clause(c)
	}
}

func mentions(sentence string, tools []string) bool {
	for _, name := range tools {
		if len(name) > 3 && strings.ContainsAny(name, "_-.ABCDEFGHIJKLMNOPQRSTUVWXYZ") && strings.Contains(sentence, name) {
			return true
		}
	}
	low := words.Lower(sentence)
	return strings.Contains(low, " function") || strings.Contains(low, "the tool") || strings.Contains(low, " tool call")
}

// withoutLead takes off what leads to an instruction: "please", "you should",
// "your task is to", "start by".
func withoutLead(sentence string) string {
	for {
		before := sentence
		for _, lead := range [...]string{"please ", "first, ", "first ", "then, ", "then ", "next, ", "next ", "now, ", "now ", "finally, ", "finally ", "also ",
			"afterwards, ", "afterwards ", "after that, ", "in this step, ", "politely ", "warmly ", "briefly ", "kindly ", "gently ", "cheerfully ", "you should ",
			"you must ", "you need to ", "you have to ", "you will ", "you are to ", "you're to ", "your task is to ", "your job is to ", "your goal is to ",
			"your role is to ", "your task: ", "task: ", "goal: ", "the goal is to ", "the task is to ", "make sure to ", "make sure you ", "be sure to ",
			"remember to ", "don't forget to ", "do not forget to ", "try to ", "start by ", "begin by ", "start with ", "simply ", "just ", "always ",
			"go ahead and ", "proceed to ", "continue to ", "now it is time to ", "in one sentence, ", "very briefly ", "your only task is to ",
			"your first task is to ", "your task now is to ", "as a first step, ", "in a friendly way, ", "be polite and ", "be friendly and ", "be brief and "} {
			if len(sentence) > len(lead) && strings.EqualFold(sentence[:len(lead)], lead) {
				sentence = strings.TrimSpace(sentence[len(lead):])
			}
		}
		if sentence == before {
			return sentence
		}
	}
}

// direct recognizes what is speech already: a question, or a greeting.
func direct(sentence, first string) bool {
	switch first {
	case "hello", "hi", "hey", "goodbye", "bye", "thanks", "sorry":
		return true
	case "welcome":
		low := words.Lower(sentence)
		return strings.HasPrefix(low, "welcome to ") || strings.HasPrefix(low, "welcome!") || strings.HasPrefix(low, "welcome,")
	case "thank":
		return strings.HasPrefix(words.Lower(sentence), "thank you")
	case "good":
		return strings.HasPrefix(words.Lower(sentence), "good ")
	}
	return strings.HasSuffix(sentence, "?") && verbKind(first) == noVerb
}

func (s *Script) direct(sentence string) {
	if strings.HasSuffix(sentence, "?") {
		s.add(Ask, sentence)
		return
	}
	s.add(Say, Sentence(sentence, "."))
}

// aboutRoles recognizes sentences about who is who, which are not for speaking.
func aboutRoles(fields []string, led bool) bool {
	if led {
		return true
	}
	low := bare(fields[0])
	switch low {
	case "you", "you're", "your", "they", "their", "no", "all", "this", "these", "step", "node", "role", "context", "note", "important", "remember",
		"i", "we're", "he", "she", "given":
		return true
	}
	width, _ := audience(fields, 0)
	return width > 0
}
