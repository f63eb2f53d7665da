package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
)

const (
	// usageWait is how long the token count may take after the finish reason.
	usageWait = 2 * time.Second
	// endWait is how long the end of the stream may take after the last event.
	endWait = 50 * time.Millisecond
	// aliveEvery is the time between two signs of life.
	aliveEvery = 500 * time.Millisecond
)

// rawStream is the part of go-openai's stream that is used.
type rawStream interface{ RecvRaw() ([]byte, error) }

// response reads one response.
type response struct {
	outer   context.Context // the caller's
	cancel  context.CancelFunc
	history []*frames.Entry
	yield   func(llm.Chunk, error) bool

	calls   calls
	usage   *frames.TokenUsage
	finish  string // as the server wrote it, "" before
	heard   bool   // some choice was seen
	stopped bool   // the reader wants no more
	alive   time.Time
	closing *time.Timer // ends the wait for what follows the finish reason
}

// serverFailure is an error object inside a stream.
type serverFailure struct{ object json.RawMessage }

func (e *serverFailure) Error() string { return "the server reported an error in the stream" }

// run reads until the response is complete and has been passed on. An error means
// that it is not; nil also that the reader wants no more.
func (r *response) run(stream rawStream, events *eventStream) error {
	err := r.read(stream)
	if r.closing != nil {
		defer r.closing.Stop()
	}
	switch {
	case r.stopped:
		return nil
	case r.outer.Err() != nil:
		return r.outer.Err()
	case r.finish == "" && err == io.EOF:
		if err := r.unfinished(events.done); err != nil {
			return err
		}
	case r.finish == "":
		return err
	}
	if err == io.EOF {
		r.endWithin(endWait)
		events.drain() // before the reader is told, who may send the next request at once
	}
	return r.complete()
}

// read takes events until the stream ends, which is [io.EOF], or fails.
func (r *response) read(stream rawStream) error {
	for {
		raw, err := stream.RecvRaw()
		if err != nil {
			return err
		}
		e, err := decode(raw)
		if err == nil {
			err = r.take(e)
		}
		if err != nil || r.stopped {
			return err
		}
	}
}

// take handles one event.
func (r *response) take(e *event) error {
	if object := e.failure(); object != nil {
		return &serverFailure{object}
	}
	counted := e.Usage.count()
	if counted != nil {
		r.usage = counted
	}
	if c := e.first(); c != nil {
		r.heard = true
		if err := r.takeChoice(c); err != nil {
			return err
		}
	}
	if r.finish != "" && counted != nil {
		r.endWithin(endWait)
	}
	return nil
}

func (r *response) takeChoice(c *choice) error {
	for i := range c.Delta.ToolCalls {
		if err := r.calls.add(&c.Delta.ToolCalls[i]); err != nil {
			return err
		}
	}
	if text := c.Delta.text(); text != "" {
		r.pass(llm.Chunk{Text: text})
	} else if c.Delta.busy() {
		r.signOfLife()
	}
	if c.FinishReason == "error" {
		return fmt.Errorf("%w: the server gave up and did not say why", llm.ErrCut)
	}
	if c.FinishReason != "" && r.finish == "" {
		r.finish = c.FinishReason
		r.endWithin(usageWait)
	}
	return nil
}

// signOfLife passes on an empty chunk, unless one was not long ago.
func (r *response) signOfLife() {
	if now := time.Now(); now.Sub(r.alive) >= aliveEvery {
		r.alive = now
		r.pass(llm.Chunk{})
	}
}

func (r *response) pass(c llm.Chunk) {
	if !r.stopped && !r.yield(c, nil) {
		r.stopped = true
	}
}

// endWithin ends the request when it has not ended by itself after d.
func (r *response) endWithin(d time.Duration) {
	if r.closing == nil {
		r.closing = time.AfterFunc(d, r.cancel)
	} else {
		r.closing.Reset(d)
	}
}

// unfinished decides about a stream that ended without a finish reason. Some
// servers give none but say that they are done; that is enough for text, not for
// calls, which would act.
func (r *response) unfinished(done bool) error {
	if !done || !r.heard || len(r.calls.list) > 0 {
		return llm.ErrCut
	}
	r.finish = llm.FinishStop
	return nil
}

// complete passes on what is known only at the end.
func (r *response) complete() error {
	finish := r.reason()
	var made []frames.ToolCall
	if finish != llm.FinishContent {
		var err error
		if made, err = r.calls.finish(r.history); err != nil {
			return err
		}
	}
	if torn := r.calls.torn(); finish == llm.FinishLength && torn != "" {
		return &tooShort{function: torn}
	}
	for i := range made {
		r.pass(llm.Chunk{Call: &made[i]})
	}
	if r.usage != nil {
		r.pass(llm.Chunk{Usage: r.usage})
	}
	r.pass(llm.Chunk{Finish: finish})
	return nil
}

// reason is the finish reason in the words of package llm.
func (r *response) reason() string {
	switch r.finish {
	case "length", "max_tokens":
		return llm.FinishLength
	case llm.FinishContent:
		return llm.FinishContent
	}
	if len(r.calls.list) > 0 {
		return llm.FinishCalls // some servers say "stop" here
	}
	return llm.FinishStop
}

// tooShort tells that the token limit was reached while a call was written.
type tooShort struct{ function string }

func (e *tooShort) Error() string {
	return fmt.Sprintf("the token limit was reached inside the arguments of %q; raise MaxTokens", e.function)
}
