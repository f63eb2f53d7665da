package flows_test

import (
	"cmp"
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

	"github.com/turnwise/turnwise/flows"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
)

var (
	seedFlag  = flag.Uint64("seed", 0, "the first seed of random conversations; 0 draws one")
	casesFlag = flag.Uint64("cases", 0, "how many random conversations of a kind; 0 means the test's own number")
)

// randomly runs cases of one kind, each in virtual time with a seed of its own. A
// failing one is repeated with -run of its test and -args -seed N -cases 1, N being
// the number in the subtest's name. Goroutines of a case share its source of
// chance, so what is repeated is the world and the script, not each interleaving.
func randomly(t *testing.T, cases uint64, try func(t *testing.T, seed uint64)) {
	t.Helper()
	if testing.Short() {
		cases /= 10
	}
	if *casesFlag > 0 {
		cases = *casesFlag
	}
	first := *seedFlag
	if first == 0 {
		first = rand.Uint64() >> 1
	}
	for seed := first; seed < first+cases; seed++ {
		virtual(t, fmt.Sprintf("seed %d", seed), func(t *testing.T) { try(t, seed) })
		if t.Failed() {
			return
		}
	}
}

// TestRandomConversations drives random flows through random conversations and
// checks what must hold in each.
func TestRandomConversations(t *testing.T) { randomly(t, 2000, converse) }

// chance is a source of random decisions for many goroutines.
type chance struct {
	mu sync.Mutex
	r  *rand.Rand
}

func (c *chance) n(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.r.IntN(n)
}

func (c *chance) ms(n int) time.Duration { return time.Duration(c.n(n)) * time.Millisecond }

// world makes nodes. Every entry is a node of its own, so that requests tell where
// they come from.
type world struct {
	*chance
	mu    sync.Mutex
	count int
}

func (w *world) node() *flows.NodeConfig {
	w.mu.Lock()
	w.count++
	name := fmt.Sprintf("n%d", w.count)
	w.mu.Unlock()
	waits := w.n(8) == 0
	if waits {
		name = "waiting_" + name
	}
	n := node(name, fn("at_"+name, "", nil))
	n.ContextStrategy = flows.ContextStrategy(w.n(4))
	if w.n(3) == 0 {
		n.RoleMessage = "persona " + name
	}
	if waits {
		n = wait(n)
	}
	if w.n(4) == 0 {
		a := flows.Run(func(ctx context.Context, _ flows.Action, _ *flows.FlowManager) error {
			if w.n(4) == 0 {
				panic("action")
			}
			select {
			case <-time.After(w.ms(300)):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		a.OnInterruption = flows.InterruptionPolicy(w.n(3))
		n.PreActions = []flows.Action{a}
	}
	for i := range 3 {
		n.Functions = append(n.Functions, w.function(fmt.Sprintf("f%d", i)))
	}
	return n
}

func (w *world) function(name string) flows.NodeFunction {
	f := flows.NodeFunction{Name: name}
	f.CancelOnInterruption = w.n(3) == 0
	f.Async = w.n(5) == 0
	f.Respond = flows.RespondPolicy(w.n(8) / 7)
	if w.n(4) == 0 {
		f.Timeout = 50 * time.Millisecond
	}
	f.Handler = func(ctx context.Context, _ json.RawMessage, fm *flows.FlowManager) (string, *flows.NodeConfig, error) {
		select {
		case <-time.After(w.ms(200)):
		case <-ctx.Done():
			if w.n(2) == 0 {
				return "", nil, ctx.Err()
			}
		}
		switch w.n(8) {
		case 0:
			return "", nil, errors.New("failed")
		case 1:
			panic("handler")
		case 2:
			return "set", nil, fm.SetNode(context.WithoutCancel(ctx), w.node())
		case 3, 4, 5:
			return "edge", w.node(), nil
		}
		return "stayed", nil, nil
	}
	return f
}

// wanderer is a model that says and calls whatever comes to its mind.
type wanderer struct {
	*chance
	script *script
}

func (m *wanderer) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	var st step
	for range m.n(3) {
		st = append(st, "word ", m.ms(60))
	}
	names := req.Context.Tools.Names()
	if len(names) > 0 && m.n(2) == 0 {
		for i := range 1 + m.n(4) {
			c := call(names[m.n(len(names))])
			if m.n(10) == 0 {
				c.Name = "unknown"
			}
			c.ID = fmt.Sprintf("call_%d_%d", m.n(1<<30), i)
			st = append(st, c)
		}
	}
	if len(st) == 0 {
		st = step{"well"}
	}
	m.script.mu.Lock()
	for len(m.script.steps) < len(m.script.requests) {
		m.script.steps = append(m.script.steps, nil)
	}
	m.script.steps = append(m.script.steps, st)
	m.script.mu.Unlock()
	return m.script.Stream(ctx, req)
}

func converse(t *testing.T, seed uint64) {
	c := &chance{r: rand.New(rand.NewPCG(seed, 1))}
	w := &world{chance: c}
	s := start(t, func(s *session, _ *flows.Config, l *llm.Config) {
		s.pace = c.ms(50)
		l.Model = &wanderer{c, s.model}
		l.MaxRounds = 1000
	})
	s.initialize(w.node())
	for range 2 + c.n(8) {
		switch c.n(5) {
		case 0:
			if err := s.fm.SetNode(context.Background(), w.node()); err != nil {
				t.Error(err)
			}
		case 1:
			s.task.QueueFrame(&frames.UserTextFrame{Text: "quietly", Quiet: true})
		default:
			s.task.QueueFrame(&frames.UserTextFrame{Text: "word"})
		}
		if c.n(3) > 0 {
			s.pass(c.ms(400))
		}
	}
	ended := c.n(3) == 0
	if ended {
		s.task.QueueFrame(&frames.EndFrame{Reason: "random"})
	}
	s.pass(30 * time.Second)
	s.wantValidHistory()
	s.wantWholeEntries()
	s.wantNoEcho()
	s.wantAnswered(ended)
	if ended {
		select {
		case <-s.task.Done():
		default:
			t.Error("the session has not ended")
		}
	}
	synctest.Wait()
}

// wantWholeEntries checks that no request has one node's messages and another's
// tools.
func (s *session) wantWholeEntries() {
	s.t.Helper()
	for i, r := range s.model.requests {
		at := lastTask(r.Context)
		if r.Context.Tools.Len() > 0 && !strings.HasPrefix(r.Context.Tools.Names()[0], "at_"+at) {
			s.t.Errorf("request %d is at %q:\n%s", i, at, show(r.Context))
		}
	}
}

func lastTask(c frames.Snapshot) string {
	for i := len(c.Entries) - 1; i >= 0; i-- {
		if name, ok := strings.CutPrefix(c.Entries[i].Message().Text, "task "); ok && c.Entries[i].Message().Role == frames.RoleDeveloper {
			return name
		}
	}
	return ""
}

// wantNoEcho checks that the model was never asked again without anything new to
// answer: of one entry there are never two replies.
func (s *session) wantNoEcho() {
	s.t.Helper()
	var seen frames.EntryID
	// A request that was cancelled at once may reach the model late.
	requests := slices.Clone(s.model.requests)
	slices.SortStableFunc(requests, func(a, b llm.Request) int { return cmp.Compare(a.Context.Version, b.Context.Version) })
	for i, r := range requests {
		if r.Context.Tools.Len() == 0 {
			continue // a summary's
		}
		fresh, newest := false, seen
		for _, e := range r.Context.Entries {
			if e.ID() > seen {
				newest = max(newest, e.ID())
				fresh = fresh || e.Message().Role != frames.RoleAssistant
			}
		}
		seen = newest
		if !fresh {
			s.t.Errorf("request %d has nothing new to answer:\n%s\nevents %v\nheard %q", i, show(r.Context), s.log(), s.said())
		}
	}
}

// wantAnswered checks that every node that was to respond, and was not left or
// ended at once, was.
func (s *session) wantAnswered(ended bool) {
	s.t.Helper()
	asked := map[string]bool{}
	for _, r := range s.model.requests {
		asked[lastTask(r.Context)] = true
	}
	var at []flows.Event
	for _, e := range s.events {
		if e.Kind == flows.EventNodeEntered {
			at = append(at, e)
		}
	}
	for i, e := range at {
		last := i == len(at)-1
		if last && ended || !last && at[i+1].Time.Sub(e.Time) < 500*time.Millisecond {
			continue
		}
		if !asked[e.Node] && !strings.HasPrefix(e.Node, "waiting") {
			s.t.Errorf("%s was entered and the model was not asked", e.Node)
		}
	}
	if last := at[len(at)-1].Node; s.fm.CurrentNode() != last {
		s.t.Errorf("the conversation is at %s, the last entered is %s", s.fm.CurrentNode(), last)
	}
}

// log shows the events of a conversation.
func (s *session) log() string {
	var b strings.Builder
	for _, e := range s.events {
		fmt.Fprintf(&b, "%s %s %s %s %s %v; ", e.Time.Sub(s.begun), e.Kind, e.Node, e.Function, e.Detail, e.Err)
	}
	return b.String()
}
