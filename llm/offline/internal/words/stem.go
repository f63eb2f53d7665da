package words

import "strings"

// Stem cuts the endings off a lower-case English word. It is coarse: its results
// are for comparing, not for showing.
func Stem(w string) string {
	w = strings.TrimSuffix(w, "'")
	w = strings.TrimSuffix(w, "'s")
	if len(w) <= 3 {
		return w
	}
	w = singular(w)
	for _, ending := range [...]struct {
		text string
		keep int
	}{
		{"ability", 4}, {"ibility", 4}, {"ation", 3}, {"able", 4}, {"ible", 4},
		{"ment", 3}, {"ing", 3}, {"ied", 3}, {"ed", 3}, {"ly", 3}, {"ion", 4},
	} {
		if rest, ok := strings.CutSuffix(w, ending.text); ok && len(rest) >= ending.keep && hasVowel(rest) {
			w = rest
			break
		}
	}
	return undouble(trimVowel(w))
}

func singular(w string) string {
	if rest, ok := strings.CutSuffix(w, "ies"); ok && len(rest) >= 2 {
		return rest
	}
	if rest, ok := strings.CutSuffix(w, "es"); ok && endsInHiss(rest) {
		return rest
	}
	rest, ok := strings.CutSuffix(w, "s")
	if !ok || strings.HasSuffix(rest, "s") || strings.HasSuffix(rest, "u") || strings.HasSuffix(rest, "i") {
		return w
	}
	return rest
}

func endsInHiss(w string) bool {
	for _, end := range [...]string{"ch", "sh", "x", "ss", "z"} {
		if strings.HasSuffix(w, end) {
			return true
		}
	}
	return false
}

// trimVowel drops a last e or y, which come and go with endings.
func trimVowel(w string) string {
	if len(w) > 3 && (w[len(w)-1] == 'e' || w[len(w)-1] == 'y') {
		return w[:len(w)-1]
	}
	return w
}

// undouble makes "cancell" and "cancel" one.
func undouble(w string) string {
	n := len(w)
	if n > 3 && w[n-1] == w[n-2] && !strings.ContainsRune("aeiou", rune(w[n-1])) {
		return w[:n-1]
	}
	return w
}

func hasVowel(w string) bool { return strings.ContainsAny(w, "aeiouy") }
