package flows

import (
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
)

// steered is the FlowManager as the model service sees it. All of it is called on
// the session loop.
type steered struct{ fm *FlowManager }

// BatchSettled makes the one transition that a batch of calls leads to.
func (s steered) BatchSettled(b *llm.Batch) llm.Decision {
	fm := s.fm
	returned := fm.takeReplies(b.Response)
	ending := fm.steer.Ending()
	var edges []*prepared
	silent := len(b.Calls) > 0
	for _, c := range b.Calls {
		fm.functionSettled(c)
		r := returned[c.ID]
		if c.Status != frames.FunctionOK {
			r = reply{}
		}
		if r.next != nil {
			edges = append(edges, r.next)
		}
		silent = silent && r.silent
	}
	why := "another function of the same response had led on"
	next := fm.takeRequested()
	if next != nil {
		why = "another node was set"
	} else if len(edges) > 0 {
		next, edges = edges[0], edges[1:]
	}
	for _, e := range edges {
		fm.drop(e, why)
	}
	switch {
	case ending:
		fm.drop(next, "the session is ending")
		return llm.Decision{Silent: true}
	case next != nil:
		fm.transit(next)
		return llm.Decision{Silent: true}
	case fm.Ended():
		return llm.Decision{Silent: true}
	case silent:
		fm.turnEnded()
	}
	return llm.Decision{Silent: silent}
}

// AsyncSettled makes the transition that a call presented asynchronously leads to.
func (s steered) AsyncSettled(c llm.Settled) llm.Decision {
	fm := s.fm
	fm.functionSettled(c)
	r := fm.takeAsyncReply(c.ID)
	if c.Status != frames.FunctionOK {
		return llm.Decision{}
	}
	if r.next == nil {
		return llm.Decision{Silent: r.silent}
	}
	if fm.steer.Ending() {
		fm.drop(r.next, "the session is ending")
		return llm.Decision{Silent: true}
	}
	if !fm.isCurrent(r.from) {
		fm.drop(r.next, "its node had been left")
		return llm.Decision{}
	}
	fm.request(r.next)
	return llm.Decision{Silent: true}
}

// request goes to a node as SetNode does.
func (fm *FlowManager) request(p *prepared) {
	fm.mu.Lock()
	replaced := fm.requested
	fm.requested = p
	fm.mu.Unlock()
	fm.drop(replaced, "another node was set")
	fm.enterRequested()
}

// BotTurnEnded follows a response without calls.
func (s steered) BotTurnEnded(uint64) { s.fm.turnEnded() }

// Interrupted hurries the actions under way.
func (s steered) Interrupted() {
	for _, q := range append([]*sequence(nil), s.fm.sequences...) {
		q.interrupted()
	}
}

func (fm *FlowManager) functionSettled(c llm.Settled) {
	fm.emit(Event{
		Kind: EventFunctionSettled, Node: fm.CurrentNode(), Function: c.Name, CallID: c.ID, Status: c.Status, Detail: c.Result,
	})
}
