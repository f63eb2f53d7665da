package run

import "time"

// Type is what an [Event] tells.
type Type string

// The events. Every change of a run is one of them; applying them in order to nothing
// gives the run ([Replay]).
const (
	EventStarted    Type = "run.started"   // Text is the key, Set the inputs, Name the flow, Hash its hash
	EventKey        Type = "run.key"       // Text is who the run belongs to
	EventWaiting    Type = "run.waiting"   // nothing else can run; Text says for what
	EventReady      Type = "run.resumed"   // it had waited
	EventEnded      Type = "run.ended"     // Outcome
	EventScope      Type = "scope.opened"  // Name is the flow, Set the inputs, From the parent's path; of a body Text its branch, Count its round and Value its item
	EventScopeEnd   Type = "scope.closed"  // Outcome; of a body Value or Failure, or Reason why it came to nothing
	EventBodies     Type = "node.branched" // a parallel node or a loop is at work; Items is what the loop goes over
	EventEntered    Type = "node.entered"  // From the node before, Reason one of the Reason constants
	EventPhase      Type = "node.phase"    // Text is the phase
	EventFinished   Type = "node.finished" // Value is its output
	EventFailed     Type = "node.failed"   // Failure
	EventRetrying   Type = "node.retrying" // Count is the attempt to come, Due its time
	EventState      Type = "state.changed" // Set the new values, Cleared the fields without one
	EventSaid       Type = "said"          // Text, a fixed line
	EventUser       Type = "turn.user"     // Text, what the user said
	EventBot        Type = "turn.bot"      // Text, what the user heard
	EventFunction   Type = "function.called"
	EventResult     Type = "function.finished" // Name the call's id, Value the result for the model
	EventIgnored    Type = "ignored"           // something came too late or twice; Reason why
	EventAttempt    Type = "attempt.failed"    // Fields that were asked for and not given
	EventUseful     Type = "turn.useful"       // something was saved or done in this turn
	EventSilence    Type = "silence"           // Count of the step
	EventCall       Type = "call.started"      // Call
	EventCallEnd    Type = "call.finished"     // Name the call's id, Value or Failure
	EventResultKept Type = "result.kept"       // Value is the node's result, which its edges see
	EventReport     Type = "function.report"   // Name the call's id, Set what its result will tell
	EventInterrupt  Type = "interrupt.opened"  // Interrupt
	EventAnswered   Type = "interrupt.closed"  // Name the id, Value the answer, Reason: answered, timeout, cancelled
	EventDecision   Type = "decision"          // Name the tool, Reason what was decided and why
	EventPlace      Type = "place.kept"        // a digression begins
	EventForgotten  Type = "place.forgotten"   // a digression does not return
	EventReverted   Type = "call.reverted"     // Name the key of a call whose undo was made
	EventStage      Type = "node.stage"        // Count of the steps a custom node has done
	EventCorrected  Type = "corrected"         // Name the field, Count the step gone back to, Cleared
	EventRefused    Type = "correction.refused"
	EventSuperseded Type = "turns.superseded" // Count is the first turn, To the turn behind the last
	EventRequire    Type = "require"          // Text is the node it goes on to later
	EventEnv        Type = "env.read"         // Name, Value
)

// Why a node was entered, in [Event.Reason].
const (
	ReasonStart      = "start"
	ReasonEdge       = "edge"
	ReasonVisit      = "visit"
	ReasonBack       = "back"
	ReasonCorrection = "correction"
	ReasonError      = "error"
	ReasonRequire    = "require"
)

// Event is one line of a run's history. Which fields are set depends on its type.
type Event struct {
	Schema    int            `json:"v"`
	Seq       int64          `json:"seq"` // 1 for the first event of a run
	Time      time.Time      `json:"time"`
	Type      Type           `json:"type"`
	Scope     string         `json:"scope,omitempty"` // path of the scope it happened in
	Node      string         `json:"node,omitempty"`
	Visit     int            `json:"visit,omitempty"`
	From      string         `json:"from,omitempty"`
	Reason    string         `json:"reason,omitempty"`
	Name      string         `json:"name,omitempty"`
	Hash      string         `json:"hash,omitempty"`
	Text      string         `json:"text,omitempty"`
	Set       map[string]any `json:"set,omitempty"`
	Cleared   []string       `json:"cleared,omitempty"`
	Fields    []string       `json:"fields,omitempty"`
	Items     []any          `json:"items,omitempty"`
	Value     any            `json:"value,omitempty"`
	Count     int            `json:"count,omitempty"`
	To        int            `json:"to,omitempty"`
	Due       time.Time      `json:"due,omitzero"`
	Shared    bool           `json:"shared,omitempty"`
	Function  *Function      `json:"function,omitempty"`
	Call      *Call          `json:"call,omitempty"`
	Interrupt *Interrupt     `json:"interrupt,omitempty"`
	Outcome   *Outcome       `json:"outcome,omitempty"`
	Failure   *Failure       `json:"failure,omitempty"`
}
