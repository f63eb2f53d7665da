package flows_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/turnwise/turnwise/flows"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/pipeline"
)

// What follows uses the surface that is fixed; it must compile as it stands.
var (
	_ flows.Enqueuer = (*pipeline.Task)(nil)
	_ flows.LLM      = (*llm.Service)(nil)

	_ func(flows.Config) (*flows.FlowManager, error)                     = flows.New
	_ func(flows.Config) error                                           = flows.Config.Validate
	_ func(*flows.FlowManager, context.Context, *flows.NodeConfig) error = (*flows.FlowManager).Initialize
	_ func(*flows.FlowManager) string                                    = (*flows.FlowManager).CurrentNode
	_ flows.Handler                                                      = func(context.Context, json.RawMessage, *flows.FlowManager) (string, *flows.NodeConfig, error) {
		return "", nil, nil
	}
	_ = flows.Config{LLM: flows.LLM(nil), Context: (*frames.LLMContext)(nil), Enqueuer: flows.Enqueuer(nil), GlobalFunctions: []flows.NodeFunction(nil)}
	_ = flows.NodeConfig{Name: "", RoleMessage: "", TaskMessages: []frames.Message(nil), Functions: []flows.NodeFunction(nil), RespondImmediately: (*bool)(nil)}
	_ = flows.NodeFunction{Name: "", Description: "", Parameters: json.RawMessage(nil), Handler: flows.Handler(nil)}
)

// stubLLM and stubQueue are a program's own.
type stubLLM struct{ handlers map[string]llm.ToolHandler }

func (s *stubLLM) RegisterFunction(name string, h llm.ToolHandler) {
	if s.handlers == nil {
		s.handlers = map[string]llm.ToolHandler{}
	}
	if s.handlers[name] != nil {
		panic("registered twice: " + name)
	}
	s.handlers[name] = h
}

type stubQueue struct {
	mu    sync.Mutex
	queue []frames.Frame
}

func (q *stubQueue) QueueFrame(f frames.Frame) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.queue = append(q.queue, f)
}

// take is what was queued since, by type and text.
func (q *stubQueue) take() string {
	q.mu.Lock()
	defer q.mu.Unlock()
	var out []string
	for _, f := range q.queue {
		name := strings.TrimPrefix(fmt.Sprintf("%T", f), "*frames.")
		if s, ok := f.(*frames.SpeakFrame); ok {
			name += " " + s.Text
		}
		out = append(out, name)
	}
	q.queue = nil
	return strings.Join(out, ", ")
}

type stub struct {
	t     *testing.T
	llm   *stubLLM
	queue *stubQueue
	convo *frames.LLMContext
	fm    *flows.FlowManager
}

func newStub(t *testing.T, change func(*flows.Config)) *stub {
	t.Helper()
	s := &stub{t: t, llm: &stubLLM{}, queue: &stubQueue{}, convo: frames.NewLLMContext("")}
	cfg := flows.Config{LLM: s.llm, Context: s.convo, Enqueuer: s.queue}
	if change != nil {
		change(&cfg)
	}
	var err error
	if s.fm, err = flows.New(cfg); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *stub) call(name, args string) (string, error) {
	h := s.llm.handlers[name]
	if h == nil {
		s.t.Fatalf("%s is not registered", name)
	}
	return h(s.t.Context(), json.RawMessage(args))
}

func TestAPlainLLMIsEnough(t *testing.T) {
	second := node("second", fn("back", "", nil))
	s := newStub(t, func(c *flows.Config) { c.GlobalFunctions = []flows.NodeFunction{fn("help", "helped", nil)} })
	if got := s.fm.CurrentNode(); got != "" {
		t.Errorf("before Initialize the node is %q", got)
	}
	first := node("first", fn("stay", "stayed", nil), fn("go", "gone", second))
	first.RoleMessage = "You are kind."
	if err := s.fm.Initialize(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if got := s.queue.take(); got != "LLMRunFrame" {
		t.Errorf("Initialize queued %q", got)
	}
	want := "system: You are kind.\ndeveloper: task first\ntools: stay go help"
	if got := show(s.convo.Snapshot()); got != want {
		t.Errorf("the conversation is\n%s\nwant\n%s", got, want)
	}
	if text, err := s.call("stay", ""); text != "stayed" || err != nil || s.fm.CurrentNode() != "first" {
		t.Errorf("stay: %q, %v, at %s", text, err, s.fm.CurrentNode())
	}
	if got := s.queue.take(); got != "" {
		t.Errorf("staying queued %q", got)
	}
	if text, err := s.call("go", "{}"); text != "gone" || err != nil || s.fm.CurrentNode() != "second" {
		t.Errorf("go: %q, %v, at %s", text, err, s.fm.CurrentNode())
	}
	if got := s.queue.take(); got != "LLMRunFrame" {
		t.Errorf("the transition queued %q", got)
	}
	want = "system: You are kind.\ndeveloper: task first\ndeveloper: task second\ntools: back help"
	if got := show(s.convo.Snapshot()); got != want {
		t.Errorf("the conversation is\n%s\nwant\n%s", got, want)
	}
	if text, err := s.call("help", "{}"); text != "helped" || err != nil {
		t.Errorf("help: %q, %v", text, err)
	}
	if _, err := s.call("stay", "{}"); err == nil || !strings.Contains(err.Error(), "back help") {
		t.Errorf("a call that is not on offer: %v", err)
	}
}

func TestAPlainLLMsFunctionRunsOutOfTime(t *testing.T) {
	virtual(t, "even if it ignores its context", func(t *testing.T) {
		release := make(chan struct{})
		s := newStub(t, func(c *flows.Config) { c.FunctionTimeout = time.Second })
		f := flows.NodeFunction{Name: "hang", Handler: func(context.Context, json.RawMessage, *flows.FlowManager) (string, *flows.NodeConfig, error) {
			<-release
			return "late", node("late"), nil
		}}
		if err := s.fm.Initialize(t.Context(), node("n", f)); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if _, err := s.call("hang", "{}"); err == nil || time.Since(begun) != time.Second {
			t.Errorf("after %s: %v", time.Since(begun), err)
		}
		close(release)
		time.Sleep(time.Millisecond)
		if got := s.fm.CurrentNode(); got != "n" {
			t.Errorf("the late result led to %s", got)
		}
	})
}

func TestAPlainLLMsActions(t *testing.T) {
	virtual(t, "are done in order before the run", func(t *testing.T) {
		s := newStub(t, nil)
		ran := 0
		n := node("n")
		n.PreActions = []flows.Action{flows.Say("A"), flows.Run(func(context.Context, flows.Action, *flows.FlowManager) error { ran++; return nil }), flows.Say("B")}
		if err := s.fm.Initialize(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		s.queue.mu.Lock()
		mark, _ := s.queue.queue[len(s.queue.queue)-1].(*frames.MarkFrame)
		s.queue.mu.Unlock()
		if got := s.queue.take(); got != "SpeakFrame A, MarkFrame" || mark == nil {
			t.Fatalf("queued %q", got)
		}
		mark.Arrive()
		time.Sleep(time.Millisecond)
		if got := s.queue.take(); got != "SpeakFrame B, LLMRunFrame" || ran != 1 {
			t.Errorf("then queued %q, the handler ran %d times", got, ran)
		}
	})
}

func TestNewNamesWhatIsMissing(t *testing.T) {
	ok := flows.Config{LLM: &stubLLM{}, Context: frames.NewLLMContext(""), Enqueuer: &stubQueue{}}
	for name, c := range map[string]struct {
		break_ func(*flows.Config)
		want   string
	}{
		"LLM":                     {func(c *flows.Config) { c.LLM = nil }, "LLM is required"},
		"a nil pointer as LLM":    {func(c *flows.Config) { c.LLM = (*llm.Service)(nil) }, "LLM is required"},
		"Context":                 {func(c *flows.Config) { c.Context = nil }, "Context is required"},
		"Enqueuer":                {func(c *flows.Config) { c.Enqueuer = nil }, "Enqueuer is required"},
		"a negative timeout":      {func(c *flows.Config) { c.SummaryTimeout = -1 }, "SummaryTimeout"},
		"a global without name":   {func(c *flows.Config) { c.GlobalFunctions = []flows.NodeFunction{fn("", "", nil)} }, `function "#1"`},
		"two globals of one name": {func(c *flows.Config) { c.GlobalFunctions = []flows.NodeFunction{fn("x", "", nil), fn("x", "", nil)} }, `function "x"`},
		"a handler for say":       {func(c *flows.Config) { c.Actions = map[string]flows.ActionHandler{"say": nil} }, `Actions["say"]`},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := ok
			c.break_(&cfg)
			fm, err := flows.New(cfg)
			if fm != nil || !errors.Is(err, flows.ErrConfig) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("New gave %v, %v; want an error with %q", fm, err, c.want)
			}
			if verr := cfg.Validate(); verr == nil || verr.Error() != err.Error() {
				t.Errorf("Validate gave %v", verr)
			}
		})
	}
	if err := ok.Validate(); err != nil {
		t.Errorf("a complete configuration: %v", err)
	}
}

func TestABadNodeIsNotEntered(t *testing.T) {
	noHandler := flows.NodeFunction{Name: "idle"}
	badSchema := fn("odd", "", nil)
	badSchema.Parameters = json.RawMessage(`{"type":"string"}`)
	for name, c := range map[string]struct {
		node *flows.NodeConfig
		want []string
	}{
		"nil":                        {nil, []string{"nil"}},
		"two functions of one name":  {node("n", fn("twin", "", nil), fn("twin", "", nil)), []string{`node "n"`, `function "twin"`}},
		"a function without name":    {node("n", fn("", "", nil)), []string{`node "n"`, `function "#1"`, "no name"}},
		"a function without handler": {node("n", noHandler), []string{`node "n"`, `function "idle"`, "no handler"}},
		"parameters of a string":     {node("n", badSchema), []string{`function "odd"`, "object"}},
		"an unknown type of action":  {&flows.NodeConfig{Name: "n", PreActions: []flows.Action{{Type: "dance"}}}, []string{`node "n"`, "pre-action 1", `"dance"`}},
		"a function without a func":  {&flows.NodeConfig{Name: "n", PostActions: []flows.Action{{Type: flows.ActionFunction}}}, []string{"post-action 1", "no handler"}},
		"a say action without words": {&flows.NodeConfig{Name: "n", PreActions: []flows.Action{flows.Say("")}}, []string{"says nothing"}},
		"a tool message as a task":   {&flows.NodeConfig{Name: "n", TaskMessages: []frames.Message{{Role: frames.RoleTool}}}, []string{"task message 1"}},
		"NoResponse":                 {flows.NoResponse, []string{"NoResponse"}},
		"an edge that leads nowhere": {node("n", flows.Edge("go", "", nil)), []string{`function "go"`, "nil node"}},
		"arguments without a schema": {node("n", flows.Func("f", "", func(context.Context, struct{ C chan int }, *flows.FlowManager) (string, *flows.NodeConfig, error) {
			return "", nil, nil
		})), []string{`function "f"`, "schema"}},
		"a typed function without fn": {node("n", flows.Func[struct{}]("f", "", nil)), []string{`function "f"`, "no handler"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStub(t, nil)
			err := s.fm.Initialize(t.Context(), c.node)
			if !errors.Is(err, flows.ErrInvalidNode) {
				t.Fatalf("Initialize gave %v", err)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("the error %q does not say %q", err, w)
				}
			}
			var at *flows.NodeError
			if !errors.As(err, &at) {
				t.Errorf("the error is no NodeError: %v", err)
			}
			if s.fm.CurrentNode() != "" || s.queue.take() != "" || len(s.convo.Messages()) != 0 {
				t.Error("something has changed")
			}
			if err := s.fm.Initialize(t.Context(), node("good")); err != nil {
				t.Errorf("a second attempt with a good node: %v", err)
			}
		})
	}
}

func TestInitializeIsDoneOnce(t *testing.T) {
	s := newStub(t, nil)
	if err := s.fm.SetNode(t.Context(), node("early")); !errors.Is(err, flows.ErrNotInitialized) {
		t.Errorf("SetNode before Initialize: %v", err)
	}
	if err := s.fm.Initialize(t.Context(), &flows.NodeConfig{}); err != nil {
		t.Fatal(err)
	}
	if got := s.fm.CurrentNode(); got != flows.UnnamedNode {
		t.Errorf("at an unnamed node: %q", got)
	}
	s.queue.take()
	before := show(s.convo.Snapshot())
	for _, second := range []*flows.NodeConfig{node("other"), nil} {
		if err := s.fm.Initialize(t.Context(), second); !errors.Is(err, flows.ErrAlreadyInitialized) {
			t.Errorf("a second Initialize: %v", err)
		}
	}
	if got := s.fm.CurrentNode(); got != flows.UnnamedNode || s.queue.take() != "" || show(s.convo.Snapshot()) != before {
		t.Errorf("the second Initialize has changed something: at %q", got)
	}
}

func TestAnUnstartedServiceQueuesOneRun(t *testing.T) {
	convo := frames.NewLLMContext("")
	svc, err := llm.NewService(llm.Config{Model: &script{}, Context: convo})
	if err != nil {
		t.Fatal(err)
	}
	queue := &stubQueue{}
	fm, err := flows.New(flows.Config{LLM: svc, Context: convo, Enqueuer: queue})
	if err != nil {
		t.Fatal(err)
	}
	n := node("n", fn("go", "", nil))
	n.PreActions = []flows.Action{flows.Say("A"), flows.Say("B")}
	if err := fm.Initialize(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	if got := queue.take(); got != "SpeakFrame A, SpeakFrame B, LLMRunFrame" {
		t.Errorf("queued %q", got)
	}
	if got := show(convo.Snapshot()); got != "developer: task n\ntools: go" || fm.CurrentNode() != "n" {
		t.Errorf("the conversation is\n%s\nat %s", got, fm.CurrentNode())
	}
}
