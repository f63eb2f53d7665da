package speech

import (
	"fmt"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// RoleReprompt is the role of a [Reprompt] in a pipeline's wiring.
const RoleReprompt = "reprompt"

// RepromptConfig is the settings of a [Reprompt].
type RepromptConfig struct {
	// Lines are said to a user who says nothing: the first when
	// [TurnSettings].Idle has passed, the next when it has passed again.
	Lines []string
	// Farewell is said when it has passed once more, and ends the session. Empty
	// leaves it open, and repeats the last of the lines no more.
	Farewell string
	// NoContext keeps the lines out of the conversation that the model sees.
	NoContext bool
}

// Reprompt asks users who say nothing whether they are still there. When that is, is
// for turn taking to say, which tells it with a [UserIdleFrame].
type Reprompt struct {
	pipeline.Base
	cfg RepromptConfig
}

// NewReprompt makes the processor.
func NewReprompt(cfg RepromptConfig) (*Reprompt, error) {
	if len(cfg.Lines) == 0 && cfg.Farewell == "" {
		return nil, fmt.Errorf("%w: RepromptConfig has neither Lines nor a Farewell", ErrConfig)
	}
	return &Reprompt{cfg: cfg}, nil
}

// Name is "reprompt".
func (*Reprompt) Name() string { return RoleReprompt }

// Wiring places it behind turn taking and before the conversation that its lines enter.
func (*Reprompt) Wiring() pipeline.Wiring {
	return pipeline.Wiring{
		Role: RoleReprompt, Single: true,
		After: []string{RoleTurns}, Before: []string{roleUserAggregator, roleService, RoleSynthesis, RoleOutput},
	}
}

// Process passes everything on, and says its lines behind what tells it to.
func (r *Reprompt) Process(f frames.Frame, dir pipeline.Direction) {
	r.Push(f, dir)
	idle, ok := f.(*UserIdleFrame)
	if !ok || dir == pipeline.Upstream {
		return
	}
	switch n := len(r.cfg.Lines); {
	case idle.Count <= n:
		r.say(r.cfg.Lines[idle.Count-1])
	case idle.Count == n+1 && r.cfg.Farewell != "":
		r.say(r.cfg.Farewell)
		r.Push(&frames.EndFrame{Reason: "the user says nothing"}, pipeline.Downstream)
	}
}

func (r *Reprompt) say(line string) {
	r.Push(&frames.SpeakFrame{Text: line, NoContext: r.cfg.NoContext}, pipeline.Downstream)
}
