package speech

import "github.com/turnwise/turnwise/frames"

// ledger is what is on its way to the user, in order, with the sample position at
// which each entry is due: a frame when everything before it has been heard, a
// segment word by word. It is pure arithmetic; positions are counts of samples.
type ledger struct {
	rate     int
	entries  []entry
	first    int      // of the entries that are left
	end      uint64   // position behind the audio known so far
	open     *segment // the segment that is being filled
	segments uint64   // numbered so far
}

// entry is a frame or a segment.
type entry struct {
	frame   frames.Frame // nil for a segment
	at      uint64       // when it is due, or where the segment begins
	segment *segment
}

// releaser takes what has become due.
type releaser interface {
	// spoken takes the text of a segment from a byte up to s.said.
	spoken(s *segment, from int)
	// arrived takes a frame.
	arrived(f frames.Frame)
}

// frame puts a frame behind everything known so far.
func (l *ledger) frame(f frames.Frame) { l.add(entry{frame: f, at: l.end}) }

// begin puts a segment behind everything known so far and makes it the open one.
func (l *ledger) begin(f *SegmentStartFrame) {
	l.finish(0, false)
	l.segments++
	l.open = &segment{number: l.segments, response: f.Response, text: f.Text, spoken: f.Spoken, rate: l.rate, pace: f.Pace}
	l.add(entry{at: l.end, segment: l.open})
}

// audio counts samples of the open segment, or of none.
func (l *ledger) audio(samples int) {
	l.end += uint64(samples)
	if l.open != nil {
		l.open.length += uint64(samples)
	}
}

// words notes when words of the open segment begin.
func (l *ledger) words(words []Word) {
	if l.open != nil {
		l.open.words(words)
	}
}

// finish closes the open segment. When it failed its text ends at byte said.
func (l *ledger) finish(said int, failed bool) {
	if l.open != nil {
		l.open.finish(said, failed)
		l.open = nil
	}
}

// due hands over what has been heard when played samples have: frames, and the text
// of segments piece by piece.
func (l *ledger) due(played uint64, to releaser) {
	for l.first < len(l.entries) {
		e := l.entries[l.first]
		if e.at > played {
			return
		}
		if s := e.segment; s != nil {
			l.release(s, played-e.at, to)
			if !s.over(played - e.at) {
				return
			}
			l.pop()
			continue
		}
		l.pop()
		to.arrived(e.frame)
	}
}

// release hands over the text of a segment that has been heard.
func (l *ledger) release(s *segment, played uint64, to releaser) {
	n, over := s.heard(played), s.over(played)
	if n <= s.said && !over {
		return
	}
	from := s.said
	s.said = max(n, s.said)
	s.done = over
	to.spoken(s, from)
}

// heard is what has been heard and not been released when played samples have been
// played.
func (l *ledger) heard(played uint64) []frames.HeardText {
	var out []frames.HeardText
	for _, e := range l.entries[l.first:] {
		if e.at > played {
			break
		}
		s := e.segment
		if s == nil {
			continue
		}
		if n := s.heard(played - e.at); n > s.said {
			if s.response != 0 {
				out = append(out, frames.HeardText{Response: s.response, Text: s.text[s.said:n]})
			}
			s.said = n
		}
	}
	return out
}

// next is the position at which something is due next, given that nothing is due at
// played; 0 for none.
func (l *ledger) next(played uint64) uint64 {
	if l.first == len(l.entries) {
		return 0
	}
	e := l.entries[l.first]
	if e.segment == nil || e.at > played {
		return e.at
	}
	if at := e.segment.next(played - e.at); at != 0 {
		return e.at + at
	}
	return 0
}

// cut ends everything at played: what was not heard is taken out, what survives
// interruptions is kept, due at once. It returns the frames that were taken out, and
// whether there was something in it that the user would have heard.
func (l *ledger) cut(played uint64) (dropped []frames.Frame, unheard bool) {
	var kept []entry
	for _, e := range l.entries[l.first:] {
		switch {
		case e.segment != nil:
			unheard = unheard || e.segment.said < len(e.segment.text)
		case e.frame.Class().Survives():
			kept = append(kept, entry{frame: e.frame, at: played})
		default:
			dropped = append(dropped, e.frame)
		}
	}
	unheard = unheard || l.end > played
	l.entries, l.first, l.end, l.open = kept, 0, played, nil
	return dropped, unheard
}

// empty reports whether nothing waits.
func (l *ledger) empty() bool { return l.first == len(l.entries) }

func (l *ledger) add(e entry) {
	if len(l.entries) == cap(l.entries) && l.first > len(l.entries)/2 {
		n := copy(l.entries, l.entries[l.first:])
		clear(l.entries[n:])
		l.entries, l.first = l.entries[:n], 0
	}
	l.entries = append(l.entries, e)
}

func (l *ledger) pop() {
	l.entries[l.first] = entry{}
	l.first++
	if l.first == len(l.entries) {
		l.entries, l.first = l.entries[:0], 0
	}
}
