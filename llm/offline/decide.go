package offline

import (
	"encoding/json"
	"sort"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
)

// Decision is what the model does with a request, and why.
type Decision struct {
	// Calls are the functions called; without any, Text is spoken.
	Calls []frames.ToolCall
	// Text is what is said.
	Text string
	// Why says in a few words what led to it.
	Why string
	// Candidates are the functions on offer, best first; empty when the user's
	// words were not weighed.
	Candidates []Candidate
}

// Candidate is a function that was weighed against the user's words.
type Candidate struct {
	Name string
	// Score is from 0 to 1; from 0.5 on a function is called.
	Score float64
	// Args is the argument object found so far.
	Args string
	// Missing names the first required argument that was not found.
	Missing string
	// Reasons are what spoke for the function, in words.
	Reasons []string
}

// decide finds the next move. It is the same for the same request and clock.
func (m *Model) decide(req *llm.Request, explain bool) Decision {
	s := m.readScene(req)
	r := responder{scene: s, now: m.now()}
	if s.script.Summary {
		return Decision{Text: r.summary(), Why: "the instructions ask for a summary"}
	}
	switch s.turn {
	case turnResult:
		return Decision{Text: r.results(), Why: "functions have returned"}
	case turnUser:
		return m.answer(req, s, &r, explain)
	}
	return Decision{Text: r.opening(), Why: "the node has something to say"}
}

// answer responds to what the user said.
func (m *Model) answer(req *llm.Request, s *scene, r *responder, explain bool) Decision {
	heard := s.hearings(r.now)
	r.h = heard[len(heard)-1]
	choice := req.Context.Choice
	if choice == frames.ToolChoiceNone || len(s.set.tools) == 0 {
		return Decision{Text: r.reply(), Why: "no function may be called"}
	}
	j := judge{set: s.set, h: r.h, explain: explain}
	ranked := j.rank(choice)
	d := Decision{Text: "", Why: "no function fits the words"}
	bar := threshold
	if choice != "" && choice != frames.ToolChoiceAuto {
		bar = 0
	}
	if len(ranked) > 0 && ranked[0].score >= bar && !(r.aboutMe() && ranked[0].score < 0.8) {
		m.act(&d, s, r, ranked, heard[:len(heard)-1])
	} else {
		d.Text = r.reply()
	}
	if explain {
		d.Candidates = describe(ranked)
	}
	return d
}

// rank weighs the functions that may be called, best first; of equals the one
// listed first.
func (j *judge) rank(choice frames.ToolChoice) []candidate {
	ranked := make([]candidate, 0, len(j.set.tools))
	for i := range j.set.tools {
		t := &j.set.tools[i]
		switch choice {
		case "", frames.ToolChoiceAuto, frames.ToolChoiceRequired:
		default:
			if t.name != string(choice) {
				continue
			}
		}
		ranked = append(ranked, j.weigh(t))
	}
	sort.SliceStable(ranked, func(a, b int) bool { return ranked[a].score > ranked[b].score })
	return ranked
}

// act calls the best function, or asks for what it lacks.
func (m *Model) act(d *Decision, s *scene, r *responder, ranked []candidate, earlier []*hearing) {
	best := &ranked[0]
	best.remember(earlier)
	best.recall(s.allCalls())
	if slot, problem := best.problem(); problem != "" {
		d.Text, d.Why = r.again(slot, problem), "what was said for "+slot.name+" cannot be used"
		return
	}
	if slot := best.missing(); slot != nil {
		d.Text, d.Why = r.askFor(slot), best.tool.name+" lacks "+slot.name
		return
	}
	args, ok := best.call()
	if !ok {
		d.Text, d.Why = r.unusable(), "the arguments would not fit the schema of "+best.tool.name
		return
	}
	d.Calls, d.Why = append(d.Calls, frames.ToolCall{Name: best.tool.name, Args: args}), "the words call for "+best.tool.name
	if second := independent(ranked); second != nil {
		if args, ok := second.call(); ok {
			d.Calls = append(d.Calls, frames.ToolCall{Name: second.tool.name, Args: args})
			d.Why += " and " + second.tool.name
			if second.begins() < best.begins() {
				d.Calls[0], d.Calls[1] = d.Calls[1], d.Calls[0]
			}
		}
	}
}

// call makes arguments that fit the function's schema, without the optional ones
// if they are what does not fit.
func (c *candidate) call() (json.RawMessage, bool) {
	args := c.tool.arguments(c.filled)
	if c.tool.accepts(args) {
		return args, true
	}
	for i := range c.filled {
		c.filled[i].ok = c.filled[i].ok && c.tool.slots[i].required
	}
	args = c.tool.arguments(c.filled)
	return args, c.tool.accepts(args)
}

// begins is where the words that call for the function begin.
func (c *candidate) begins() int {
	for i, e := range c.evidence {
		if e {
			return i
		}
	}
	return len(c.evidence)
}

// independent is a second function that other words clearly call for, complete
// with its arguments; nil if there is none.
func independent(ranked []candidate) *candidate {
	best := &ranked[0]
	for i := 1; i < len(ranked); i++ {
		c := &ranked[i]
		own := 0
		for k, e := range c.evidence {
			if e && best.evidence[k] {
				own = -1
				break
			}
			if e {
				own++
			}
		}
		if _, problem := c.problem(); own < 1 || problem != "" || c.missing() != nil || c.tool.answer != 0 || best.tool.answer != 0 {
			continue
		}
		if c.raw >= clearly && best.score >= threshold {
			return c
		}
	}
	return nil
}

func describe(ranked []candidate) []Candidate {
	out := make([]Candidate, len(ranked))
	for i := range ranked {
		c := &ranked[i]
		out[i] = Candidate{Name: c.tool.name, Score: c.score, Args: string(c.tool.arguments(c.filled)), Reasons: c.reasons}
		if s := c.missing(); s != nil {
			out[i].Missing = s.name
		}
	}
	return out
}
