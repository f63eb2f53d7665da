package run

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/turnwise/turnwise/flows/expr"
)

// ToolCaller calls tools.
type ToolCaller interface {
	// CallTool calls one. The value it gives is made plain (see expr.Plain). An error that
	// is a *Failure says of which class it is; one that is a *Question asks for something;
	// a deadline is class timeout, any other error class tool. Cancelling ctx must end it.
	CallTool(ctx context.Context, c ToolCall) (any, error)
}

// ModelCaller asks a model, for agent nodes.
type ModelCaller interface {
	// AskModel gives the model's answer, a plain value. Errors are as for CallTool.
	AskModel(ctx context.Context, c ModelCall) (any, error)
}

// ToolCall is one call of a tool.
type ToolCall struct {
	Tool    string         // name in the flow
	Args    map[string]any // must not be changed
	Key     string         // idempotency key: the same for retries and resumes
	Attempt int            // counted from 1
	Run     string         // id of the run
	Node    string         // node it is called at
	Answers map[string]any // to what this call has asked before, by name
}

// Ask gives the answer to a question of the tool's; when there is none yet it gives an
// error that the tool returns, and the tool is called again from its top when there is.
func (c ToolCall) Ask(q Question) (any, error) {
	if v, has := c.Answers[q.Name]; has {
		return v, nil
	}
	return nil, &q
}

// Error makes a question what a tool returns when it has no answer yet.
func (q *Question) Error() string { return "run: the tool asks for " + q.Name }

// ModelCall is one question to a model.
type ModelCall struct {
	Prompt  string
	Input   map[string]any
	Schema  []byte // JSON Schema of the answer; empty when any text will do
	Key     string // the same for retries and resumes
	Attempt int
}

// Runner carries runs of one plan on against a store: it commits what an advance did,
// makes the calls that are due then, and goes on with their results, until a run waits
// for somebody. It may be used from any goroutine; the store's fence keeps two runners
// from carrying on one run.
type Runner struct {
	// Plan of the runs.
	Plan *Plan
	// Store of the runs.
	Store Store
	// Tools calls tools; nil when the flow has none.
	Tools ToolCaller
	// Models answers agent nodes; nil when the flow has none.
	Models ModelCaller
	// Env, Callbacks and Permissions are given to every advance; see [Input].
	Env         map[string]any
	Callbacks   string
	Permissions []string
	// Patience is how long a retry may be away for the runner to wait for it. A longer one
	// is left to whoever looks for what is due. 8 s when 0.
	Patience time.Duration

	mu  sync.Mutex
	own map[string]bool // calls this process has committed, which no crash can have begun
}

// input is what an advance gets now.
func (r *Runner) input(responses ...Response) Input {
	return Input{Now: time.Now().UTC().Round(0), Env: r.Env, Callbacks: r.Callbacks, Permissions: r.Permissions, Responses: responses}
}

// Start begins a run and carries it on.
func (r *Runner) Start(ctx context.Context, s Start) (*Run, error) {
	next, events, err := r.Plan.Start(s, r.input())
	if err != nil {
		return nil, err
	}
	rec := &Record{}
	if err := r.commit(ctx, rec, next, events, nil); err != nil {
		return nil, err
	}
	return r.drive(ctx, rec)
}

// Respond tells a run what has happened and carries it on. When somebody else has carried
// it on meanwhile, it is told to the run as it is then.
func (r *Runner) Respond(ctx context.Context, id string, responses ...Response) (*Run, error) {
	rec, err := r.advance(ctx, id, responses...)
	if err != nil {
		return nil, err
	}
	return r.drive(ctx, rec)
}

// Answer answers an interrupt and carries the run on. A later answer than the first gets
// the value that was accepted.
func (r *Runner) Answer(ctx context.Context, id string, a Answer) (accepted any, err error) {
	accepted, first, err := r.Store.Answer(ctx, id, a)
	if err != nil || !first {
		return accepted, err
	}
	_, err = r.Resume(ctx, id)
	return accepted, err
}

// Resume carries a run on: it takes the answers accepted meanwhile, does what is due, and
// makes the calls that are open. A call that somebody else has begun is made again when
// its tool can bear that, and fails with class unknown otherwise.
func (r *Runner) Resume(ctx context.Context, id string) (*Run, error) {
	return r.Respond(ctx, id, Tick{})
}

// advance loads, advances and commits.
func (r *Runner) advance(ctx context.Context, id string, responses ...Response) (*Record, error) {
	for {
		rec, err := r.Store.Load(ctx, id)
		if err != nil {
			return nil, err
		}
		err = r.step(ctx, rec, responses...)
		if !errors.Is(err, ErrFenced) {
			return rec, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// step advances a loaded run by the answers accepted for it and by responses.
func (r *Runner) step(ctx context.Context, rec *Record, responses ...Response) error {
	var all []Response
	var consumed []string
	for _, a := range rec.Answers {
		consumed = append(consumed, a.Interrupt)
		if rec.Run.Interrupts[a.Interrupt] != nil {
			all = append(all, a)
		}
	}
	all = append(all, responses...)
	if rec.Run.Status == StatusEnded && len(all) == 1 {
		if _, tick := all[0].(Tick); tick {
			return nil
		}
	}
	next, events, err := r.Plan.Advance(rec.Run, r.input(all...))
	if err != nil {
		return err
	}
	if len(events) == 0 && len(consumed) == 0 {
		return nil
	}
	return r.commit(ctx, rec, next, events, consumed)
}

// commit writes what an advance did.
func (r *Runner) commit(ctx context.Context, rec *Record, next *Run, events []Event, consumed []string) error {
	revision, err := r.Store.Commit(ctx, Commit{Expect: rec.Revision, Run: next, Events: events, Consumed: consumed, Due: r.Plan.Due(next)})
	if err != nil {
		return fmt.Errorf("run %s: %w", next.ID, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.own == nil {
		r.own = map[string]bool{}
	}
	for i := range events {
		if c := events[i].Call; c != nil {
			r.own[c.ID] = true
		}
	}
	r.forget(events, rec.Run, next)
	rec.Run, rec.Revision, rec.Answers = next, revision, nil
	return nil
}

// forget drops the calls of a commit that are not open any more, however they ended.
func (r *Runner) forget(events []Event, before, after *Run) {
	drop := func(id string) {
		if after.Calls[id] == nil {
			delete(r.own, id)
		}
	}
	for i := range events {
		if c := events[i].Call; c != nil {
			drop(c.ID)
		}
	}
	if before != nil {
		for id := range before.Calls {
			drop(id)
		}
	}
}

// drive makes the calls of a run and goes on with their results until there are none.
func (r *Runner) drive(ctx context.Context, rec *Record) (*Run, error) {
	results := make(chan CallResult)
	flying := map[string]context.CancelFunc{}
	defer func() {
		for _, cancel := range flying {
			cancel()
		}
		for range flying {
			<-results
		}
	}()
	for {
		needs, err := r.Plan.Needs(rec.Run, r.input())
		if err != nil {
			return rec.Run, err
		}
		for _, n := range needs {
			if n.Call == nil || flying[flight(n.Call)] != nil {
				continue
			}
			callCtx, cancel := r.bounded(ctx, n.Call)
			flying[flight(n.Call)] = cancel
			go func() { results <- r.make(callCtx, rec.Run, n.Call) }()
		}
		r.cancelClosed(rec.Run, flying)
		if len(flying) == 0 && !r.retryComes(rec.Run) {
			return rec.Run, nil
		}
		if err := r.await(ctx, rec, results, flying); err != nil {
			return rec.Run, err
		}
	}
}

// flight names one making of a call: it is made again when it has got answers.
func flight(c *Call) string { return fmt.Sprintf("%s/%d", c.ID, len(c.Answers)) }

// bounded gives a call its deadline.
func (r *Runner) bounded(ctx context.Context, c *Call) (context.Context, context.CancelFunc) {
	if c.Deadline.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, c.Deadline)
}

// cancelClosed cancels calls the run does not wait for any more.
func (r *Runner) cancelClosed(run *Run, flying map[string]context.CancelFunc) {
	open := map[string]bool{}
	for _, c := range run.Calls {
		open[flight(c)] = true
	}
	for id, cancel := range flying {
		if !open[id] {
			cancel()
		}
	}
}

// retryComes tells whether a retry is near enough to wait for.
func (r *Runner) retryComes(run *Run) bool {
	patience := r.Patience
	if patience == 0 {
		patience = 8 * time.Second
	}
	for _, c := range run.Calls {
		if !c.After.IsZero() && time.Until(c.After) <= patience {
			return true
		}
	}
	return false
}

// await waits for a result or for the time of a retry, and advances the run by it.
func (r *Runner) await(ctx context.Context, rec *Record, results chan CallResult, flying map[string]context.CancelFunc) error {
	var wake <-chan time.Time
	if wait := nextRetry(rec.Run); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		wake = timer.C
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-wake:
		return nil
	case result := <-results:
		id := result.flight
		flying[id]()
		delete(flying, id)
		if ctx.Err() != nil {
			return ctx.Err() // what was cut off is open still, and is resumed
		}
		if rec.Run.Calls[result.Call] == nil {
			return nil
		}
		return r.settle(ctx, rec, result)
	}
}

// nextRetry is how long it is until the first of a run's retries; 0 when there is none.
func nextRetry(run *Run) time.Duration {
	var first time.Duration
	for _, c := range run.Calls {
		if wait := time.Until(c.After); wait > 0 && (first == 0 || wait < first) {
			first = wait
		}
	}
	return first
}

// settle advances the run by a result; when somebody else has carried it on, by the same
// result as long as the run still waits for it.
func (r *Runner) settle(ctx context.Context, rec *Record, result CallResult) error {
	for {
		err := r.step(ctx, rec, result)
		if !errors.Is(err, ErrFenced) {
			return err
		}
		fresh, err := r.Store.Load(ctx, rec.Run.ID)
		if err != nil {
			return err
		}
		*rec = *fresh
		if rec.Run.Calls[result.Call] == nil {
			return nil
		}
	}
}

// make makes one call.
func (r *Runner) make(ctx context.Context, run *Run, c *Call) (result CallResult) {
	result = CallResult{Call: c.ID, flight: flight(c)}
	defer func() {
		if p := recover(); p != nil {
			result.Failure = &Failure{Class: "tool", Message: fmt.Sprintf("it panicked: %v", p)}
		}
	}()
	r.mu.Lock()
	own := r.own[c.ID]
	r.mu.Unlock()
	if !own && len(c.Answers) == 0 && !r.Plan.repeatable(run, c) {
		result.Failure = &Failure{Class: "unknown", Message: "the process ended while " + c.Tool + " was called; whether it took effect is not known"}
		return result
	}
	value, err := r.do(ctx, run, c)
	var asks *Question
	switch {
	case errors.As(err, &asks):
		result.Wait = asks
	case err != nil:
		result.Failure = failureOf(err)
	default:
		if result.Value, err = expr.Plain(value); err != nil {
			result.Failure = &Failure{Class: "output", Message: err.Error()}
		}
	}
	return result
}

// do calls the tool or asks the model.
func (r *Runner) do(ctx context.Context, run *Run, c *Call) (any, error) {
	switch {
	case c.Tool == "" && r.Models == nil:
		return nil, &Failure{Class: "configuration", Message: "there is no model for agent nodes"}
	case c.Tool == "":
		return r.Models.AskModel(ctx, ModelCall{Prompt: c.Prompt, Input: c.Args, Schema: c.Schema, Key: c.Key, Attempt: c.Attempt})
	case r.Tools == nil:
		return nil, &Failure{Class: "configuration", Message: "there is nothing that calls tools"}
	}
	return r.Tools.CallTool(ctx, ToolCall{Tool: c.Tool, Args: c.Args, Key: c.Key, Attempt: c.Attempt, Run: run.ID, Node: c.Node, Answers: c.Answers})
}

// failureOf is an error as a run records it.
func failureOf(err error) *Failure {
	var f *Failure
	switch {
	case errors.As(err, &f):
		return &Failure{Class: f.Class, Message: f.Message}
	case errors.Is(err, context.DeadlineExceeded):
		return &Failure{Class: "timeout", Message: "it took too long"}
	}
	return &Failure{Class: "tool", Message: err.Error()}
}

// repeatable tells whether a call that may have been made already can be made again.
func (p *Plan) repeatable(r *Run, c *Call) bool {
	s := r.Scopes[c.Scope]
	if c.Tool == "" || s == nil {
		return true
	}
	t := p.flows[s.Flow].tools[c.Tool]
	return t != nil && (t.idempotent || !t.effect)
}
