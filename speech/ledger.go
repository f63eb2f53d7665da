package speech

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/turnwise/turnwise/frames"
)

// charsPerSecond is how fast text is taken to be spoken while a segment's length
// is not known yet: about 170 words a minute.
const charsPerSecond = 15

// ledger is what is on its way to the user, in order, with the sample position at
// which each entry is due: a frame when everything before it has been heard, a
// segment word by word. It is pure arithmetic; positions are counts of samples.
type ledger struct {
	rate    int
	entries []entry
	end     uint64 // position behind the audio known so far
}

// entry is a frame or a segment.
type entry struct {
	frame   frames.Frame // nil for a segment
	at      uint64       // when it is due, or where the segment begins
	segment *segment
}

// segment is a piece of text being spoken.
type segment struct {
	text     string
	response uint64
	length   uint64 // samples of audio so far
	closed   bool   // the audio is complete
	failed   bool
	cuts     []cut // where words begin, in order; known times only
	said     int   // bytes of text that have been released
}

// cut says that at a sample, relative to the segment, the text up to a byte has
// been heard.
type cut struct {
	at   uint64
	text int
}

// frame puts a frame behind everything known so far.
func (l *ledger) frame(f frames.Frame) {
	l.entries = append(l.entries, entry{frame: f, at: l.end})
}

// open puts a segment behind everything known so far.
func (l *ledger) open(text string, response uint64) {
	l.entries = append(l.entries, entry{at: l.end, segment: &segment{text: text, response: response}})
}

// current is the segment that is still being filled.
func (l *ledger) current() *segment {
	for i := len(l.entries) - 1; i >= 0; i-- {
		if s := l.entries[i].segment; s != nil {
			if s.closed {
				return nil
			}
			return s
		}
	}
	return nil
}

// audio counts samples of the current segment, or of none.
func (l *ledger) audio(samples int) {
	l.end += uint64(samples)
	if s := l.current(); s != nil {
		s.length += uint64(samples)
	}
}

// words notes where words of the current segment begin.
func (l *ledger) words(words []Word) {
	s := l.current()
	if s == nil {
		return
	}
	from := 0
	if n := len(s.cuts); n > 0 {
		from = s.cuts[n-1].text
	}
	for _, w := range words {
		at := uint64(w.Start.Seconds() * float64(l.rate))
		end := findWord(s.text, w.Text, from)
		s.cuts = append(s.cuts, cut{at: at, text: end})
		from = end
	}
}

// close ends the current segment.
func (l *ledger) close(failed bool) {
	if s := l.current(); s != nil {
		s.closed, s.failed = true, failed
	}
}

// findWord is the byte behind the next occurrence of a word at or after from. A
// word that is not found, because it was written otherwise for speech, counts as
// the next one there is.
func findWord(text, word string, from int) int {
	word = strings.TrimFunc(word, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) })
	rest := text[from:]
	if word != "" {
		if i := strings.Index(strings.ToLower(rest), strings.ToLower(word)); i >= 0 && len(strings.ToLower(rest)) == len(rest) {
			return from + nextBreak(rest, i+len(word))
		}
	}
	return from + nextBreak(rest, firstLetter(rest))
}

// firstLetter skips the space at the beginning.
func firstLetter(s string) int {
	i := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsSpace(r) })
	return max(i, 0)
}

// nextBreak is the byte behind the word that goes on at i, with the space that
// follows it.
func nextBreak(s string, i int) int {
	inSpace := false
	for j, r := range s[i:] {
		if unicode.IsSpace(r) {
			inSpace = true
		} else if inSpace {
			return i + j
		}
	}
	return len(s)
}

// heard is how many bytes of the segment's text have been heard when played
// samples of it have.
func (s *segment) heard(played uint64, rate int) int {
	if s.closed && played >= s.length {
		if s.failed && s.length == 0 {
			return 0
		}
		if !s.failed {
			return len(s.text)
		}
	}
	if len(s.cuts) > 0 {
		n := 0
		for _, c := range s.cuts {
			// A word counts as heard when it has begun.
			if c.at >= played {
				break
			}
			n = c.text
		}
		return n
	}
	return s.estimate(played, rate)
}

// estimate shares the text out over the audio by its characters.
func (s *segment) estimate(played uint64, rate int) int {
	if played == 0 {
		return 0
	}
	length := s.length
	if !s.closed || s.failed {
		guess := uint64(utf8.RuneCountInString(s.text)) * uint64(rate) / charsPerSecond
		length = max(length, guess)
	}
	if length == 0 {
		return 0
	}
	n := int(uint64(len(s.text)) * min(played, length) / length)
	if n >= len(s.text) {
		return len(s.text)
	}
	// The word under way has been begun, so it counts.
	for n > 0 && !utf8.RuneStart(s.text[n]) {
		n--
	}
	return nextBreak(s.text, n)
}

// due takes out what has been heard when played samples have: frames, and the text
// of segments piece by piece.
func (l *ledger) due(played uint64, release func(f frames.Frame)) {
	for len(l.entries) > 0 {
		e := &l.entries[0]
		if e.segment == nil {
			if e.at > played {
				return
			}
			f := e.frame
			l.pop()
			release(f)
			continue
		}
		s := e.segment
		var sofar uint64
		if played > e.at {
			sofar = played - e.at
		}
		if n := s.heard(sofar, l.rate); n > s.said {
			piece := s.text[s.said:n]
			s.said = n
			release(&frames.LLMTextFrame{Text: piece, Response: s.response})
		}
		if !s.closed || sofar < s.length {
			return
		}
		l.pop()
	}
}

// heardText is what has been heard and not been released when played samples have
// been played.
func (l *ledger) heardText(played uint64) []frames.HeardText {
	var out []frames.HeardText
	for _, e := range l.entries {
		if e.segment == nil {
			continue
		}
		if played <= e.at {
			break
		}
		s := e.segment
		if n := s.heard(played-e.at, l.rate); n > s.said {
			out = append(out, frames.HeardText{Response: s.response, Text: s.text[s.said:n]})
			s.said = n
		}
	}
	return out
}

// next is the position at which something is due next, and whether there is any.
func (l *ledger) next(played uint64) (uint64, bool) {
	if len(l.entries) == 0 {
		return 0, false
	}
	e := &l.entries[0]
	if e.segment == nil {
		return e.at, true
	}
	for _, c := range e.segment.cuts {
		if at := e.at + c.at + 1; at > played && c.text > e.segment.said {
			return at, true
		}
	}
	if len(e.segment.cuts) == 0 {
		// Estimated words are released four times a second.
		return min(played+uint64(l.rate)/4, max(e.at+e.segment.length, played+1)), true
	}
	return max(e.at+e.segment.length, played+1), true
}

func (l *ledger) pop() {
	l.entries[0] = entry{}
	l.entries = l.entries[1:]
	if len(l.entries) == 0 {
		l.entries = nil
	}
}

// cutOff ends everything at played: what was not heard is dropped, what survives
// is kept, due at once. The frames dropped are returned.
func (l *ledger) cutOff(played uint64) (dropped []frames.Frame) {
	var kept []entry
	for _, e := range l.entries {
		switch {
		case e.frame == nil:
		case e.frame.Class().Survives():
			kept = append(kept, entry{frame: e.frame, at: played})
		default:
			dropped = append(dropped, e.frame)
		}
	}
	l.entries = kept
	l.end = played
	return dropped
}

// samples is how many samples a duration has.
func samples(d time.Duration, rate int) int {
	return int(d * time.Duration(rate) / time.Second)
}
