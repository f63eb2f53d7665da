package speech_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/speech"
)

// model answers request after request from a list.
type model struct {
	mu      sync.Mutex
	answers [][]any // string: text; frames.ToolCall: call; time.Duration: pause
	asked   [][]string
	times   []time.Time
}

func (m *model) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	m.mu.Lock()
	answer := []any{fmt.Sprintf("Answer %d.", len(m.asked)+1)}
	if n := len(m.asked); n < len(m.answers) {
		answer = m.answers[n]
	}
	var history []string
	for _, e := range req.Context.Entries {
		history = append(history, show(*e.Message()))
	}
	m.asked = append(m.asked, history)
	m.times = append(m.times, time.Now())
	m.mu.Unlock()
	return func(yield func(llm.Chunk, error) bool) {
		end := llm.FinishStop
		for _, part := range answer {
			var c llm.Chunk
			switch part := part.(type) {
			case string:
				c.Text = part
			case frames.ToolCall:
				c.Call, end = &part, llm.FinishCalls
			case time.Duration:
				select {
				case <-time.After(part):
				case <-ctx.Done():
					yield(llm.Chunk{}, ctx.Err())
					return
				}
				continue
			}
			if !yield(c, nil) {
				return
			}
		}
		yield(llm.Chunk{Finish: end}, nil)
	}
}

func (m *model) requests() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.asked)
}

func show(m frames.Message) string {
	s := string(m.Role) + ": " + m.Text
	if m.Interrupted {
		s += " [cut]"
	}
	return s
}

// call is a session with a voice.
type call struct {
	t     *testing.T
	voice *voice
	model *model
	convo *frames.LLMContext
	task  *pipeline.Task
	svc   *llm.Service
	buf   *speech.Buffer
	ear   *ear
	done  chan error
	begun time.Time

	mu     sync.Mutex
	events []string
	heard  strings.Builder // LLMTextFrames at the end of the chain
	// byResponse is what was heard of each response.
	byResponse map[uint64]string
	spoken     []speech.SpokenFrame
	lags       []speech.Latency
	turns      []speech.UserTurnFrame
	errs       []*frames.ErrorFrame
}

// setup is what tests vary.
type setup struct {
	voice     *voice
	synthesis speech.SynthesisConfig
	playout   speech.PlayoutConfig
	turns     speech.TurnsConfig
	answers   [][]any
	front     []pipeline.Processor // before turn taking
	params    pipeline.Params
	nobody    bool // nobody takes the audio
	llm       llm.Config
}

func dial(t *testing.T, s setup) *call {
	t.Helper()
	c := &call{t: t, voice: s.voice, model: &model{answers: s.answers}, convo: frames.NewLLMContext(""),
		buf: &speech.Buffer{}, done: make(chan error, 1), begun: time.Now(), byResponse: map[uint64]string{}}
	if c.voice == nil {
		c.voice = &voice{words: true}
	}
	if s.synthesis.Synthesizer == nil {
		s.synthesis.Synthesizer = c.voice
	}
	s.playout.Buffer = c.buf
	if s.playout.Rate == 0 {
		s.playout.Rate = rate
	}
	s.llm.Model, s.llm.Context = c.model, c.convo
	svc := must(llm.NewService(s.llm))
	c.svc = svc
	chain := append(s.front,
		must(speech.NewTurns(s.turns)), llm.NewUserAggregator(c.convo), svc,
		must(speech.NewSynthesis(s.synthesis)), must(speech.NewPlayout(s.playout)),
		&tail{c: c}, llm.NewAssistantAggregator(c.convo))
	s.params.SessionID = "call"
	s.params.OnError = func(f *frames.ErrorFrame) { c.note("error"); c.errs = append(c.errs, f) }
	c.task = must(pipeline.NewTask(must(pipeline.New(chain...)), s.params))
	go func() { c.done <- c.task.Run(context.Background()) }()
	if !s.nobody {
		c.ear = listen(c.buf)
	}
	synctest.Wait()
	return c
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// tail stands at the end of the chain.
type tail struct {
	pipeline.Base
	c *call
}

func (p *tail) Process(f frames.Frame, dir pipeline.Direction) {
	if dir == pipeline.Downstream {
		p.c.see(f)
	}
	p.Push(f, dir)
}

func (p *tail) Interrupt(f *frames.InterruptionFrame) {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	for _, h := range f.Heard {
		p.c.byResponse[h.Response] += h.Text
	}
}

func (c *call) see(f frames.Frame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch f := f.(type) {
	case *frames.LLMTextFrame:
		c.heard.WriteString(f.Text)
		c.byResponse[f.Response] += f.Text
	case *speech.SpokenFrame:
		c.spoken = append(c.spoken, *f)
	case *speech.LatencyFrame:
		c.lags = append(c.lags, f.Latency)
	case *speech.UserTurnFrame:
		c.turns = append(c.turns, *f)
		c.add("turn %q by %s", f.Text, f.By)
	case *frames.BotStartedSpeakingFrame:
		c.add("bot started")
	case *frames.BotStoppedSpeakingFrame:
		c.add("bot stopped")
	case *frames.UserStartedSpeakingFrame:
		c.add("user started")
	case *frames.UserStoppedSpeakingFrame:
		c.add("user stopped")
	case *speech.UserIdleFrame:
		c.add("idle %d", f.Count)
	case *frames.LLMResponseEndFrame:
		c.add("end of response %d", f.Response)
	case *frames.SpeakFrame:
		c.add("line %q", f.Text)
	case *frames.EndFrame:
		c.add("end")
	}
}

func (c *call) add(format string, args ...any) {
	c.events = append(c.events, fmt.Sprintf(format, args...))
}

func (c *call) note(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add("%s", what)
}

func (c *call) queue(fs ...frames.Frame) {
	for _, f := range fs {
		c.task.QueueFrame(f)
	}
	synctest.Wait()
}

// says is the user saying something: voice, words and silence, as far as the
// recognizer and voice activity tell. The words come 100 ms after the voice ends.
func (c *call) says(text string, length time.Duration) {
	c.queue(&frames.VADStartedFrame{Ago: 200 * time.Millisecond})
	time.Sleep(length)
	c.queue(&frames.VADStoppedFrame{Ago: 200 * time.Millisecond})
	if text == "" {
		return
	}
	time.Sleep(100 * time.Millisecond)
	c.queue(&frames.TranscriptionFrame{Text: text})
}

func (c *call) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// end ends the call gracefully.
func (c *call) end() {
	c.t.Helper()
	c.task.End("test")
	c.wait(nil)
}

func (c *call) wait(want error) {
	c.t.Helper()
	if err := <-c.done; err != want {
		c.t.Errorf("the session ended with %v, want %v", err, want)
	}
	c.hangUp()
}

func (c *call) hangUp() {
	if c.ear != nil {
		c.ear.close()
		c.ear = nil
	}
}

// cancel ends the call at once.
func (c *call) cancel() {
	c.task.Cancel("test")
	<-c.done
	c.hangUp()
}

func (c *call) history() []string {
	var out []string
	for _, m := range c.convo.Messages() {
		out = append(out, show(m))
	}
	return out
}

func (c *call) log() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.events...)
}

func (c *call) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heard.String()
}

func (c *call) count(event string) int {
	n := 0
	for _, e := range c.log() {
		if e == event {
			n++
		}
	}
	return n
}

func want(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s: got\n  %s\nwant\n  %s", what, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}
