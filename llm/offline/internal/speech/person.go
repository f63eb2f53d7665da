// Package speech turns what a bot was told to do ("greet the guest and ask how
// many people are coming") into what it says ("Hello! How many people are
// coming?").
package speech

import (
	"strings"

	"github.com/turnwise/turnwise/llm/offline/internal/values"
	"github.com/turnwise/turnwise/llm/offline/internal/words"
)

// ToListener rewrites words about the listener as words to the listener, and
// words to the bot as the bot's own: "the guest wants your help" becomes "you
// want my help".
func ToListener(s string) string {
	in := strings.Fields(s)
	out := make([]string, 0, len(in))
	for i := 0; i < len(in); i++ {
		core, tail := cut(in[i])
		low := words.Lower(core)
		if width, possessive := audience(in, i); width > 0 {
			_, tail = cut(in[i+width-1])
			i += width - 1
			word := "you"
			if possessive {
				word = "your"
			}
			out = append(out, word+tail)
			if !possessive && tail == "" && i+1 < len(in) {
				in[i+1] = plural(in[i+1])
			}
			continue
		}
		if other, ok := swapped(low, in, i); ok {
			out = append(out, other+tail)
			continue
		}
		out = append(out, in[i])
	}
	return strings.Join(out, " ")
}

// cut separates a word from the punctuation behind it.
func cut(w string) (core, tail string) {
	end := strings.TrimRight(w, ".,;:!?)\"”")
	return end, w[len(end):]
}

// audience reports how many words at i name the listener as a noun does.
func audience(in []string, i int) (width int, possessive bool) {
	core, _ := cut(in[i])
	low := words.Lower(core)
	if (low == "the" || low == "a" || low == "each" || low == "every") && i+1 < len(in) && core == in[i] {
		next, _ := cut(in[i+1])
		noun, own := strings.CutSuffix(words.Lower(next), "'s")
		if listener(noun) && (low == "the" || noun != "person" && noun != "client" && noun != "human") {
			return 2, own
		}
		if noun, plural := strings.CutSuffix(words.Lower(next), "s'"); plural && listener(noun) {
			return 2, true
		}
		return 0, false
	}
	if i > 0 && counted(bare(in[i-1])) {
		return 0, false
	}
	switch noun, own := strings.CutSuffix(low, "'s"); {
	case (noun == "guests" || noun == "users" || noun == "callers" || noun == "customers" || noun == "guest" || noun == "user") && i > 0:
		return 1, own
	case noun == "guests" || noun == "users" || noun == "callers" || noun == "customers":
		return 1, own
	}
	return 0, false
}

// counted tells "how many guests" from the guest.
func counted(before string) bool {
	switch before {
	case "many", "of", "more", "other", "all", "and", "or", "any", "adult", "number", "some", "few", "fewer":
		return true
	}
	return false
}

func listener(noun string) bool {
	switch strings.TrimSuffix(noun, "s") {
	case "user", "guest", "customer", "caller", "client", "visitor", "patient", "person", "human", "member", "diner", "traveller",
		"traveler", "passenger", "shopper", "student", "tenant", "applicant", "speaker":
		return true
	}
	return false
}

// swapped rewrites one pronoun.
func swapped(low string, in []string, i int) (string, bool) {
	switch low {
	case "they", "them", "he", "she", "him":
		if i+1 < len(in) && (low == "he" || low == "she") {
			in[i+1] = plural(in[i+1])
		}
		return "you", true
	case "their", "his", "her":
		return "your", true
	case "theirs", "hers":
		return "yours", true
	case "themselves", "themself", "himself", "herself":
		return "yourself", true
	case "they're":
		return "you're", true
	case "they'd":
		return "you'd", true
	case "they'll":
		return "you'll", true
	case "they've":
		return "you've", true
	case "your":
		return "my", true
	case "yours":
		return "mine", true
	case "yourself":
		return "myself", true
	case "you're":
		return "I'm", true
	case "you'll":
		return "I'll", true
	case "you've":
		return "I've", true
	case "you'd":
		return "I'd", true
	case "you":
		return botPronoun(in, i), true
	}
	return "", false
}

// botPronoun is I where a verb follows and me elsewhere.
func botPronoun(in []string, i int) string {
	if i+1 >= len(in) || in[i] != strings.TrimRight(in[i], ".,;:!?") {
		return "me"
	}
	next, _ := cut(in[i+1])
	switch low := words.Lower(next); low {
	case "are":
		in[i+1] = strings.Replace(in[i+1], next, "am", 1)
		return "I"
	case "were":
		in[i+1] = strings.Replace(in[i+1], next, "was", 1)
		return "I"
	default:
		if auxiliary(low) || i == 0 || words.Lower(in[i-1]) == "that" {
			return "I"
		}
	}
	return "me"
}

// plural makes a verb agree with "you".
func plural(w string) string {
	core, tail := cut(w)
	switch words.Lower(core) {
	case "is":
		return "are" + tail
	case "isn't":
		return "aren't" + tail
	case "has":
		return "have" + tail
	case "hasn't":
		return "haven't" + tail
	case "was":
		return "were" + tail
	case "wasn't":
		return "weren't" + tail
	case "does":
		return "do" + tail
	case "doesn't":
		return "don't" + tail
	case "as", "its", "this", "us", "plus", "always", "sometimes", "details", "thus", "yes":
		return w
	}
	return baseVerb(core) + tail
}

// baseVerb takes the s off a verb.
func baseVerb(w string) string {
	switch {
	case strings.HasSuffix(w, "ss") || strings.HasSuffix(w, "us") || strings.HasSuffix(w, "'s") || len(w) < 4:
		return w
	case strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "shes") || strings.HasSuffix(w, "ches") || strings.HasSuffix(w, "sses") || strings.HasSuffix(w, "goes"):
		return w[:len(w)-2]
	}
	return strings.TrimSuffix(w, "s")
}

func auxiliary(w string) bool {
	switch w {
	case "is", "are", "was", "were", "am", "will", "would", "can", "could", "shall", "should", "may", "might", "must", "has", "have", "had",
		"do", "does", "did", "isn't", "aren't", "wasn't", "weren't", "won't", "can't":
		return true
	}
	return false
}

// Sentence makes s begin with a capital and end with the mark, unless it ends a
// sentence already.
func Sentence(s, mark string) string {
	s = strings.TrimRight(strings.TrimSpace(s), ",;: ")
	if s == "" {
		return ""
	}
	if last := s[len(s)-1]; last == '.' || last == '!' || last == '?' {
		if mark != "?" || last == '?' {
			return values.Title(s)
		}
		s = strings.TrimRight(s, ".!")
	}
	return values.Title(s) + mark
}
