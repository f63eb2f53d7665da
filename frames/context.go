package frames

import "sync"

// LLMContext is the conversation a model sees: a persona, a history of messages
// and the tools on offer. In a running session the session loop alone changes it;
// anyone may read it at any time, and a [Snapshot] stays as it was whatever
// happens to the conversation afterwards.
//
// The history is valid at every instant: each tool call has exactly one result,
// behind it. Each method is one atomic change.
type LLMContext struct {
	mu      sync.Mutex
	lastID  EntryID
	version uint64
	system  *Entry
	// entries is shared with snapshots up to its length at their time; shared
	// tells that replacing one in place needs a copy first. Appending never does.
	entries []*Entry
	shared  bool
	tools   *Toolset
	choice  ToolChoice
	// provisional lists the messages that are still on their way to the user.
	provisional []provisional
}

// provisional is a response whose message has not been settled.
type provisional struct {
	response uint64
	id       EntryID
}

// NewLLMContext makes a conversation with a persona, which may be empty.
func NewLLMContext(system string) *LLMContext {
	c := &LLMContext{}
	c.setSystem(system)
	return c
}

// Snapshot is a conversation at one instant. It costs the same however long the
// conversation is, and may be read from any goroutine.
type Snapshot struct {
	// System holds the persona as a system message; nil without one.
	System *Entry
	// Entries is the history, oldest first. The slice must not be changed.
	Entries []*Entry
	// Tools are the tools on offer.
	Tools *Toolset
	// Choice restricts the model's calls.
	Choice ToolChoice
	// Version grows with every change of the conversation.
	Version uint64
}

// ContextUpdate is one atomic change of a conversation, in the order of its
// fields. The zero value changes nothing.
type ContextUpdate struct {
	// System replaces the persona.
	System *string
	// Reset drops the history.
	Reset bool
	// Append is added to the history.
	Append []Message
	// Tools replaces the tools.
	Tools *Toolset
	// Choice replaces the tool choice.
	Choice *ToolChoice
}

// Apply makes one atomic change: no reader sees a part of it.
func (c *LLMContext) Apply(u ContextUpdate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if u.System != nil {
		c.setSystem(*u.System)
	}
	if u.Reset {
		c.entries, c.shared, c.provisional = nil, false, nil
	}
	c.append(u.Append)
	if u.Tools != nil {
		c.tools = u.Tools
	}
	if u.Choice != nil {
		c.choice = *u.Choice
	}
	c.version++
}

// Append adds messages to the history as one change and returns the id of the
// first.
func (c *LLMContext) Append(messages ...Message) EntryID {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version++
	return c.append(messages)
}

// Replace puts m in the place of the entry with that id. It reports false when
// the entry is no longer there.
func (c *LLMContext) Replace(id EntryID, m Message) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := c.find(id)
	if i < 0 {
		return false
	}
	c.own()
	c.entries[i] = &Entry{id: id, message: m}
	c.version++
	return true
}

// Remove takes out the entry with that id and, if it calls functions, the results
// of its calls. It reports false when the entry is no longer there.
func (c *LLMContext) Remove(id EntryID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := c.find(id)
	if i < 0 {
		return false
	}
	n := 1 + len(c.entries[i].message.ToolCalls)
	kept := make([]*Entry, 0, len(c.entries))
	kept = append(kept, c.entries[:i]...)
	c.entries = append(kept, c.entries[min(i+n, len(c.entries)):]...)
	c.shared = false
	c.version++
	return true
}

// Message returns the message with that id, and whether it is still there.
func (c *LLMContext) Message(id EntryID) (Message, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := c.find(id)
	if i < 0 {
		return Message{}, false
	}
	return c.entries[i].message, true
}

// LastUser is the last message when it is the user's.
func (c *LLMContext) LastUser() (id EntryID, text string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.entries) == 0 {
		return 0, "", false
	}
	e := c.entries[len(c.entries)-1]
	return e.id, e.message.Text, e.message.Role == RoleUser
}

// AppendProvisional appends messages as one change, the first of which is what was
// generated as a response and is still on its way to the user: [LLMContext.Heard]
// or [LLMContext.Cut] settles it.
func (c *LLMContext) AppendProvisional(response uint64, messages ...Message) EntryID {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.addProvisional(response, c.append(messages))
}

// InsertProvisional is [LLMContext.AppendProvisional] for a response to an older
// state of the conversation: the messages go behind what the snapshot s has, before
// what was added since. Where the end of the snapshot is no longer there they are
// appended.
func (c *LLMContext) InsertProvisional(s Snapshot, response uint64, messages ...Message) EntryID {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := 0
	if n := len(s.Entries); n > 0 {
		if at = c.find(s.Entries[n-1].id) + 1; at == 0 {
			at = len(c.entries)
		}
	}
	// A shared tail must not be overwritten, so it is copied before it moves.
	tail := append([]*Entry(nil), c.entries[at:]...)
	if len(tail) > 0 {
		c.own()
		c.entries = c.entries[:at]
	}
	id := c.append(messages)
	c.entries = append(c.entries, tail...)
	return c.addProvisional(response, id)
}

func (c *LLMContext) addProvisional(response uint64, id EntryID) EntryID {
	c.version++
	c.provisional = append(c.provisional, provisional{response: response, id: id})
	return id
}

// Heard settles the provisional message of a response: text is what the user heard
// or was sent of it. A message that lost some of its text, because it was interrupted
// or could not be spoken, is marked; one that lost all of it is taken out, unless it
// calls functions. It reports false when there is no such message.
func (c *LLMContext) Heard(response uint64, text string, interrupted bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, p := range c.provisional {
		if p.response == response {
			c.provisional = append(c.provisional[:i], c.provisional[i+1:]...)
			c.heard(p.id, text, interrupted)
			return true
		}
	}
	return false
}

// Cut settles every provisional message as interrupted; heard gives the text of a
// response that was heard. It is called with the conversation locked and must not
// use it.
func (c *LLMContext) Cut(heard func(response uint64) string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.provisional {
		c.heard(p.id, heard(p.response), true)
	}
	c.provisional = nil
}

// heard puts what was heard in the place of what was generated. Where they are the
// same, nothing changes, and snapshots go on sharing the history.
func (c *LLMContext) heard(id EntryID, text string, interrupted bool) {
	i := c.find(id)
	if i < 0 {
		return
	}
	m := c.entries[i].message
	if m.Text == text {
		return
	}
	c.version++
	c.own()
	if text == "" && len(m.ToolCalls) == 0 {
		c.entries = append(c.entries[:i], c.entries[i+1:]...)
		return
	}
	m.Interrupted = interrupted || len(text) < len(m.Text)
	m.Text = text
	c.entries[i] = &Entry{id: id, message: m}
}

// Snapshot is the conversation as it is now.
func (c *LLMContext) Snapshot() Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shared = true
	n := len(c.entries)
	return Snapshot{
		System: c.system, Entries: c.entries[:n:n], Tools: c.tools, Choice: c.choice, Version: c.version,
	}
}

// Messages is a copy of the history, without the persona.
func (c *LLMContext) Messages() []Message {
	s := c.Snapshot()
	out := make([]Message, len(s.Entries))
	for i, e := range s.Entries {
		out[i] = e.message
	}
	return out
}

// System is the persona.
func (c *LLMContext) System() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.system == nil {
		return ""
	}
	return c.system.message.Text
}

// Tools are the tools on offer.
func (c *LLMContext) Tools() *Toolset {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tools
}

// SetSystem replaces the persona.
func (c *LLMContext) SetSystem(text string) { c.Apply(ContextUpdate{System: &text}) }

// SetTools replaces the tools.
func (c *LLMContext) SetTools(tools []Tool) { c.Apply(ContextUpdate{Tools: NewToolset(tools...)}) }

// SetToolChoice replaces the tool choice.
func (c *LLMContext) SetToolChoice(choice ToolChoice) { c.Apply(ContextUpdate{Choice: &choice}) }

// SetMessages replaces the history.
func (c *LLMContext) SetMessages(messages []Message) {
	c.Apply(ContextUpdate{Reset: true, Append: messages})
}

// AddUserMessage appends a user message.
func (c *LLMContext) AddUserMessage(text string) EntryID {
	return c.Append(Message{Role: RoleUser, Text: text})
}

// AddAssistantMessage appends an assistant message.
func (c *LLMContext) AddAssistantMessage(text string) EntryID {
	return c.Append(Message{Role: RoleAssistant, Text: text})
}

func (c *LLMContext) setSystem(text string) {
	c.system = nil
	if text != "" {
		c.system = &Entry{message: Message{Role: RoleSystem, Text: text}}
	}
}

func (c *LLMContext) append(messages []Message) EntryID {
	first := c.lastID + 1
	for _, m := range messages {
		c.lastID++
		c.entries = append(c.entries, &Entry{id: c.lastID, message: m})
	}
	return first
}

// own makes the entries safe to change in place.
func (c *LLMContext) own() {
	if c.shared {
		c.entries = append(make([]*Entry, 0, cap(c.entries)), c.entries...)
		c.shared = false
	}
}

// find searches from the end, where what is looked for nearly always is.
func (c *LLMContext) find(id EntryID) int {
	for i := len(c.entries) - 1; i >= 0; i-- {
		if c.entries[i].id == id {
			return i
		}
	}
	return -1
}
