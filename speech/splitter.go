package speech

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// SplitterConfig is the settings of a [SentenceSplitter]. The zero value is usable.
// Lengths count characters.
type SplitterConfig struct {
	// Min is the length below which a sentence is joined with the next, because
	// very short pieces sound choppy; the first sentence is not, because nobody
	// should wait for it. The default is 12, negative means never.
	Min int
	// Max is the length at which a piece is cut even within a sentence, at the end
	// of a clause or between words if it can be; the default is 250, the least 20.
	Max int
	// FirstClause is the length from which the first piece may end with a clause,
	// for models that are slow to finish a sentence; 0 means that it may not.
	FirstClause int
	// Abbreviations are words, without their full stop, after which a sentence goes
	// on; they are added to the ones known for English, German, French, Spanish,
	// Italian, Portuguese and Dutch.
	Abbreviations []string
}

// SentenceSplitter is a [Splitter] at the ends of sentences. It knows abbreviations,
// initials, numbers, addresses, quotations and the marks of many scripts, and ends a
// piece at the end of a line. It never loses or changes a byte, and what it holds
// back is bounded by [SplitterConfig.Max].
type SentenceSplitter struct {
	cfg  SplitterConfig
	more map[string]bool

	buf    []byte
	at     int // bytes looked at
	runes  int // in them
	clause place
	space  place
	later  bool // pieces of this text have been given
}

// place is where a piece may be cut.
type place struct{ at, runes int }

// NewSplitter makes a splitter.
func NewSplitter(cfg SplitterConfig) *SentenceSplitter {
	if cfg.Min == 0 {
		cfg.Min = 12
	}
	if cfg.Max == 0 {
		cfg.Max = 250
	}
	cfg.Max = max(cfg.Max, 20)
	s := &SentenceSplitter{cfg: cfg, more: make(map[string]bool, len(cfg.Abbreviations))}
	for _, a := range cfg.Abbreviations {
		s.more[strings.ToLower(a)] = true
	}
	return s
}

// Write implements [Splitter].
func (s *SentenceSplitter) Write(text string) []string {
	var pieces []string
	for len(text) > 0 {
		// A large text is looked at bit by bit, so that what is held stays small.
		n := min(len(text), 4*s.cfg.Max)
		s.buf = append(s.buf, text[:n]...)
		text = text[n:]
		for {
			end := s.find()
			if end == 0 {
				break
			}
			pieces = append(pieces, s.cut(end))
		}
	}
	return pieces
}

// Flush implements [Splitter].
func (s *SentenceSplitter) Flush() string {
	rest := string(s.buf)
	s.buf = s.buf[:0]
	s.restart()
	s.later = false
	return rest
}

// Late implements [Splitter].
func (s *SentenceSplitter) Late(partial bool) string {
	text := s.buf
	for len(text) > 0 {
		r, size := utf8.DecodeLastRune(text)
		if !unicode.IsSpace(r) && !strings.ContainsRune(closingMarks, r) {
			break
		}
		text = text[:len(text)-size]
	}
	end := 0
	switch r, size := utf8.DecodeLastRune(text); {
	case size > 0 && s.complete(r, len(text)-size):
		end = len(s.buf)
	case partial:
		end = max(s.clause.at, s.space.at)
	}
	if end == 0 || !s.worth(end) {
		return ""
	}
	return s.cut(end)
}

// complete reports whether a text that ends with r at byte i looks like a sentence.
func (s *SentenceSplitter) complete(r rune, i int) bool {
	switch {
	case wideEnd(r):
		return true
	case !narrowEnd(r):
		return false
	case r != '.':
		return true
	case i > 0 && s.buf[i-1] >= '0' && s.buf[i-1] <= '9':
		return i+1 < len(s.buf) // without space behind it, digits may follow
	}
	// As if a sentence followed.
	text := s.buf
	s.buf = append(append([]byte(nil), s.buf[:i+1]...), " X "...)
	goesOn, _ := s.goesOn(i, i+2)
	s.buf = text
	return !goesOn
}

func (s *SentenceSplitter) cut(end int) string {
	piece := string(s.buf[:end])
	s.buf = s.buf[:copy(s.buf, s.buf[end:])]
	s.restart()
	s.later = s.later || speakable(piece)
	return piece
}

func (s *SentenceSplitter) restart() {
	s.at, s.runes, s.clause, s.space = 0, 0, place{}, place{}
}

// find looks for the end of the first piece; 0 when it has not come yet.
func (s *SentenceSplitter) find() int {
	for s.at < len(s.buf) && utf8.FullRune(s.buf[s.at:]) {
		r, size := utf8.DecodeRune(s.buf[s.at:])
		end, upTo := s.boundary(r, s.at, s.at+size)
		if upTo == 0 && s.runes < s.cfg.Max && len(s.buf)-s.at < 4*s.cfg.Max {
			return 0 // what follows decides
		}
		upTo = max(upTo, s.at+size)
		if end > 0 && s.worth(end) {
			return end
		}
		s.note(r, upTo)
		if s.clauseWillDo() {
			return s.clause.at
		}
		s.runes += utf8.RuneCount(s.buf[s.at:upTo])
		s.at = upTo
		if s.runes > s.cfg.Max {
			return s.emergency()
		}
	}
	return 0
}

// worth reports whether the piece is long enough to stand alone.
func (s *SentenceSplitter) worth(end int) bool {
	piece := string(s.buf[:end])
	return speakable(piece) && (!s.later || utf8.RuneCountInString(strings.TrimSpace(piece)) >= s.cfg.Min)
}

// note remembers where the piece may be cut: r stands before byte end.
func (s *SentenceSplitter) note(r rune, end int) {
	switch {
	case unicode.IsSpace(r):
		s.space = place{at: end, runes: s.runes + 1}
		prev, _ := utf8.DecodeLastRune(s.buf[:s.at])
		if clauseMark(prev) || s.clause.at == s.at && s.at > 0 {
			s.clause = s.space
		}
	case wideClauseMark(r):
		s.clause = place{at: end, runes: s.runes + 1}
	}
}

// clauseWillDo reports whether the first piece may end with the clause.
func (s *SentenceSplitter) clauseWillDo() bool {
	return s.cfg.FirstClause > 0 && !s.later && s.clause.at > 0 && s.clause.runes >= s.cfg.FirstClause && s.worth(s.clause.at)
}

// emergency is where to cut a piece that is too long.
func (s *SentenceSplitter) emergency() int {
	switch {
	case s.clause.runes > s.cfg.Max/3:
		return s.clause.at
	case s.space.runes > s.cfg.Max/3:
		return s.space.at
	}
	// Before the last letter that is no mark on another.
	end := s.at
	for end > 0 {
		r, size := utf8.DecodeLastRune(s.buf[:end])
		end -= size
		if !unicode.Is(unicode.M, r) && r != '\u200d' {
			break
		}
	}
	if end == 0 {
		return s.at
	}
	return end
}

// boundary looks whether the rune r, between bytes i and after, ends a sentence. It
// returns where the piece would end, or 0, and how far the text has been judged by
// that; upTo is 0 when what follows has to be known first.
func (s *SentenceSplitter) boundary(r rune, i, after int) (end, upTo int) {
	if r == '\n' {
		return after, after
	}
	wide := wideEnd(r)
	if !wide && !narrowEnd(r) {
		return 0, after
	}
	close, known := s.closers(after)
	if !known {
		return 0, 0
	}
	if wide {
		return close, close
	}
	next := s.skipSpace(close)
	if next == len(s.buf) || !utf8.FullRune(s.buf[next:]) {
		return 0, 0
	}
	follow, _ := utf8.DecodeRune(s.buf[next:])
	switch {
	case next == close && !spaceless(follow) && follow != '\n':
		return 0, close
	case follow == '\n':
		return next, next
	case unicode.IsLower(follow):
		return 0, close
	case r == '.' && close == after:
		goesOn, known := s.goesOn(i, next)
		if !known {
			return 0, 0
		}
		if goesOn {
			return 0, close
		}
	}
	return next, next
}

// closingMarks may stand behind the end of a sentence and belong to it.
const closingMarks = "\"'“”’»«›‹)]}」』】）*_~`"

// closers skips further marks, quotes and brackets behind the end of a sentence. It
// reports false when what follows has to be known.
func (s *SentenceSplitter) closers(at int) (int, bool) {
	for {
		if !utf8.FullRune(s.buf[at:]) {
			return at, false
		}
		r, size := utf8.DecodeRune(s.buf[at:])
		switch {
		case size == 0:
			return at, false
		case narrowEnd(r) || wideEnd(r) || strings.ContainsRune(closingMarks, r):
			at += size
			continue
		case r == ' ' || r == '\u00a0' || r == '\u202f':
			// French quotations have a space before the mark that closes them.
			if n, known := s.spacedQuote(at + size); !known {
				return at, false
			} else if n > 0 {
				at = n
				continue
			}
		}
		return at, true
	}
}

// spacedQuote is the byte behind a closing quotation mark at byte at; 0 when there is
// none.
func (s *SentenceSplitter) spacedQuote(at int) (end int, known bool) {
	if !utf8.FullRune(s.buf[at:]) {
		return 0, false
	}
	r, size := utf8.DecodeRune(s.buf[at:])
	if r != '»' {
		return 0, true
	}
	next, n := utf8.DecodeRune(s.buf[at+size:])
	switch {
	case n == 0 || !utf8.FullRune(s.buf[at+size:]):
		return 0, false
	case unicode.IsSpace(next) || unicode.IsPunct(next):
		return at + size, true
	}
	return 0, true
}

// skipSpace skips white space within a line.
func (s *SentenceSplitter) skipSpace(at int) int {
	for at < len(s.buf) && utf8.FullRune(s.buf[at:]) {
		r, size := utf8.DecodeRune(s.buf[at:])
		if r == '\n' || !unicode.IsSpace(r) {
			break
		}
		at += size
	}
	return at
}

// narrowEnd reports whether r ends a sentence where a space follows.
func narrowEnd(r rune) bool {
	switch r {
	case '.', '!', '?', '…', '‼', '⁇', '⁈', '⁉', '‽', '؟', '۔', '։', '।', '॥', '።', '፧', '။':
		return true
	}
	return false
}

// wideEnd reports whether r ends a sentence whatever follows.
func wideEnd(r rune) bool {
	switch r {
	case '。', '！', '？', '．', '｡':
		return true
	}
	return false
}

// clauseMark reports whether r ends a clause where a space follows.
func clauseMark(r rune) bool {
	switch r {
	case ',', ';', ':', '–', '—', '،', '؛', ')':
		return true
	}
	return false
}

// wideClauseMark reports whether r ends a clause whatever follows.
func wideClauseMark(r rune) bool {
	switch r {
	case '、', '，', '；', '：':
		return true
	}
	return false
}
