package rtvi

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSegment bounds a segment in bytes: text without any end of a sentence is cut
// there.
const maxSegment = 1000

// splitter cuts streamed text into sentences. A sentence ends at a line's end, at
// . ! ? … with white space behind, or at a full-width mark. White space around
// segments is dropped.
type splitter struct {
	buf  []byte
	pos  int    // everything before it has been looked at
	home []byte // the array buf is a part of, from its start
}

// write adds text; the sentences it completes are taken with next.
func (s *splitter) write(text string) {
	// What is left, part of a sentence, moves to the front, so that the array is
	// used again.
	s.home = append(append(s.home[:0], s.buf...), text...)
	s.buf = s.home
}

// next takes out the next complete sentence. It is valid until the next call.
func (s *splitter) next() ([]byte, bool) {
	for s.pos < len(s.buf) {
		if !utf8.FullRune(s.buf[s.pos:]) {
			break
		}
		r, size := utf8.DecodeRune(s.buf[s.pos:])
		end, wait := s.boundary(r, s.pos+size)
		if wait {
			break
		}
		s.pos += size
		if end > 0 {
			if seg, ok := s.cut(end); ok {
				return seg, true
			}
		}
	}
	if len(s.buf) > maxSegment {
		return s.cut(s.emergency())
	}
	return nil, false
}

// rest takes out what is left. It is valid until the next call.
func (s *splitter) rest() ([]byte, bool) { return s.cut(len(s.buf)) }

// reset drops what is left.
func (s *splitter) reset() {
	s.buf, s.pos = nil, 0
	if cap(s.home) > 2*maxSegment {
		s.home = nil
	}
}

// cut takes out the first end bytes; it reports false when they are blank.
func (s *splitter) cut(end int) ([]byte, bool) {
	seg := bytes.TrimSpace(s.buf[:end])
	s.buf, s.pos = s.buf[end:], 0
	return seg, len(seg) > 0
}

// boundary looks whether the rune r, which ends at index at, ends a sentence. It
// returns where the sentence ends, or 0, or that what follows has to be known.
func (s *splitter) boundary(r rune, at int) (end int, wait bool) {
	wide := false
	switch r {
	case '\n':
		return at, false
	case '。', '！', '？', '．', '।', '؟':
		wide = true
	case '.', '!', '?', '…':
	default:
		return 0, false
	}
	end = s.closers(at)
	if !utf8.FullRune(s.buf[end:]) {
		return 0, true
	}
	next, _ := utf8.DecodeRune(s.buf[end:])
	if !wide && (!unicode.IsSpace(next) || r == '.' && s.abbreviated(at-1)) {
		return 0, false
	}
	return end, false
}

// closers skips further marks, quotes and brackets behind the end of a sentence.
func (s *splitter) closers(at int) int {
	for at < len(s.buf) {
		r, size := utf8.DecodeRune(s.buf[at:])
		if !strings.ContainsRune(`.!?…"'”’)]»」』*_`, r) {
			break
		}
		at += size
	}
	return at
}

// abbreviated reports whether the full stop at index dot belongs to the word
// before it: a title, an initial, or the number of an item of a list.
func (s *splitter) abbreviated(dot int) bool {
	start := bytes.LastIndexAny(s.buf[:dot], " \t\n(\"") + 1
	word := strings.ToLower(string(s.buf[start:dot]))
	switch word {
	case "mr", "mrs", "ms", "dr", "prof", "st", "e.g", "i.e", "vs", "approx", "nr", "z.b", "d.h", "bzw", "ca":
		return true
	}
	if utf8.RuneCountInString(word) == 1 && unicode.IsLetter([]rune(word)[0]) && s.buf[start] != 'I' {
		return true
	}
	listed := len(bytes.TrimSpace(s.buf[:start])) == 0
	return listed && word != "" && strings.Trim(word, "0123456789") == ""
}

// emergency finds where to cut text that has no end.
func (s *splitter) emergency() int {
	if i := bytes.LastIndexByte(s.buf[:maxSegment], ' '); i > 0 {
		return i + 1
	}
	i := maxSegment
	for i > maxSegment-utf8.UTFMax && !utf8.RuneStart(s.buf[i]) {
		i--
	}
	return i
}
