package flows

import (
	"slices"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/speech"
)

// prepared is a node that was found to be in order, ready to be entered.
type prepared struct {
	node  *NodeConfig
	tools *frames.Toolset
	// function is what led to it; empty for SetNode and the first node.
	function string
}

// prepare checks a node and makes its tools.
func (fm *FlowManager) prepare(node *NodeConfig) (*prepared, error) {
	if err := checkNode(node, fm.cfg.Actions); err != nil {
		return nil, err
	}
	own := make(map[string]bool, len(node.Functions))
	tools := make([]frames.Tool, 0, len(node.Functions)+len(fm.cfg.GlobalFunctions))
	for _, f := range node.Functions {
		own[f.Name] = true
		tools = append(tools, fm.tool(node, f))
	}
	for _, f := range fm.cfg.GlobalFunctions {
		if !own[f.Name] {
			tools = append(tools, fm.tool(node, f))
		}
	}
	return &prepared{node: node, tools: frames.NewToolset(tools...)}, nil
}

// tool offers a function at a node. The call is bound to it, so that it runs this
// handler whatever other nodes call their functions.
func (fm *FlowManager) tool(node *NodeConfig, f NodeFunction) frames.Tool {
	timeout := f.Timeout
	if timeout == 0 {
		timeout = fm.cfg.FunctionTimeout
	}
	return frames.Tool{
		Name: f.Name, Description: f.Description, Parameters: f.Parameters, Examples: f.Examples,
		Binding: &llm.Function{
			Handler: fm.bind(node, f), Timeout: timeout, CancelOnInterruption: f.CancelOnInterruption,
			Async: f.Async, Filler: f.Filler, FillerAfter: f.FillerAfter, Duplicates: f.Duplicates,
		},
	}
}

// update is what entering a node changes in the conversation, the history aside.
func (fm *FlowManager) update(p *prepared) frames.ContextUpdate {
	u := frames.ContextUpdate{Append: p.node.TaskMessages, Tools: p.tools}
	if p.node.RoleMessage != "" {
		u.System = &p.node.RoleMessage
	}
	if p.node.ToolChoice != "" || fm.choice {
		u.Choice = &p.node.ToolChoice
		fm.choice = p.node.ToolChoice != ""
	}
	return u
}

// transit goes to a node, on the loop, when no batch is open.
func (fm *FlowManager) transit(p *prepared) {
	fm.dropSummary()
	if fm.Ended() {
		fm.drop(p, "the flow has ended")
		return
	}
	strategy := p.node.ContextStrategy
	if strategy == ContextDefault {
		strategy = fm.cfg.ContextStrategy
	}
	u := fm.update(p)
	switch strategy {
	case ContextReset:
		u.Reset = true
		u.Append = slices.Concat(u.Append, unanswered(fm.cfg.Context.Snapshot().Entries))
	case ContextSummarize:
		// What is being generated belongs to the node that is left; its calls
		// must not begin while the summary is written.
		fm.steer.Update(frames.ContextUpdate{})
		if s := fm.cfg.Context.Snapshot(); len(s.Entries) > 0 {
			fm.summarize(p, u, s)
			return
		}
	}
	fm.commit(p, u)
}

// unanswered is what the user said last, if nothing has followed it.
func unanswered(entries []*frames.Entry) []frames.Message {
	n := len(entries)
	for n > 0 && entries[n-1].Message().Role == frames.RoleUser {
		n--
	}
	var out []frames.Message
	for _, e := range entries[n:] {
		out = append(out, *e.Message())
	}
	return out
}

// commit is the transition: one change of the conversation, and what the node does
// on entry.
func (fm *FlowManager) commit(p *prepared, u frames.ContextUpdate) {
	for _, s := range fm.sequences {
		s.abandon()
	}
	fm.sequences = nil
	fm.register(p)
	fm.steer.Update(u)
	fm.takeTurns(p.node)
	fm.mu.Lock()
	previous := fm.current
	fm.current = p.node
	fm.mu.Unlock()
	fm.emit(Event{Kind: EventNodeEntered, Node: p.node.name(), Previous: previous.name(), Function: p.function})
	fm.settleIn(p)
}

// takeTurns has turns taken as the node wants. A session that is typed takes no notice.
func (fm *FlowManager) takeTurns(node *NodeConfig) {
	fm.mu.Lock()
	own := fm.turns
	fm.turns = node.Turns != nil
	fm.mu.Unlock()
	if node.Turns == nil && !own {
		return
	}
	fm.cfg.Enqueuer.QueueFrame(&speech.TurnSettingsFrame{Settings: node.Turns})
}

// settleIn does the pre-actions of the node that was entered and then lets the
// model speak.
func (fm *FlowManager) settleIn(p *prepared) {
	fm.post = p.node.PostActions
	s := &sequence{fm: fm, node: p.node.name(), rest: p.node.PreActions, holds: true}
	s.then = func(s *sequence) {
		switch {
		case fm.Ended():
		case p.node.responds():
			fm.steer.Run()
			if fm.plain != nil {
				fm.turnEnded()
			}
		case s.spoke && !s.hurried:
			fm.turnEnded()
		}
	}
	s.start()
}

// turnEnded follows the bot's turn at a node: its post-actions are done when the
// turn has been heard. A turn that is cut does not count; the next one does.
func (fm *FlowManager) turnEnded() {
	if len(fm.post) == 0 || fm.Ended() {
		return
	}
	fm.mu.Lock()
	node := fm.current
	fm.mu.Unlock()
	fm.steer.Push(fm.turnMark(node))
}

// turnMark starts a node's post-actions when it arrives while the node is current.
func (fm *FlowManager) turnMark(node *NodeConfig) *frames.MarkFrame {
	return &frames.MarkFrame{Name: "turn", Reached: func() { fm.steer.Do(func() { fm.turnHeard(node) }) }}
}

func (fm *FlowManager) turnHeard(node *NodeConfig) {
	if len(fm.post) == 0 || !fm.isCurrent(node) {
		return
	}
	s := &sequence{fm: fm, node: node.name(), rest: fm.post}
	fm.post = nil
	s.start()
}
