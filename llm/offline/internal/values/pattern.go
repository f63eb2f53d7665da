package values

import (
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/turnwise/turnwise/llm/offline/internal/words"
)

// Pattern is a regular expression that a value must match.
type Pattern struct {
	match *regexp.Regexp
	// Sample is a text that matches, to show what is meant; empty when none is
	// found.
	Sample string
}

// maxPattern bounds the expressions that are looked at.
const maxPattern = 1000

// NewPattern compiles an expression; it returns nil for one that cannot be used.
func NewPattern(expr string) *Pattern {
	if len(expr) > maxPattern {
		return nil
	}
	match, err := regexp.Compile(expr)
	if err != nil {
		return nil
	}
	p := &Pattern{match: match}
	if tree, err := syntax.Parse(expr, syntax.Perl); err == nil {
		var s sampler
		s.walk(tree.Simplify())
		if text := s.b.String(); !s.failed && match.MatchString(text) {
			p.Sample = text
		}
	}
	return p
}

// Matches reports whether a value is right.
func (p *Pattern) Matches(s string) bool { return p.match.MatchString(s) }

// How many tokens a value may be spread over, and how many are looked at.
const (
	maxWindow   = 16
	maxSearched = 60
)

// Find looks for the value in a text: a run of tokens that matches when it is
// joined, in the case that fits. Digits may be spoken. The longest wins, then the
// first. Words that carry no topic cannot make up a value alone.
func (p *Pattern) Find(tokens []words.Token) (string, Span, bool) {
	tokens = tokens[:min(maxSearched, len(tokens))]
	for n := min(maxWindow, len(tokens)); n > 0; n-- {
		for i := 0; i+n <= len(tokens); i++ {
			window := tokens[i : i+n]
			if n < len(tokens) && !meaningful(window) {
				continue
			}
			if text, ok := p.fit(window); ok {
				return text, Span{i, i + n}, true
			}
		}
	}
	return "", Span{}, false
}

func meaningful(tokens []words.Token) bool {
	first, last := tokens[0], tokens[len(tokens)-1]
	return !(first.Kind == words.Mark || first.Stop) && !(last.Kind == words.Mark || last.Stop)
}

// fit tries the ways in which people write and say codes.
func (p *Pattern) fit(tokens []words.Token) (string, bool) {
	var asWritten, joined strings.Builder
	for k, t := range tokens {
		if k > 0 && !t.Glued {
			asWritten.WriteByte(' ')
		}
		asWritten.WriteString(t.Text)
		switch digits := codeDigits(t, len(tokens)); {
		case digits != "":
			joined.WriteString(digits)
		case t.Kind != words.Mark:
			joined.WriteString(t.Text)
		}
	}
	for _, text := range [...]string{asWritten.String(), joined.String()} {
		for _, form := range [...]string{text, strings.ToUpper(text), strings.ToLower(text)} {
			if form != "" && p.whole(form) {
				return form, true
			}
		}
	}
	return "", false
}

// whole asks for a match of all of the text, also where the expression is not
// anchored.
func (p *Pattern) whole(text string) bool {
	at := p.match.FindStringIndex(text)
	return at != nil && at[0] == 0 && at[1] == len(text)
}

func codeDigits(t words.Token, among int) string {
	if among < 2 && t.Kind != words.Digits {
		return ""
	}
	return spokenDigits(t)
}

// sampler writes a text that an expression matches.
type sampler struct {
	b               strings.Builder
	letters, digits int
	failed          bool
}

const maxSample = 40

func (s *sampler) walk(e *syntax.Regexp) {
	if s.failed || s.b.Len() > maxSample {
		s.failed = true
		return
	}
	switch e.Op {
	case syntax.OpLiteral:
		s.b.WriteString(string(e.Rune))
	case syntax.OpCharClass:
		s.class(e.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		s.b.WriteByte('x')
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range e.Sub {
			s.walk(sub)
		}
	case syntax.OpPlus, syntax.OpAlternate:
		s.walk(e.Sub[0])
	case syntax.OpRepeat:
		for range max(e.Min, 1) {
			s.walk(e.Sub[0])
		}
	case syntax.OpStar, syntax.OpQuest, syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
	default:
		s.failed = true
	}
}

// class takes the next letter or digit, so that samples read A, B, C and 1, 2, 3.
func (s *sampler) class(ranges []rune) {
	in := func(r rune) bool {
		for i := 0; i+1 < len(ranges); i += 2 {
			if r >= ranges[i] && r <= ranges[i+1] {
				return true
			}
		}
		return false
	}
	if next := '1' + rune(s.digits%9); in(next) && !in('A') {
		s.digits++
		s.b.WriteRune(next)
		return
	}
	for _, first := range [...]rune{'A', 'a'} {
		if next := first + rune(s.letters%26); in(next) {
			s.letters++
			s.b.WriteRune(next)
			return
		}
	}
	if len(ranges) > 0 {
		s.b.WriteRune(ranges[0])
		return
	}
	s.failed = true
}
