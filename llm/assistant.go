package llm

import (
	"maps"
	"slices"
	"strings"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// AssistantAggregator settles what the user heard of the bot. It stands behind the
// output, at the end of the pipeline, where only what was really played or sent
// comes by; on an interruption the conversation is cut there.
type AssistantAggregator struct {
	pipeline.Base
	context *frames.LLMContext
	open    map[uint64]*strings.Builder // what was heard of responses not yet ended
}

// NewAssistantAggregator makes an aggregator for a conversation.
func NewAssistantAggregator(c *frames.LLMContext) *AssistantAggregator {
	return &AssistantAggregator{context: c, open: map[uint64]*strings.Builder{}}
}

// Name is "assistant aggregator".
func (*AssistantAggregator) Name() string { return RoleAssistantAggregator }

// Wiring places the aggregator behind the service.
func (*AssistantAggregator) Wiring() pipeline.Wiring {
	return pipeline.Wiring{Role: RoleAssistantAggregator, Single: true, After: []string{RoleService}}
}

// Process listens and passes everything on.
func (a *AssistantAggregator) Process(f frames.Frame, dir pipeline.Direction) {
	if dir == pipeline.Downstream {
		switch f := f.(type) {
		case *frames.LLMResponseStartFrame:
			a.open[f.Response] = &strings.Builder{}
		case *frames.LLMTextFrame:
			a.heard(f.Response, f.Text)
		case *frames.LLMResponseEndFrame:
			a.ended(f.Response)
		case *frames.SpeakFrame:
			a.line(f)
		}
	}
	a.Push(f, dir)
}

func (a *AssistantAggregator) heard(response uint64, text string) {
	b := a.open[response]
	if b == nil {
		// A fixed line that is heard word by word has no start.
		b = &strings.Builder{}
		a.open[response] = b
	}
	b.WriteString(text)
}

func (a *AssistantAggregator) ended(response uint64) {
	b := a.open[response]
	if b == nil {
		return
	}
	delete(a.open, response)
	a.context.Heard(response, b.String(), false)
}

// line settles a fixed line. One that did not pass a service has no entry yet.
func (a *AssistantAggregator) line(f *frames.SpeakFrame) {
	switch {
	case f.NoContext:
	case f.Response == 0:
		a.context.AddAssistantMessage(f.Text)
	default:
		delete(a.open, f.Response)
		a.context.Heard(f.Response, f.Text, false)
	}
}

// Interrupt cuts the conversation to what was heard. A response that was cut while
// it was being generated has no entry yet.
func (a *AssistantAggregator) Interrupt(f *frames.InterruptionFrame) {
	for _, h := range f.Heard {
		a.heard(h.Response, h.Text)
	}
	known := map[uint64]bool{}
	a.context.Cut(func(response uint64) string {
		known[response] = true
		if b := a.open[response]; b != nil {
			return b.String()
		}
		return ""
	})
	for _, response := range slices.Sorted(maps.Keys(a.open)) {
		if b := a.open[response]; !known[response] && b.Len() > 0 {
			a.context.Append(frames.Message{Role: frames.RoleAssistant, Text: b.String(), Interrupted: true})
		}
	}
	clear(a.open)
}
