package speech

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lookAhead is how many words further on a spoken word is looked for in the text.
const lookAhead = 3

// wordEnd is the byte behind the word that byte i belongs to, with the space and the
// marks that follow it; marks right before the next word belong to that. Scripts that
// are written without spaces are taken letter by letter.
func wordEnd(s string, i int) int {
	if i >= len(s) {
		return len(s)
	}
	for i > 0 && !utf8.RuneStart(s[i]) {
		i--
	}
	prev, size := utf8.DecodeRuneInString(s[i:])
	started := wordy(prev) || belongsBefore(s, i, prev)
	space := 0 // behind the last space since the word
	if started && unicode.IsSpace(prev) {
		space = i + size
	}
	for j := i + size; j < len(s); j += size {
		var r rune
		r, size = utf8.DecodeRuneInString(s[j:])
		switch {
		case unicode.IsSpace(r):
			if started {
				space = j + size
			}
		case !wordy(r):
		case space > 0:
			return space
		case started && (spaceless(r) || spaceless(prev)) && !unicode.Is(unicode.M, r):
			return j
		default:
			started = true
		}
		prev = r
	}
	return len(s)
}

// belongsBefore reports whether the mark or space r at byte i follows a word that it
// belongs to.
func belongsBefore(s string, i int, r rune) bool {
	if unicode.IsSpace(r) {
		return strings.IndexFunc(s[:i], wordy) >= 0
	}
	before, size := utf8.DecodeLastRuneInString(s[:i])
	return size > 0 && !unicode.IsSpace(before)
}

// wordy reports whether r is more than a mark or a space.
func wordy(r rune) bool { return !unicode.IsSpace(r) && !unicode.IsPunct(r) }

// spaceless reports whether r belongs to a script that is written without spaces
// between words.
func spaceless(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// matcher finds the words of the spoken form of a text, one after the other, in the
// text itself.
type matcher struct {
	text  string
	ends  []int // where the words of the text end, the space behind them included
	total int   // words in the spoken form
	count int   // words looked for so far
	heard int   // words of the text that have begun
	pos   int   // bytes of the text that have been matched
}

func newMatcher(text, spoken string) *matcher {
	m := &matcher{text: text}
	for i := 0; i < len(text); {
		i = wordEnd(text, i)
		m.ends = append(m.ends, i)
	}
	for i := 0; i < len(spoken); m.total++ {
		i = wordEnd(spoken, i)
	}
	return m
}

// word is the byte behind the next word of the spoken form, where the text has it. A
// word that is written otherwise in the text counts as being as far in the text as
// it is in the spoken form.
func (m *matcher) word(word string) int {
	m.count++
	if end := m.search(folded(word)); end > 0 {
		m.pos = end
	} else if m.total > 0 {
		m.heard = max(m.heard, min(m.count*len(m.ends)/m.total, len(m.ends)))
	}
	if m.heard == 0 {
		return 0
	}
	return m.ends[m.heard-1]
}

// search looks for letters in the word that has begun last and in the next few. It
// returns the byte behind them, or 0.
func (m *matcher) search(letters []rune) int {
	if len(letters) == 0 {
		return 0
	}
	for k := max(m.heard-1, 0); k < min(m.heard+lookAhead, len(m.ends)); k++ {
		end := m.find(k, letters)
		if end == 0 {
			continue
		}
		for m.heard = k + 1; m.ends[m.heard-1] < end; m.heard++ {
		}
		return end
	}
	return 0
}

// find looks for letters that begin in word k of the text and are words there.
func (m *matcher) find(k int, letters []rune) int {
	begin := 0
	if k > 0 {
		begin = m.ends[k-1]
	}
	before := ' '
	for i := max(begin, m.pos); i < m.ends[k]; {
		r, size := utf8.DecodeRuneInString(m.text[i:])
		if !isLetter(before) || spaceless(r) {
			if end := prefixFold(m.text, i, letters); end > 0 && m.wordEndsAt(end) {
				return end
			}
		}
		before = r
		i += size
	}
	return 0
}

// wordEndsAt reports whether no letter of the same word follows at byte i.
func (m *matcher) wordEndsAt(i int) bool {
	r, size := utf8.DecodeRuneInString(m.text[i:])
	return size == 0 || !isLetter(r) || spaceless(r)
}

// prefixFold is the byte behind the letters when s has them at i, with marks but no
// space between them; else 0.
func prefixFold(s string, i int, letters []rune) int {
	for n := 0; n < len(letters); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case size == 0:
			return 0
		case unicode.ToLower(r) == letters[n]:
			n++
		case n == 0 || isLetter(r) || unicode.IsSpace(r):
			return 0
		}
		i += size
	}
	return i
}

// folded is the letters and digits of a word in lower case.
func folded(word string) []rune {
	var out []rune
	for _, r := range word {
		if isLetter(r) {
			out = append(out, unicode.ToLower(r))
		}
	}
	return out
}

// isLetter reports whether r is heard: a letter, a digit, or a mark on one.
func isLetter(r rune) bool { return unicode.In(r, unicode.L, unicode.N, unicode.M) }

// speakable reports whether there is something to say in a text.
func speakable(s string) bool {
	for _, r := range s {
		if unicode.In(r, unicode.L, unicode.N, unicode.Sc) {
			return true
		}
	}
	return false
}
