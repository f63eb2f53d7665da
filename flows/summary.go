package flows

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
)

// Summarizer writes summaries of conversations. Summarize runs on a goroutine of
// its own and should return soon after ctx is cancelled.
type Summarizer interface {
	Summarize(ctx context.Context, r SummaryRequest) (string, error)
}

// SummaryRequest asks for a summary.
type SummaryRequest struct {
	// Messages is the history, oldest first. It must not be changed.
	Messages []frames.Message
	// Prompt says how to write the summary.
	Prompt string
}

const defaultSummaryPrompt = "Summarize the conversation below for an assistant that carries it on. " +
	"Keep names, numbers, dates, decisions and open questions. Write a few plain sentences and nothing else."

// summaryHead introduces a summary to the model.
const summaryHead = "Summary of the conversation so far: "

var (
	errNoModel      = errors.New("flows: there is no model to write a summary; set Config.Summarizer")
	errEmptySummary = errors.New("flows: the summary is empty")
)

// summing is an entry that waits for its summary, on the loop.
type summing struct {
	p         *prepared
	update    frames.ContextUpdate
	last      frames.EntryID // the last entry that is summarized
	cancel    context.CancelFunc
	stopTimer func()
}

// summarize enters a node when the history has been summarized. Until then the
// model does not speak.
func (fm *FlowManager) summarize(p *prepared, u frames.ContextUpdate, s frames.Snapshot) {
	stop, cancel := context.WithCancel(context.Background())
	w := &summing{p: p, update: u, last: s.Entries[len(s.Entries)-1].ID(), cancel: cancel}
	fm.summing = w
	fm.steer.Block()
	w.stopTimer = fm.steer.After(fm.cfg.SummaryTimeout, func() {
		fm.summarized(w, "", fmt.Errorf("flows: no summary within %s: %w", fm.cfg.SummaryTimeout, context.DeadlineExceeded))
	})
	request := SummaryRequest{Messages: messages(s.Entries), Prompt: p.node.SummaryPrompt}
	if request.Prompt == "" {
		request.Prompt = defaultSummaryPrompt
	}
	writer := fm.summarizer()
	var text string
	var err error
	fm.steer.Go(func(session context.Context) {
		ctx, end := context.WithCancel(session)
		defer end()
		defer context.AfterFunc(stop, end)()
		text, err = safeSummary(ctx, writer, request)
	}, func() { fm.summarized(w, text, err) })
}

// summarized enters the node with the summary, or with the whole history when
// there is none. What was said in the meantime is kept.
func (fm *FlowManager) summarized(w *summing, text string, err error) {
	if fm.summing != w {
		return
	}
	fm.summing = nil
	w.stopTimer()
	w.cancel()
	if text = strings.TrimSpace(text); err == nil && text == "" {
		err = errEmptySummary
	}
	if err != nil {
		fm.emit(Event{Kind: EventSummaryFailed, Node: w.p.node.name(), Err: err})
	} else {
		entries := fm.cfg.Context.Snapshot().Entries
		first := slices.IndexFunc(entries, func(e *frames.Entry) bool { return e.ID() > w.last })
		var since []frames.Message
		if first >= 0 {
			since = messages(entries[first:])
		}
		summary := frames.Message{Role: frames.RoleDeveloper, Text: summaryHead + text}
		w.update.Reset = true
		w.update.Append = slices.Concat([]frames.Message{summary}, since, w.update.Append)
	}
	fm.commit(w.p, w.update)
	fm.steer.Unblock()
}

// dropSummary gives up an entry that waits for its summary.
func (fm *FlowManager) dropSummary() {
	w := fm.summing
	if w == nil {
		return
	}
	fm.summing = nil
	w.stopTimer()
	w.cancel()
	fm.steer.Unblock()
	fm.drop(w.p, "another node was set")
}

func (fm *FlowManager) summarizer() Summarizer {
	if fm.cfg.Summarizer != nil {
		return fm.cfg.Summarizer
	}
	return modelSummarizer{fm.steer.Model()}
}

func safeSummary(ctx context.Context, s Summarizer, r SummaryRequest) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("flows: the summarizer panicked: %v", p)
		}
	}()
	return s.Summarize(ctx, r)
}

func messages(entries []*frames.Entry) []frames.Message {
	out := make([]frames.Message, len(entries))
	for i, e := range entries {
		out[i] = *e.Message()
	}
	return out
}

// modelSummarizer asks a model, beside the conversation.
type modelSummarizer struct{ model llm.Model }

// Summarize shows the model the conversation as text: asked to carry on a history
// that ends in someone else's task, models tend to do so.
func (m modelSummarizer) Summarize(ctx context.Context, r SummaryRequest) (string, error) {
	if m.model == nil {
		return "", errNoModel
	}
	convo := frames.NewLLMContext(r.Prompt)
	convo.AddUserMessage(transcript(r.Messages))
	var b strings.Builder
	for chunk, err := range m.model.Stream(ctx, &llm.Request{Context: convo.Snapshot()}) {
		if err != nil {
			return "", err
		}
		b.WriteString(chunk.Text)
		if chunk.Finish != "" {
			return b.String(), nil
		}
	}
	return "", llm.ErrCut
}

// transcript writes a history as text.
func transcript(history []frames.Message) string {
	var b strings.Builder
	for i := range history {
		m := &history[i]
		switch m.Role {
		case frames.RoleUser:
			line(&b, "User", m.Text)
		case frames.RoleAssistant:
			line(&b, "Assistant", m.Text)
		case frames.RoleTool:
			line(&b, "Result of "+m.Name, m.Text)
		default:
			line(&b, "Note", m.Text)
		}
	}
	return b.String()
}

func line(b *strings.Builder, who, what string) {
	if what != "" {
		fmt.Fprintf(b, "%s: %s\n", who, what)
	}
}
