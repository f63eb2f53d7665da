package flows

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
)

// The errors of a FlowManager's life.
var (
	// ErrAlreadyInitialized is returned by a second [FlowManager.Initialize].
	ErrAlreadyInitialized = errors.New("flows: the flow has been initialized already; use SetNode to move on")
	// ErrNotInitialized is returned for what needs a current node.
	ErrNotInitialized = errors.New("flows: the flow has no node yet; call Initialize first")
	// ErrEnded is returned when the flow has asked for the end of the session.
	ErrEnded = errors.New("flows: the flow has ended")
)

// FlowManager steers one conversation. Its methods may be called from any
// goroutine, the session loop included, and never block.
type FlowManager struct {
	cfg   Config
	log   *slog.Logger
	state *State
	// steer is the service's steering, or plain.
	steer llm.Steering
	plain *plainSteering

	mu        sync.Mutex
	begun     bool
	ended     bool
	current   *NodeConfig
	requested *prepared // by SetNode, waiting for a batch to settle
	replies   replies
	names     map[string]bool // registered with a plain LLM

	// What follows belongs to the loop.
	post      []Action // of the current node, still to be done
	sequences []*sequence
	summing   *summing
	choice    bool // the flow has restricted the tool choice
	turns     bool // the node has turn settings of its own
}

// New makes a FlowManager for one session. Nothing happens before
// [FlowManager.Initialize].
func New(cfg Config) (*FlowManager, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.SummaryTimeout == 0 {
		cfg.SummaryTimeout = DefaultSummaryTimeout
	}
	if cfg.ActionTimeout == 0 {
		cfg.ActionTimeout = DefaultActionTimeout
	}
	if cfg.ContextStrategy == ContextDefault {
		cfg.ContextStrategy = ContextAppend
	}
	fm := &FlowManager{cfg: cfg, log: cfg.Logger, state: cfg.State, names: map[string]bool{}}
	if fm.log == nil {
		fm.log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if fm.state == nil {
		fm.state = NewState(nil)
	}
	fm.state.watch(fm.stateChanged)
	if d, ok := cfg.LLM.(director); ok {
		fm.steer = d.Direct(steered{fm})
	} else {
		fm.plain = &plainSteering{convo: cfg.Context, queue: cfg.Enqueuer}
		fm.steer = fm.plain
	}
	return fm, nil
}

// Initialize enters the first node: persona, task and functions are in the
// conversation and CurrentNode is the node when it returns; pre-actions and the
// request for the first reply are queued. A node with errors is not entered, and
// Initialize may be tried again; a second success is [ErrAlreadyInitialized].
//
// The history there is at that time is kept, or dropped with [ContextReset];
// nothing is summarized here.
func (fm *FlowManager) Initialize(ctx context.Context, node *NodeConfig) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if fm.CurrentNode() != "" {
		return ErrAlreadyInitialized
	}
	p, err := fm.prepare(node)
	if err != nil {
		return err
	}
	fm.mu.Lock()
	if fm.begun {
		fm.mu.Unlock()
		return ErrAlreadyInitialized
	}
	u := fm.update(p)
	u.Reset = node.ContextStrategy == ContextReset
	fm.cfg.Context.Apply(u)
	fm.begun, fm.current = true, node
	fm.mu.Unlock()
	fm.register(p)
	fm.takeTurns(node)
	fm.emit(Event{Kind: EventNodeEntered, Node: node.name()})
	fm.open(p)
	return nil
}

// open queues what follows the entry of the first node. The session may not run
// yet, so whatever needs no loop goes through its queue.
func (fm *FlowManager) open(p *prepared) {
	spoke := false
	for _, a := range p.node.PreActions {
		if a.Type != ActionSay || a.OnInterruption == InterruptionFinish {
			fm.steer.Do(func() {
				if fm.isCurrent(p.node) {
					fm.settleIn(p)
				}
			})
			return
		}
	}
	fm.steer.Do(func() {
		if fm.isCurrent(p.node) {
			fm.post = p.node.PostActions
		}
	})
	for _, a := range p.node.PreActions {
		fm.cfg.Enqueuer.QueueFrame(&frames.SpeakFrame{Text: a.Text})
		spoke = true
	}
	if p.node.responds() {
		fm.cfg.Enqueuer.QueueFrame(&frames.LLMRunFrame{Wanted: func() bool { return fm.isCurrent(p.node) }})
	}
	if len(p.node.PostActions) > 0 && (fm.plain != nil || spoke && !p.node.responds()) {
		fm.cfg.Enqueuer.QueueFrame(fm.turnMark(p.node))
	}
}

// SetNode moves the conversation to a node, from anywhere: handlers, actions or
// outside. The node is checked at once and entered on the session loop as soon as
// no batch of calls is open; a transition that is pending then is dropped, with an
// event. A reply under way is cut off. When the flow or its session has ended it
// returns [ErrEnded].
func (fm *FlowManager) SetNode(ctx context.Context, node *NodeConfig) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p, err := fm.prepare(node)
	if err != nil {
		return err
	}
	fm.mu.Lock()
	if !fm.begun || fm.ended {
		defer fm.mu.Unlock()
		if fm.ended {
			return ErrEnded
		}
		return ErrNotInitialized
	}
	replaced := fm.requested
	fm.requested = p
	fm.mu.Unlock()
	fm.drop(replaced, "another node was set")
	if !fm.steer.Do(fm.enterRequested) {
		fm.drop(fm.takeRequested(), "the session has ended")
		return ErrEnded
	}
	return nil
}

// enterRequested enters the node that SetNode asked for, unless a batch is open:
// its end will.
func (fm *FlowManager) enterRequested() {
	if fm.steer.BatchOpen() {
		return
	}
	if p := fm.takeRequested(); p != nil {
		fm.transit(p)
	}
}

func (fm *FlowManager) takeRequested() *prepared {
	fm.mu.Lock()
	defer fm.mu.Unlock()
	p := fm.requested
	fm.requested = nil
	return p
}

// drop reports a transition that is not made.
func (fm *FlowManager) drop(p *prepared, why string) {
	if p != nil {
		fm.emit(Event{Kind: EventTransitionDropped, Node: p.node.name(), Function: p.function, Detail: why})
	}
}

// CurrentNode is the name of the node the conversation is at: empty before
// Initialize, [UnnamedNode] at a node without a name.
func (fm *FlowManager) CurrentNode() string {
	fm.mu.Lock()
	defer fm.mu.Unlock()
	if fm.current == nil {
		return ""
	}
	return fm.current.name()
}

// CurrentContext is a copy of the conversation's history, without the persona.
func (fm *FlowManager) CurrentContext() []frames.Message { return fm.cfg.Context.Messages() }

// State holds the flow's variables.
func (fm *FlowManager) State() *State { return fm.state }

// Ended reports whether the flow has asked for the end of the session.
func (fm *FlowManager) Ended() bool {
	fm.mu.Lock()
	defer fm.mu.Unlock()
	return fm.ended
}

// QueueFrame hands a frame to the session, for handlers and actions.
func (fm *FlowManager) QueueFrame(f frames.Frame) { fm.cfg.Enqueuer.QueueFrame(f) }

func (fm *FlowManager) isCurrent(n *NodeConfig) bool {
	fm.mu.Lock()
	defer fm.mu.Unlock()
	return fm.current == n
}

func (fm *FlowManager) stateChanged(name string) {
	if fm.cfg.OnEvent != nil {
		fm.emit(Event{Kind: EventStateChanged, Node: fm.CurrentNode(), Detail: name, State: fm.state.Snapshot()})
	}
}

// end asks for the end of the session, once, behind everything that has been said.
func (fm *FlowManager) end(reason string, err error) {
	fm.mu.Lock()
	if fm.ended {
		fm.mu.Unlock()
		return
	}
	fm.ended = true
	fm.mu.Unlock()
	fm.post = nil
	fm.cfg.Enqueuer.QueueFrame(&frames.EndFrame{Reason: reason})
	fm.emit(Event{Kind: EventEnded, Node: fm.CurrentNode(), Detail: reason, Err: err})
}
