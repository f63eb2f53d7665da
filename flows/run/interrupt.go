package run

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// InterruptKind is why a run waits.
type InterruptKind string

// The kinds of interrupts. An open input, a talking node without words from the user, is
// not listed in [Run.Interrupts]; it is a [Need] of kind [NeedTalk].
const (
	InterruptForm     InterruptKind = "form"     // a person fills a form
	InterruptConfirm  InterruptKind = "confirm"  // somebody allows a call, or does not
	InterruptCallback InterruptKind = "callback" // an async call's answer
	InterruptEscalate InterruptKind = "escalate" // the user wants what the flow cannot do
	InterruptTool     InterruptKind = "tool"     // a tool asks for something
)

// Audience is whom an interrupt asks.
type Audience string

// The audiences.
const (
	AudienceUser     Audience = "user"
	AudienceOperator Audience = "operator"
	AudienceHost     Audience = "host"
)

// Interrupt is why a run waits, and what would be an answer.
type Interrupt struct {
	ID       string          `json:"id"` // derived from run, path, visit and name
	Kind     InterruptKind   `json:"kind"`
	Name     string          `json:"name"`
	Scope    string          `json:"scope"`
	Node     string          `json:"node"`
	Visit    int             `json:"visit"`
	Audience Audience        `json:"audience"`
	Title    string          `json:"title,omitempty"`  // for whom it asks
	Reason   string          `json:"reason,omitempty"` // why, e.g. the words of the user
	Schema   json.RawMessage `json:"schema,omitempty"` // what an answer looks like; empty for anything but null
	Tool     string          `json:"tool,omitempty"`   // of a confirm: what would be called
	Args     map[string]any  `json:"args"`             // and with what
	Call     string          `json:"call,omitempty"`   // id of the call that waits
	Deadline time.Time       `json:"deadline,omitzero"`
	Default  any             `json:"default,omitempty"` // the answer when the deadline passes
	HasDef   bool            `json:"has_default,omitempty"`
	URL      string          `json:"url,omitempty"` // where a callback's answer is sent to
}

// interruptID derives the id of an interrupt.
func interruptID(run, path, node string, visit int, name string) string {
	return digest("interrupt", run, path, node, strconv.Itoa(visit), name)
}

// idempotencyKey derives the key of a call: retries and resumes share it, and a later
// visit, also one after a correction, has its own.
func idempotencyKey(run, path, node string, visit int, call string) string {
	return digest("call", run, path, node, strconv.Itoa(visit), call)
}

// digest is a short name that cannot be guessed without knowing the parts.
func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}
