// Package run executes flows: it is the reducer of which live conversations, chats, batches
// and hosts are drivers.
//
// # The reducer
//
// [Compile] makes a [Plan] of a flow's document. [Plan.Start] makes a [Run], and
// [Plan.Advance] is the reducer: it takes a run and what has happened ([Input]) and gives
// the run as it is then and the events that led there. It reads no clock, calls nothing,
// and does not change the run it is given. Every change of a run is an [Event], so that
// [Replay] of a run's events gives the run.
//
// What is to be done outside is computed from a run and is not stored: [Plan.Needs] lists
// calls to make, a model to ask, a talk to hold, answers to get, and [Plan.Due] says when
// a [Tick] is due at the latest. What comes of them is told with the next advance:
//
//	need                         response
//	NeedCall, NeedModel          CallResult
//	NeedTalk                     UserTurn, BotTurn, FunctionCall, Silence, Correct
//	NeedAnswer                   Answer
//	Plan.Due                     Tick
//
// # Scopes
//
// A run has a [Scope] for the flow itself, and one for each subflow at work, each branch of
// a parallel node, each round of a loop, and each talk beside a node that waits; one of
// them, the innermost, has the floor. A scope is at one
// node, in one phase. Quiet nodes run within the advance that enters them; an advance ends
// when every scope waits for something.
//
// # Driving a live conversation
//
// One function call of the model's is the edge, and the quiet chain behind it runs while
// that call is open:
//
//  1. [Need] of kind [NeedTalk] gives persona, task and functions of the node; its
//     functions' handlers advance the run with a [FunctionCall] that carries the call's
//     id, and the node and visit they were offered at, so that late ones are ignored.
//  2. Commit the events ([Store.Commit]). Then make the calls that Needs lists, and advance
//     with their results, committing each time; [Runner] does just that.
//  3. The event [EventResult] with the call's id holds the call's result for the model. It
//     comes when the chain has stopped, at a node that talks or waits, or at the end. Every
//     FunctionCall gets exactly one, also those that are refused.
//  4. [EventSaid] are fixed lines, in order; [EventEntered] tells of a new node, and with it
//     of the next NodeConfig; [EventSuperseded] names turns that leave later requests;
//     [Talk.Replay] are words that the new node is to use without asking again.
//  5. Tell [UserTurn] when a turn of the user's ends, before the model replies: a closure
//     phrase leads on by itself, and then there is an [EventEntered]. Tell [BotTurn] what
//     was heard of a reply that called nothing: it counts a collect node's attempts.
//  6. An interrupt's [Answer] is taken at the next turn boundary: [Store.Answer] accepts it
//     at once, and the advance that consumes it is up to the driver.
//
// # Effects
//
// A call is recorded as started before it is made and as finished after; its idempotency
// key is derived from run, scope, node, visit and call, so retries and resumes share it and
// a correction makes a new one. A tool that must ask somebody returns a [Question] and is
// called again from its top with the answer.
package run
