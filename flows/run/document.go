package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// The document is a flow as JSON with the keys of flow files. It is what a store keeps by
// its hash and what a run is pinned to; [Compile] reads it.

// docFlow is a flow in the document.
type docFlow struct {
	Flow        string                     `json:"flow"`
	Version     string                     `json:"version"`
	Persona     string                     `json:"persona"`
	Greet       string                     `json:"greet"`
	WelcomeBack string                     `json:"welcome_back"`
	Key         string                     `json:"key"`
	Inputs      map[string]json.RawMessage `json:"inputs"`
	State       map[string]json.RawMessage `json:"state"`
	Corrections corrections                `json:"corrections"`
	Tools       map[string]docTool         `json:"tools"`
	Policy      *docPolicy                 `json:"policy"`
	Functions   map[string]docFunction     `json:"functions"`
	Silence     []docSilence               `json:"silence"`
	Abandon     duration                   `json:"abandon"`
	OnError     string                     `json:"on_error"`
	Start       string                     `json:"start"`
	Nodes       map[string]docNode         `json:"nodes"`
	Flows       map[string]docFlow         `json:"flows"`
}

// docField is what a field says besides its schema.
type docField struct {
	Description string          `json:"description"`
	Default     json.RawMessage `json:"default"`
	Sensitive   bool            `json:"sensitive"`
	DependsOn   []string        `json:"depends_on"`
	Correct     *bool           `json:"correct"`
}

// docTool is a tool.
type docTool struct {
	Description string                     `json:"description"`
	Parameters  map[string]json.RawMessage `json:"parameters"`
	HTTP        *struct {
		Method string `json:"method"`
	} `json:"http"`
	MCP *struct {
		Allow []string `json:"allow"`
	} `json:"mcp"`
	Timeout     duration `json:"timeout"`
	Retry       docRetry `json:"retry"`
	Permissions []string `json:"permissions"`
	Risk        string   `json:"risk"`
	Idempotent  bool     `json:"idempotent"`
	ReadOnly    bool     `json:"read_only"`
}

// docPolicy is what may be called.
type docPolicy struct {
	Allow []string `json:"allow"`
}

// docRetry is how often a failed call is tried again.
type docRetry struct {
	MaxAttempts int      `json:"max_attempts"`
	Delay       duration `json:"delay"`
	MaxDelay    duration `json:"max_delay"`
	Backoff     float64  `json:"backoff"`
	On          []string `json:"on"`
}

// docFunction is a function.
type docFunction struct {
	Description string                     `json:"description"`
	Parameters  map[string]json.RawMessage `json:"parameters"`
	Examples    []string                   `json:"examples"`
	Call        string                     `json:"call"`
	Args        map[string]any             `json:"args"`
	Save        map[string]any             `json:"save"`
	Result      any                        `json:"result"`
	Filler      string                     `json:"filler"`
	Timeout     duration                   `json:"timeout"`
	Clear       []string                   `json:"clear"`
	Respond     string                     `json:"respond"`
	Correct     string                     `json:"correct"`
	Next        docNext                    `json:"next"`
	Visit       string                     `json:"visit"`
}

// docSilence is a step of silence.
type docSilence struct {
	After duration `json:"after"`
	Say   string   `json:"say"`
	To    string   `json:"to"`
}

// docNode is a node.
type docNode struct {
	Title       string                 `json:"title"`
	Persona     string                 `json:"persona"`
	Say         string                 `json:"say"`
	Task        docTask                `json:"task"`
	Collect     []string               `json:"collect"`
	Check       []docCheck             `json:"check"`
	Attempts    int                    `json:"attempts"`
	OnAttempts  string                 `json:"on_attempts"`
	Tools       []string               `json:"tools"`
	OutOfScope  *docScope              `json:"out_of_scope"`
	FollowUp    string                 `json:"follow_up"`
	Closure     []string               `json:"closure"`
	Functions   map[string]docFunction `json:"functions"`
	Call        string                 `json:"call"`
	Args        map[string]any         `json:"args"`
	Async       bool                   `json:"async"`
	Answer      json.RawMessage        `json:"answer"`
	Deadline    duration               `json:"deadline"`
	Default     json.RawMessage        `json:"default"`
	OnTimeout   string                 `json:"on_timeout"`
	Meanwhile   *docMeanwhile          `json:"while_waiting"`
	Confirm     *docConfirm            `json:"confirm"`
	OnRefuse    string                 `json:"on_refuse"`
	Undo        *docUndo               `json:"undo"`
	Agent       *docAgent              `json:"agent"`
	Set         map[string]any         `json:"set"`
	Branch      docNext                `json:"branch"`
	Human       *docHuman              `json:"human"`
	Parallel    *docParallel           `json:"parallel"`
	Loop        *docLoop               `json:"loop"`
	Use         string                 `json:"use"`
	Input       map[string]any         `json:"input"`
	End         *docEnd                `json:"end"`
	Save        map[string]any         `json:"save"`
	Next        docNext                `json:"next"`
	OnError     string                 `json:"on_error"`
	Timeout     duration               `json:"timeout"`
	Retry       docRetry               `json:"retry"`
	MaxVisits   int                    `json:"max_visits"`
	OnMaxVisits string                 `json:"on_max_visits"`
	Require     *docRequire            `json:"require"`
	Silence     []docSilence           `json:"silence"`
}

type (
	docCheck struct {
		When string `json:"when"`
		Say  string `json:"say"`
	}
	docScope struct {
		About string `json:"about"`
		To    string `json:"to"`
	}
	docMeanwhile struct {
		Talk string `json:"talk"`
		Say  string `json:"say"`
	}
	docConfirm struct {
		When string   `json:"when"`
		By   Audience `json:"by"`
		Say  string   `json:"say"`
	}
	docUndo struct {
		Call    string         `json:"call"`
		Args    map[string]any `json:"args"`
		Timeout duration       `json:"timeout"`
	}
	docAgent struct {
		Prompt string          `json:"prompt"`
		Input  map[string]any  `json:"input"`
		Output json.RawMessage `json:"output"`
	}
	docHuman struct {
		Ask      Audience        `json:"ask"`
		Title    string          `json:"title"`
		Form     json.RawMessage `json:"form"`
		Options  []string        `json:"options"`
		Deadline duration        `json:"deadline"`
		Default  json.RawMessage `json:"default"`
	}
	docEnd struct {
		Outcome string `json:"outcome"`
		Success *bool  `json:"success"`
		Say     string `json:"say"`
		Value   any    `json:"value"`
	}
	docRequire struct {
		When string `json:"when"`
		Else string `json:"else"`
	}
	docCase struct {
		When  string   `json:"when"`
		To    string   `json:"to"`
		Clear []string `json:"clear"`
	}
)

// docNext is a node's name or a list of cases.
type docNext []docCase

// UnmarshalJSON reads either form.
func (n *docNext) UnmarshalJSON(raw []byte) error {
	if bytes.HasPrefix(raw, []byte(`"`)) {
		*n = docNext{{}}
		return json.Unmarshal(raw, &(*n)[0].To)
	}
	var cases []docCase
	if err := json.Unmarshal(raw, &cases); err != nil {
		return fmt.Errorf("next is a node or a list of cases: %w", err)
	}
	*n = cases
	return nil
}

// docTask is a text or a list of messages, of which the text counts here.
type docTask string

// UnmarshalJSON reads either form.
func (t *docTask) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*t = docTask(text)
		return nil
	}
	var list []struct {
		Content string `json:"content"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return fmt.Errorf("task is a text or a list of messages: %w", err)
	}
	for i, one := range list {
		if i > 0 {
			*t += "\n"
		}
		*t += docTask(one.Content)
	}
	return nil
}

// duration is a time.Duration as flow files write it: "1.5s".
type duration time.Duration

// UnmarshalJSON reads it.
func (d *duration) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return fmt.Errorf(`a duration is written like "1.5s": %w`, err)
	}
	v, err := time.ParseDuration(text)
	if err == nil && v < 0 {
		err = fmt.Errorf("it is negative")
	}
	*d = duration(v)
	return err
}
