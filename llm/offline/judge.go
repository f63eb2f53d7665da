package offline

import (
	"fmt"
	"math"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm/offline/internal/values"
	"github.com/turnwise/turnwise/llm/offline/internal/words"
)

// threshold is the score from which on a function is called.
const threshold = 0.5

// clearly is the score, without regard to the other words, from which on a second
// function is called.
const clearly = 0.6

// candidate is a function with how well the user's words call for it.
type candidate struct {
	tool  *tool
	score float64
	// raw is the score if nothing else had been said.
	raw    float64
	filled []filling
	// evidence marks the tokens that speak for the function.
	evidence []bool
	reasons  []string
}

// judge weighs functions against one thing the user said.
type judge struct {
	set *toolset
	h   *hearing
	// explain collects reasons.
	explain bool
}

func (j *judge) weigh(t *tool) candidate {
	c := candidate{tool: t, evidence: make([]bool, len(j.h.Tokens)), filled: make([]filling, len(t.slots))}
	topic := j.topic(&c)
	values := j.values(&c)
	answer := j.answer(&c)
	c.raw = 1 - (1-topic)*(1-values)*(1-answer)
	c.score = c.raw * (0.55 + 0.45*j.coverage(&c))
	return c
}

func (j *judge) reason(c *candidate, format string, args ...any) {
	if j.explain {
		c.reasons = append(c.reasons, fmt.Sprintf(format, args...))
	}
}

// topic is what the words say for the function.
func (j *judge) topic(c *candidate) float64 {
	against := 1.0
	for i := range j.h.Tokens {
		t := &j.h.Tokens[i]
		if t.Kind != words.Word || t.Stop {
			continue
		}
		weight := c.tool.vocabulary[t.Concept]
		if weight == 0 || j.repeated(i) {
			continue
		}
		if j.h.denied[i] != (c.tool.negates && weight == weightName) {
			j.reason(c, "%q is meant the other way", t.Low)
			continue
		}
		if n := j.set.shared[t.Concept]; n > 1 {
			weight /= math.Sqrt(float64(n))
		}
		against *= 1 - 0.65*weight
		c.evidence[i] = true
		j.reason(c, "%q speaks for it (%.2f)", t.Low, weight)
	}
	topic := 1 - min(against, 1)
	if similar := j.similar(c); similar > 0 {
		topic = 1 - (1-topic)*(1-0.9*similar)
	}
	return topic
}

// repeated reports whether a word's concept was said before.
func (j *judge) repeated(i int) bool {
	for k := range i {
		if j.h.Tokens[k].Concept == j.h.Tokens[i].Concept {
			return true
		}
	}
	return false
}

// similar is how much the words are those of the most similar example; less than
// half counts for nothing.
func (j *judge) similar(c *candidate) float64 {
	if len(c.tool.examples) == 0 {
		return 0
	}
	said := topics(j.h.Tokens)
	best := 0.0
	for _, example := range c.tool.examples {
		common := 0
		for _, s := range said {
			for _, e := range example {
				if s == e {
					common++
					break
				}
			}
		}
		if all := len(said) + len(example) - common; all > 0 {
			best = max(best, float64(common)/float64(all))
		}
	}
	if best < 0.5 {
		return 0
	}
	j.reason(c, "it is like an example (%.2f)", best)
	return best
}

// values fills the slots, the ones that are easiest to tell apart first.
func (j *judge) values(c *candidate) float64 {
	f := filler{h: j.h, tool: c.tool}
	against := 1.0
	for _, kinds := range fillOrder {
		for i := range c.tool.slots {
			s := &c.tool.slots[i]
			if kinds&(1<<s.kind) == 0 {
				continue
			}
			c.filled[i] = f.fill(s)
			if got := &c.filled[i]; got.strength > 0 {
				against *= 1 - got.strength
				j.mark(c, got.spans)
				j.explainFilling(c, s, got)
			}
		}
	}
	return 1 - against
}

// fillOrder is sets of kinds, as bits.
var fillOrder = [...]uint32{
	1<<kindEmail | 1<<kindPattern | 1<<kindConst,
	1 << kindPhone,
	1<<kindDate | 1<<kindTime | 1<<kindDateTime,
	1 << kindEnum,
	1<<kindInteger | 1<<kindNumber,
	1<<kindName | 1<<kindList,
	1 << kindBool,
	1 << kindText,
}

func (j *judge) explainFilling(c *candidate, s *slot, got *filling) {
	if got.ok {
		j.reason(c, "%s can be %s (%.2f)", s.name, got.value, got.strength)
	} else {
		j.reason(c, "%s was meant, but: %s (%.2f)", s.name, got.problem, got.strength)
	}
}

func (j *judge) mark(c *candidate, spans []values.Span) {
	for _, s := range spans {
		for i := s.From; i < s.To; i++ {
			c.evidence[i] = true
		}
	}
}

// answer is what a yes or no says for a function without arguments.
func (j *judge) answer(c *candidate) float64 {
	a := j.h.Answer
	if !a.Given || c.tool.required() {
		return 0
	}
	strength := 0.0
	switch named := j.h.asked.touches(c.tool.names); {
	case c.tool.answer > 0 && a.Yes, c.tool.answer < 0 && !a.Yes:
		strength = possible
		if j.h.asked.polar || named {
			strength = likely
		}
	case a.Yes && c.tool.answer == 0 && named && j.h.asked.polar:
		strength = 0.7
	}
	if strength > 0 {
		j.mark(c, []values.Span{a.Span})
		j.reason(c, "the answer calls for it (%.2f)", strength)
	}
	return strength
}

// coverage is the part of what was said that speaks for the function.
func (j *judge) coverage(c *candidate) float64 {
	all, explained := 0, 0
	for i := range j.h.Tokens {
		if topical(&j.h.Tokens[i]) || c.evidence[i] && j.h.Tokens[i].Kind != words.Mark {
			all++
			if c.evidence[i] {
				explained++
			}
		}
	}
	if all == 0 {
		return 1
	}
	return float64(explained) / float64(all)
}

// missing is the first required slot without a value; nil if there is none.
func (c *candidate) missing() *slot {
	for i := range c.tool.slots {
		if s := &c.tool.slots[i]; s.required && !c.filled[i].ok {
			return s
		}
	}
	return nil
}

// problem is why something that was said cannot be used, and for which slot.
func (c *candidate) problem() (*slot, string) {
	for i := range c.filled {
		if p := c.filled[i].problem; p != "" && !c.filled[i].ok {
			return &c.tool.slots[i], p
		}
	}
	return nil, ""
}

// remember fills what is missing from what the user said before, newest first.
func (c *candidate) remember(earlier []*hearing) {
	for k := len(earlier) - 1; k >= 0; k-- {
		f := filler{h: earlier[k], tool: c.tool}
		for i := range c.tool.slots {
			s := &c.tool.slots[i]
			if c.filled[i].ok || c.filled[i].problem != "" && s.kind != kindDateTime {
				continue
			}
			old := f.fill(s)
			if s.kind == kindDateTime {
				c.filled[i] = completeDateTime(&f, s, c.filled[i], old)
			} else if old.ok && old.strength >= possible {
				c.filled[i] = old
			}
		}
	}
}

// completeDateTime adds the half that was said earlier.
func completeDateTime(f *filler, s *slot, now, old filling) filling {
	if now.day == nil {
		now.day = old.day
	}
	if now.clock == nil {
		now.clock = old.clock
	}
	joined := f.joinDateTime(s, filling{day: now.day, clock: now.clock})
	joined.spans = now.spans
	return joined
}

// recall fills what is missing from the arguments of earlier calls, the latest
// first, when the user has said something for the function: "at eight then" is
// still for the same day. Only what belongs to the whole conversation is taken over,
// and it must be needed.
func (c *candidate) recall(calls []frames.ToolCall) {
	if !c.said() {
		return
	}
	for k := len(calls) - 1; k >= 0 && c.missing() != nil; k-- {
		for _, m := range members(calls[k].Args) {
			for i := range c.tool.slots {
				s := &c.tool.slots[i]
				if s.name == m.name && s.required && s.lasts() && !c.filled[i].ok && c.filled[i].problem == "" {
					c.filled[i] = filling{ok: true, value: m.value}
				}
			}
		}
	}
}

// said reports whether the user gave any argument.
func (c *candidate) said() bool {
	for i := range c.filled {
		if c.filled[i].ok && c.tool.slots[i].kind != kindConst {
			return true
		}
	}
	return false
}

// lasts reports whether a slot's value is likely to hold for the rest of a
// conversation, as a day and a name do, and the number of things ordered does not.
func (s *slot) lasts() bool {
	switch s.kind {
	case kindDate, kindTime, kindDateTime, kindEmail, kindPhone, kindName, kindPattern:
		return true
	case kindInteger:
		return s.about["people"]
	}
	return false
}
