package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/pipeline"
)

var (
	seedFlag  = flag.Uint64("seed", 0, "run the property test with this seed only")
	casesFlag = flag.Int("cases", 3000, "cases of the property test")
)

// TestAnyInterleavingKeepsTheRules plays random conversations: users who type,
// speak, interrupt and fall silent, models that stream, call, fail and hang,
// functions of every kind. Whatever happens, R4, R6 and R8 to R12 hold.
func TestAnyInterleavingKeepsTheRules(t *testing.T) {
	if *seedFlag != 0 {
		playCase(t, *seedFlag)
		return
	}
	cases := *casesFlag
	if testing.Short() {
		cases = 200
	}
	base := uint64(time.Now().UnixNano())
	for i := range cases {
		playCase(t, base+uint64(i))
		if t.Failed() {
			return
		}
	}
}

func playCase(t *testing.T, seed uint64) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 1)), convo: frames.NewLLMContext("You help.")}
		w.play()
		if t.Failed() {
			t.Logf("seed %d, what happened:\n%s", seed, strings.Join(w.log, "\n"))
			t.Logf("history:\n%s", strings.Join(w.history(), "\n"))
		}
	})
}

// world is one random conversation with everything that is watched in it.
type world struct {
	t     *testing.T
	seed  uint64
	convo *frames.LLMContext
	task  *pipeline.Task

	mu       sync.Mutex
	rng      *rand.Rand
	log      []string
	live     []context.Context // of generations under way
	tokens   int
	calls    int
	answered int // generations that completed, errors that were reported
	trouble  int

	// On the loop.
	turn      uint64
	responses map[uint64]uint64 // response → the turn it began in
	progress  map[string]int
	results   map[string]int
	complete  map[string]bool // calls of completed responses
}

func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	w.log = append(w.log, fmt.Sprintf("%8s ", time.Since(epoch).Round(time.Millisecond))+fmt.Sprintf(format, args...))
	w.mu.Unlock()
}

// epoch is the time at which every synctest bubble begins.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func (w *world) intn(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rng.IntN(n)
}

func (w *world) pause() time.Duration {
	return []time.Duration{0, time.Millisecond, 20 * time.Millisecond, 300 * time.Millisecond, 2 * time.Second, 30 * time.Second}[w.intn(6)]
}

func (w *world) history() []string {
	var out []string
	for _, m := range w.convo.Messages() {
		out = append(out, show(&m))
	}
	return out
}

// Stream is the model.
func (w *world) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		w.mu.Lock()
		w.live = slices.DeleteFunc(w.live, func(c context.Context) bool { return c.Err() != nil })
		if len(w.live) > 0 && ctx.Err() == nil {
			w.t.Errorf("seed %d: two generations at a time (R9)", w.seed)
		}
		w.live = append(w.live, ctx)
		w.mu.Unlock()
		defer w.over(ctx)
		w.checkHistory(req.Context.Entries, true)
		w.respond(ctx, yield)
	}
}

// over notes that a generation has said its last.
func (w *world) over(ctx context.Context) {
	w.mu.Lock()
	w.live = slices.DeleteFunc(w.live, func(c context.Context) bool { return c == ctx })
	w.mu.Unlock()
}

func (w *world) respond(ctx context.Context, yield func(llm.Chunk, error) bool) {
	for range w.intn(4) {
		if !w.wait(ctx, w.pause()) {
			yield(llm.Chunk{}, ctx.Err())
			return
		}
		w.mu.Lock()
		w.tokens++
		text := fmt.Sprintf("t%d ", w.tokens)
		w.mu.Unlock()
		if !yield(llm.Chunk{Text: text}, nil) {
			return
		}
	}
	switch w.intn(12) {
	case 0:
		w.over(ctx)
		yield(llm.Chunk{}, &llm.Error{Category: frames.ErrorServer, Err: errors.New("down")})
		return
	case 1:
		w.over(ctx)
		yield(llm.Chunk{}, &llm.Error{Category: frames.ErrorAuth, Err: errors.New("no")})
		return
	case 2:
		return // cut
	case 3:
		w.wait(ctx, 10*time.Minute)
		yield(llm.Chunk{}, ctx.Err())
		return
	}
	finish := llm.FinishStop
	if w.intn(3) == 0 {
		finish = llm.FinishCalls
		for range 1 + w.intn(4) {
			w.mu.Lock()
			w.calls++
			id := fmt.Sprintf("c%d", w.calls)
			name := functionNames[w.rng.IntN(len(functionNames))]
			w.mu.Unlock()
			if !yield(llm.Chunk{Call: &frames.ToolCall{ID: id, Name: name, Args: json.RawMessage(`{}`)}}, nil) {
				return
			}
		}
	}
	w.over(ctx)
	yield(llm.Chunk{Finish: finish}, nil)
}

func (w *world) wait(ctx context.Context, d time.Duration) bool {
	if d == 0 {
		return ctx.Err() == nil
	}
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

var functionNames = []string{"quick", "slow", "fails", "panics", "deaf", "fragile", "async", "missing"}

func (w *world) functions(svc *llm.Service) {
	var offered []frames.Tool
	add := func(name string, f llm.Function) {
		run := f.Handler
		f.Handler = func(ctx context.Context, args json.RawMessage) (string, error) {
			c, ok := llm.CallFrom(ctx)
			if !ok || c.Name != name {
				w.t.Errorf("seed %d: the handler of %s has no call", w.seed, name)
			}
			return run(ctx, args)
		}
		f.Duplicates = llm.DuplicateRun
		if w.intn(2) == 0 {
			f.Duplicates = llm.DuplicateShare
		}
		svc.Register(name, f)
		offered = append(offered, frames.Tool{Name: name})
	}
	slow := func(ctx context.Context, _ json.RawMessage) (string, error) {
		if !w.wait(ctx, w.pause()) {
			return "", ctx.Err()
		}
		return "done", nil
	}
	add("quick", llm.Function{Handler: func(context.Context, json.RawMessage) (string, error) { return "", nil }})
	add("slow", llm.Function{Handler: slow, Timeout: 5 * time.Second, Filler: "one moment"})
	add("fails", llm.Function{Handler: func(context.Context, json.RawMessage) (string, error) { return "", errors.New("no") }})
	add("panics", llm.Function{Handler: func(context.Context, json.RawMessage) (string, error) { panic("boo") }})
	add("deaf", llm.Function{Timeout: time.Second, Handler: func(context.Context, json.RawMessage) (string, error) {
		time.Sleep(3 * time.Second)
		return "late", nil
	}})
	add("fragile", llm.Function{Handler: slow, CancelOnInterruption: true})
	add("async", llm.Function{Handler: slow, Async: true})
	w.convo.SetTools(offered)
}

// checkHistory holds a history against R8; a request must have no open placeholder.
func (w *world) checkHistory(entries []*frames.Entry, request bool) {
	for i := 0; i < len(entries); i++ {
		m := entries[i].Message()
		if m.Role == frames.RoleTool {
			w.t.Errorf("seed %d: a result without its call (R8)", w.seed)
		}
		for _, c := range m.ToolCalls {
			i++
			if i >= len(entries) || entries[i].Message().ToolCallID != c.ID {
				w.t.Errorf("seed %d: call %s has no result next to it (R8)", w.seed, c.ID)
				return
			}
			if request && entries[i].Message().Pending {
				w.t.Errorf("seed %d: a request while call %s is open (R10)", w.seed, c.ID)
			}
		}
	}
}

// watcher stands before the aggregator and holds what passes against the rules.
type watcher struct {
	pipeline.Base
	w *world
}

func (p *watcher) Interrupt(f *frames.InterruptionFrame) {
	p.w.turn = f.Turn
	p.w.note("interruption: %s, turn %d", f.Reason, f.Turn)
}

func (p *watcher) Process(f frames.Frame, dir pipeline.Direction) {
	w := p.w
	if dir == pipeline.Downstream {
		switch f := f.(type) {
		case *frames.LLMResponseStartFrame:
			w.note("response %d starts", f.Response)
			w.responses[f.Response] = w.turn
		case *frames.LLMTextFrame:
			w.note("response %d: %s", f.Response, f.Text)
			if w.responses[f.Response] != w.turn {
				w.t.Errorf("seed %d: %q of turn %d in turn %d (R4)", w.seed, f.Text, w.responses[f.Response], w.turn)
			}
		case *frames.LLMResponseEndFrame:
			w.note("response %d ends: %s", f.Response, f.Finish)
			w.answered++
		case *frames.FunctionCallsStartedFrame:
			for _, c := range f.Calls {
				w.complete[c.ID] = true
			}
		case *frames.FunctionCallInProgressFrame:
			w.progress[f.Call.ID]++
			if !w.complete[f.Call.ID] {
				w.t.Errorf("seed %d: call %s of no response runs", w.seed, f.Call.ID)
			}
		case *frames.FunctionCallResultFrame:
			w.note("%s %s: %s", f.Call.ID, f.Call.Name, f.Status)
			w.results[f.Call.ID]++
		}
		w.checkHistory(w.convo.Snapshot().Entries, false)
	}
	p.Push(f, dir)
}

func (w *world) play() {
	w.turn = 1
	w.responses, w.progress, w.results, w.complete = map[uint64]uint64{}, map[string]int{}, map[string]int{}, map[string]bool{}
	svc, err := llm.NewService(llm.Config{Model: w, Context: w.convo, Apology: "sorry", Retries: w.intn(2)*2 - 1})
	if err != nil {
		w.t.Fatal(err)
	}
	w.functions(svc)
	pipe := pipeline.MustNew(llm.NewUserAggregator(w.convo), svc, &watcher{w: w}, llm.NewAssistantAggregator(w.convo))
	w.task, err = pipeline.NewTask(pipe, pipeline.Params{SessionID: "p", CloseTimeout: 10 * time.Second, OnError: func(f *frames.ErrorFrame) {
		w.note("error: %v", f.Err)
		w.trouble++
	}})
	if err != nil {
		w.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- w.task.Run(context.Background()) }()
	for range 2 + w.intn(12) {
		w.act()
		if w.intn(3) > 0 {
			time.Sleep(w.pause())
		}
	}
	quiet := w.intn(2) == 0
	if quiet {
		w.task.QueueFrame(&frames.UserStoppedSpeakingFrame{})
		time.Sleep(20 * time.Minute)
		w.checkAnswered()
	}
	w.note("end")
	w.task.End("over")
	if err := <-done; err != nil {
		w.t.Errorf("seed %d: the session ended with %v (R6)", w.seed, err)
	}
	for id := range w.complete {
		if n := w.results[id]; n != 1 {
			w.t.Errorf("seed %d: call %s settled %d times (R6)", w.seed, id, n)
		}
	}
	w.checkHistory(w.convo.Snapshot().Entries, true)
}

// act is something the user or the program does.
func (w *world) act() {
	n := w.intn(10)
	switch n {
	case 0, 1, 2, 3:
		w.note("user types")
		w.task.QueueFrame(&frames.UserTextFrame{Text: "typed", Quiet: w.intn(5) == 0})
	case 4, 5:
		w.note("user starts speaking")
		w.task.QueueFrame(&frames.UserStartedSpeakingFrame{})
		time.Sleep(w.pause())
		if w.intn(3) > 0 {
			w.task.QueueFrame(&frames.TranscriptionFrame{Text: "spoken"})
		}
		time.Sleep(w.pause())
		w.note("user stops speaking")
		w.task.QueueFrame(&frames.UserStoppedSpeakingFrame{})
	case 6:
		w.note("say")
		w.task.QueueFrame(&frames.SpeakFrame{Text: "a line"})
	case 7:
		w.note("run")
		w.task.QueueFrame(&frames.LLMRunFrame{})
	case 8:
		w.note("update")
		w.task.QueueFrame(&frames.LLMContextUpdateFrame{Run: true, Update: frames.ContextUpdate{
			Reset: w.intn(2) == 0, Append: []frames.Message{{Role: frames.RoleDeveloper, Text: "node"}}}})
	case 9:
		time.Sleep(w.pause())
	}
}

// checkAnswered: after a long silence the user's last words have an answer, or an
// event says why not.
func (w *world) checkAnswered() {
	synctest.Wait()
	messages := w.convo.Messages()
	if len(messages) == 0 {
		return
	}
	if last := messages[len(messages)-1]; last.Role == frames.RoleUser && w.trouble == 0 {
		w.t.Errorf("seed %d: the user's words were not answered", w.seed)
	}
}
