package speech

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CleanerConfig is the settings of a [Cleaner]. The zero value is usable.
type CleanerConfig struct {
	// Language is the BCP 47 tag of the language in which addresses and symbols are
	// put into words: en, de, fr, es, it, pt or nl; others, and none, mean en.
	Language string
}

// Cleaner is a [TextCleaner] for what language models write: it takes away markup,
// code blocks and emoji, says addresses in words, and calms punctuation. A block of
// code may begin in one piece and end in another.
type Cleaner struct {
	words *symbolWords
	fence string // the mark that closes the code block under way; empty for none
}

// NewCleaner makes a cleaner.
func NewCleaner(cfg CleanerConfig) *Cleaner { return &Cleaner{words: wordsOf(cfg.Language)} }

// Reset implements [TextCleaner].
func (c *Cleaner) Reset() { c.fence = "" }

// Clean implements [TextCleaner].
func (c *Cleaner) Clean(piece string) string {
	if c.fence == "" && plain(piece) {
		return strings.Join(strings.Fields(piece), " ")
	}
	piece = html.UnescapeString(strings.ToValidUTF8(piece, ""))
	w := writer{words: c.words}
	for line := range strings.SplitSeq(piece, "\n") {
		if line = c.block(line); line != "" {
			w.line(line)
		}
	}
	return strings.TrimSpace(w.out.String())
}

// plain reports whether there is nothing in a text to be cleaned.
func plain(s string) bool {
	for i := range len(s) {
		switch b := s[i]; {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9', b == ' ', b == ',', b == '?', b == '\'', b == '!':
		case b == '.' && (i+1 == len(s) || s[i+1] == ' '):
		default:
			return false
		}
		if i > 0 && s[i] == s[i-1] && (s[i] == '!' || s[i] == '?') {
			return false
		}
	}
	return true
}

// block takes the marks of blocks from a line: fences, headings, lists, quotations,
// rules and tables. It returns what is left to be said.
func (c *Cleaner) block(line string) string {
	t := strings.TrimSpace(line)
	if c.fence != "" {
		if strings.HasPrefix(t, c.fence) {
			c.fence = ""
		}
		return ""
	}
	for _, mark := range []string{"```", "~~~"} {
		if rest, ok := strings.CutPrefix(t, mark); ok && !strings.Contains(rest, mark) {
			c.fence = mark
			return ""
		}
	}
	for strings.HasPrefix(t, ">") {
		t = strings.TrimSpace(t[1:])
	}
	if strings.HasPrefix(t, "#") {
		if head := strings.TrimLeft(t, "#"); strings.HasPrefix(head, " ") {
			t = strings.TrimRight(strings.TrimSpace(head), "# ")
		}
	}
	if rule(t) {
		return ""
	}
	for _, mark := range []string{"- ", "* ", "+ ", "• ", "– ", "[ ] ", "[x] ", "[X] "} {
		t = strings.TrimSpace(strings.TrimPrefix(t, mark))
	}
	if len(t) > 1 && strings.HasPrefix(t, "|") && strings.HasSuffix(t, "|") {
		return row(t)
	}
	return t
}

// row is a row of a table, its cells after one another.
func row(t string) string {
	var cells []string
	for cell := range strings.SplitSeq(strings.Trim(t, "|"), "|") {
		if cell = strings.TrimSpace(cell); cell != "" {
			cells = append(cells, cell)
		}
	}
	return strings.Join(cells, ", ")
}

// rule reports whether a line is a rule, or what stands between the head and the body
// of a table.
func rule(t string) bool {
	if len(t) < 3 {
		return false
	}
	return strings.Trim(t, "-=*_ ") == "" || (strings.Contains(t, "--") && strings.Trim(t, "-:| ") == "")
}

// writer writes what is to be said of a text.
type writer struct {
	words *symbolWords
	out   strings.Builder
	last  rune // written
}

func (w *writer) rune(r rune) {
	if unicode.IsSpace(r) {
		r = ' '
	}
	if r == ' ' && (w.last == ' ' || w.last == 0) {
		return
	}
	w.out.WriteRune(r)
	w.last = r
}

// word writes a word with space around it.
func (w *writer) word(s string) {
	w.rune(' ')
	w.text(s)
	w.rune(' ')
}

func (w *writer) text(s string) {
	for _, r := range s {
		w.rune(r)
	}
}

// line writes a line without its inline markup.
func (w *writer) line(s string) {
	w.rune(' ')
	for i := 0; i < len(s); {
		if i == 0 || !wordRune(before(s, i)) {
			if n := w.address(s[i:]); n > 0 {
				i += n
				continue
			}
		}
		if n := w.markup(s, i); n > 0 {
			i += n
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		w.symbol(r, before(s, i), after(s, i+size))
		i += size
	}
}

// markup handles links, images, tags and escapes at byte i. It returns how many
// bytes they take.
func (w *writer) markup(s string, i int) int {
	rest := s[i:]
	switch rest[0] {
	case '!':
		if strings.HasPrefix(rest, "![") {
			if n := w.link(rest[1:]); n > 0 {
				return n + 1
			}
		}
	case '[':
		return w.link(rest)
	case '<':
		return w.tag(rest)
	case '\\':
		if len(rest) > 1 && strings.IndexByte("\\`*_{}[]()#+-.!|~<>", rest[1]) >= 0 {
			w.rune(rune(rest[1]))
			return 2
		}
	}
	return 0
}

// link writes the text of [text](address), [text][reference] or [^note].
func (w *writer) link(s string) int {
	end := strings.IndexByte(s, ']')
	if end < 0 {
		return 0
	}
	text, rest := s[1:end], s[end+1:]
	if strings.HasPrefix(text, "^") {
		return end + 1
	}
	n := 0
	if strings.HasPrefix(rest, "(") {
		n = strings.IndexByte(rest, ')') + 1
	} else if strings.HasPrefix(rest, "[") {
		n = strings.IndexByte(rest, ']') + 1
	}
	if n == 0 {
		return 0
	}
	w.inner(text)
	return end + 1 + n
}

// inner writes a text that stands within markup.
func (w *writer) inner(text string) {
	for i, r := range text {
		if strings.ContainsRune("*_`~[]", r) {
			continue
		}
		w.symbol(r, before(text, i), after(text, i+utf8.RuneLen(r)))
	}
}

// tag leaves out a tag, and says an address in angle brackets.
func (w *writer) tag(s string) int {
	end := strings.IndexByte(s, '>')
	if end < 2 || end > 200 {
		return 0
	}
	inside := s[1:end]
	if n := w.address(inside); n > 0 {
		return end + 1
	}
	r := rune(inside[0])
	if r != '/' && r != '!' && (r >= utf8.RuneSelf || !unicode.IsLetter(r)) {
		return 0
	}
	name, _, _ := strings.Cut(strings.ToLower(strings.Trim(inside, "/ ")), " ")
	switch name {
	case "b", "i", "em", "strong", "u", "s", "span", "a", "code", "sub", "sup", "mark", "small":
	default:
		w.rune(' ')
	}
	return end + 1
}

// before and after are the runes at both sides of a place; 0 at the ends.
func before(s string, i int) rune {
	if i == 0 {
		return 0
	}
	r, _ := utf8.DecodeLastRuneInString(s[:i])
	return r
}

func after(s string, i int) rune {
	if i >= len(s) {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	return r
}

// wordRune reports whether r is part of a word.
func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
