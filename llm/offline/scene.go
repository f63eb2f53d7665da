package offline

import (
	"strings"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/llm/offline/internal/speech"
	"github.com/turnwise/turnwise/llm/offline/internal/words"
)

// turn is whose move the end of the history makes it.
type turn uint8

const (
	// turnOpen has the bot speak for the node: nothing was said since it began.
	turnOpen turn = iota
	// turnUser has the bot answer the user.
	turnUser
	// turnResult has the bot tell what functions returned.
	turnResult
)

// Bounds of how much of a history is read.
const (
	maxUtterances = 8
	maxLookBack   = 400
)

// spoken is a thing the user said, and what was asked before it.
type spoken struct{ text, asked string }

// result is what a function returned.
type result struct {
	name, text string
	pending    bool
}

// scene is a conversation as far as it matters for the next move.
type scene struct {
	entries []*frames.Entry
	set     *toolset
	// script is what the current node has to say; persona is the other
	// instructions, for their facts.
	script, persona *speech.Script
	turn            turn
	// said is what the user said in the current node since the last function
	// call, oldest first; for turnUser the last one is to be answered.
	said    []spoken
	results []result
	// last is what the bot said last in this node, and whenever.
	last, ever string
	evening    bool
}

// readScene reads the end of a history back to where the current node began.
func (m *Model) readScene(req *llm.Request) *scene {
	s := &scene{entries: req.Context.Entries, set: m.toolset(req.Context.Tools)}
	begin, from := s.node()
	task := s.instructions(begin, from)
	persona := ""
	if req.Context.System != nil {
		persona = req.Context.System.Message().Text
	}
	if strings.TrimSpace(task) == "" {
		task, persona = persona, ""
	}
	s.script, s.persona = m.script(task, s.set), m.script(persona, s.set)
	s.evening = dines(task) || dines(persona)
	s.walk(from)
	return s
}

// dines reports whether times are likely in the evening.
func dines(text string) bool {
	low := words.Lower(text)
	for _, w := range [...]string{"restaurant", "dinner", "evening", "tonight", "dine", "dining", "table"} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}

// node finds the current node's instructions, entries begin to from: the last run
// of messages that instruct.
func (s *scene) node() (begin, from int) {
	low := max(0, len(s.entries)-maxLookBack)
	for i := len(s.entries) - 1; i >= low; i-- {
		if !s.instructs(i) {
			continue
		}
		begin = i
		for begin > low && (s.instructs(begin-1) || notes(s.entries[begin-1].Message())) {
			begin--
		}
		return begin, i + 1
	}
	return low, low
}

func (s *scene) instructs(i int) bool {
	m := s.entries[i].Message()
	switch m.Role {
	case frames.RoleSystem, frames.RoleDeveloper:
		return !notes(m)
	case frames.RoleUser:
		return (i == 0 || s.entries[i-1].Message().Role != frames.RoleAssistant) && commands(m.Text)
	}
	return false
}

// notes recognizes system messages that tell something rather than instruct.
func notes(m *frames.Message) bool {
	if m.Role != frames.RoleSystem && m.Role != frames.RoleDeveloper {
		return false
	}
	return strings.HasPrefix(m.Text, "Summary of the conversation") || isAsyncResult(m.Text)
}

const asyncMark = "Its result: "

func isAsyncResult(text string) bool {
	return strings.HasPrefix(text, "The function ") && strings.Contains(text, asyncMark)
}

// commands recognizes a node's instructions that were given the user's role: they
// speak about the user as somebody else.
func commands(text string) bool {
	if strings.HasSuffix(strings.TrimSpace(text), "?") || !aboutUser(words.Lower(text)) {
		return false
	}
	script := speech.NewScript(text, nil)
	return len(script.Parts) > 0 && !script.Summary
}

func aboutUser(low string) bool {
	for _, who := range [...]string{"the user", "the guest", "the caller", "the customer", "them", "your task", "your job", "you should", "greet ", "their "} {
		if strings.Contains(low, who) {
			return true
		}
	}
	return strings.HasPrefix(low, "ask ")
}

func (s *scene) instructions(begin, from int) string {
	var b strings.Builder
	for _, e := range s.entries[begin:from] {
		if m := e.Message(); !notes(m) {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(m.Text)
		}
	}
	return b.String()
}

// walk reads what happened in the node.
func (s *scene) walk(from int) {
	for _, e := range s.entries[from:] {
		switch m := e.Message(); m.Role {
		case frames.RoleUser:
			s.said = append(s.said, spoken{m.Text, s.last})
			s.turn, s.results = turnUser, nil
		case frames.RoleAssistant:
			s.assistant(m)
		case frames.RoleTool:
			s.results = append(s.results, result{m.Name, m.Text, m.Pending || isRunning(m.Text)})
			s.turn = turnResult
		default:
			if isAsyncResult(m.Text) {
				_, text, _ := strings.Cut(m.Text, asyncMark)
				s.results = append(s.results, result{text: text})
				s.turn = turnResult
			}
		}
	}
	s.said = s.said[max(0, len(s.said)-maxUtterances):]
	s.ever = s.last
	for i := from - 1; s.ever == "" && i >= max(0, from-maxLookBack); i-- {
		if m := s.entries[i].Message(); m.Role == frames.RoleAssistant {
			s.ever = m.Text
		}
	}
}

func (s *scene) assistant(m *frames.Message) {
	if m.Text != "" {
		s.last, s.turn = m.Text, turnOpen
		s.results = nil
	}
	if len(m.ToolCalls) > 0 {
		s.said, s.results = nil, nil
	}
}

func isRunning(text string) bool {
	return strings.HasPrefix(text, `{"status":"in progress"`) || strings.HasPrefix(text, `{"status":"running"`)
}

// allCalls lists the calls of the history, oldest first.
func (s *scene) allCalls() []frames.ToolCall {
	var calls []frames.ToolCall
	for _, e := range s.entries[max(0, len(s.entries)-maxLookBack):] {
		calls = append(calls, e.Message().ToolCalls...)
	}
	return calls
}

// hearings are what the user said, as it was understood; the last is to be
// answered.
func (s *scene) hearings(now time.Time) []*hearing {
	out := make([]*hearing, len(s.said))
	for i, u := range s.said {
		asked := u.asked
		if asked == "" {
			asked = strings.Join(s.script.Questions(), " ")
		}
		out[i] = hear(u.text, asked, now, s.evening || dines(u.text))
	}
	return out
}
