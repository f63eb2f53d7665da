package speech

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// goesOn reports whether the sentence goes on behind the full stop at byte dot,
// because the word before it is an abbreviation, an initial or an ordinal number.
// What follows begins at byte next and is no small letter. known is false when more
// of that has to be there to tell.
func (s *SentenceSplitter) goesOn(dot, next int) (goesOn, known bool) {
	start := bytes.LastIndexAny(s.buf[:dot], " \t\n\r\u00a0\u202f([{\"“„«/") + 1
	for start < dot && !utf8.RuneStart(s.buf[start]) {
		start++
	}
	word := strings.ToLower(strings.TrimLeftFunc(string(s.buf[start:dot]), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }))
	if word == "" {
		return false, true
	}
	if strings.Trim(word, "0123456789") == "" {
		return s.ordinal(word, start, next)
	}
	follow, _ := utf8.DecodeRune(s.buf[next:])
	switch {
	case s.more[word], goesOnAfter(word):
		return true, true
	case goesOnBeforeNumber(word):
		return unicode.IsDigit(follow), true
	case strings.Contains(word, "."):
		return dotted(word) && !mayEndSentence(word), true
	case utf8.RuneCountInString(word) == 2 && s.afterInitial(start):
		return true, true // as in "p. ej."
	case utf8.RuneCountInString(word) == 1:
		first, _ := utf8.DecodeRuneInString(word)
		return unicode.IsLetter(first) && s.buf[dot-1] != 'I' && !spaceless(first), true
	}
	return false, true
}

// afterInitial reports whether a single letter with a full stop stands before byte
// start.
func (s *SentenceSplitter) afterInitial(start int) bool {
	before := bytes.TrimRight(s.buf[:start], " \u00a0")
	n := len(before)
	return n >= 2 && before[n-1] == '.' && before[n-2] >= 'a' && before[n-2] <= 'z' && (n == 2 || before[n-3] == ' ')
}

// ordinal reports whether a number with a full stop behind it goes on: as the number
// of an item in a list, or as the day of a date.
func (s *SentenceSplitter) ordinal(number string, start, next int) (goesOn, known bool) {
	line := bytes.LastIndexByte(s.buf[:start], '\n') + 1
	if len(bytes.Trim(s.buf[line:start], " \t\u00a0>*_#")) == 0 {
		return true, true
	}
	if len(number) > 2 {
		return false, true
	}
	end := next
	for end < len(s.buf) {
		r, size := utf8.DecodeRune(s.buf[end:])
		if !unicode.IsLetter(r) && (r != utf8.RuneError || size > 1) {
			return countedByOrdinals(strings.ToLower(string(s.buf[next:end]))), true
		}
		end += size
	}
	return false, false
}

// dotted reports whether a word is letters with full stops between them, as in
// "e.g" or "z.b".
func dotted(word string) bool {
	for part := range strings.SplitSeq(word, ".") {
		if n := utf8.RuneCountInString(part); n == 0 || n > 4 {
			return false
		}
		for _, r := range part {
			if !unicode.IsLetter(r) && r != '-' {
				return false
			}
		}
	}
	return true
}

// mayEndSentence reports whether a dotted abbreviation is one that sentences end
// with.
func mayEndSentence(word string) bool {
	switch word {
	case "a.m", "p.m", "u.s", "u.k", "u.s.a", "u.n", "d.c", "b.c", "a.d", "e.u", "s.a", "s.l", "s.p.a", "ee.uu", "o.k":
		return true
	}
	return false
}

// goesOnAfter reports whether a sentence always goes on after an abbreviation: titles
// and the like. Words that a sentence of one of the languages may end with are not
// among them.
func goesOnAfter(word string) bool {
	switch word {
	// English
	case "mr", "mrs", "ms", "dr", "prof", "st", "mt", "rev", "hon", "gen", "sgt", "capt", "lt", "cmdr", "gov", "sen", "messrs", "vs", "approx":
		return true
	// German
	case "hr", "frl", "dipl", "bzw", "ca", "evtl", "ggf", "inkl", "exkl", "zzgl", "vgl", "sog", "bspw", "allg", "geb":
		return true
	// French
	case "mme", "mlle", "mgr", "ste", "env", "cf", "c.-à-d":
		return true
	// Spanish and Portuguese
	case "sr", "sra", "srta", "srs", "dra", "dña", "profa", "ud", "uds", "vd", "vds", "lic", "avda", "gral", "exmo", "exma":
		return true
	// Italian
	case "sig", "sigg", "sig.ra", "sig.na", "dott", "dott.ssa", "prof.ssa", "avv", "egr", "spett":
		return true
	// Dutch
	case "dhr", "mevr", "mw", "drs", "bijv", "evt", "resp", "zgn":
		return true
	}
	return false
}

// goesOnBeforeNumber reports whether a sentence goes on after an abbreviation when a
// number follows.
func goesOnBeforeNumber(word string) bool {
	switch word {
	case "no", "nos", "nr", "núm", "num", "fig", "figs", "vol", "pp", "pg", "pag", "pág", "abs", "art", "kap", "cap", "ch", "sec", "eq", "tel", "par", "bd", "nº", "max", "min", "mind",
		"jan", "feb", "mär", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "okt", "nov", "dec", "dez", "ene", "abr", "ago", "dic":
		return true
	}
	return false
}

// countedByOrdinals reports whether a number with a full stop before the word, in
// lower case, is an ordinal: the languages that write them so are German and, for
// dates, its neighbours.
func countedByOrdinals(word string) bool {
	switch word {
	case "januar", "jänner", "februar", "märz", "april", "mai", "juni", "juli", "august", "september", "oktober", "november", "dezember",
		"jan", "feb", "mär", "apr", "jun", "jul", "aug", "sep", "sept", "okt", "nov", "dez",
		"jahrhundert", "jahrhunderts", "jh", "stock", "etage", "obergeschoss", "platz", "klasse", "kapitel", "mal", "geburtstag", "woche", "tag", "teil",
		"liga", "weltkrieg", "weltkriegs", "auflage", "runde", "spieltag", "semester", "quartal", "monat", "stunde":
		return true
	}
	return false
}
