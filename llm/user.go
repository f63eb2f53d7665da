package llm

import (
	"strings"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// maxTurnText bounds the words of one user turn, in bytes.
const maxTurnText = 64 << 10

// UserAggregator writes the user's side of the conversation: typed text as it
// comes, speech as one message per turn, and asks for a generation after each. It
// stands before the [Service].
type UserAggregator struct {
	pipeline.Base
	context  *frames.LLMContext
	speaking bool
	words    []string
	size     int
	// last is the message of a spoken turn that nothing has answered yet; what
	// follows is joined to it.
	last frames.EntryID
}

// NewUserAggregator makes an aggregator for a conversation.
func NewUserAggregator(c *frames.LLMContext) *UserAggregator { return &UserAggregator{context: c} }

// Name is "user aggregator".
func (*UserAggregator) Name() string { return RoleUserAggregator }

// Wiring places the aggregator before the service.
func (*UserAggregator) Wiring() pipeline.Wiring {
	return pipeline.Wiring{Role: RoleUserAggregator, Single: true, Before: []string{RoleService}, Needs: []string{RoleService}}
}

// Process takes what the user said and passes everything on.
func (a *UserAggregator) Process(f frames.Frame, dir pipeline.Direction) {
	if dir == pipeline.Upstream {
		a.Push(f, dir)
		return
	}
	switch f := f.(type) {
	case *frames.UserTextFrame:
		a.typed(f)
		return
	case *frames.UserStartedSpeakingFrame:
		a.speaking = true
	case *frames.TranscriptionFrame:
		a.heard(f.Text)
		a.Push(f, dir)
		if !a.speaking && a.commit() {
			a.Push(&frames.LLMRunFrame{}, dir)
		}
		return
	case *frames.UserStoppedSpeakingFrame:
		a.speaking = false
		run := a.commit()
		a.Push(f, dir)
		if run {
			a.Push(&frames.LLMRunFrame{}, dir)
		}
		return
	}
	a.Push(f, dir)
}

func (a *UserAggregator) typed(f *frames.UserTextFrame) {
	if text := strings.TrimSpace(f.Text); text != "" {
		a.context.AddUserMessage(text)
		a.last = 0
	}
	a.Push(f, pipeline.Downstream)
	if !f.NoRun {
		a.Push(&frames.LLMRunFrame{}, pipeline.Downstream)
	}
}

func (a *UserAggregator) heard(text string) {
	if text = strings.TrimSpace(text); text == "" || a.size+len(text) > maxTurnText {
		return
	}
	a.words = append(a.words, text)
	a.size += len(text) + 1
}

// commit writes what was said in the turn as one message. When nothing has
// answered the turn before, because it was cut off too early, the two are one.
func (a *UserAggregator) commit() bool {
	if len(a.words) == 0 {
		return false
	}
	text := strings.Join(a.words, " ")
	a.words, a.size = nil, 0
	if id, before, ok := a.context.LastUser(); ok && id == a.last {
		a.context.Replace(id, frames.Message{Role: frames.RoleUser, Text: before + " " + text})
		return true
	}
	a.last = a.context.AddUserMessage(text)
	return true
}
