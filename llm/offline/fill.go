package offline

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/turnwise/turnwise/llm/offline/internal/values"
	"github.com/turnwise/turnwise/llm/offline/internal/words"
)

// How sure it is that words are meant for a slot.
const (
	certain  = 0.95
	likely   = 0.85
	possible = 0.55
	doubtful = 0.35
)

// filling is what was found for a slot.
type filling struct {
	ok    bool
	value json.RawMessage
	// strength is how sure it is that the words are meant for the slot.
	strength float64
	// spans are the tokens it was read from.
	spans []values.Span
	// problem tells the user why what was said cannot be used.
	problem string
	// day and clock are the halves of a date with a time.
	day   *values.Date
	clock *values.Clock
}

// filler fills the slots of one function from one thing the user said.
type filler struct {
	h    *hearing
	tool *tool
	used []values.Span
}

// fill looks for the slot's value.
func (f *filler) fill(s *slot) filling {
	expected := f.h.asked.asks(s) || s.required && f.onlyRequired(s) && f.h.asked.touches(f.tool.names)
	switch s.kind {
	case kindInteger, kindNumber:
		return f.number(s, expected)
	case kindBool:
		return f.yesNo(s, expected)
	case kindEnum:
		return f.choice(s, expected)
	case kindDate:
		return f.date(s)
	case kindTime:
		return f.time(s, expected)
	case kindDateTime:
		return f.dateTime(s, expected)
	case kindEmail:
		return f.contact(s, values.Email, certain)
	case kindPhone:
		return f.contact(s, values.Phone, sure(expected))
	case kindName:
		return f.name(s, expected)
	case kindPattern:
		return f.code(s, expected)
	case kindText:
		return f.text(s, expected)
	case kindList:
		return f.list(s, expected)
	case kindConst:
		return filling{ok: true, value: s.fixed}
	}
	return filling{}
}

// onlyRequired reports whether the function needs nothing but the slot, so that a
// question about the function is one for the slot.
func (f *filler) onlyRequired(s *slot) bool {
	for i := range f.tool.slots {
		if o := &f.tool.slots[i]; o != s && o.required {
			return false
		}
	}
	return true
}

func sure(expected bool) float64 {
	if expected {
		return likely
	}
	return possible
}

func (f *filler) free(s values.Span) bool {
	for _, u := range f.used {
		if u.Overlaps(s) {
			return false
		}
	}
	return true
}

func (f *filler) take(value json.RawMessage, strength float64, spans ...values.Span) filling {
	f.used = append(f.used, spans...)
	return filling{ok: true, value: value, strength: strength, spans: spans}
}

// str is a filling with text, if the schema's own limits allow it.
func (f *filler) str(s *slot, text string, strength float64, spans ...values.Span) filling {
	n := utf8.RuneCountInString(text)
	if n < s.minLen || s.maxLen > 0 && n > s.maxLen || s.pattern != nil && !s.pattern.Matches(text) {
		return filling{strength: strength, spans: spans, problem: "That does not have the right form."}
	}
	return f.take(quote(text), strength, spans...)
}

// yesNo fills a boolean by an answer to a question about it, or by its mention.
func (f *filler) yesNo(s *slot, expected bool) filling {
	if a := f.h.Answer; a.Given && (expected || f.onlyBool(s)) {
		return f.take(boolean(a.Yes), sure(expected), a.Span)
	}
	own := aboutOf(s.label)
	for i, t := range f.h.Tokens {
		if t.Kind == words.Word && !t.Stop && own[t.Concept] {
			return f.take(boolean(!f.h.denied[i]), sure(expected), values.Span{From: i, To: i + 1})
		}
	}
	return filling{}
}

func (f *filler) onlyBool(s *slot) bool {
	for i := range f.tool.slots {
		if o := &f.tool.slots[i]; o != s && o.kind == kindBool {
			return false
		}
	}
	return true
}

func boolean(b bool) json.RawMessage {
	if b {
		return json.RawMessage("true")
	}
	return json.RawMessage("false")
}

func (f *filler) day() (values.Date, bool) {
	corrected := f.h.CorrectedAt()
	var found values.Date
	ok := false
	for _, d := range f.h.Dates {
		if f.free(d.Span) && (!ok || found.From < corrected && d.From >= corrected) {
			found, ok = d, true
		}
	}
	return found, ok
}

// clock finds a time; a plain number is one when a time was asked for.
func (f *filler) clock(expected bool) (values.Clock, bool) {
	corrected := f.h.CorrectedAt()
	var found values.Clock
	ok := false
	for _, c := range f.h.Clocks {
		if f.free(c.Span) && (!ok || found.From < corrected && c.From >= corrected) {
			found, ok = c, true
		}
	}
	if ok || !expected {
		return found, ok
	}
	for _, n := range f.h.Numbers {
		if !f.h.Temporal(n.Span) && f.free(n.Span) && !counts(f.h.Tokens, n.Span) {
			if c, ok := values.ClockOf(n, f.h.Tokens); ok {
				return c, true
			}
		}
	}
	return values.Clock{}, false
}

// counts reports whether a thing is counted by the number.
func counts(tokens []words.Token, n values.Span) bool {
	return n.To < len(tokens) && tokens[n.To].Kind == words.Word && !tokens[n.To].Stop && !words.Common(tokens[n.To].Low) ||
		n.To < len(tokens) && tokens[n.To].Concept == "people"
}

func (f *filler) date(s *slot) filling {
	d, ok := f.day()
	if !ok {
		return filling{}
	}
	return f.str(s, d.Day.Format(time.DateOnly), likely, d.Span)
}

func (f *filler) time(s *slot, expected bool) filling {
	c, ok := f.clock(expected)
	if !ok {
		return filling{}
	}
	hour, minute := c.On24(f.h.evening)
	at := time.Date(f.h.now.Year(), f.h.now.Month(), f.h.now.Day(), hour, minute, 0, 0, f.h.now.Location())
	return f.str(s, at.Format(s.layout), likely, c.Span)
}

// dateTime wants a day and a time, which may come from different sentences.
func (f *filler) dateTime(s *slot, expected bool) filling {
	var part filling
	if d, ok := f.day(); ok {
		part.day = &d
		part.spans = append(part.spans, d.Span)
	}
	if c, ok := f.clock(expected); ok {
		part.clock = &c
		part.spans = append(part.spans, c.Span)
	}
	return f.joinDateTime(s, part)
}

// joinDateTime makes a value of a day and a time, or says which is missing.
func (f *filler) joinDateTime(s *slot, part filling) filling {
	switch {
	case part.day == nil && part.clock == nil:
		return filling{}
	case part.clock == nil:
		part.strength, part.problem = likely, "And at what time?"
		return part
	case part.day == nil:
		part.strength, part.problem = likely, "And on which day?"
		return part
	}
	hour, minute := part.clock.On24(f.h.evening)
	y, m, d := part.day.Day.Date()
	at := time.Date(y, m, d, hour, minute, 0, 0, f.h.now.Location())
	layout := time.RFC3339
	if s.layout != "" {
		layout = s.layout
	}
	done := f.str(s, at.Format(layout), likely, part.spans...)
	done.day, done.clock = part.day, part.clock
	return done
}

func (f *filler) contact(s *slot, find func([]words.Token) (values.Contact, bool), strength float64) filling {
	c, ok := find(f.h.Tokens)
	if !ok || !f.free(c.Span) {
		return filling{}
	}
	return f.str(s, c.Text, strength, c.Span)
}

func (f *filler) name(s *slot, expected bool) filling {
	n, ok := values.PersonName(f.h.Tokens, expected && !f.h.inquires())
	if !ok || !f.free(n.Span) {
		return filling{}
	}
	strength := likely
	if n.Introduced {
		strength = certain
	}
	return f.str(s, n.Text, strength, n.Span)
}

// code fills a slot that has a pattern.
func (f *filler) code(s *slot, expected bool) filling {
	if s.pattern.Matches("any words, at all") {
		return f.text(s, expected)
	}
	text, span, ok := s.pattern.Find(f.h.Tokens)
	if ok && f.free(span) {
		return f.str(s, text, certain, span)
	}
	for i, t := range f.h.Tokens {
		if expected && t.Kind == words.Digits && f.free(values.Span{From: i, To: i + 1}) {
			return filling{strength: likely, spans: []values.Span{{From: i, To: i + 1}}, problem: wrongForm(s)}
		}
	}
	return filling{}
}

func wrongForm(s *slot) string {
	if s.pattern.Sample == "" {
		return "That does not look like " + article(s.label) + "."
	}
	return "That does not look like " + article(s.label) + "; it should look like " + s.pattern.Sample + "."
}

func article(noun string) string {
	if noun != "" && strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// text takes all that was said, when something was to be said in the user's own
// words.
func (f *filler) text(s *slot, expected bool) filling {
	text := strings.TrimSpace(f.h.Text)
	span := values.Span{To: len(f.h.Tokens)}
	others := 0
	for i := range f.h.Tokens {
		if topical(&f.h.Tokens[i]) && f.tool.vocabulary[f.h.Tokens[i].Concept] < weightName {
			others++
		}
	}
	switch {
	case !utf8.ValidString(text) || others == 0 || f.small():
		return filling{}
	case !expected && (!s.required || others < 3 || f.h.inquires()):
		return filling{}
	case expected && !f.h.inquires():
		return f.str(s, text, possible+0.1, span)
	}
	return f.str(s, text, doubtful, span)
}

// small reports small talk, which describes nothing.
func (f *filler) small() bool {
	return f.h.Answer.Given && f.h.Answer.Len() >= len(f.h.Tokens)-1 || f.h.says("hello") && f.h.topics() == 0
}
