// Package words cuts text into tokens and reduces them to stems and concepts, so
// that "bookings" and "to reserve" can be seen to be about the same thing.
package words

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is what a token is made of.
type Kind uint8

// The kinds.
const (
	// Word is a run of letters, with inner apostrophes.
	Word Kind = iota
	// Digits is a run of the digits 0 to 9.
	Digits
	// Mark is a single other character.
	Mark
)

// Token is a piece of a text.
type Token struct {
	// Text is the token as written.
	Text string
	// Low is the token in lower case with plain apostrophes.
	Low string
	// Concept is what a word is about, see [Concept]; empty for other kinds.
	Concept string
	// Start and End are byte offsets in the text.
	Start, End int
	Kind       Kind
	// Glued tells that no space stands before the token.
	Glued bool
	// Stop tells that the word carries no topic, see [Stop].
	Stop bool
}

// Split cuts text into tokens, at most limit of them; what is left over is not
// looked at.
func Split(text string, limit int) []Token {
	tokens := make([]Token, 0, min(limit, len(text)/4+4))
	glued := false
	for i := 0; i < len(text) && len(tokens) < limit; {
		r, size := utf8.DecodeRuneInString(text[i:])
		if unicode.IsSpace(r) {
			glued = false
			i += size
			continue
		}
		t := Token{Start: i, Glued: glued && len(tokens) > 0}
		switch {
		case isDigit(r):
			t.Kind, t.End = Digits, i+runOf(text[i:], isDigit)
		case unicode.IsLetter(r):
			t.Kind, t.End = Word, i+wordLength(text[i:])
		default:
			t.Kind, t.End = Mark, i+size
		}
		t.Text = text[t.Start:t.End]
		t.Low = Lower(t.Text)
		if t.Kind == Word {
			t.Concept = Concept(Stem(t.Low))
			t.Stop = Stop(t.Low)
		}
		tokens = append(tokens, t)
		glued, i = true, t.End
	}
	return tokens
}

// Lower is s in lower case with typographic apostrophes made plain.
func Lower(s string) string {
	plain := true
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || c >= 'A' && c <= 'Z' {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	if strings.Contains(s, "’") {
		s = strings.ReplaceAll(s, "’", "'")
	}
	return strings.ToLower(s)
}

// Identifier splits a program's name such as party_size, partySize or party-size
// into lower-case words separated by spaces.
func Identifier(name string) string {
	var b strings.Builder
	var previous rune
	for _, r := range name {
		switch {
		case r == '_' || r == '-' || r == '.' || r == '/' || unicode.IsSpace(r):
			r = ' '
		case unicode.IsUpper(r) && unicode.IsLower(previous):
			b.WriteByte(' ')
		}
		if r != ' ' || b.Len() > 0 && previous != ' ' {
			b.WriteRune(unicode.ToLower(r))
		}
		previous = r
	}
	return strings.TrimSpace(b.String())
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func runOf(s string, in func(rune) bool) int {
	for i, r := range s {
		if !in(r) {
			return i
		}
	}
	return len(s)
}

// wordLength measures letters and combining marks, and apostrophes between them.
func wordLength(s string) int {
	end := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case unicode.IsLetter(r) || unicode.Is(unicode.Mn, r):
			i += size
			end = i
		case (r == '\'' || r == '’') && end == i && i > 0:
			i += size
		default:
			return end
		}
	}
	return end
}
