package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"

	"github.com/turnwise/turnwise/flows"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/pipeline"
)

// terminal is the output of a conversation in a terminal: a processor that prints
// what the bot says as it comes, and tells what the conversation is at.
type terminal struct {
	pipeline.Base
	paper *paper
	turns *turns
}

// Name is "terminal".
func (*terminal) Name() string { return "terminal" }

// Wiring puts it where an output stands.
func (*terminal) Wiring() pipeline.Wiring { return pipeline.Wiring{Role: "output", Single: true} }

// Process prints and passes on.
func (t *terminal) Process(f frames.Frame, dir pipeline.Direction) {
	if dir == pipeline.Downstream {
		t.show(f)
	}
	t.Push(f, dir)
}

func (t *terminal) show(f frames.Frame) {
	switch f := f.(type) {
	case *frames.LLMResponseStartFrame:
		t.turns.started()
	case *frames.LLMTextFrame:
		t.paper.bot(f.Text)
	case *frames.LLMResponseEndFrame:
		t.paper.endLine()
		t.turns.ended(!saysAll(f.Finish))
	case *frames.SpeakFrame:
		t.paper.line("bot", f.Text)
		t.turns.spoke()
	case *frames.TextFrame:
		t.paper.line("bot", f.Text)
		t.turns.spoke()
	case *frames.FunctionCallsStartedFrame:
		t.turns.called(len(f.Calls))
	case *frames.FunctionCallInProgressFrame:
		t.paper.inside("%s %s", f.Call.Name, f.Call.Args)
	case *frames.FunctionCallResultFrame:
		t.paper.inside("%s → %s", f.Call.Name, f.Result)
		t.turns.returned()
	}
}

// saysAll reports whether a response that ended so is all of the bot's answer.
func saysAll(finish string) bool {
	switch finish {
	case llm.FinishStop, llm.FinishLength, llm.FinishContent:
		return true
	}
	return false // calls, a failure, or another response in its place
}

// Interrupt ends the line that was cut.
func (t *terminal) Interrupt(*frames.InterruptionFrame) {
	t.paper.cut()
	t.turns.interrupted()
}

// paper is what a conversation is printed on. It is safe for concurrent use.
type paper struct {
	mu      sync.Mutex
	w       io.Writer
	colour  bool
	insides bool
	prompt  bool // a person types: show where
	open    bool // a line of the bot's is under way
	shown   bool // the prompt stands
	// broken is told, with the lock held, when something could not be written;
	// may be nil.
	broken func(error)
}

// bot prints a piece of what the bot says.
func (p *paper) bot(text string) {
	text = printable(text)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.open {
		text = strings.TrimLeft(text, " \n")
		if text == "" {
			return
		}
		p.clearPrompt()
		p.print(p.who("bot"))
		p.open = true
	}
	p.print(strings.ReplaceAll(text, "\n", "\n     "))
}

// printable leaves out what would steer the terminal: models and tools write text,
// not commands.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, text)
}

// endLine ends the bot's line.
func (p *paper) endLine() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.endOpen("")
}

// cut ends the bot's line as interrupted.
func (p *paper) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.endOpen(p.dim(" … (interrupted)"))
}

func (p *paper) endOpen(mark string) {
	if p.open {
		p.print(mark + "\n")
		p.open = false
	}
}

// line prints a whole line of someone's.
func (p *paper) line(who, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.endOpen("")
	p.clearPrompt()
	p.print(p.who(who) + strings.TrimSpace(printable(text)) + "\n")
}

// inside prints what happens inside, when that is wanted.
func (p *paper) inside(format string, args ...any) {
	if !p.insides {
		return
	}
	p.note(fmt.Sprintf(format, args...))
}

// note prints a remark.
func (p *paper) note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.endOpen("")
	p.clearPrompt()
	p.print(p.dim("     · "+printable(text)) + "\n")
}

// ask shows where to type.
func (p *paper) ask() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.prompt && !p.shown && !p.open {
		p.print(p.who("you"))
		p.shown = true
	}
}

// typed notes that the user has ended the line after the prompt.
func (p *paper) typed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown = false
}

// clearPrompt makes room where the prompt stands.
func (p *paper) clearPrompt() {
	if p.shown {
		p.print("\r\x1b[K")
		p.shown = false
	}
}

func (p *paper) who(name string) string {
	if !p.colour {
		return name + ": "
	}
	code := "36"
	if name == "you" {
		code = "35"
	}
	return "\x1b[1;" + code + "m" + name + ":\x1b[0m "
}

func (p *paper) dim(text string) string {
	if !p.colour {
		return text
	}
	return "\x1b[2m" + text + "\x1b[0m"
}

// print writes.
func (p *paper) print(text string) {
	if _, err := io.WriteString(p.w, text); err != nil && p.broken != nil {
		p.broken(err)
	}
}

// event prints what happens in the flow.
func (p *paper) event(e flows.Event) {
	switch e.Kind {
	case flows.EventNodeEntered:
		p.inside("node %s", e.Node)
	case flows.EventTransitionFailed, flows.EventActionFailed, flows.EventSummaryFailed:
		p.note(fmt.Sprintf("%s: %s", e.Kind, e.Detail))
	}
}
