package values

import (
	"math"
	"strconv"
	"strings"

	"github.com/turnwise/turnwise/llm/offline/internal/words"
)

// Span is a range of tokens, To exclusive.
type Span struct{ From, To int }

// Len is the number of tokens.
func (s Span) Len() int { return s.To - s.From }

// Overlaps reports whether two spans share a token.
func (s Span) Overlaps(o Span) bool { return s.From < o.To && o.From < s.To }

// Number is a number somebody said.
type Number struct {
	Span
	Value float64
	// Ordinal tells that it was "third" or "3rd".
	Ordinal bool
}

// Numbers finds the numbers in a text, in digits and in words.
func Numbers(tokens []words.Token) []Number {
	var found []Number
	for i := 0; i < len(tokens); {
		n, ok := numberAt(tokens, i)
		if !ok {
			i++
			continue
		}
		found = append(found, n)
		i = n.To
	}
	return found
}

func numberAt(tokens []words.Token, i int) (Number, bool) {
	if tokens[i].Kind == words.Digits {
		return digitsAt(tokens, i)
	}
	start, sign := i, 1.0
	if sayMinus(tokens, i) {
		i, sign = i+1, -1
		if tokens[i].Kind == words.Digits {
			n, ok := digitsAt(tokens, i)
			n.From, n.Value = start, -n.Value
			return n, ok
		}
	}
	n, ok := phraseAt(tokens, i)
	if !ok {
		n, ok = wordsAt(tokens, i)
	}
	n.From, n.Value = start, sign*n.Value
	return n, ok
}

// sayMinus reports a sign in front of a number: the word, or a dash that stands
// alone before and touches the digits behind it.
func sayMinus(tokens []words.Token, i int) bool {
	if i+1 >= len(tokens) {
		return false
	}
	switch tokens[i].Low {
	case "minus", "negative":
		return true
	case "-", "−":
		return !tokens[i].Glued && tokens[i+1].Glued && tokens[i+1].Kind == words.Digits
	}
	return false
}

func digitsAt(tokens []words.Token, i int) (Number, bool) {
	text := tokens[i].Text
	j := i + 1
	for j+1 < len(tokens) && tokens[j].Text == "," && tokens[j].Glued && isThousands(tokens[j+1]) && len(text) < 15 {
		text += tokens[j+1].Text
		j += 2
	}
	if j+1 < len(tokens) && tokens[j].Text == "." && tokens[j].Glued && tokens[j+1].Kind == words.Digits && tokens[j+1].Glued {
		text += "." + tokens[j+1].Text
		j += 2
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || len(text) > 15 {
		return Number{}, false
	}
	n := Number{Span: Span{i, j}, Value: value}
	if j < len(tokens) && tokens[j].Glued {
		switch tokens[j].Low {
		case "st", "nd", "rd", "th":
			n.To, n.Ordinal = j+1, true
		}
	}
	return n, true
}

func isThousands(t words.Token) bool { return t.Kind == words.Digits && t.Glued && len(t.Text) == 3 }

// phraseAt knows the numbers that are not built from numerals.
func phraseAt(tokens []words.Token, i int) (Number, bool) {
	for _, p := range [...]struct {
		phrase string
		value  float64
	}{
		{"half a dozen", 6}, {"a couple of", 2}, {"a couple", 2}, {"couple of", 2}, {"a pair of", 2}, {"a pair", 2}, {"a dozen", 12},
		{"dozen", 12}, {"couple", 2}, {"just me", 1}, {"only me", 1}, {"just myself", 1}, {"only myself", 1}, {"by myself", 1},
		{"on my own", 1}, {"alone", 1}, {"myself", 1}, {"nobody else", 1},
	} {
		if n := matchPhrase(tokens, i, p.phrase); n > 0 {
			return Number{Span: Span{i, i + n}, Value: p.value}, true
		}
	}
	return Number{}, false
}

// matchPhrase is how many tokens from i on are the phrase's words; 0 if they are
// not.
func matchPhrase(tokens []words.Token, i int, phrase string) int {
	n := 0
	for more := true; more; n++ {
		var word string
		word, phrase, more = strings.Cut(phrase, " ")
		if i+n >= len(tokens) || tokens[i+n].Low != word {
			return 0
		}
	}
	return n
}

func wordsAt(tokens []words.Token, i int) (Number, bool) {
	if pronounOne(tokens, i) {
		return Number{}, false
	}
	total, j, any := 0.0, i, false
	ordinal := false
	limit := math.Inf(1)
	for {
		part, next, isOrdinal, ok := below1000(tokens, j)
		if !ok {
			break
		}
		scale := 1.0
		if next < len(tokens) {
			if s := scaleOf(tokens[next].Low); s > 1 {
				scale = s
				next++
			}
		}
		if scale >= limit {
			break
		}
		total, j, any, ordinal = total+part*scale, next, true, isOrdinal
		if scale == 1 || ordinal {
			break
		}
		limit = scale
		if j < len(tokens) && tokens[j].Low == "and" {
			if _, _, _, more := below1000(tokens, j+1); more {
				j++
			}
		}
	}
	if !any {
		return Number{}, false
	}
	n := Number{Span: Span{i, j}, Value: total, Ordinal: ordinal}
	return fraction(tokens, n), true
}

// pronounOne tells "this one" and "one moment" from the number.
func pronounOne(tokens []words.Token, i int) bool {
	if tokens[i].Low != "one" {
		return false
	}
	if i > 0 {
		switch tokens[i-1].Low {
		case "this", "that", "the", "which", "no", "any", "every", "another", "last", "first", "second", "third", "other", "good", "right":
			return true
		}
	}
	if i+1 < len(tokens) {
		switch tokens[i+1].Low {
		case "moment", "second", "minute", "sec", "thing", "question", "more", "of":
			return true
		}
	}
	return false
}

// fraction reads what may follow a whole number: "point five", "and a half",
// "dozen".
func fraction(tokens []words.Token, n Number) Number {
	if n.To >= len(tokens) || n.Ordinal {
		return n
	}
	switch {
	case tokens[n.To].Low == "point":
		scale, j := 0.1, n.To+1
		for j < len(tokens) && j < n.To+8 {
			digit, ok := unit(tokens[j].Low)
			if !ok || digit > 9 {
				break
			}
			n.Value += scale * digit
			scale /= 10
			j++
		}
		if j > n.To+1 {
			n.To = j
			n.Value = math.Round(n.Value*1e9) / 1e9
		}
	case tokens[n.To].Low == "dozen":
		n.Value *= 12
		n.To++
	default:
		if k := matchPhrase(tokens, n.To, "and a half"); k > 0 {
			n.Value += 0.5
			n.To += k
		}
	}
	return n
}

func scaleOf(w string) float64 {
	switch w {
	case "thousand", "grand":
		return 1e3
	case "million":
		return 1e6
	}
	return 1
}

// below1000 reads a number under a thousand; "a hundred" is one, "a" is not.
func below1000(tokens []words.Token, i int) (value float64, next int, ordinal, ok bool) {
	if i >= len(tokens) {
		return 0, i, false, false
	}
	if (tokens[i].Low == "a" || tokens[i].Low == "an") && i+1 < len(tokens) {
		switch tokens[i+1].Low {
		case "hundred":
			return hundreds(tokens, i+2, 100)
		case "thousand", "million":
			return 1, i + 1, false, true
		}
		return 0, i, false, false
	}
	value, next, ordinal, ok = below100(tokens, i)
	if ok && !ordinal && next < len(tokens) && tokens[next].Low == "hundred" {
		return hundreds(tokens, next+1, value*100)
	}
	return value, next, ordinal, ok
}

func hundreds(tokens []words.Token, i int, value float64) (float64, int, bool, bool) {
	j := i
	if j < len(tokens) && tokens[j].Low == "and" {
		j++
	}
	if rest, next, ordinal, ok := below100(tokens, j); ok {
		return value + rest, next, ordinal, true
	}
	return value, i, false, true
}

func below100(tokens []words.Token, i int) (value float64, next int, ordinal, ok bool) {
	if i >= len(tokens) {
		return 0, i, false, false
	}
	if v, ok := tens(tokens[i].Low); ok {
		j := i + 1
		if j+1 < len(tokens) && tokens[j].Text == "-" {
			j++
		}
		if j < len(tokens) {
			if u, ok := unit(tokens[j].Low); ok && u > 0 && u < 10 {
				return v + u, j + 1, false, true
			}
			if u, ok := ordinalUnit(tokens[j].Low); ok && u < 10 {
				return v + u, j + 1, true, true
			}
		}
		return v, i + 1, false, true
	}
	if v, ok := unit(tokens[i].Low); ok {
		return v, i + 1, false, true
	}
	if v, ok := ordinalUnit(tokens[i].Low); ok {
		return v, i + 1, true, true
	}
	return 0, i, false, false
}

func unit(w string) (float64, bool) {
	for v, name := range [...]string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
		"twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"} {
		if w == name {
			return float64(v), true
		}
	}
	return 0, false
}

func tens(w string) (float64, bool) {
	if !strings.HasSuffix(w, "ty") {
		return 0, false
	}
	for v, name := range [...]string{"twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"} {
		if w == name {
			return float64(v*10 + 20), true
		}
	}
	return 0, false
}

func ordinalUnit(w string) (float64, bool) {
	switch w {
	case "twentieth":
		return 20, true
	case "thirtieth":
		return 30, true
	}
	for v, name := range [...]string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
		"twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"} {
		if w == name {
			return float64(v + 1), true
		}
	}
	return 0, false
}
