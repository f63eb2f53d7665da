package llm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// maxCalls bounds the calls of one response; one with more has failed.
const maxCalls = 256

// maxText bounds the text of one response, in bytes; one that goes on has failed.
const maxText = 1 << 20

var (
	errInterrupted = errors.New("llm: the user interrupted the response")
	errEnded       = errors.New("llm: the session has ended")
	errDiscarded   = errors.New("llm: the response was discarded")
	errFirst       = errors.New("llm: the model gave nothing in time")
	errBetween     = errors.New("llm: the model stopped in the middle of the response")
	errTooMany     = fmt.Errorf("llm: the response calls more than %d functions", maxCalls)
	errTooLong     = fmt.Errorf("llm: the response is longer than %d bytes", maxText)
	errUnusable    = errors.New("llm: the model is left alone after repeated failures")
	errTotal       = errors.New("llm: the response took too long")
)

// generation is one response being made, on the loop.
type generation struct {
	response uint64
	model    Model
	fallback bool
	attempt  int // counts every attempt; pieces of older ones are ignored
	tries    int // attempts with this model
	cancel   context.CancelCauseFunc
	asked    frames.Snapshot // the conversation it answers
	begun    time.Time
	text     strings.Builder
	calls    []frames.ToolCall
	first    bool // something has come
	skip     bool
	tried    time.Time     // when the attempt began
	waited   time.Duration // what interrupted attempts before it had waited for nothing
}

// stall is what a generation that was interrupted had waited for without a word.
// The one after it goes on waiting: a user who asks whether anybody is there must
// not put off the end of the wait for ever.
type stall struct {
	waited   time.Duration
	tries    int
	fallback bool
}

// stall is what an interruption now would leave behind.
func (g *generation) stall() stall {
	if g.first || g.tried.IsZero() {
		return stall{}
	}
	return stall{waited: g.waited + time.Since(g.tried), tries: g.tries - 1, fallback: g.fallback}
}

// piece brings one chunk of an attempt to the loop. The text frame inside is the
// one that travels on, so that a token costs one allocation.
type piece struct {
	frames.LLMTextFrame
	gen     *generation
	attempt int
	chunk   Chunk
	err     error
}

// generate starts the one generation that answers all requests up to now.
func (s *Service) generate() {
	s.want, s.owed = false, false
	if s.rounds >= s.cfg.MaxRounds {
		s.trouble(frames.ErrorInternal, "The conversation went in circles and was stopped.",
			fmt.Errorf("llm: %d generations in a row that nobody asked for", s.rounds))
		return
	}
	s.rounds++
	s.responses++
	g := &generation{response: s.responses, model: s.cfg.Model, begun: time.Now(), skip: s.skipSpeech}
	s.Push(&frames.LLMResponseStartFrame{Response: g.response, SkipSpeech: g.skip, UserText: s.userText()}, pipeline.Downstream)
	s.gen = g
	g.waited, g.tries = s.stalled.waited, s.stalled.tries
	switch {
	case s.stalled.fallback:
		g.model, g.fallback = s.cfg.Fallback, true
		s.try(g)
	case time.Now().After(s.usableAt):
		s.try(g)
	case s.cfg.Fallback != nil:
		s.useFallback(g)
	default:
		s.giveUp(g, errUnusable)
	}
}

// userText is what the user said last that nothing has answered.
func (s *Service) userText() string {
	entries := s.cfg.Context.Snapshot().Entries
	n := len(entries)
	for n > 0 && entries[n-1].Message().Role == frames.RoleUser {
		n--
	}
	var said []string
	for _, e := range entries[n:] {
		said = append(said, e.Message().Text)
	}
	return strings.Join(said, " ")
}

// useFallback goes on with the fallback model.
func (s *Service) useFallback(g *generation) {
	g.model, g.fallback, g.tries, g.waited = s.cfg.Fallback, true, 0, 0
	s.try(g)
}

// modelFailed counts the failures of Model; too many in a row make it unusable for
// a while.
func (s *Service) modelFailed() {
	s.failures++
	if s.cfg.GiveUpAfter > 0 && s.failures >= s.cfg.GiveUpAfter {
		s.failures = 0
		s.usableAt = time.Now().Add(s.cfg.Cooldown)
		s.trouble(frames.ErrorServer, "The language model is out of order for now.", fmt.Errorf(
			"llm: %s failed %d times in a row and is left alone for %s", modelName(s.cfg.Model), s.cfg.GiveUpAfter, s.cfg.Cooldown))
	}
}

// try makes one attempt.
func (s *Service) try(g *generation) {
	g.attempt++
	g.tries++
	g.first = false
	g.calls = nil
	req := &Request{
		Context: s.cfg.Context.Snapshot(), SessionID: s.SessionID(),
		Temperature: s.cfg.Temperature, MaxTokens: s.cfg.MaxTokens,
	}
	g.asked = req.Context
	ctx, cancel := context.WithCancelCause(s.Base.Context(pipeline.TurnScope))
	g.cancel = cancel
	a := attempt{gen: g, number: g.attempt, model: g.model, req: req, deadlines: s.cfg.Deadlines, cancel: cancel}
	a.deadlines.First = max(a.deadlines.First-g.waited, time.Millisecond)
	g.tried = time.Now()
	s.Go(pipeline.TurnScope, func(j *pipeline.Job) { a.run(ctx, j) })
}

// attempt is what a generation's goroutine works with.
type attempt struct {
	gen       *generation
	number    int
	model     Model
	req       *Request
	deadlines Deadlines
	cancel    context.CancelCauseFunc
}

// run streams the response. Deadlines count only the time spent waiting for the
// model, not for a slow listener.
func (a *attempt) run(ctx context.Context, j *pipeline.Job) {
	defer a.cancel(nil)
	if ctx.Err() != nil {
		return // over before it began
	}
	late := errFirst
	expire := func(cause error) {
		a.cancel(cause)
		// The model may not notice; the session must.
		_ = j.Post(a.piece(Chunk{}, cause))
	}
	wait := time.AfterFunc(a.deadlines.First, func() { expire(errFirst) })
	defer func() { wait.Stop() }()
	total := time.AfterFunc(a.deadlines.Total, func() { expire(errTotal) })
	defer total.Stop()
	finished := false
	for chunk, err := range a.model.Stream(ctx, a.req) {
		wait.Stop()
		if err != nil {
			_ = j.Post(a.piece(Chunk{}, a.explain(ctx, err)))
			return
		}
		if j.Post(a.piece(chunk, nil)) != nil {
			return
		}
		if chunk.Finish != "" {
			finished = true
		}
		if late == errFirst {
			late = errBetween
			wait = time.AfterFunc(a.deadlines.Between, func() { expire(errBetween) })
		} else {
			wait.Reset(a.deadlines.Between)
		}
	}
	wait.Stop()
	if !finished {
		_ = j.Post(a.piece(Chunk{}, a.explain(ctx, ErrCut)))
	}
}

// explain prefers the reason why the attempt was cancelled.
func (a *attempt) explain(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

func (a *attempt) piece(c Chunk, err error) *piece {
	p := &piece{gen: a.gen, attempt: a.number, chunk: c, err: err}
	p.Text, p.Response = c.Text, a.gen.response
	return p
}

// Receive takes what the service's jobs post.
func (s *Service) Receive(f frames.Frame) {
	switch f := f.(type) {
	case *piece:
		if f.gen == s.gen && f.attempt == s.gen.attempt {
			s.receivePiece(s.gen, f)
		}
	case *outcome:
		s.settle(f.call, f.status, f.result)
	case *doneFrame:
		f.done()
	}
}

func (s *Service) receivePiece(g *generation, p *piece) {
	if p.err != nil {
		s.attemptFailed(g, p.err)
		return
	}
	c := &p.chunk
	if !g.first && (c.Text != "" || c.Call != nil || c.Finish != "") {
		g.first, g.waited, s.stalled = true, 0, stall{}
		s.Push(&frames.MetricsFrame{Processor: s.Name(), Model: modelName(g.model), TTFB: time.Since(g.begun)}, pipeline.Downstream)
	}
	if c.Call != nil {
		if len(g.calls) == maxCalls {
			s.attemptFailed(g, errTooMany)
			return
		}
		g.calls = append(g.calls, *c.Call)
	}
	if c.Usage != nil {
		s.Push(&frames.MetricsFrame{Processor: s.Name(), Model: modelName(g.model), Usage: c.Usage}, pipeline.Downstream)
	}
	if c.Text != "" {
		if g.text.Len()+len(c.Text) > maxText {
			s.attemptFailed(g, errTooLong)
			return
		}
		g.text.WriteString(c.Text)
		s.Push(&p.LLMTextFrame, pipeline.Downstream)
	}
	if c.Finish != "" {
		s.complete(g, c.Finish)
	}
}

// complete enters the response in the conversation and starts its calls.
func (s *Service) complete(g *generation, finish string) {
	s.gen = nil
	if !g.fallback {
		s.failures = 0
	}
	s.Push(&frames.MetricsFrame{Processor: s.Name(), Model: modelName(g.model), Processing: time.Since(g.begun)}, pipeline.Downstream)
	if g.text.Len() == 0 && len(g.calls) == 0 {
		s.trouble(frames.ErrorContent, "The model gave an empty answer.",
			fmt.Errorf("llm: response %d is empty (%s)", g.response, finish))
	}
	if len(g.calls) > 0 {
		s.enterCalls(g)
	} else {
		s.enter(g)
	}
	s.Push(&frames.LLMResponseEndFrame{Response: g.response, Finish: finish}, pipeline.Downstream)
	if s.batch != nil {
		s.startCalls()
	}
	if s.batch == nil {
		s.turnEnded(g)
	}
	s.flushLater()
	s.Dirty()
}

// enter puts the text of a response without calls in the conversation.
func (s *Service) enter(g *generation) {
	if g.text.Len() > 0 {
		s.cfg.Context.InsertProvisional(g.asked, g.response, frames.Message{Role: frames.RoleAssistant, Text: g.text.String()})
	}
}

// discard ends the generation under way without an interruption. What was passed
// on already will be heard, so it stays in the conversation; the rest is gone.
func (s *Service) discard(finish string) {
	g := s.gen
	s.gen = nil
	if g.cancel != nil {
		g.cancel(errDiscarded)
	}
	s.enter(g)
	s.Push(&frames.LLMResponseEndFrame{Response: g.response, Finish: finish}, pipeline.Downstream)
	s.flushLater()
}
