package flows

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/go-playground/validator/v10"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
)

// LLM is the model service that offers the flow's functions to its model. When it
// is an [*llm.Service], or anything else with its Direct method, the FlowManager
// steers on the session loop and keeps every promise of this package. A plain LLM
// calls the handlers registered with it; a transition is then made as soon as its
// handler returns, replies are asked for with [frames.LLMRunFrame], and
// post-actions wait for what was queued before them, not for the reply.
type LLM interface {
	RegisterFunction(name string, h llm.ToolHandler)
}

// Enqueuer hands frames to the session; a [*pipeline.Task] is one. QueueFrame must
// not block.
type Enqueuer interface {
	QueueFrame(f frames.Frame)
}

// director is the side of an LLM that lets itself be steered.
type director interface {
	Direct(d llm.Director) llm.Steering
}

// Defaults of a [Config].
const (
	DefaultSummaryTimeout = 5 * time.Second
	DefaultActionTimeout  = 10 * time.Second
)

// Config is what a FlowManager needs. LLM, Context and Enqueuer are required.
type Config struct {
	// LLM is the model service.
	LLM LLM `validate:"required"`
	// Context is the conversation; the service must use the same one.
	Context *frames.LLMContext `validate:"required"`
	// Enqueuer is the session.
	Enqueuer Enqueuer `validate:"required"`
	// GlobalFunctions are offered at every node. A node's own function of the same
	// name takes precedence there.
	GlobalFunctions []NodeFunction

	// OnEvent is told what happens in the flow; see [Event]. It may be called on
	// the session loop and from several goroutines at once, and must not block.
	OnEvent func(Event)
	// State is where the flow keeps its variables; nil starts with none.
	State *State
	// ContextStrategy is what entering a node does with the history when the node
	// does not say.
	ContextStrategy ContextStrategy
	// Summarizer writes the summaries of [ContextSummarize]; nil asks the
	// service's model.
	Summarizer Summarizer
	// SummaryTimeout bounds a summary; 0 means [DefaultSummaryTimeout].
	SummaryTimeout time.Duration `validate:"gte=0"`
	// FunctionTimeout bounds calls of functions that do not say; 0 leaves it to
	// the service.
	FunctionTimeout time.Duration `validate:"gte=0"`
	// ActionTimeout bounds the handlers of actions that do not say; 0 means
	// [DefaultActionTimeout].
	ActionTimeout time.Duration `validate:"gte=0"`
	// Actions are the handlers of custom types of action, by type.
	Actions map[string]ActionHandler
	// Logger takes the flow's log; nil discards it.
	Logger *slog.Logger
}

// ErrConfig is wrapped by every error about a [Config].
var ErrConfig = errors.New("flows: invalid configuration")

// fieldRules checks validate tags. It is made when first needed and never changes.
var fieldRules = sync.OnceValue(func() *validator.Validate {
	return validator.New(validator.WithRequiredStructEnabled())
})

// Validate names every field that is missing or out of range.
func (c Config) Validate() error {
	var problems []error
	var invalid validator.ValidationErrors
	if err := fieldRules().Struct(c); errors.As(err, &invalid) {
		for _, f := range invalid {
			problems = append(problems, fieldError(f))
		}
	} else if err != nil {
		problems = append(problems, fmt.Errorf("%w: %w", ErrConfig, err))
	}
	if c.ContextStrategy > ContextSummarize {
		problems = append(problems, fmt.Errorf("%w: ContextStrategy is unknown", ErrConfig))
	}
	for kind, h := range c.Actions {
		if builtin(kind) || kind == "" || h == nil {
			problems = append(problems, fmt.Errorf("%w: Actions[%q] needs a type of its own and a handler", ErrConfig, kind))
		}
	}
	if err := checkFunctions("", c.GlobalFunctions); err != nil {
		problems = append(problems, fmt.Errorf("%w: GlobalFunctions: %w", ErrConfig, err))
	}
	return errors.Join(problems...)
}

func fieldError(f validator.FieldError) error {
	if f.Tag() == "required" {
		return fmt.Errorf("%w: %s is required", ErrConfig, f.Field())
	}
	return fmt.Errorf("%w: %s is %v; it must not be negative", ErrConfig, f.Field(), f.Value())
}
