package flows

import (
	"context"
	"errors"
	"slices"

	"github.com/turnwise/turnwise/frames"
)

// errActionSkipped cancels an action's handler.
var errActionSkipped = errors.New("flows: the action was skipped")

// sequence is a list of actions being done. It belongs to the loop.
//
// What is said goes out at once, in order; what has to wait until it has been heard
// waits behind a mark. An interruption hurries the sequence: it holds up the reply
// no longer, what may be skipped is, and the rest is done without waiting.
type sequence struct {
	fm   *FlowManager
	node string
	rest []Action
	// current is the action that is waited for.
	current *pendingAction
	// holds tells that the reply waits for the sequence, blocked that it does now.
	holds, blocked bool
	hurried        bool
	released, over bool
	// closing tells that the model is to say nothing any more.
	closing bool
	// spoke tells that something was said.
	spoke bool
	// then follows the sequence, once.
	then func(s *sequence)
}

// pendingAction is an action that is not done at once.
type pendingAction struct {
	Action
	begun, settled bool
	cancel         context.CancelCauseFunc
	stopTimer      func()
}

// start does what can be done at once.
func (s *sequence) start() {
	s.fm.sequences = append(s.fm.sequences, s)
	s.step()
}

// step goes on until something has to be waited for.
func (s *sequence) step() {
	for s.current == nil && len(s.rest) > 0 && !s.over {
		a := s.rest[0]
		s.rest = s.rest[1:]
		s.perform(a)
	}
	if s.current == nil && !s.over {
		s.finish()
	}
}

func (s *sequence) perform(a Action) {
	switch a.Type {
	case ActionSay:
		s.say(a.Text)
		if a.OnInterruption == InterruptionFinish && !s.hurried {
			s.await(a, s.next)
		}
	case ActionEndConversation:
		if a.Text != "" {
			s.say(a.Text)
		}
		if s.hurried || a.OnInterruption == InterruptionDefault {
			s.end()
		} else {
			s.close(a)
			s.await(a, func(*pendingAction) { s.end() })
		}
	default:
		if s.hurried {
			s.current = &pendingAction{Action: a}
			s.run(s.current)
		} else {
			s.await(a, s.run)
		}
	}
}

func (s *sequence) say(text string) {
	s.spoke = true
	s.fm.steer.Push(&frames.SpeakFrame{Text: text})
}

// close keeps the model from answering into a farewell that is to be heard whole.
func (s *sequence) close(a Action) {
	if a.OnInterruption == InterruptionFinish && !s.closing {
		s.closing = true
		s.fm.steer.Block()
	}
}

// end asks for the end of the session behind what has been said.
func (s *sequence) end() {
	s.current, s.rest = nil, nil
	s.fm.end("flow ended", nil)
	s.step()
}

// await goes on with then when everything said so far has been heard.
func (s *sequence) await(a Action, then func(*pendingAction)) {
	p := &pendingAction{Action: a}
	s.current = p
	s.block()
	s.fm.mark("action", func() {
		if s.current == p {
			then(p)
		}
	}, s.interrupted)
}

// next settles an action that is done and goes on.
func (s *sequence) next(*pendingAction) {
	s.current = nil
	s.step()
}

// run runs a handler beside the loop. Its time counts even if it ignores its
// context.
func (s *sequence) run(p *pendingAction) {
	s.block()
	p.begun = true
	skip, cancel := context.WithCancelCause(context.Background())
	p.cancel = cancel
	limit := p.Timeout
	if limit == 0 {
		limit = s.fm.cfg.ActionTimeout
	}
	p.stopTimer = s.fm.steer.After(limit, func() { s.settle(p, context.DeadlineExceeded) })
	var err error
	s.fm.steer.Go(func(session context.Context) {
		ctx, stop := context.WithCancelCause(session)
		defer stop(nil)
		defer context.AfterFunc(skip, func() { stop(context.Cause(skip)) })()
		err = s.fm.runAction(ctx, p.Action)
	}, func() { s.settle(p, err) })
}

// settle ends an action whose handler has returned or run out of time; the first
// end counts.
func (s *sequence) settle(p *pendingAction, err error) {
	if p.settled {
		return
	}
	p.settled = true
	p.stopTimer()
	p.cancel(err)
	if err != nil {
		s.fm.emit(Event{Kind: EventActionFailed, Node: s.node, Detail: string(p.Type), Err: err})
		if p.OnError == ErrorFail {
			s.rest = nil
			s.fm.end("an action failed", err)
		}
	}
	if s.current == p {
		s.next(p)
	}
}

// interrupted hurries the sequence. What it holds up is released once the cause of
// the interruption has been handled, so that one reply answers both.
func (s *sequence) interrupted() {
	if s.hurried || s.over {
		return
	}
	s.hurried = true
	s.rest = slices.DeleteFunc(slices.Clone(s.rest), s.skips)
	s.interruptCurrent()
	s.fm.steer.Do(s.release)
	s.step()
}

// interruptCurrent decides about the action that is waited for.
func (s *sequence) interruptCurrent() {
	p := s.current
	switch {
	case p == nil:
	case s.skips(p.Action):
		if p.begun {
			s.drop(p)
		}
		s.current = nil
	case !p.begun:
		s.rest = slices.Insert(s.rest, 0, p.Action)
		s.current = nil
	}
}

// skips reports, with an event, that an interruption skips an action.
func (s *sequence) skips(a Action) bool {
	if a.finishes() {
		return false
	}
	s.fm.emit(Event{Kind: EventActionSkipped, Node: s.node, Detail: string(a.Type)})
	return true
}

// drop cancels a handler whose end does not count any more.
func (s *sequence) drop(p *pendingAction) {
	p.settled = true
	p.stopTimer()
	p.cancel(errActionSkipped)
}

// abandon ends the sequence because its node has been left. Handlers that are to
// be finished run on.
func (s *sequence) abandon() {
	s.over, s.released, s.rest = true, true, nil
	if p := s.current; p != nil && p.begun && !p.finishes() {
		s.drop(p)
	}
	s.current = nil
	s.unblock()
	if s.closing {
		s.closing = false
		s.fm.steer.Unblock()
	}
}

// finish ends the sequence.
func (s *sequence) finish() {
	s.over = true
	s.fm.sequences = slices.DeleteFunc(s.fm.sequences, func(o *sequence) bool { return o == s })
	if !s.hurried {
		s.release()
	}
}

// release lets go what waited for the sequence.
func (s *sequence) release() {
	if s.released {
		return
	}
	s.released = true
	s.unblock()
	if s.then != nil {
		s.then(s)
	}
}

func (s *sequence) block() {
	if s.holds && !s.blocked && !s.released && !s.hurried {
		s.blocked = true
		s.fm.steer.Block()
	}
}

func (s *sequence) unblock() {
	if s.blocked {
		s.blocked = false
		s.fm.steer.Unblock()
	}
}

// mark calls reached on the loop when everything said so far has been heard: not
// in the frame's walk, so that it may push. Without steering, nothing else tells
// of an interruption, so lost does.
func (fm *FlowManager) mark(name string, reached, lost func()) {
	m := &frames.MarkFrame{Name: name, Reached: func() { fm.steer.Do(reached) }}
	if fm.plain != nil {
		m.Lost = func() { fm.steer.Do(lost) }
	}
	fm.steer.Push(m)
}
