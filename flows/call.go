package flows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
)

// errNoWay is what the model is told when a handler led to an invalid node.
var errNoWay = errors.New("this step is not possible; stay with the present task")

// reply is what a handler said about the way on.
type reply struct {
	from   *NodeConfig
	next   *prepared
	silent bool
}

// replies holds what handlers returned until their batch settles.
type replies struct {
	// settled is the last response whose batch has settled; what is later than
	// that comes too late.
	settled uint64
	batches map[uint64]map[string]reply
	async   map[string]reply
}

// bind makes the handler of a function that is offered at a node.
func (fm *FlowManager) bind(node *NodeConfig, f NodeFunction) llm.ToolHandler {
	return func(ctx context.Context, args json.RawMessage) (string, error) {
		call, _ := llm.CallFrom(ctx)
		e := Event{Kind: EventFunctionCalled, Node: node.name(), Function: f.Name}
		if call != nil {
			e.CallID = call.ID
		}
		fm.emit(e)
		text, next, err := f.Handler(ctx, args, fm)
		if err != nil {
			return "", err
		}
		r := reply{from: node, silent: f.Respond == RespondNever || next == NoResponse}
		if next != nil && next != NoResponse {
			if r.next, err = fm.prepare(next); err != nil {
				fm.emit(Event{Kind: EventTransitionFailed, Node: node.name(), Function: f.Name, Err: err})
				return "", errNoWay
			}
			r.next.function = f.Name
		}
		if ctx.Err() == nil { // else it comes too late
			fm.returned(call, f.Async, r)
		}
		return text, nil
	}
}

// returned keeps what a handler said until its call has settled.
func (fm *FlowManager) returned(call *llm.Call, async bool, r reply) {
	if call == nil {
		// Nobody will tell when it has settled, so it is done now.
		if r.next != nil {
			fm.steer.Do(func() { fm.request(r.next) })
		}
		return
	}
	fm.mu.Lock()
	defer fm.mu.Unlock()
	if async {
		if fm.replies.async == nil {
			fm.replies.async = map[string]reply{}
		}
		fm.replies.async[call.ID] = r
		return
	}
	if call.Response <= fm.replies.settled {
		return
	}
	if fm.replies.batches == nil {
		fm.replies.batches = map[uint64]map[string]reply{}
	}
	of := fm.replies.batches[call.Response]
	if of == nil {
		of = map[string]reply{}
		fm.replies.batches[call.Response] = of
	}
	of[call.ID] = r
}

// takeReplies is what the handlers of a response said.
func (fm *FlowManager) takeReplies(response uint64) map[string]reply {
	fm.mu.Lock()
	defer fm.mu.Unlock()
	of := fm.replies.batches[response]
	fm.replies.settled = response
	// One batch is open at a time, so what is left is older.
	clear(fm.replies.batches)
	return of
}

func (fm *FlowManager) takeAsyncReply(id string) reply {
	fm.mu.Lock()
	defer fm.mu.Unlock()
	r := fm.replies.async[id]
	delete(fm.replies.async, id)
	return r
}

// register gives the functions of a node to a plain LLM, each name once. What is
// called is looked up when it is.
func (fm *FlowManager) register(p *prepared) {
	if fm.plain == nil {
		return
	}
	for _, t := range p.tools.Tools() {
		fm.mu.Lock()
		known := fm.names[t.Name]
		fm.names[t.Name] = true
		fm.mu.Unlock()
		if !known {
			fm.cfg.LLM.RegisterFunction(t.Name, fm.plainHandler(t.Name))
		}
	}
}

// plainHandler runs a function by name, as it is offered now.
func (fm *FlowManager) plainHandler(name string) llm.ToolHandler {
	return func(ctx context.Context, args json.RawMessage) (string, error) {
		offered := fm.cfg.Context.Tools()
		t, ok := offered.Lookup(name)
		fn, bound := t.Binding.(*llm.Function)
		if !ok || !bound {
			return "", fmt.Errorf("there is no function %q now; on offer are: %v", name, offered.Names())
		}
		if len(args) == 0 {
			args = json.RawMessage("{}")
		}
		// A call of the LLM's own tells this package nothing.
		ctx = llm.WithCall(ctx, nil)
		text, err := fm.bounded(ctx, fn, args)
		status := frames.FunctionOK
		if err != nil {
			status = frames.FunctionError
		}
		fm.emit(Event{Kind: EventFunctionSettled, Node: fm.CurrentNode(), Function: name, Status: status, Detail: text, Err: err})
		return text, err
	}
}

// bounded runs a function within its time, even if it ignores its context.
func (fm *FlowManager) bounded(ctx context.Context, fn *llm.Function, args json.RawMessage) (string, error) {
	if fn.Timeout <= 0 {
		return fn.Handler(ctx, args)
	}
	ctx, cancel := context.WithTimeout(ctx, fn.Timeout)
	defer cancel()
	type end struct {
		text string
		err  error
	}
	ended := make(chan end, 1)
	go func() {
		text, err := fn.Handler(ctx, args)
		ended <- end{text, err}
	}()
	select {
	case e := <-ended:
		return e.text, e.err
	case <-ctx.Done():
		return "", fmt.Errorf("the function did not finish within %s", fn.Timeout)
	}
}
