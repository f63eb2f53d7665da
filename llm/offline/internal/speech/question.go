package speech

import (
	"strings"

	"github.com/turnwise/turnwise/llm/offline/internal/words"
)

// Question makes a direct question of an indirect one or of the thing that is
// wanted: "how many people they are", "whether everything is right", "their
// name". It returns "" for nothing.
func Question(indirect string) string {
	indirect = strings.TrimRight(strings.TrimSpace(indirect), ".,;:! ")
	if indirect == "" {
		return ""
	}
	if strings.HasSuffix(indirect, "?") {
		return Sentence(indirect, "?")
	}
	w := strings.Fields(ToListener(indirect))
	first := words.Lower(w[0])
	switch {
	case first == "if" || first == "whether":
		return polar(w[1:])
	case isWh(first) || isPreposition(first) && len(w) > 1 && isWh(words.Lower(w[1])):
		return Sentence(strings.Join(whQuestion(w), " "), "?")
	}
	return wanted(w)
}

// polar asks for yes or no.
func polar(clause []string) string {
	clause = withoutOrNot(clause)
	if len(clause) == 3 && words.Lower(clause[0]) == "you" && rightness(words.Lower(clause[2])) {
		return "Is that right?"
	}
	if len(clause) > 1 && words.Lower(clause[0]) == "to" {
		return Sentence("should I "+strings.Join(clause[1:], " "), "?")
	}
	if inverted, ok := invert(clause); ok {
		return Sentence(strings.Join(inverted, " "), "?")
	}
	if len(clause) == 0 {
		return ""
	}
	return Sentence("could you tell me whether "+strings.Join(clause, " "), "?")
}

// rightness tells that "they" in "whether they are correct" are things, not
// listeners.
func rightness(w string) bool {
	switch w {
	case "right", "correct", "accurate", "complete", "ok", "okay", "good":
		return true
	}
	return false
}

func withoutOrNot(clause []string) []string {
	if n := len(clause); n > 2 && words.Lower(clause[n-2]) == "or" && words.Lower(clause[n-1]) == "not" {
		return clause[:n-2]
	}
	return clause
}

func isWh(w string) bool {
	switch w {
	case "how", "what", "which", "when", "where", "who", "whose", "whom", "why", "what's", "who's":
		return true
	}
	return false
}

func isPreposition(w string) bool {
	switch w {
	case "for", "of", "to", "with", "at", "on", "in", "by", "about", "from", "under", "into":
		return true
	}
	return false
}

// whQuestion puts the verb before the subject where an indirect question has it
// behind.
func whQuestion(w []string) []string {
	if k := subjectAt(w); k > 0 {
		if auxiliary(words.Lower(w[k-1])) {
			return w
		}
		if inverted, ok := invert(w[k:]); ok {
			return append(append([]string{}, w[:k]...), inverted...)
		}
		return append([]string{"could", "you", "tell", "me"}, w...)
	}
	if k := nounAt(w); k > 0 {
		if inverted, ok := invert(w[k:]); ok {
			return append(append([]string{}, w[:k]...), inverted...)
		}
		if k == 1 {
			return append([]string{"could", "you", "tell", "me"}, w...)
		}
	}
	return obliged(w)
}

// nounAt finds the noun phrase that is the subject, where no verb stands before
// it.
func nounAt(w []string) int {
	for k := 1; k+1 < len(w); k++ {
		low := words.Lower(w[k])
		if auxiliary(low) {
			return 0
		}
		if beginsNoun(low) && !isPreposition(words.Lower(w[k-1])) {
			return k
		}
	}
	return 0
}

// obliged makes "which name to use" into "which name should I use".
func obliged(w []string) []string {
	for k := 1; k+1 < len(w); k++ {
		if auxiliary(words.Lower(w[k])) {
			return w
		}
		if words.Lower(w[k]) == "to" && !isPreposition(words.Lower(w[k+1])) && !beginsNoun(words.Lower(w[k+1])) {
			return append(append(append([]string{}, w[:k]...), "should", "I"), w[k+1:]...)
		}
	}
	return w
}

// subjectAt finds the pronoun that is the subject of the indirect question.
func subjectAt(w []string) int {
	for k := 1; k+1 < len(w); k++ {
		switch words.Lower(w[k]) {
		case "you", "i", "we", "you'd", "you're", "you'll", "you've", "it", "there":
			if !isPreposition(words.Lower(w[k-1])) {
				return k
			}
		}
	}
	return 0
}

func beginsNoun(w string) bool {
	switch w {
	case "the", "a", "an", "your", "my", "our", "this", "that", "these", "those", "everything":
		return true
	}
	return false
}

// invert puts the verb of a statement first: "you want wine" becomes "do you want
// wine". It reports false when it cannot tell where the verb is.
func invert(clause []string) ([]string, bool) {
	clause = expand(clause)
	if len(clause) < 2 {
		return nil, false
	}
	switch words.Lower(clause[0]) {
	case "you", "i", "we":
		return invertPronoun(clause)
	}
	for a := 1; a < len(clause) && a < 7; a++ {
		aux := words.Lower(clause[a])
		if !auxiliary(aux) {
			continue
		}
		if aux == "has" && !participle(clause, a+1) {
			return join("does", clause[:a], append([]string{"have"}, clause[a+1:]...)), true
		}
		if aux == "have" && !participle(clause, a+1) {
			return join("do", clause[:a], clause[a:]), true
		}
		return join(aux, clause[:a], clause[a+1:]), true
	}
	return nil, false
}

func invertPronoun(clause []string) ([]string, bool) {
	verb := words.Lower(clause[1])
	switch {
	case (verb == "have" || verb == "had" || verb == "do") && !participle(clause, 2):
		return join("do", clause[:1], clause[1:]), verb != "had"
	case auxiliary(verb):
		return join(verb, clause[:1], clause[2:]), true
	case strings.HasSuffix(verb, "ed") && verb != "need" && verb != "speed" && verb != "feed":
		return nil, false
	case strings.HasSuffix(verb, "ly") && len(clause) > 2 && auxiliary(words.Lower(clause[2])):
		return nil, false
	}
	return join("do", clause[:1], clause[1:]), true
}

func join(first string, rest ...[]string) []string {
	out := []string{first}
	for _, r := range rest {
		out = append(out, r...)
	}
	return out
}

func participle(clause []string, i int) bool {
	if i >= len(clause) {
		return false
	}
	w, _ := cut(clause[i])
	switch w = words.Lower(w); w {
	case "been", "had", "got", "made", "done", "seen", "gone", "said", "come", "chosen", "given", "already", "ever", "eaten", "taken":
		return true
	}
	return strings.HasSuffix(w, "ed") && w != "red" && w != "bed"
}

// expand writes the contraction a clause begins with in full.
func expand(clause []string) []string {
	if len(clause) == 0 {
		return clause
	}
	base, ending, ok := strings.Cut(words.Lower(clause[0]), "'")
	if !ok {
		return clause
	}
	full := map[string]string{"s": "is", "re": "are", "d": "would", "ll": "will", "ve": "have"}[ending]
	if full == "" {
		return clause
	}
	return append([]string{base, full}, clause[1:]...)
}

// wanted asks for a thing.
func wanted(w []string) string {
	low := words.Lower(w[0])
	thing := strings.TrimSuffix(strings.Join(w, " "), " again")
	switch {
	case low == "confirmation" || low == "approval":
		return "Is that right?"
	case low == "help" || low == "permission":
		return Sentence("may I have your "+thing, "?")
	case strings.HasSuffix(low, "patience") || strings.Contains(thing, "moment"):
		return "One moment, please."
	}
	if !beginsNoun(low) && low != "any" && low != "some" && low != "another" && low != "more" {
		thing = "the " + thing
	}
	for _, t := range words.Split(thing, 40) {
		switch t.Concept {
		case "nam", "name", "number", "email", "phone", "place":
			return Sentence("may I have "+thing+", please", "?")
		}
	}
	return Sentence("could you tell me "+thing+", please", "?")
}

// Describe asks for a value that is described by the words of a schema: "Number
// of people", "Whether the guest wants wine", "Which day (YYYY-MM-DD)".
func Describe(description string) string {
	d := description
	for _, mark := range [...]string{"(", ";", " e.g.", ", e.g.", " such as", " in the format", " in format", " formatted", ", as ", " as a ", " as an ",
		" in YYYY", ", YYYY", " in HH", ", HH", " in ISO", " between ", ", from ", " from 1", " in 24", ", in ", ", for example", " like ", ": ", ", one of", ". "} {
		if i := strings.Index(d, mark); i > 0 {
			d = d[:i]
		}
	}
	d = strings.TrimRight(strings.TrimSpace(d), ".,;:! ")
	if d == "" {
		return ""
	}
	w := strings.Fields(d)
	switch first := words.Lower(w[0]); {
	case first == "if" || first == "whether" || isWh(first):
		return Question(d)
	case first == "true" && len(w) > 2:
		return Question(strings.Join(w[1:], " "))
	case first == "the" || first == "your" || first == "my" || first == "their":
		d = lowerFirst(ToListener(d))
	case first == "a" || first == "an":
		d = lowerFirst(ToListener(d))
	default:
		d = "the " + lowerFirst(ToListener(d))
	}
	if strings.HasPrefix(d, "you ") {
		return ""
	}
	return Sentence("what is "+d, "?")
}

// lowerFirst puts the first letter in lower case unless the word is written in
// capitals.
func lowerFirst(s string) string {
	if len(s) > 1 && s[0] >= 'A' && s[0] <= 'Z' && !(s[1] >= 'A' && s[1] <= 'Z') && !strings.HasPrefix(s, "I ") && !strings.HasPrefix(s, "I'") {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}
