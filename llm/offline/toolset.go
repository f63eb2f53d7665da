package offline

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"strings"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm/offline/internal/words"
)

// How much a word says for a function, by where in the tool it stands.
const (
	weightName        = 1.0
	weightOption      = 0.9
	weightExample     = 0.8
	weightSlotName    = 0.6
	weightDescription = 0.55
	weightSlot        = 0.35
)

// tool is what was worked out about one function.
type tool struct {
	name, label string
	slots       []slot
	// vocabulary is how much each concept says for the function.
	vocabulary map[string]float64
	// names is the concepts of the function's name.
	names    map[string]bool
	examples [][]string
	// answer is +1 for a function that a yes calls for, -1 for a no.
	answer int
	// negates tells that the function's name itself is negative, as in
	// "not_satisfied".
	negates bool
	gate    gate
	// bare tells that there is no schema, so that the argument object is empty.
	bare bool
}

// toolset is what was worked out about the tools on offer.
type toolset struct {
	tools []tool
	// shared counts the tools a concept speaks for: what speaks for all tells
	// little.
	shared map[string]int
	// names are the functions' names.
	names []string
}

// fingerprint names what a toolset says to a model.
type fingerprint [sha256.Size]byte

func fingerprintOf(set *frames.Toolset) fingerprint {
	var b []byte
	text := func(s string) {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	for _, t := range set.Tools() {
		text(t.Name)
		text(t.Description)
		text(string(t.Parameters))
		b = binary.AppendUvarint(b, uint64(len(t.Examples)))
		for _, e := range t.Examples {
			text(e)
		}
	}
	return sha256.Sum256(b)
}

func analyse(set *frames.Toolset) *toolset {
	a := &toolset{shared: map[string]int{}, names: set.Names()}
	for _, t := range set.Tools() {
		analysed := analyseTool(t)
		for concept := range analysed.vocabulary {
			a.shared[concept]++
		}
		a.tools = append(a.tools, analysed)
	}
	return a
}

func analyseTool(t frames.Tool) tool {
	a := tool{name: t.Name, label: words.Identifier(t.Name), vocabulary: map[string]float64{}}
	if len(t.Parameters) == 0 || string(t.Parameters) == "null" {
		a.bare = true
	} else {
		a.slots = readSlots(t.Parameters)
		a.gate = newGate(t.Parameters)
	}
	a.names = aboutOf(a.label)
	a.learn(a.label, weightName)
	a.learn(t.Description, weightDescription)
	for _, example := range t.Examples {
		a.learn(example, weightExample)
		a.examples = append(a.examples, topics(words.Split(example, 60)))
	}
	for i := range a.slots {
		s := &a.slots[i]
		a.learn(s.label, weightSlotName)
		for _, o := range s.allOptions() {
			a.learn(o.text, weightOption)
		}
		for concept := range s.about {
			a.vocabulary[concept] = max(a.vocabulary[concept], weightSlot)
		}
	}
	a.answer, a.negates = answerTo(a.label, t.Description)
	return a
}

func (s *slot) allOptions() []option {
	if s.item != nil {
		return s.item.options
	}
	return s.options
}

func (t *tool) learn(text string, weight float64) {
	for _, token := range words.Split(text, 200) {
		if token.Kind == words.Word && !token.Stop && !words.Plumbing(token.Concept) {
			t.vocabulary[token.Concept] = max(t.vocabulary[token.Concept], weight)
		}
	}
}

// topics is the concepts of the words that carry a topic.
func topics(tokens []words.Token) []string {
	var out []string
	for _, t := range tokens {
		if t.Kind == words.Word && !t.Stop {
			out = append(out, t.Concept)
		}
	}
	return out
}

// answerTo tells whether a function is what a yes or a no calls for, by its name
// and else by its description.
func answerTo(label, description string) (answer int, negates bool) {
	yes, no, negates := leaning(label)
	if yes == no {
		yes, no, _ = leaning(description)
	}
	switch {
	case no && !yes || negates:
		return -1, negates
	case yes && !no:
		return 1, false
	}
	return 0, false
}

func leaning(text string) (yes, no, negates bool) {
	for _, t := range words.Split(text, 60) {
		switch t.Low {
		case "not", "no", "isn't", "doesn't", "un", "dissatisfied", "unsatisfied", "unhappy":
			no, negates = true, true
			continue
		case "yes", "right", "ok", "happy":
			yes = true
			continue
		}
		switch t.Concept {
		case "confirm", "accept", "approv", "agre", "proceed", "continu", "correct", "satisf", "complet", "finaliz", "submit":
			yes = true
		case "cancel", "declin", "reject", "den", "deny", "change", "refus", "unsatisf", "dissatisf", "wrong", "restart", "incorrect":
			no = true
		}
	}
	return yes, no, negates
}

// required reports whether the function needs any argument.
func (t *tool) required() bool {
	for i := range t.slots {
		if t.slots[i].required {
			return true
		}
	}
	return false
}

// accepts reports whether the arguments fit the function's schema.
func (t *tool) accepts(args json.RawMessage) bool { return t.bare || t.gate.accepts(args) }

// arguments writes an argument object.
func (t *tool) arguments(filled []filling) json.RawMessage {
	var b strings.Builder
	b.WriteByte('{')
	for i := range t.slots {
		if !filled[i].ok {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.Write(quote(t.slots[i].name))
		b.WriteByte(':')
		b.Write(filled[i].value)
	}
	b.WriteByte('}')
	return json.RawMessage(b.String())
}

// quote is a string in JSON.
func quote(s string) json.RawMessage {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil {
		return json.RawMessage(`""`)
	}
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n"))
}
