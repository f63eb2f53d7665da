// Package flows steers a conversation through a graph of nodes.
//
// A [FlowManager] sits beside a pipeline and shares the language model's
// conversation with it. Each node of a flow, a [NodeConfig], brings its task, the
// functions the model may call there, and sometimes a new persona. A function's
// handler returns what the model is told and, when the conversation is to move on,
// the next node:
//
//	func takeSize(ctx context.Context, args size, fm *flows.FlowManager) (string, *flows.NodeConfig, error) {
//		return fmt.Sprintf("a table for %d", args.People), askDate(), nil
//	}
//
// The transition is made when the last call of the model's response has settled:
// results first, then persona, task and functions of the new node in one change of
// the conversation, then one reply. Handlers run on goroutines of their own, and
// the methods of a FlowManager may be called from any goroutine.
package flows
