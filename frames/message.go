package frames

import (
	"encoding/json"
	"sync/atomic"
)

// Role is who a message is from.
type Role string

// The roles, as chat models know them.
const (
	RoleSystem    Role = "system"
	RoleDeveloper Role = "developer"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one entry of a conversation.
type Message struct {
	Role Role
	Text string
	// Name is an optional name of the speaker; for a tool message the function's.
	Name string
	// ToolCalls are the functions an assistant message calls.
	ToolCalls []ToolCall
	// ToolCallID says which call a tool message answers.
	ToolCallID string
	// Pending marks a tool message that holds the place of a result to come.
	Pending bool
	// Interrupted marks an assistant message that was cut to what was heard.
	Interrupted bool
}

// ToolCall is a function call a model asked for.
type ToolCall struct {
	// ID is the model's own id for the call, unique in a conversation.
	ID string
	// Name is the function's.
	Name string
	// Args is the argument object as the model wrote it; it may be invalid JSON.
	Args json.RawMessage
}

// Encoder turns messages into a provider's wire form. One value of it is shared
// by everything that speaks that form; entries remember what it made.
type Encoder struct {
	// Message appends the wire form of m to dst. It must not keep m.
	Message func(dst []byte, m *Message) []byte
	// Tools appends the wire form of the tools to dst.
	Tools func(dst []byte, tools []Tool) []byte
}

// Entry is one message inside an [LLMContext]. It never changes, so it may be
// read from any goroutine; a change of the conversation puts a new entry in its
// place.
type Entry struct {
	id      EntryID
	message Message
	wire    atomic.Pointer[wireForm]
}

// EntryID names an entry's place in its [LLMContext]; it stays the same when the
// message in that place is replaced. The zero value names nothing.
type EntryID uint64

type wireForm struct {
	by    *Encoder
	bytes []byte
}

// ID is the entry's.
func (e *Entry) ID() EntryID { return e.id }

// Message is the entry's content. Its slices must not be changed.
func (e *Entry) Message() *Message { return &e.message }

// Encoded is the message in enc's wire form. It is made once per entry and
// encoder and must not be changed.
func (e *Entry) Encoded(enc *Encoder) []byte {
	if w := e.wire.Load(); w != nil && w.by == enc {
		return w.bytes
	}
	b := enc.Message(nil, &e.message)
	e.wire.Store(&wireForm{by: enc, bytes: b})
	return b
}
