package offline

import (
	"encoding/json"
	"strings"

	"github.com/turnwise/turnwise/llm/offline/internal/values"
	"github.com/turnwise/turnwise/llm/offline/internal/words"
)

// chosen is an option somebody may have named.
type chosen struct {
	option *option
	match  float64
	spans  []values.Span
}

// choice fills an enumeration.
func (f *filler) choice(s *slot, expected bool) filling {
	found := f.named(s)
	if len(found) == 0 {
		return f.counted(s, expected)
	}
	best := found[0]
	for _, c := range found[1:] {
		if c.match > best.match || c.match == best.match && len(c.spans) > len(best.spans) {
			best = c
		}
	}
	rivals := []string{best.option.text}
	for _, c := range found {
		if c.option != best.option && c.match >= best.match && (c.match < 1 || !covers(best.spans, c.spans)) {
			rivals = append(rivals, c.option.text)
		}
	}
	if len(rivals) > 1 && len(rivals) <= 4 {
		return filling{strength: likely, spans: best.spans, problem: "Is it " + either(rivals) + "?"}
	}
	strength := likely
	if best.match < 1 {
		strength = possible
	}
	return f.take(best.option.raw, strength, best.spans...)
}

// covers reports whether all of b lies in a: "technical support" said for two
// options that share a word is not two choices.
func covers(a, b []values.Span) bool {
	for _, y := range b {
		inside := false
		for _, x := range a {
			inside = inside || x == y
		}
		if !inside {
			return false
		}
	}
	return true
}

// named lists the options whose words were said, at least half of them.
func (f *filler) named(s *slot) []chosen {
	corrected := f.h.CorrectedAt()
	var found []chosen
	late := false
	for i := range s.options {
		c := f.match(&s.options[i])
		if c.match < 0.5 {
			continue
		}
		after := corrected > 0 && c.spans[0].From >= corrected
		switch {
		case after && !late:
			found, late = []chosen{c}, true
		case after == late:
			found = append(found, c)
		}
	}
	return found
}

// match measures how much of an option was said.
func (f *filler) match(o *option) chosen {
	c := chosen{option: o}
	if at, ok := f.clockOption(o); ok {
		c.match, c.spans = 1, at
		return c
	}
	total, hit := 0, 0
	for _, w := range o.words {
		if w.Kind == words.Mark || w.Stop && len(o.words) > 1 {
			continue
		}
		total++
		if i := f.said(w); i >= 0 {
			hit++
			c.spans = append(c.spans, values.Span{From: i, To: i + 1})
		}
	}
	if total > 0 && hit > 0 {
		c.match = float64(hit) / float64(total)
	}
	return c
}

// said finds a word of an option among what was said and not denied.
func (f *filler) said(w words.Token) int {
	for i, t := range f.h.Tokens {
		if f.h.denied[i] || !f.free(values.Span{From: i, To: i + 1}) {
			continue
		}
		if t.Low == w.Low || t.Kind == words.Word && w.Kind == words.Word && !t.Stop && t.Concept == w.Concept {
			return i
		}
	}
	return -1
}

// clockOption compares an option that is a time with the times that were said.
func (f *filler) clockOption(o *option) ([]values.Span, bool) {
	if !strings.ContainsRune(o.text, ':') {
		return nil, false
	}
	want := values.Clocks(o.words, values.Numbers(o.words), nil)
	if len(want) != 1 {
		return nil, false
	}
	hour, minute := want[0].On24(false)
	for _, c := range f.h.Clocks {
		if h, m := c.On24(f.h.evening); m == minute && (h == hour || c.Half == values.HalfUnknown && h%12 == hour%12) {
			return []values.Span{c.Span}, true
		}
	}
	return nil, false
}

// counted picks an option by its place ("the second one"), by its value as a
// number, or by yes and no.
func (f *filler) counted(s *slot, expected bool) filling {
	for i := range s.options {
		for _, n := range f.h.Numbers {
			var v float64
			if !n.Ordinal && json.Unmarshal(s.options[i].raw, &v) == nil && v == n.Value && f.free(n.Span) && !f.h.Temporal(n.Span) {
				return f.take(s.options[i].raw, sure(expected), n.Span)
			}
		}
	}
	if !expected {
		return filling{}
	}
	for _, n := range f.h.Numbers {
		if k := int(n.Value); n.Ordinal && k >= 1 && k <= len(s.options) && f.free(n.Span) && !f.h.Temporal(n.Span) {
			return f.take(s.options[k-1].raw, likely, n.Span)
		}
	}
	if a := f.h.Answer; a.Given {
		for i := range s.options {
			if o := words.Lower(s.options[i].text); o == "yes" && a.Yes || o == "no" && !a.Yes || o == "true" && a.Yes || o == "false" && !a.Yes {
				return f.take(s.options[i].raw, likely, a.Span)
			}
		}
	}
	return filling{}
}

// list fills an array with everything of its kind that was said.
func (f *filler) list(s *slot, expected bool) filling {
	if expected && s.least == 0 && f.h.Answer.Given && !f.h.Answer.Yes && f.h.topics() <= 1 {
		return f.take(json.RawMessage("[]"), likely, f.h.Answer.Span)
	}
	all, strength, spans := f.items(s, expected)
	if len(all) == 0 {
		return filling{}
	}
	if len(all) < s.least || s.most > 0 && len(all) > s.most {
		return filling{strength: strength, spans: spans, problem: "That is not the right number of them."}
	}
	return f.take(json.RawMessage("["+strings.Join(all, ",")+"]"), strength, spans...)
}

// maxItems bounds a list.
const maxItems = 50

func (f *filler) items(s *slot, expected bool) (all []string, strength float64, spans []values.Span) {
	switch s.item.kind {
	case kindEnum:
		for _, c := range f.named(s.item) {
			all, spans = append(all, string(c.option.raw)), append(spans, c.spans...)
		}
		return unique(all), likely, spans
	case kindText, kindName:
		if !expected || f.small() {
			return nil, 0, nil
		}
		return unique(f.pieces()), possible, []values.Span{{To: len(f.h.Tokens)}}
	}
	inner := filler{h: f.h, tool: f.tool, used: f.used}
	for len(all) < maxItems {
		one := inner.one(s.item, expected)
		if !one.ok {
			break
		}
		all, spans, strength = append(all, string(one.value)), append(spans, one.spans...), one.strength
	}
	return unique(all), strength, spans
}

// one takes the next single value of a list; a sum or a choice between numbers is
// for single slots only.
func (f *filler) one(s *slot, expected bool) filling {
	if s.kind != kindInteger && s.kind != kindNumber {
		if s.kind == kindBool || s.kind == kindConst {
			return filling{}
		}
		return f.fill(s)
	}
	for _, n := range f.h.Numbers {
		if f.free(n.Span) && !n.Ordinal && !f.h.Temporal(n.Span) {
			return f.checked(s, n.Value, sure(expected), n.Span)
		}
	}
	return filling{}
}

// pieces splits what was said at commas and "and".
func (f *filler) pieces() []string {
	var out []string
	start := 0
	cut := func(end int) {
		if piece := strings.TrimSpace(f.h.Text[start:end]); piece != "" && len(out) < maxItems {
			out = append(out, string(quote(strings.ToValidUTF8(piece, ""))))
		}
	}
	end := 0
	for _, t := range f.h.Tokens {
		if t.Text == "," || t.Text == ";" || t.Low == "and" {
			cut(t.Start)
			start = t.End
		}
		if t.Kind != words.Mark {
			end = t.End
		}
	}
	if end > start {
		cut(end)
	}
	return out
}

func unique(list []string) []string {
	var out []string
	for _, s := range list {
		seen := false
		for _, o := range out {
			seen = seen || o == s
		}
		if !seen {
			out = append(out, s)
		}
	}
	return out
}
