package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

const defaultFillerAfter = 800 * time.Millisecond

// batch is the calls of one response, on the loop.
type batch struct {
	response uint64
	calls    []*call
	open     int // calls that have not settled
}

// call is one function call, on the loop.
type call struct {
	Call
	fn      Function
	tool    frames.Tool
	entry   frames.EntryID // the tool message that holds its result
	batch   *batch         // nil when it is presented asynchronously
	same    string         // what duplicates have in common
	twins   []*call        // duplicates that share its result
	settled bool
	cancel  context.CancelCauseFunc
	timer   *pipeline.Timer
	filler  *pipeline.Timer

	status frames.FunctionStatus
	result string
}

// outcome brings the end of a handler to the loop.
type outcome struct {
	frames.UninterruptibleFrame
	call   *call
	status frames.FunctionStatus
	result string
}

// enterCalls enters a response with its calls and a placeholder for each result.
func (s *Service) enterCalls(g *generation) {
	b := &batch{response: g.response, open: len(g.calls)}
	messages := make([]frames.Message, 1, 1+len(g.calls))
	ids := make(map[string]bool, len(g.calls))
	for i := range g.calls {
		c := &g.calls[i]
		if c.ID == "" || ids[c.ID] {
			c.ID = fmt.Sprintf("call_%d_%d", g.response, i)
		}
		ids[c.ID] = true
		messages = append(messages, frames.Message{
			Role: frames.RoleTool, ToolCallID: c.ID, Name: c.Name, Text: pendingText, Pending: true,
		})
		b.calls = append(b.calls, s.newCall(g, b, i))
	}
	messages[0] = frames.Message{Role: frames.RoleAssistant, Text: g.text.String(), ToolCalls: g.calls}
	first := s.cfg.Context.InsertProvisional(g.asked, g.response, messages...)
	for i, c := range b.calls {
		c.entry = first + 1 + frames.EntryID(i)
	}
	s.batch = b
}

// startCalls runs the calls of the batch.
func (s *Service) startCalls() {
	calls := make([]frames.ToolCall, len(s.batch.calls))
	for i, c := range s.batch.calls {
		calls[i] = c.ToolCall
	}
	s.Push(&frames.FunctionCallsStartedFrame{Calls: calls}, pipeline.Downstream)
	for _, c := range s.batch.calls {
		s.startCall(c)
	}
}

func (s *Service) newCall(g *generation, b *batch, i int) *call {
	return &call{batch: b, Call: Call{
		ToolCall: g.calls[i], Index: i, Response: g.response, Tools: g.asked.Tools,
		IdempotencyKey: fmt.Sprintf("%s/%d/%d", s.SessionID(), g.response, i),
	}}
}

// startCall resolves a call against the tools that were sent and runs it, or
// settles it at once.
func (s *Service) startCall(c *call) {
	if s.end != nil {
		s.settle(c, frames.FunctionCancelled, cancelledText("the session is ending"))
		return
	}
	tool, offered := c.Tools.Lookup(c.Name)
	if !offered {
		s.settle(c, frames.FunctionError, unknownText(c.Name, c.Tools.Names()))
		return
	}
	fn, ok := s.resolve(tool)
	if !ok {
		s.settle(c, frames.FunctionError, errorText("the function "+c.Name+" cannot be run here"))
		s.Logger().Error("no handler for a tool on offer", "function", c.Name)
		return
	}
	c.tool, c.fn = tool, fn
	c.same = c.Name + "\x00" + compact(c.Args)
	if fn.Duplicates != DuplicateRun {
		if twin := s.findTwin(c); twin != nil {
			s.joinTwin(c, twin)
			return
		}
	}
	if fn.Async {
		s.presentAsync(c)
	}
	s.launch(c)
}

func (s *Service) resolve(tool frames.Tool) (Function, bool) {
	fn, ok := s.functions[tool.Name]
	switch bound := tool.Binding.(type) {
	case *Function:
		fn, ok = *bound, true
	case Function:
		fn, ok = bound, true
	}
	return fn, ok && (fn.Handler != nil || fn.Remote)
}

// findTwin looks for a call under way of the same function with the same
// arguments.
func (s *Service) findTwin(c *call) *call {
	for _, other := range s.batch.calls {
		if other == c {
			break
		}
		if !other.settled && other.same == c.same {
			return other
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.async)) {
		if other := s.async[id]; other.same == c.same {
			return other
		}
	}
	return nil
}

func (s *Service) joinTwin(c, twin *call) {
	switch {
	case c.fn.Duplicates == DuplicateReject:
		s.settle(c, frames.FunctionError, errorText("the same call is still running"))
	case twin.batch == nil:
		s.settle(c, frames.FunctionOK, runningText(c.Name))
	default:
		twin.twins = append(twin.twins, c)
	}
}

// presentAsync tells the model that the call is running and takes it out of its
// batch.
func (s *Service) presentAsync(c *call) {
	s.cfg.Context.Replace(c.entry, frames.Message{
		Role: frames.RoleTool, ToolCallID: c.ID, Name: c.Name, Text: runningText(c.Name),
	})
	c.batch.open--
	c.batch = nil
	s.async[c.ID] = c
	s.Dirty()
}

// launch runs the handler on a goroutine of its own.
func (s *Service) launch(c *call) {
	s.Push(&frames.FunctionCallInProgressFrame{Call: c.ToolCall}, pipeline.Downstream)
	timeout := c.fn.Timeout
	if timeout == 0 {
		timeout = s.cfg.FunctionTimeout
	}
	ctx, cancel := context.WithCancelCause(s.Base.Context(pipeline.SessionScope))
	ctx = context.WithValue(ctx, logKey{}, s.Logger())
	c.cancel = cancel
	if timeout > 0 {
		c.timer = s.After(pipeline.SessionScope, timeout, func() {
			c.cancel(context.DeadlineExceeded)
			s.settle(c, frames.FunctionTimeout, timeoutText(c.Name, timeout))
		})
	}
	s.armFiller(c)
	validate := s.schemas.validator(c.Tools, c.tool)
	if c.fn.Remote {
		s.Go(pipeline.SessionScope, func(j *pipeline.Job) {
			if _, err := arguments(c.Args, validate); err != nil {
				_ = j.Post(&outcome{call: c, status: frames.FunctionError, result: errorText(err.Error())})
			}
		})
		return
	}
	h, shared := c.fn.Handler, c.Call
	s.Go(pipeline.SessionScope, func(j *pipeline.Job) {
		status, result := runHandler(WithCall(ctx, &shared), h, validate)
		if status == frames.FunctionError && errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			status, result = frames.FunctionTimeout, timeoutText(shared.Name, timeout)
		}
		_ = j.Post(&outcome{call: c, status: status, result: result})
	})
}

// runHandler checks the arguments and runs the handler; a panic is an error.
func runHandler(ctx context.Context, h ToolHandler, validate validator) (status frames.FunctionStatus, result string) {
	defer func() {
		if r := recover(); r != nil {
			c, _ := CallFrom(ctx)
			status = frames.FunctionError
			result = errorText("the function failed")
			reportPanic(ctx, c.Name, r, debug.Stack())
		}
	}()
	c, _ := CallFrom(ctx)
	args, err := arguments(c.Args, validate)
	if err != nil {
		return frames.FunctionError, errorText(err.Error())
	}
	text, err := h(ctx, args)
	if err != nil {
		return frames.FunctionError, errorText(err.Error())
	}
	return frames.FunctionOK, text
}

// armFiller speaks when the call takes long, unless the user is speaking.
func (s *Service) armFiller(c *call) {
	if c.fn.Filler == "" {
		return
	}
	after := c.fn.FillerAfter
	if after == 0 {
		after = defaultFillerAfter
	}
	c.filler = s.After(pipeline.SessionScope, after, func() {
		if !s.userSpeaking && s.end == nil {
			s.send(&frames.SpeakFrame{Text: c.fn.Filler})
		}
	})
}

// settle ends a call; the first end counts, whatever comes later is refused.
func (s *Service) settle(c *call, status frames.FunctionStatus, result string) {
	if c.settled {
		return
	}
	c.settled, c.status, c.result = true, status, result
	c.timer.Stop()
	c.filler.Stop()
	if c.cancel != nil {
		c.cancel(errCallSettled)
	}
	if c.batch != nil {
		s.cfg.Context.Replace(c.entry, frames.Message{
			Role: frames.RoleTool, ToolCallID: c.ID, Name: c.Name, Text: result,
		})
		c.batch.open--
	} else {
		delete(s.async, c.ID)
		s.tellAsync(c)
	}
	s.Push(&frames.FunctionCallResultFrame{Call: c.ToolCall, Status: status, Result: result}, pipeline.Downstream)
	for _, twin := range c.twins {
		s.settle(twin, status, result)
	}
	s.Dirty()
}

// tellAsync brings the result of an asynchronous call into the conversation.
func (s *Service) tellAsync(c *call) {
	s.cfg.Context.Append(frames.Message{Role: frames.RoleDeveloper, Text: asyncText(c.Name, c.ID, c.status, c.result)})
	d := Decision{}
	if w, ok := s.director.(AsyncWatcher); ok {
		d = w.AsyncSettled(Settled{Call: &c.Call, Status: c.status, Result: c.result})
	}
	if c.status != frames.FunctionCancelled && s.end == nil && !s.stopped {
		s.want = s.want || !d.Silent
	}
}

// settleRemote takes a result from where the function really runs.
func (s *Service) settleRemote(f *frames.FunctionResultFrame) {
	c := s.async[f.CallID]
	if c == nil && s.batch != nil {
		for _, other := range s.batch.calls {
			if other.ID == f.CallID {
				c = other
			}
		}
	}
	if c == nil || c.settled || !c.fn.Remote {
		s.Logger().Warn("a function result nobody waits for", "function", f.Name, "call", f.CallID)
		return
	}
	if f.Err != "" {
		s.settle(c, frames.FunctionError, errorText(f.Err))
		return
	}
	s.settle(c, frames.FunctionOK, string(f.Result))
}

// cancelInterrupted cancels the calls that do not survive an interruption.
func (s *Service) cancelInterrupted() {
	s.eachOpen(func(c *call) {
		if c.fn.CancelOnInterruption {
			s.settle(c, frames.FunctionCancelled, cancelledText("the user interrupted"))
		}
	})
}

// cancelCalls cancels every call under way.
func (s *Service) cancelCalls(why string) {
	s.eachOpen(func(c *call) { s.settle(c, frames.FunctionCancelled, cancelledText(why)) })
}

func (s *Service) eachOpen(fn func(*call)) {
	if s.batch != nil {
		for _, c := range s.batch.calls {
			if !c.settled && c.batch != nil {
				fn(c)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.async)) {
		fn(s.async[id])
	}
}

// finishBatch makes the one decision that follows a batch.
func (s *Service) finishBatch() {
	b := s.batch
	s.batch = nil
	public := &Batch{Response: b.response}
	cancelled := 0
	for _, c := range b.calls {
		if c.batch == nil {
			continue
		}
		public.Calls = append(public.Calls, Settled{Call: &c.Call, Status: c.status, Result: c.result})
		if c.status == frames.FunctionCancelled {
			cancelled++
		}
	}
	var d Decision
	if s.director != nil && len(public.Calls) > 0 {
		d = s.director.BatchSettled(public)
	}
	switch {
	case d.Silent, s.end != nil, s.stopped:
	case len(public.Calls) > 0 && cancelled == len(public.Calls):
		// The user interrupted all of it: their turn brings the next generation,
		// or its end does.
		s.owed = true
	default:
		s.want = true
	}
}

// compact is a call's arguments without insignificant space.
func compact(args json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, args) != nil {
		return string(args)
	}
	return b.String()
}
