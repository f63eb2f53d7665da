package run

import (
	"fmt"
	"maps"
)

// Replay gives the run that a history comes to. It fails on an event of a schema this
// package does not know, and on one that is out of order.
func Replay(events []Event) (*Run, error) { return replay(&Run{}, events) }

// ReplayFrom gives the run that a history comes to which goes on where another run is. The
// run given is not changed. It fails as [Replay] does.
func ReplayFrom(r *Run, events []Event) (*Run, error) { return replay(r.clone(), events) }

func replay(r *Run, events []Event) (*Run, error) {
	for i := range events {
		e := &events[i]
		if e.Schema != Schema {
			return nil, fmt.Errorf("run: event %d is of schema %d; this program knows %d", e.Seq, e.Schema, Schema)
		}
		if e.Seq != r.Seq+1 {
			return nil, fmt.Errorf("run: event %d follows event %d; the history has a gap", e.Seq, r.Seq)
		}
		if e.Type != EventStarted && r.Scopes[e.Scope] == nil && e.Type != EventScope {
			return nil, fmt.Errorf("run: event %d is about scope %q, which is not open", e.Seq, e.Scope)
		}
		r.apply(e)
	}
	return r, nil
}

// apply makes the change an event tells. It is the only place where a run changes.
func (r *Run) apply(e *Event) {
	r.Seq = e.Seq
	s := r.Scopes[e.Scope]
	switch e.Type {
	case EventStarted:
		r.start(e)
	case EventKey:
		r.Key = e.Text
	case EventScope:
		r.openScope(e)
	case EventWaiting:
		r.Status = StatusWaiting
	case EventReady:
		r.Status = StatusReady
	case EventEnded:
		r.end(e)
	case EventScopeEnd:
		parent := r.Scopes[s.Parent]
		if e.Outcome != nil && (!s.Shared || s.Branch != "") {
			parent.Outcome = e.Outcome
		}
		if s.Branch != "" && e.Reason == "" {
			parent.gather(s.Branch, s.Round > 0, Gathered{Output: e.Value, Failure: e.Failure})
		}
		if s.Parent != s.Path {
			delete(r.Scopes, s.Path)
		}
	case EventUser, EventBot:
		r.addTurn(e)
	case EventSuperseded:
		r.supersede(e.Count, e.To)
	case EventFunction:
		r.Functions = append(r.Functions, *e.Function)
	case EventReport:
		r.addReport(e)
	case EventResult:
		r.dropFunction(e.Name)
		if s != nil && s.Visit == e.Visit && s.Node == e.Node && e.Hash != "" {
			if s.Seen == nil {
				s.Seen = map[string]any{}
			}
			s.Seen[e.Hash] = e.Value
		}
	case EventCall, EventCallEnd, EventInterrupt, EventAnswered:
		r.applyOpen(e, s)
	case EventRetrying:
		c := *e.Call
		delete(r.Calls, e.Name)
		r.Calls[c.ID] = &c
	case EventEnv:
		if r.Env == nil {
			r.Env = map[string]any{}
		}
		r.Env[e.Name] = e.Value
	default:
		s.apply(e, r.Turn)
	}
}

// start makes the run.
func (r *Run) start(e *Event) {
	*r = Run{Schema: e.Schema, ID: e.From, Flow: e.Name, Hash: e.Hash, Key: e.Text, Status: StatusReady, Seq: e.Seq,
		Started: e.Time, Touched: e.Time, Scopes: map[string]*Scope{}, Calls: map[string]*Call{}, Interrupts: map[string]*Interrupt{}}
}

// openScope opens a scope.
func (r *Run) openScope(e *Event) {
	s := &Scope{Path: e.Scope, Parent: e.From, Flow: e.Name, Shared: e.Shared, Inputs: e.Set, Phase: phaseEnter,
		State: map[string]any{}, Outputs: map[string]any{}, Visits: map[string]int{}, Writes: map[string]int{}, Branch: e.Text, Round: e.Count, Item: e.Value}
	if s.Inputs == nil {
		s.Inputs = map[string]any{}
	}
	r.Scopes[e.Scope] = s
}

// end ends the run; nothing stays open.
func (r *Run) end(e *Event) {
	r.Status, r.Outcome = StatusEnded, e.Outcome
	clear(r.Calls)
	clear(r.Interrupts)
	r.Functions = nil
	for _, s := range r.Scopes {
		s.Phase = phaseStopped
	}
}

// addTurn remembers words.
func (r *Run) addTurn(e *Event) {
	r.Touched = e.Time
	if e.Type == EventUser {
		r.Turn++
		r.User = e.Text
		for _, s := range r.Scopes {
			s.Silences = 0
		}
	}
	turns := r.Turns
	if last := len(turns) - 1; e.Type == EventBot && last >= 0 && turns[last].Number == r.Turn && turns[last].Node == e.Node {
		turns = append([]Turn(nil), turns...)
		if turns[last].Bot != "" {
			turns[last].Bot += " "
		}
		turns[last].Bot += e.Text
	} else {
		t := Turn{Number: r.Turn, Scope: e.Scope, Node: e.Node, Visit: e.Visit}
		if e.Type == EventUser {
			t.User = e.Text
		} else {
			t.Bot = e.Text
		}
		turns = append(turns, t)
	}
	r.Turns = turns[max(0, len(turns)-maxTurns):]
}

// supersede takes turns out of later requests.
func (r *Run) supersede(from, to int) {
	turns := append([]Turn(nil), r.Turns...)
	for i := range turns {
		if turns[i].Number >= from && turns[i].Number < to {
			turns[i].Superseded = true
		}
	}
	r.Turns = turns
}

// addReport adds to what a call of the model's will be told.
func (r *Run) addReport(e *Event) {
	for i := range r.Functions {
		if f := &r.Functions[i]; f.ID == e.Name {
			report := maps.Clone(f.Report)
			if report == nil {
				report = map[string]any{}
			}
			maps.Copy(report, e.Set)
			f.Report = report
		}
	}
}

// dropFunction forgets a call of the model's that has its result.
func (r *Run) dropFunction(id string) {
	for i := range r.Functions {
		if r.Functions[i].ID == id {
			if r.Functions = append(r.Functions[:i:i], r.Functions[i+1:]...); len(r.Functions) == 0 {
				r.Functions = nil
			}
			return
		}
	}
}

// applyOpen opens and closes calls and interrupts.
func (r *Run) applyOpen(e *Event, s *Scope) {
	switch e.Type {
	case EventCall:
		c := *e.Call
		r.Calls[c.ID] = &c
	case EventCallEnd:
		c := r.Calls[e.Name]
		delete(r.Calls, e.Name)
		if c == nil || e.Failure != nil {
			return
		}
		if c.Function == "" && c.Undo == nil {
			s.Result = e.Value
		}
		if c.Tool != "" && c.Undo == nil {
			s.Done = append(s.Done, Finished{Key: c.Key, Step: len(s.Steps) - 1, Node: c.Node, Tool: c.Tool, Args: c.Args, Result: e.Value})
		}
	case EventInterrupt:
		i := *e.Interrupt
		r.Interrupts[i.ID] = &i
		if c := r.Calls[i.Call]; c != nil && i.Kind == InterruptTool {
			c.Waiting = i.ID
		}
	case EventAnswered:
		i := r.Interrupts[e.Name]
		delete(r.Interrupts, e.Name)
		if i == nil {
			return
		}
		if c := r.Calls[i.Call]; c != nil && i.Kind == InterruptTool {
			c.Answers = maps.Clone(c.Answers)
			if c.Answers == nil {
				c.Answers = map[string]any{}
			}
			c.Answers[i.Name], c.Waiting = e.Value, ""
			return
		}
		s.Answer = e.Value
		if i.Kind == InterruptConfirm {
			s.Approved = e.Text
		}
	}
}

// apply makes the change within one scope.
func (s *Scope) apply(e *Event, turn int) {
	switch e.Type {
	case EventEntered:
		s.enter(e, turn)
	case EventPhase:
		s.Phase = Phase(e.Text)
		if e.Reason == "told" {
			s.Fresh = false
		}
	case EventFinished:
		output := map[string]any{"output": e.Value}
		if len(e.Set) > 0 {
			output["failed"] = e.Set
		}
		s.Outputs[e.Node] = output
	case EventBodies:
		s.Items, s.Rounds, s.Branches = e.Items, nil, nil
	case EventFailed:
		s.Failure = e.Failure
	case EventResultKept:
		s.Result = e.Value
	case EventState:
		s.write(e)
	case EventAttempt:
		if s.Attempts == nil {
			s.Attempts = map[string]int{}
		}
		for _, f := range e.Fields {
			s.Attempts[f]++
		}
		s.Counted = turn
	case EventUseful:
		s.Useful = turn
	case EventSilence:
		s.Silences = e.Count
	case EventPlace:
		s.Places = append(s.Places, Place{Node: e.Node, Visit: e.Visit, Attempts: maps.Clone(s.Attempts)})
	case EventStage:
		s.Stage = e.Count
	case EventForgotten:
		s.Places = nil
	case EventReverted:
		s.Done = append([]Finished(nil), s.Done...)
		for i := range s.Done {
			s.Done[i].Reverted = s.Done[i].Reverted || s.Done[i].Key == e.Name
		}
	case EventRequire:
		s.Returns = append(s.Returns, e.Text)
	case EventCorrected:
		s.correct(e)
	}
}

// enter moves the scope to a node.
func (s *Scope) enter(e *Event, turn int) {
	s.Node, s.Visit, s.Phase, s.Fresh = e.Node, e.Visit, phaseEnter, true
	s.Attempts, s.Seen, s.Silences, s.Approved, s.Replay = nil, nil, 0, "", e.Text
	s.Result, s.Answer, s.Outcome, s.Stage = nil, nil, nil, 0
	s.Items, s.Rounds, s.Branches = nil, nil, nil
	if e.Reason != ReasonError {
		s.Failure = nil
	}
	switch e.Reason {
	case ReasonBack:
		last := s.Places[len(s.Places)-1]
		s.Places = s.Places[:len(s.Places)-1]
		s.Attempts, s.Fresh = maps.Clone(last.Attempts), false
	case ReasonStart, ReasonError, ReasonCorrection:
		s.Places = nil
	}
	if e.Reason != ReasonBack {
		s.Visits[e.Node] = e.Visit
		s.Steps = append(s.Steps, Visited{Node: e.Node, Visit: e.Visit, Turn: turn})
	}
	if n := len(s.Returns); n > 0 && s.Returns[n-1] == e.Node {
		s.Returns = s.Returns[:n-1]
	}
}

// write sets and clears fields.
func (s *Scope) write(e *Event) {
	for name, v := range e.Set {
		s.State[name] = v
		s.Writes[name] = len(s.Steps) - 1
	}
	for _, name := range e.Cleared {
		delete(s.State, name)
		delete(s.Writes, name)
	}
}

// correct goes back to a step: what was done since is marked.
func (s *Scope) correct(e *Event) {
	steps := append([]Visited(nil), s.Steps...)
	for i := e.Count; i < len(steps); i++ {
		steps[i].Undone = true
	}
	s.Steps = steps
	s.Done = append([]Finished(nil), s.Done...)
	for i := range s.Done {
		s.Done[i].Undone = s.Done[i].Undone || s.Done[i].Step >= e.Count
	}
}
