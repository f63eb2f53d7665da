package speech

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// symbolWords is how a language says symbols.
type symbolWords struct {
	at, dot, slash, underscore, and, about, times, equals string
}

// wordsOf are the words of a language.
func wordsOf(language string) *symbolWords {
	base, _, _ := strings.Cut(strings.ToLower(language), "-")
	switch base {
	case "de":
		return &symbolWords{"at", "Punkt", "Schrägstrich", "Unterstrich", "und", "etwa", "mal", "gleich"}
	case "fr":
		return &symbolWords{"arobase", "point", "slash", "tiret bas", "et", "environ", "fois", "égale"}
	case "es":
		return &symbolWords{"arroba", "punto", "barra", "guion bajo", "y", "aproximadamente", "por", "igual a"}
	case "it":
		return &symbolWords{"chiocciola", "punto", "barra", "trattino basso", "e", "circa", "per", "uguale a"}
	case "pt":
		return &symbolWords{"arroba", "ponto", "barra", "sublinhado", "e", "cerca de", "vezes", "igual a"}
	case "nl":
		return &symbolWords{"apenstaartje", "punt", "slash", "underscore", "en", "ongeveer", "keer", "is gelijk aan"}
	}
	return &symbolWords{"at", "dot", "slash", "underscore", "and", "about", "times", "equals"}
}

// symbol writes one rune, in words where it is a symbol, or leaves it out. prev and
// next stand beside it in the text.
func (w *writer) symbol(r, prev, next rune) {
	spaced := (prev == 0 || unicode.IsSpace(prev)) && (next == 0 || unicode.IsSpace(next))
	switch r {
	case '*', '×', '✕':
		if r != '*' || spaced && prev != 0 && next != 0 {
			w.word(w.words.times)
		}
	case '`', '^', '{', '}', '\\', '‍', '\ufe0e', '\ufe0f', '\u20e3', '\ufeff', '\u00ad':
		if r == '‍' && unicode.IsLetter(prev) && unicode.IsLetter(next) {
			w.rune(r) // it joins letters in some scripts
		}
	case '_':
		if wordRune(prev) && wordRune(next) {
			w.rune(' ')
		}
	case '~', '≈':
		if unicode.IsDigit(next) || r == '≈' {
			w.word(w.words.about)
		}
	case '&':
		if spaced {
			w.word(w.words.and)
		} else {
			w.rune(r)
		}
	case '=':
		if spaced {
			w.word(w.words.equals)
		}
	case '|', '→', '⇒', '←', '↔', '•', '·', '➜', '➡':
		w.mark(',')
	case '#':
		if unicode.IsDigit(next) {
			w.rune(r)
		}
	case '!', '?':
		w.mark(r)
	case '.':
		w.dot()
	case '-', '–', '—':
		w.dash(r, next)
	default:
		if !silent(r) {
			w.rune(r)
		}
	}
}

// mark writes a punctuation mark, once where it is repeated. A question mark wins.
func (w *writer) mark(r rune) {
	switch {
	case w.last == r:
	case r == ',' && strings.ContainsRune(" .,;:!?\x00", w.last):
		if w.last == ' ' {
			w.rune('–')
			w.rune(' ')
		}
	case (r == '!' || r == '?') && (w.last == '?' || w.last == '!'):
		if w.last == '!' {
			w.back("!")
			w.rune('?')
		}
	default:
		w.rune(r)
	}
}

// back takes back the last rune written.
func (w *writer) back(last string) {
	text := strings.TrimSuffix(w.out.String(), last)
	w.out.Reset()
	w.out.WriteString(text)
	w.last, _ = utf8.DecodeLastRuneInString(text)
	if text == "" {
		w.last = 0
	}
}

// dot writes a full stop, at most three in a row.
func (w *writer) dot() {
	if !strings.HasSuffix(w.out.String(), "...") {
		w.rune('.')
	}
}

// dash writes a dash, one where it is repeated.
func (w *writer) dash(r, next rune) {
	switch {
	case w.last == '–':
	case w.last == '-' && r == '-':
		w.back("-")
		w.rune(' ')
		w.rune('–')
		if next != '-' && !unicode.IsSpace(next) {
			w.rune(' ')
		}
	case r == '—':
		w.rune('–')
	default:
		w.rune(r)
	}
}

// silent reports whether nobody says r: pictures, controls and other marks.
func silent(r rune) bool {
	switch {
	case r == '\t' || r == '\n':
		return false
	case r >= 0x1F000, r >= 0x2190 && r <= 0x21FF, r >= 0x2300 && r <= 0x23FF, r >= 0x2460 && r <= 0x27BF, r >= 0x2900 && r <= 0x2BFF, r >= 0xE000 && r <= 0xF8FF:
		return !unicode.IsLetter(r)
	case r == '©', r == '®', r == '™', r == utf8.RuneError:
		return true
	case r == '\u200c':
		return false // it keeps letters apart in some scripts
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co)
}

// address says an address of the web or of a mailbox at the beginning of s in words.
// It returns how many bytes that took, 0 when there is none.
func (w *writer) address(s string) int {
	end := strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("<>\"“”«»|`", r) })
	if end < 0 {
		end = len(s)
	}
	token := strings.TrimRight(s[:end], ".,;:!?'*_~")
	if strings.HasSuffix(token, ")") && !strings.Contains(token, "(") {
		token = strings.TrimRight(token, ").,;:!?'")
	}
	lower := strings.ToLower(token)
	for _, scheme := range []string{"https://", "http://", "ftp://", "www."} {
		if strings.HasPrefix(lower, scheme) && len(token) > len(scheme) {
			w.web(strings.TrimPrefix(token[len(scheme):], "www."))
			return len(token)
		}
	}
	mailbox := strings.TrimPrefix(token, "mailto:")
	if user, host, ok := strings.Cut(mailbox, "@"); ok && user != "" && strings.Contains(host, ".") && !strings.ContainsAny(mailbox, "()[]") && !strings.Contains(host, "@") {
		w.spell(user)
		w.word(w.words.at)
		w.spell(host)
		return len(token)
	}
	return 0
}

// web says an address without its scheme: the host, and a path if it is short.
func (w *writer) web(s string) {
	s, _, _ = strings.Cut(s, "?")
	s, _, _ = strings.Cut(s, "#")
	host, path, _ := strings.Cut(s, "/")
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	host, _, _ = strings.Cut(host, ":")
	w.spell(host)
	path = strings.Trim(path, "/")
	if path == "" || len(path) > 30 || strings.Count(path, "/") > 1 || strings.ContainsAny(path, "%=&") {
		return
	}
	for part := range strings.SplitSeq(path, "/") {
		w.word(w.words.slash)
		w.spell(part)
	}
}

// spell writes a part of an address with its full stops in words.
func (w *writer) spell(s string) {
	for _, r := range s {
		switch {
		case r == '.':
			w.word(w.words.dot)
		case r == '_':
			w.word(w.words.underscore)
		case wordRune(r) || r == '-' || r == '+':
			w.rune(r)
		default:
			w.rune(' ')
		}
	}
}
