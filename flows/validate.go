package flows

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/turnwise/turnwise/frames"
)

// ErrInvalidNode is wrapped by every error about a node, see [NodeError].
var ErrInvalidNode = errors.New("flows: invalid node")

// NodeError says what is wrong with a node and where. A node with errors is never
// entered.
type NodeError struct {
	// Node is the node's name; empty for the global functions.
	Node string
	// Function is the function at fault, if it is one.
	Function string
	// Problem says what is wrong and what to do.
	Problem string
}

// Error names node, function and problem.
func (e *NodeError) Error() string {
	var where []string
	if e.Node != "" {
		where = append(where, fmt.Sprintf("node %q", e.Node))
	}
	if e.Function != "" {
		where = append(where, fmt.Sprintf("function %q", e.Function))
	}
	return strings.TrimSpace(ErrInvalidNode.Error()+": "+strings.Join(where, ", ")) + ": " + e.Problem
}

// Unwrap makes the error one of [ErrInvalidNode].
func (e *NodeError) Unwrap() error { return ErrInvalidNode }

// checkNode finds everything that is wrong with a node. custom knows the custom
// types of action.
func checkNode(n *NodeConfig, custom map[string]ActionHandler) error {
	if n == nil {
		return &NodeError{Problem: "the node is nil"}
	}
	if n == NoResponse {
		return &NodeError{Node: n.name(), Problem: "NoResponse is not a node that can be entered; return it from a handler"}
	}
	problems := []error{checkFunctions(n.name(), n.Functions)}
	if n.ContextStrategy > ContextSummarize {
		problems = append(problems, &NodeError{Node: n.name(), Problem: "the context strategy is unknown"})
	}
	if n.Turns != nil {
		if err := n.Turns.Validate(); err != nil {
			problems = append(problems, &NodeError{Node: n.name(), Problem: err.Error()})
		}
	}
	for i := range n.TaskMessages {
		if p := checkMessage(&n.TaskMessages[i]); p != "" {
			problems = append(problems, &NodeError{Node: n.name(), Problem: fmt.Sprintf("task message %d %s", i+1, p)})
		}
	}
	for _, list := range []struct {
		name    string
		actions []Action
	}{{"pre-action", n.PreActions}, {"post-action", n.PostActions}} {
		for i := range list.actions {
			if p := list.actions[i].problem(custom); p != "" {
				problems = append(problems, &NodeError{Node: n.name(), Problem: fmt.Sprintf("%s %d %s", list.name, i+1, p)})
			}
		}
	}
	return errors.Join(problems...)
}

// checkMessage refuses what would break the history: calls and their results are
// the service's to write.
func checkMessage(m *frames.Message) string {
	switch m.Role {
	case frames.RoleSystem, frames.RoleDeveloper, frames.RoleUser, frames.RoleAssistant:
		if len(m.ToolCalls) == 0 {
			return ""
		}
		return "calls functions; only the model may"
	case "":
		return "has no role; use developer for instructions"
	}
	return fmt.Sprintf("has the role %q; use system, developer, user or assistant", m.Role)
}

// checkFunctions checks a list of functions of a node, or the global ones.
func checkFunctions(node string, functions []NodeFunction) error {
	var problems []error
	seen := make(map[string]bool, len(functions))
	for i := range functions {
		f := &functions[i]
		at := f.Name
		if at == "" {
			at = fmt.Sprintf("#%d", i+1)
		}
		bad := func(problem string) {
			problems = append(problems, &NodeError{Node: node, Function: at, Problem: problem})
		}
		if f.Name == "" {
			bad("it has no name")
		} else if seen[f.Name] {
			bad("two functions have this name; rename one")
		}
		seen[f.Name] = true
		if f.err != nil {
			bad(f.err.Error())
		} else if f.Handler == nil {
			bad("it has no handler")
		}
		if p := checkSchema(f.Parameters); p != "" {
			bad(p)
		}
	}
	return errors.Join(problems...)
}

// checkSchema makes sure that a parameter schema can describe an object.
func checkSchema(schema json.RawMessage) string {
	if len(bytes.TrimSpace(schema)) == 0 {
		return ""
	}
	var head struct {
		Type any `json:"type"`
	}
	if err := json.Unmarshal(schema, &head); err != nil {
		return fmt.Sprintf("the parameters are not a JSON Schema object: %v", err)
	}
	if head.Type != nil && head.Type != "object" {
		return fmt.Sprintf("the parameters describe %v; they must describe an object", head.Type)
	}
	return ""
}
