package flows

import (
	"context"
	"sync"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
)

// plainSteering stands in for a service's steering beside an LLM that cannot be
// steered. In place of the session loop it has a queue: one function runs at a
// time, on the goroutine that finds nobody else at it.
type plainSteering struct {
	convo *frames.LLMContext
	queue Enqueuer

	mu    sync.Mutex
	todo  []func()
	doing bool

	// By the functions in the queue alone.
	blocked int
	want    bool
}

// The methods of llm.Steering.

func (p *plainSteering) Update(u frames.ContextUpdate) { p.convo.Apply(u) }

func (p *plainSteering) Run() {
	if p.blocked > 0 {
		p.want = true
		return
	}
	p.queue.QueueFrame(&frames.LLMRunFrame{})
}

func (p *plainSteering) Block() { p.blocked++ }

func (p *plainSteering) Unblock() {
	p.blocked--
	if p.blocked == 0 && p.want {
		p.want = false
		p.Run()
	}
}

func (p *plainSteering) Push(f frames.Frame) { p.queue.QueueFrame(f) }

func (p *plainSteering) Go(fn func(ctx context.Context), done func()) {
	go func() {
		fn(context.Background())
		if done != nil {
			p.Do(done)
		}
	}()
}

func (p *plainSteering) After(d time.Duration, fn func()) (stop func()) {
	t := time.AfterFunc(d, func() { p.Do(fn) })
	return func() { t.Stop() }
}

func (p *plainSteering) Do(fn func()) bool {
	p.mu.Lock()
	p.todo = append(p.todo, fn)
	if p.doing {
		p.mu.Unlock()
		return true
	}
	p.doing = true
	for len(p.todo) > 0 {
		next := p.todo[0]
		p.todo = p.todo[1:]
		p.mu.Unlock()
		next()
		p.mu.Lock()
	}
	p.todo, p.doing = nil, false
	p.mu.Unlock()
	return true
}

func (p *plainSteering) Busy() bool                  { return false }
func (p *plainSteering) BatchOpen() bool             { return false }
func (p *plainSteering) Context() *frames.LLMContext { return p.convo }
func (p *plainSteering) Model() llm.Model            { return nil }
func (p *plainSteering) Ending() bool                { return false }
