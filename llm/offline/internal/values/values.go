// Package values finds what people say inside a sentence: numbers, days, times,
// yes and no, names, addresses and codes.
package values

import (
	"time"

	"github.com/turnwise/turnwise/llm/offline/internal/words"
)

// MaxTokens is how much of one text is read.
const MaxTokens = 300

// Reading is a text with the values found in it that stand for themselves.
type Reading struct {
	Text    string
	Tokens  []words.Token
	Numbers []Number
	Dates   []Date
	Clocks  []Clock
	Answer  Answer
}

// Read reads a text at a time.
func Read(text string, now time.Time) *Reading {
	r := &Reading{Text: text, Tokens: words.Split(text, MaxTokens)}
	r.Numbers = Numbers(r.Tokens)
	r.Dates = Dates(r.Tokens, r.Numbers, now)
	r.Clocks = Clocks(r.Tokens, r.Numbers, r.Dates)
	r.Answer = YesNo(r.Tokens)
	return r
}

// Temporal reports whether a span is part of a day or a time.
func (r *Reading) Temporal(s Span) bool {
	for _, d := range r.Dates {
		if d.Overlaps(s) {
			return true
		}
	}
	for _, c := range r.Clocks {
		if c.Overlaps(s) {
			return true
		}
	}
	return false
}

// CorrectedAt is the token behind the last "no, I mean" of a text, 0 without one:
// what stands after it replaces what stands before.
func (r *Reading) CorrectedAt() int {
	at := 0
	for i := range r.Tokens {
		if i == 0 {
			continue
		}
		for _, marker := range [...]string{"no ,", "no", "sorry", "i mean", "i meant", "rather", "make that", "make it", "or rather", "actually", "wait"} {
			if n := matchPhrase(r.Tokens, i, marker); n > 0 && (r.Tokens[i-1].Kind == words.Mark || marker == "i mean" || marker == "make that") {
				at = max(at, i+n)
			}
		}
	}
	return at
}
