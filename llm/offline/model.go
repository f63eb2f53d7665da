// Package offline is a language model that needs nothing: no network, no key, no
// weights. It follows a conversation by rules: from the functions on offer, with
// their names, descriptions, JSON Schemas and examples, it tells what the user's
// words call for and fills in the arguments; from the instructions of a node it
// makes what is said.
//
// It is a stand-in for trying flows out and for tests. It is deterministic, it
// speaks English, and it says what it is when it is asked.
package offline

import (
	"context"
	"fmt"
	"hash/fnv"
	"iter"
	"strings"
	"time"
	"weak"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/llm/offline/internal/speech"
)

// Name is what the model calls itself.
const Name = "turnwise-offline"

// Config configures a [Model]. The zero value is ready to use.
type Config struct {
	// Now tells the time that "tomorrow" is counted from; nil is [time.Now]. It
	// is called from many goroutines.
	Now func() time.Time
	// WordDelay is the pause before each word of a reply, to look like a model
	// at work. 0, the default, is none.
	WordDelay time.Duration
}

// Model is the offline model. It is safe for concurrent use.
type Model struct {
	now       func() time.Time
	wordDelay time.Duration
	// toolsets finds the analysis of a toolset that was seen before, without
	// keeping the toolset alive; contents finds it for one that says the same,
	// such as another session's at the same node.
	toolsets *cache[weak.Pointer[frames.Toolset], *toolset]
	contents *cache[fingerprint, *toolset]
	scripts  *cache[scriptKey, *speech.Script]
}

// scriptKey names instructions that were read with a toolset in force.
type scriptKey struct {
	text string
	set  *toolset
}

// How many toolsets and texts a model remembers.
const (
	maxToolsets = 4096
	maxContents = 128
	maxScripts  = 256
)

var _ interface {
	llm.Model
	llm.Named
} = (*Model)(nil)

// New makes a model.
func New(cfg Config) *Model {
	m := &Model{
		now:       cfg.Now,
		wordDelay: cfg.WordDelay,
		toolsets:  newCache[weak.Pointer[frames.Toolset], *toolset](maxToolsets),
		contents:  newCache[fingerprint, *toolset](maxContents),
		scripts:   newCache[scriptKey, *speech.Script](maxScripts),
	}
	if m.now == nil {
		m.now = time.Now
	}
	return m
}

// ModelName is [Name].
func (m *Model) ModelName() string { return Name }

// Explain says what the model does with a request and why. It is what Stream
// would do at the same time of the clock.
func (m *Model) Explain(req *llm.Request) Decision {
	d := m.decide(req, true)
	nameCalls(req, d.Calls)
	return d
}

// Stream responds to a request: with words, one chunk each, or with function
// calls. Only its context's end makes it fail.
func (m *Model) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		d := m.decide(req, false)
		nameCalls(req, d.Calls)
		text, cut := bounded(d.Text, req.MaxTokens)
		finish := llm.FinishStop
		if cut {
			finish = llm.FinishLength
		}
		for len(text) > 0 {
			if err := m.pause(ctx); err != nil {
				yield(llm.Chunk{}, err)
				return
			}
			n := nextWord(text)
			if !yield(llm.Chunk{Text: text[:n]}, nil) {
				return
			}
			text = text[n:]
		}
		for i := range d.Calls {
			finish = llm.FinishCalls
			if !yield(llm.Chunk{Call: &d.Calls[i]}, nil) {
				return
			}
		}
		yield(llm.Chunk{Usage: usage(req, &d), Finish: finish}, nil)
	}
}

// pause waits for the next word.
func (m *Model) pause(ctx context.Context) error {
	if m.wordDelay > 0 {
		timer := time.NewTimer(m.wordDelay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	if ctx.Err() == nil {
		return nil
	}
	return &llm.Error{Category: frames.ErrorTimeout, Provider: "offline", Err: context.Cause(ctx)}
}

// nextWord is the length of the first word with the spaces behind it.
func nextWord(text string) int {
	space := strings.IndexByte(text, ' ')
	if space < 0 {
		return len(text)
	}
	end := space
	for end < len(text) && text[end] == ' ' {
		end++
	}
	return end
}

// bounded cuts text to a number of tokens, 0 for all of it.
func bounded(text string, tokens int) (string, bool) {
	if tokens <= 0 || estimate(text) <= tokens {
		return text, false
	}
	return strings.ToValidUTF8(text[:min(len(text), tokens*bytesPerToken)], ""), true
}

const bytesPerToken = 4

// estimate is about how many tokens a provider would count.
func estimate(text string) int { return (len(text) + bytesPerToken - 1) / bytesPerToken }

func usage(req *llm.Request, d *Decision) *frames.TokenUsage {
	u := &frames.TokenUsage{Completion: estimate(d.Text)}
	if s := req.Context.System; s != nil {
		u.Prompt += estimate(s.Message().Text)
	}
	for _, e := range req.Context.Entries {
		msg := e.Message()
		u.Prompt += estimate(msg.Text)
		for i := range msg.ToolCalls {
			u.Prompt += estimate(msg.ToolCalls[i].Name) + len(msg.ToolCalls[i].Args)/bytesPerToken
		}
	}
	for i := range d.Calls {
		u.Completion += estimate(d.Calls[i].Name) + len(d.Calls[i].Args)/bytesPerToken
	}
	u.Total = u.Prompt + u.Completion
	return u
}

// nameCalls gives calls their ids: the same for the same request, and different
// along a conversation.
func nameCalls(req *llm.Request, calls []frames.ToolCall) {
	if len(calls) == 0 {
		return
	}
	h := fnv.New64a()
	n := len(req.Context.Entries)
	fmt.Fprint(h, req.SessionID, "/", req.Context.Version, "/", n)
	if n > 0 {
		last := req.Context.Entries[n-1]
		fmt.Fprint(h, "/", last.ID(), "/", last.Message().Text)
	}
	for i := range calls {
		calls[i].ID = fmt.Sprintf("call_%016x_%d", h.Sum64(), i)
	}
}

func (m *Model) toolset(set *frames.Toolset) *toolset {
	return m.toolsets.get(weak.Make(set), func() *toolset {
		return m.contents.get(fingerprintOf(set), func() *toolset { return analyse(set) })
	})
}

// maxRemembered bounds the texts whose scripts are remembered, in bytes.
const maxRemembered = 16 << 10

func (m *Model) script(text string, set *toolset) *speech.Script {
	if len(text) > maxRemembered {
		return speech.NewScript(text, set.names)
	}
	return m.scripts.get(scriptKey{text, set}, func() *speech.Script { return speech.NewScript(text, set.names) })
}
