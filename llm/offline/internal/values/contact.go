package values

import (
	"strings"

	"github.com/turnwise/turnwise/llm/offline/internal/words"
)

// Contact is an e-mail address or a phone number somebody gave.
type Contact struct {
	Span
	Text string
}

// Email finds the first e-mail address, written or spelled out as in "anna at
// example dot com".
func Email(tokens []words.Token) (Contact, bool) {
	for i := range tokens {
		if low := tokens[i].Low; low != "@" && low != "at" || i == 0 || i+3 > len(tokens) {
			continue
		}
		from, local := localPart(tokens, i)
		to, domain := domainPart(tokens, i+1)
		if local != "" && strings.Contains(domain, ".") {
			return Contact{Span{from, to}, local + "@" + domain}, true
		}
	}
	return Contact{}, false
}

// localPart reads backwards from the at sign.
func localPart(tokens []words.Token, at int) (int, string) {
	spoken := tokens[at].Low == "at"
	from, parts := at, []string(nil)
	wantName := true
	for i := at - 1; i >= 0; i-- {
		t := tokens[i]
		piece, isJoint := joint(t, spoken)
		touches := spoken || tokens[i+1].Glued
		if !touches || isJoint == wantName && t.Kind == words.Mark {
			break
		}
		if isJoint && !wantName {
			if i == 0 {
				break
			}
			wantName = true
		} else if t.Kind != words.Mark && (wantName || tokens[i+1].Glued) {
			piece = strings.ToLower(t.Text)
			wantName = false
			from = i
		} else {
			break
		}
		parts = append(parts, piece)
	}
	keep := at - from
	if keep <= 0 || keep > len(parts) {
		return at, ""
	}
	var b strings.Builder
	for i := keep - 1; i >= 0; i-- {
		b.WriteString(parts[i])
	}
	return from, plainASCII(b.String())
}

// domainPart reads forwards: labels with dots between.
func domainPart(tokens []words.Token, i int) (int, string) {
	spoken := i > 0 && tokens[i-1].Low == "at"
	var b strings.Builder
	end, wantLabel := i, true
	for ; i < len(tokens); i++ {
		t := tokens[i]
		if !spoken && !t.Glued && t.Low != "dot" && tokens[i-1].Low != "dot" {
			break
		}
		if t.Kind != words.Mark && t.Low != "dot" && (wantLabel || t.Glued) {
			b.WriteString(t.Low)
			end, wantLabel = i+1, false
			continue
		}
		dot := t.Text == "." || t.Low == "dot"
		dash := t.Text == "-" || t.Low == "dash" || t.Low == "hyphen"
		if wantLabel || !dot && !dash || i+1 >= len(tokens) || tokens[i+1].Kind == words.Mark {
			break
		}
		if t.Text == "." && !tokens[i+1].Glued {
			break
		}
		if dot {
			b.WriteByte('.')
		} else {
			b.WriteByte('-')
		}
		wantLabel = true
	}
	if wantLabel {
		return end, ""
	}
	return end, plainASCII(b.String())
}

// joint is the character a token stands for between parts of a name.
func joint(t words.Token, spoken bool) (string, bool) {
	switch t.Text {
	case ".", "-", "_", "+":
		return t.Text, true
	}
	if spoken {
		switch t.Low {
		case "dot":
			return ".", true
		case "dash", "hyphen", "minus":
			return "-", true
		case "underscore":
			return "_", true
		case "plus":
			return "+", true
		}
	}
	return "", false
}

// plainASCII is s if it has only letters, digits and joints, and "" otherwise.
func plainASCII(s string) string {
	for _, r := range s {
		if r > 0x7e || r <= ' ' || !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789.-_+", r) {
			return ""
		}
	}
	if strings.Contains(s, "..") || strings.HasPrefix(s, ".") || strings.HasSuffix(s, ".") ||
		strings.HasPrefix(s, "-") || strings.HasSuffix(s, "-") || strings.Contains(s, "-.") || strings.Contains(s, ".-") {
		return ""
	}
	return s
}

// Phone finds the first phone number: seven to fifteen digits, written with
// spaces, dashes, dots, slashes and brackets, or spoken digit by digit.
func Phone(tokens []words.Token) (Contact, bool) {
	for i := range tokens {
		if c, ok := phoneAt(tokens, i); ok {
			return c, true
		}
	}
	return Contact{}, false
}

func phoneAt(tokens []words.Token, i int) (Contact, bool) {
	var b strings.Builder
	from, end, count, times := i, i, 0, 1
	if tokens[i].Text == "+" || tokens[i].Low == "plus" {
		b.WriteByte('+')
		i++
	}
	for ; i < len(tokens) && count <= 15; i++ {
		t := tokens[i]
		switch digits := spokenDigits(t); {
		case digits != "":
			for ; times > 0; times-- {
				b.WriteString(digits)
				count += len(digits)
			}
			times, end = 1, i+1
		case t.Low == "double":
			times = 2
		case t.Low == "triple":
			times = 3
		case count > 0 && strings.Contains("-./()", t.Text) && len(t.Text) == 1, t.Text == "(":
		default:
			i = len(tokens)
		}
	}
	if count < 7 || count > 15 {
		return Contact{}, false
	}
	return Contact{Span{from, end}, b.String()}, true
}

// spokenDigits is the digits of a token, or of a word for a single digit.
func spokenDigits(t words.Token) string {
	if t.Kind == words.Digits {
		return t.Text
	}
	if t.Low == "oh" || t.Low == "o" {
		return "0"
	}
	if v, ok := unit(t.Low); ok && v <= 9 {
		return string(rune('0' + int(v)))
	}
	return ""
}
