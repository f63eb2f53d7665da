package values

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/turnwise/turnwise/llm/offline/internal/words"
)

// Name is what somebody is called.
type Name struct {
	Span
	Text string
	// Introduced tells that the words said it is a name, as "my name is" does.
	Introduced bool
}

// PersonName finds the name somebody gives. A bare name, or one after "it's", is
// only taken for one when a name was asked for.
func PersonName(tokens []words.Token, asked bool) (Name, bool) {
	for i := range tokens {
		for _, intro := range [...]string{"name is", "name's", "call me", "under the name of", "under the name", "in the name of",
			"on the name of", "on the name", "name :", "name of", "name for the booking is", "name for the reservation is"} {
			if n := matchPhrase(tokens, i, intro); n > 0 {
				if name, ok := nameAt(tokens, i+n, true); ok {
					name.Introduced = true
					return name, true
				}
			}
		}
	}
	if name, ok := softIntroduction(tokens, asked); ok {
		return name, true
	}
	if asked {
		return bareName(tokens)
	}
	return Name{}, false
}

// softIntroduction reads "it's Anna", which could as well be "it's late".
func softIntroduction(tokens []words.Token, asked bool) (Name, bool) {
	for i := range tokens {
		for _, intro := range [...]string{"i'm", "i am", "im", "it's", "its", "it is", "this is", "that's", "under", "for", "here is", "make it", "say"} {
			n := matchPhrase(tokens, i, intro)
			if n == 0 {
				continue
			}
			weak := intro == "for" || intro == "make it" || intro == "say" || intro == "that's"
			name, ok := nameAt(tokens, i+n, asked && !weak || intro == "for" && asked)
			if ok && (asked || intro == "i'm" || intro == "i am" || intro == "this is" || intro == "under") {
				name.Introduced = intro != "for"
				return name, true
			}
		}
	}
	if n := len(tokens); n > 1 && (tokens[n-1].Low == "here" || tokens[n-1].Low == "speaking") {
		if name, ok := nameAt(tokens, 0, asked); ok && name.To == n-1 {
			name.Introduced = true
			return name, true
		}
	}
	return Name{}, false
}

// bareName reads a text that is nothing but a name and politeness.
func bareName(tokens []words.Token) (Name, bool) {
	for i, t := range tokens {
		if t.Kind == words.Mark || polite(t.Low) {
			continue
		}
		name, ok := nameAt(tokens, i, true)
		if !ok {
			return Name{}, false
		}
		for _, rest := range tokens[name.To:] {
			if rest.Kind != words.Mark && !polite(rest.Low) {
				return Name{}, false
			}
		}
		return name, true
	}
	return Name{}, false
}

func polite(w string) bool {
	switch w {
	case "please", "thanks", "thank", "you", "hi", "hello", "hey", "sure", "yes", "ok", "okay", "well", "um", "uh", "oh", "just", "mr",
		"mrs", "ms", "dr", "of", "course", "the", "name", "my", "is", "yeah", "it":
		return true
	}
	return false
}

// nameAt reads up to four words of a name. Unless lower-case names are allowed
// the first must be capitalized.
func nameAt(tokens []words.Token, i int, lower bool) (Name, bool) {
	for i < len(tokens) && (title(tokens[i].Low) || tokens[i].Kind == words.Mark && strings.Contains(`"'“:.,`, tokens[i].Text)) {
		i++
	}
	if i >= len(tokens) || !nameWord(tokens[i]) || !lower && !capitalized(tokens[i].Text) {
		return Name{}, false
	}
	end, count := i+1, 1
	for end < len(tokens) && count < 5 {
		t := tokens[end]
		switch {
		case t.Text == "-" && t.Glued && end+1 < len(tokens) && tokens[end+1].Glued && nameWord(tokens[end+1]):
			end += 2
			continue
		case particle(t.Low) && end+1 < len(tokens) && (nameWord(tokens[end+1]) || particle(tokens[end+1].Low)):
			end++
			continue
		case nameWord(t) && capitalized(t.Text) == capitalized(tokens[i].Text):
			end++
			count++
			continue
		}
		break
	}
	return Name{Span: Span{i, end}, Text: spell(tokens[i:end])}, true
}

func nameWord(t words.Token) bool {
	if t.Kind != words.Word || len(t.Text) < 2 || words.Common(t.Low) {
		return false
	}
	if _, ok := tens(t.Low); ok {
		return false
	}
	return !strings.HasSuffix(t.Low, "'m") && !strings.HasSuffix(t.Low, "n't")
}

func title(w string) bool { return w == "mr" || w == "mrs" || w == "ms" || w == "dr" || w == "miss" }

func particle(w string) bool {
	switch w {
	case "van", "von", "der", "den", "de", "da", "di", "du", "la", "le", "el", "al", "bin", "ibn", "y", "dos", "del", "ter", "zu":
		return true
	}
	return false
}

func capitalized(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r)
}

// spell writes a name as names are written; one that has capitals and small
// letters is left as it is.
func spell(tokens []words.Token) string {
	var b strings.Builder
	for k, t := range tokens {
		if k > 0 && !t.Glued {
			b.WriteByte(' ')
		}
		switch upper := strings.ToUpper(t.Text); {
		case t.Kind != words.Word || k > 0 && particle(t.Low) && t.Text == t.Low:
			b.WriteString(t.Text)
		case t.Text == t.Low || t.Text == upper && utf8.RuneCountInString(t.Text) > 2:
			b.WriteString(Title(t.Low))
		default:
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

// Title puts the first letter of s in upper case.
func Title(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if size == 0 || !unicode.IsLower(r) {
		return s
	}
	return string(unicode.ToUpper(r)) + s[size:]
}
