package offline

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/turnwise/turnwise/llm/offline/internal/values"
	"github.com/turnwise/turnwise/llm/offline/internal/words"
)

// unit is how what a number counts fits a slot.
type unit uint8

const (
	unitNone unit = iota
	unitFits
	unitOther
)

// number fills a slot with a number that was said.
func (f *filler) number(s *slot, expected bool) filling {
	if sum, spans := f.heads(s); len(spans) > 1 {
		return f.checked(s, sum, certain, spans...)
	}
	corrected := f.h.CorrectedAt()
	best, bestUnit := -1, unitOther
	for i, n := range f.h.Numbers {
		if n.Ordinal || !f.free(n.Span) || f.h.Temporal(n.Span) {
			continue
		}
		u := f.unit(s, n.Span)
		switch {
		case best < 0, u == unitFits && bestUnit != unitFits, u != unitOther && bestUnit == unitOther,
			f.h.Numbers[best].From < corrected && n.From >= corrected && u != unitOther:
			best, bestUnit = i, u
		}
	}
	if best < 0 {
		return filling{}
	}
	n := f.h.Numbers[best]
	if other, ok := f.rival(best); ok {
		return filling{strength: likely, spans: []values.Span{n.Span, other.Span}, problem: "Is it " + number(n.Value) + " or " + number(other.Value) + "?"}
	}
	return f.checked(s, n.Value, f.numberStrength(n, bestUnit, expected), n.Span)
}

// numberStrength weighs how a number was said.
func (f *filler) numberStrength(n values.Number, u unit, expected bool) float64 {
	switch {
	case u == unitFits:
		return certain
	case u == unitOther:
		return doubtful
	case f.h.topics()-n.Len() > 3:
		return doubtful
	case expected:
		return likely
	}
	return possible
}

// unit looks at the word that a number counts, the next one with a topic.
func (f *filler) unit(s *slot, n values.Span) unit {
	for i := n.To; i < len(f.h.Tokens) && i < n.To+3; i++ {
		t := f.h.Tokens[i]
		if t.Kind == words.Mark || f.h.Temporal(values.Span{From: i, To: i + 1}) {
			break
		}
		if t.Low == "us" && s.about["people"] {
			return unitFits
		}
		if leadsElsewhere(t.Low) {
			break
		}
		if t.Kind == words.Digits || t.Stop {
			continue
		}
		switch {
		case s.about[t.Concept] || t.Concept == "child" && s.about["people"] || t.Concept == "person" && s.about["people"]:
			return unitFits
		case i > n.To && words.Common(t.Low) && t.Concept != "people":
			return unitNone
		}
		return unitOther
	}
	for i := n.From - 1; i >= 0 && i >= n.From-3; i-- {
		if t := f.h.Tokens[i]; t.Kind == words.Word && !t.Stop {
			if s.about[t.Concept] {
				return unitFits
			}
			break
		}
	}
	return unitNone
}

// leadsElsewhere recognizes words behind which stands something that is not
// counted: "four on the terrace".
func leadsElsewhere(w string) bool {
	switch w {
	case "on", "at", "in", "for", "under", "with", "to", "from", "by", "and", "but", "is", "are":
		return true
	}
	return false
}

// heads adds up people who were counted separately: "two adults and three kids".
func (f *filler) heads(s *slot) (sum float64, spans []values.Span) {
	if !s.about["people"] || s.about["child"] || f.h.CorrectedAt() > 0 {
		return 0, nil
	}
	for _, n := range f.h.Numbers {
		if n.To >= len(f.h.Tokens) || n.Ordinal || !f.free(n.Span) {
			continue
		}
		switch f.h.Tokens[n.To].Concept {
		case "child":
		case "people", "person", "woman", "man", "wom", "women", "men", "grown":
		default:
			continue
		}
		sum += n.Value
		spans = append(spans, n.Span)
	}
	return sum, spans
}

// rival is the other number of "four or five".
func (f *filler) rival(i int) (values.Number, bool) {
	n := f.h.Numbers[i]
	for _, k := range [...]int{i - 1, i + 1} {
		if k < 0 || k >= len(f.h.Numbers) {
			continue
		}
		o := f.h.Numbers[k]
		from, to := min(n.To, o.To), max(n.From, o.From)
		if to == from+1 && f.h.Tokens[from].Low == "or" && o.Value != n.Value && !o.Ordinal {
			if k < i {
				return values.Number{}, false
			}
			return o, true
		}
	}
	return values.Number{}, false
}

// checked takes a number that is in range, and says what the range is otherwise.
func (f *filler) checked(s *slot, v float64, strength float64, spans ...values.Span) filling {
	problem := ""
	switch {
	case math.IsInf(v, 0) || math.IsNaN(v) || math.Abs(v) > 1e15:
		problem = "That number is too large."
	case s.kind == kindInteger && v != math.Trunc(v):
		problem = "It has to be a whole number."
	case s.max != nil && v > *s.max:
		problem = number(v) + " is too many: " + rangeOf(s) + "."
	case s.min != nil && v < *s.min:
		problem = number(v) + " is too few: " + rangeOf(s) + "."
	case s.multiple > 0 && math.Mod(v, s.multiple) != 0:
		problem = "It has to be a multiple of " + number(s.multiple) + "."
	}
	if problem != "" {
		f.used = append(f.used, spans...)
		return filling{strength: strength, spans: spans, problem: problem}
	}
	return f.take(json.RawMessage(number(v)), strength, spans...)
}

func rangeOf(s *slot) string {
	switch {
	case s.min != nil && s.max != nil:
		return "it can be from " + number(*s.min) + " to " + number(*s.max)
	case s.max != nil:
		return "it can be " + number(*s.max) + " at most"
	}
	return "it has to be " + number(*s.min) + " at least"
}

// number writes a number without an exponent.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
