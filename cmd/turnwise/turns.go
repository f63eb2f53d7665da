package main

import (
	"context"
	"sync"
	"time"
)

// silence is how long nothing may happen after a function call or a fixed line
// until it is worth asking whether the bot has anything more to say.
const silence = 300 * time.Millisecond

// turns knows whose turn it is: the bot's until it has answered, then the user's.
// It is safe for concurrent use.
type turns struct {
	// probe has reached called when everything that is under way in the session
	// has reached the user.
	probe func(reached func())

	mu      sync.Mutex
	open    bool // a response is under way
	calls   int  // function calls under way
	owed    bool // the user has said something and the bot has not answered
	more    bool // what the bot said may be all of it, or not
	last    bool // the bot takes its leave
	step    int  // counts what happens
	changed chan struct{}
}

// newTurns begins with the bot, which greets.
func newTurns() *turns { return &turns{owed: true, changed: make(chan struct{})} }

func (t *turns) change(fn func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fn()
	t.step++
	close(t.changed)
	t.changed = make(chan struct{})
}

// asked notes that the user has said something.
func (t *turns) asked() { t.change(func() { t.owed = true }) }

// started and ended frame a response; more tells that something follows it, such
// as the functions it calls or an apology for its failure.
func (t *turns) started() { t.change(func() { t.open, t.more = true, false }) }

func (t *turns) ended(more bool) {
	t.change(func() {
		t.open, t.more = false, more
		t.owed = t.owed && more
	})
}

// spoke notes a line of the bot's that is no response.
func (t *turns) spoke() { t.change(func() { t.more = true }) }

// called and returned count function calls.
func (t *turns) called(n int) { t.change(func() { t.calls += n }) }

func (t *turns) returned() { t.change(func() { t.calls = max(0, t.calls-1) }) }

// silenced notes that the user wants no answer any more.
func (t *turns) silenced() { t.change(func() { t.owed = false }) }

// interrupted ends the response under way.
func (t *turns) interrupted() { t.change(func() { t.open = false }) }

// parting notes that what the bot says now is the last it says.
func (t *turns) parting() { t.change(func() { t.last = true }) }

// busy reports whether the bot is at work, and when to look again.
func (t *turns) busy() (bool, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.open || t.calls > 0 || t.owed, t.changed
}

// wait waits until the bot has answered and will go on listening. It reports false
// when ctx ended before.
func (t *turns) wait(ctx context.Context) bool {
	for {
		t.mu.Lock()
		answered := !t.open && t.calls == 0 && !t.owed && !t.last
		doubt := !t.open && t.calls == 0 && t.more && !t.last
		step, changed := t.step, t.changed
		t.mu.Unlock()
		if answered {
			return true
		}
		var quiet <-chan time.Time
		if doubt {
			quiet = time.After(silence)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		case <-quiet:
			t.probe(func() { t.settle(step) })
			select {
			case <-changed:
			case <-ctx.Done():
				return false
			}
		}
	}
}

// settle takes the bot to have answered when nothing has happened since step.
func (t *turns) settle(step int) {
	t.change(func() {
		if t.step == step {
			t.owed = false
		}
	})
}
