package llm

import (
	"fmt"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// The roles of this package's processors in a pipeline's wiring.
const (
	RoleService             = "llm service"
	RoleUserAggregator      = "user aggregator"
	RoleAssistantAggregator = "assistant aggregator"
)

// maxLater bounds the frames that wait behind a generation.
const maxLater = 4096

// Service is the processor that generates responses and runs the functions they
// call. It is asked to generate by LLMRunFrames, which merge: one generation is
// under way at a time, and none while a batch of calls is open, while the user
// speaks, or while a director blocks it.
//
// It keeps the assistant's side of the conversation: a response is entered when
// it is complete, together with its calls and a placeholder for each of their
// results, and results replace their placeholders in place. What of a response was
// really heard is settled by the [AssistantAggregator] at the end of the pipeline.
//
// Functions are registered before the session runs or, from then on, bound to
// tools; see [Function].
type Service struct {
	pipeline.Base
	cfg       Config
	functions map[string]Function
	director  Director
	schemas   schemaCache

	want         bool // a generation is asked for
	owed         bool // a generation was discarded and nothing has answered since
	userSpeaking bool
	blocked      int
	skipSpeech   bool
	rounds       int // generations that nothing from outside asked for
	responses    uint64
	stalled      stall
	failures     int       // responses in a row that Model failed to give
	usableAt     time.Time // until then Model is not asked

	gen     *generation
	batch   *batch
	async   map[string]*call
	later   []frames.Frame // wait behind the generation
	updates []*frames.LLMContextUpdateFrame

	early []func() // asked for by the director before the session ran

	stopped  bool
	end      *frames.EndFrame // waits for what is under way
	endTimer *pipeline.Timer
}

// NewService makes a service. One service serves one session.
func NewService(cfg Config) (*Service, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.defaults()
	return &Service{cfg: cfg, functions: map[string]Function{}, async: map[string]*call{}}, nil
}

// Name is "llm".
func (s *Service) Name() string { return "llm" }

// Wiring places the service between the aggregators.
func (s *Service) Wiring() pipeline.Wiring {
	return pipeline.Wiring{
		Role: RoleService, Single: true,
		After: []string{RoleUserAggregator}, Before: []string{RoleAssistantAggregator},
	}
}

// RegisterFunction says which handler runs the tool of that name, with the default
// options. It must be called before the session runs or on its loop.
func (s *Service) RegisterFunction(name string, h ToolHandler) {
	s.functions[name] = Function{Handler: h}
}

// Register is [Service.RegisterFunction] with options.
func (s *Service) Register(name string, f Function) { s.functions[name] = f }

// Context is the conversation.
func (s *Service) Context() *frames.LLMContext { return s.cfg.Context }

// Process takes what concerns the model and passes on the rest. Ordered frames on
// their way to the user wait while a generation is under way, so that nothing is
// said in the middle of a response.
func (s *Service) Process(f frames.Frame, dir pipeline.Direction) {
	if dir == pipeline.Upstream {
		s.Push(f, dir)
		return
	}
	switch f := f.(type) {
	case *frames.LLMRunFrame:
		if f.Wanted == nil || f.Wanted() {
			s.rounds = 0
			s.requestRun()
		}
	case *frames.LLMMessagesAppendFrame:
		s.cfg.Context.Append(f.Messages...)
		if f.Run {
			s.requestRun()
		}
	case *frames.LLMContextUpdateFrame:
		s.queueUpdate(f)
	case *frames.FunctionResultFrame:
		s.settleRemote(f)
	case *frames.UserTextFrame:
		s.rounds = 0
		s.skipSpeech = f.SkipSpeech
		s.Push(f, dir)
	case *frames.UserStartedSpeakingFrame:
		s.rounds = 0
		s.userSpeaking, s.skipSpeech = true, false
		s.Push(f, dir)
	case *frames.UserStoppedSpeakingFrame:
		s.userSpeaking = false
		s.want = s.want || s.owed
		s.Dirty()
		s.Push(f, dir)
	case *frames.EndFrame:
		s.beginEnd(f)
	default:
		s.send(f)
	}
}

// requestRun asks for one generation once the dust has settled.
func (s *Service) requestRun() {
	s.want = true
	s.Dirty()
}

// send passes a frame on to the user's side, behind the generation under way.
func (s *Service) send(f frames.Frame) {
	if s.gen != nil && !f.Class().IsSystem() {
		if _, live := f.(*frames.InputAudioFrame); !live {
			s.deferFrame(f)
			return
		}
	}
	if speak, ok := f.(*frames.SpeakFrame); ok {
		s.enterLine(speak)
	}
	s.Push(f, pipeline.Downstream)
}

func (s *Service) deferFrame(f frames.Frame) {
	if len(s.later) >= maxLater {
		s.Fail(fmt.Errorf("llm: %w: %d frames wait behind a response", pipeline.ErrOverflow, maxLater))
		return
	}
	s.later = append(s.later, f)
}

// enterLine puts a fixed line in the conversation on its way to the user.
func (s *Service) enterLine(f *frames.SpeakFrame) {
	if f.NoContext || f.Response != 0 {
		return
	}
	s.responses++
	f.Response = s.responses
	s.cfg.Context.AppendProvisional(f.Response, frames.Message{Role: frames.RoleAssistant, Text: f.Text})
}

// flushLater sends on what waited behind the generation.
func (s *Service) flushLater() {
	later := s.later
	s.later = nil
	for _, f := range later {
		s.send(f)
	}
}

// Interrupt ends the response of the old turn. Calls go on unless they asked to be
// cancelled.
func (s *Service) Interrupt(*frames.InterruptionFrame) {
	if s.gen != nil {
		s.gen.cancel(errInterrupted)
		s.stalled = s.gen.stall()
		s.gen = nil
		s.owed = true
	}
	kept := s.later[:0]
	for _, f := range s.later {
		if f.Class().Survives() {
			kept = append(kept, f)
		} else if d, ok := f.(frames.Droppable); ok {
			d.Dropped()
		}
	}
	s.later = kept
	s.flushLater()
	s.cancelInterrupted()
	if s.director != nil {
		s.director.Interrupted()
	}
	s.Dirty()
}

// Settle decides, once everything that happened at the same time is known: a
// settled batch first, then changes of the conversation, then the end, then the
// next generation.
func (s *Service) Settle() {
	if s.batch != nil && s.batch.open == 0 {
		s.finishBatch()
	}
	if s.batch == nil {
		for len(s.updates) > 0 {
			u := s.updates[0]
			s.updates = s.updates[1:]
			s.applyUpdate(u)
		}
		s.updates = nil
	}
	if s.end != nil {
		if s.gen == nil && s.batch == nil {
			s.finishEnd()
		}
		return
	}
	if s.want && s.gen == nil && s.batch == nil && !s.userSpeaking && s.blocked == 0 {
		s.generate()
	}
}

// queueUpdate keeps a change until no batch is open.
func (s *Service) queueUpdate(f *frames.LLMContextUpdateFrame) {
	if len(s.updates) >= maxLater {
		s.Fail(fmt.Errorf("llm: %w: %d changes of the conversation wait for function calls", pipeline.ErrOverflow, maxLater))
		return
	}
	s.updates = append(s.updates, f)
	s.Dirty()
}

func (s *Service) applyUpdate(u *frames.LLMContextUpdateFrame) {
	s.update(u.Update)
	if u.Run {
		s.want = true
	}
	if u.Applied != nil {
		u.Applied()
	}
}

// update changes the conversation. A generation that began before is discarded:
// it answers a conversation that is no more.
func (s *Service) update(u frames.ContextUpdate) {
	if s.gen != nil {
		s.discard("replaced")
	}
	s.cfg.Context.Apply(u)
}

// beginEnd lets what is under way finish, for a while.
func (s *Service) beginEnd(f *frames.EndFrame) {
	if s.end != nil {
		return
	}
	s.end = f
	s.ExtendEnd(s.cfg.EndWait)
	s.endTimer = s.After(pipeline.SessionScope, s.cfg.EndWait, func() {
		if s.gen != nil {
			s.discard("ended")
		}
		s.cancelCalls("the session is ending")
		s.Dirty()
	})
	s.Dirty()
}

func (s *Service) finishEnd() {
	s.endTimer.Stop()
	s.cancelCalls("the session is ending")
	f := s.end
	s.flushLater()
	s.Push(f, pipeline.Downstream)
}

// Stop settles what is still open, so that every call has its end.
func (s *Service) Stop() {
	if s.gen != nil {
		s.gen.cancel(errEnded)
		s.gen = nil
	}
	s.stopped = true
	s.cancelCalls("the session has ended")
	if s.batch != nil {
		s.finishBatch()
	}
	for _, f := range s.later {
		if d, ok := f.(frames.Droppable); ok {
			d.Dropped()
		}
	}
	s.later = nil
}

// trouble reports an error to the client and the log.
func (s *Service) trouble(category frames.ErrorCategory, public string, err error) {
	s.Push(&frames.ErrorFrame{Category: category, Public: public, Err: err, Source: s.Name()}, pipeline.Upstream)
}
