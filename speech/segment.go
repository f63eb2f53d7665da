package speech

import (
	"time"
	"unicode/utf8"
)

// charsPerSecond is how fast text is taken to be spoken while neither a segment's
// length nor the synthesizer's pace is known yet: about 170 words a minute.
const charsPerSecond = 15

// segment is a piece of text being spoken, with what is known of its audio. Times
// are counts of samples from its beginning.
type segment struct {
	number   uint64
	response uint64
	text     string // as the conversation has it
	spoken   string // as it was given to the synthesizer
	rate     int
	pace     float64 // characters a second, expected
	length   uint64  // samples of audio so far
	closed   bool    // the audio is complete
	cuts     []cut   // where words begin, in order; known times only
	said     int     // bytes of text that have been released
	done     bool    // all has been released
	match    *matcher
}

// cut says that behind a sample the text up to a byte counts as heard.
type cut struct {
	at   uint64
	text int
}

// words notes when words begin. A word counts as heard once it has begun.
func (s *segment) words(words []Word) {
	if s.match == nil {
		s.match = newMatcher(s.text, s.spoken)
	}
	for _, w := range words {
		c := cut{at: uint64(samplesIn(w.Start, s.rate)), text: s.match.word(w.Text)}
		if n := len(s.cuts); n > 0 {
			c.at = max(c.at, s.cuts[n-1].at)
			c.text = max(c.text, s.cuts[n-1].text)
		}
		s.cuts = append(s.cuts, c)
	}
}

// finish tells that the audio is complete. When the synthesizer failed the audio
// holds the text up to byte said.
func (s *segment) finish(said int, failed bool) {
	s.closed = true
	if failed {
		s.text = s.text[:min(max(said, s.said), len(s.text))]
	}
}

// over reports whether all of it has been heard.
func (s *segment) over(played uint64) bool { return s.closed && played >= s.length }

// heard is how many bytes of the text have been heard when played samples of it
// have.
func (s *segment) heard(played uint64) int {
	switch {
	case s.over(played):
		return len(s.text)
	case played == 0:
		return 0
	case len(s.cuts) > 0:
		return min(s.timed(played), len(s.text))
	}
	return s.estimated(played)
}

// timed is what has been heard by the words' own times.
func (s *segment) timed(played uint64) int {
	n := 0
	for _, c := range s.cuts {
		if c.at >= played {
			break
		}
		n = c.text
	}
	return n
}

// estimated shares the text out over the audio by its bytes. The word under way has
// begun, so it counts.
func (s *segment) estimated(played uint64) int {
	length := s.span()
	if length == 0 {
		return 0
	}
	return wordEnd(s.text, int(uint64(len(s.text))*min(played, length)/length))
}

// span is the length of the audio, or while it is not complete what it is taken to
// be.
func (s *segment) span() uint64 {
	if s.closed {
		return s.length
	}
	pace := s.pace
	if pace <= 0 {
		pace = charsPerSecond
	}
	guess := float64(utf8.RuneCountInString(s.text)) * float64(s.rate) / pace
	return max(s.length, uint64(guess))
}

// next is the number of samples at which more will have been heard, more than
// played; 0 when that is not known yet.
func (s *segment) next(played uint64) uint64 {
	at := s.nextWord()
	if s.closed && (at == 0 || at > s.length) {
		at = s.length
	}
	if at <= played {
		return 0
	}
	return at
}

// nextWord is when the word that begins at byte said will have begun; 0 when that
// is not known.
func (s *segment) nextWord() uint64 {
	if len(s.cuts) > 0 {
		for _, c := range s.cuts {
			if c.text > s.said {
				return c.at + 1
			}
		}
		return 0
	}
	if s.said >= len(s.text) {
		return 0
	}
	size := uint64(len(s.text))
	return max(1, (uint64(s.said)*s.span()+size-1)/size)
}

// samplesIn is how many samples a duration has.
func samplesIn(d time.Duration, rate int) int {
	if d <= 0 {
		return 0
	}
	whole, part := int64(d/time.Second), int64(d%time.Second)
	return int(whole*int64(rate) + part*int64(rate)/int64(time.Second))
}

// durationOf is the playing time of samples.
func durationOf(samples, rate int) time.Duration {
	whole, part := samples/rate, samples%rate
	return time.Duration(whole)*time.Second + time.Duration(part)*time.Second/time.Duration(rate)
}

// pace learns how fast a synthesizer speaks.
type pace struct{ chars, seconds float64 }

// perSecond is how many characters it speaks in a second; 0 while that is not known.
func (p *pace) perSecond() float64 {
	if p.seconds < 0.5 {
		return 0
	}
	return p.chars / p.seconds
}

// learn takes a complete segment into account. Recent ones count more.
func (p *pace) learn(s *segment) {
	if s.length == 0 || s.rate <= 0 {
		return
	}
	const keep = 0.9
	p.chars = keep*p.chars + float64(utf8.RuneCountInString(s.text))
	p.seconds = keep*p.seconds + float64(s.length)/float64(s.rate)
}
