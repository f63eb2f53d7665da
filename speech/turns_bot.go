package speech

import (
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// The bot's side of turn taking: what it does, when it does not listen, and when the
// user has been silent for too long.

// upstream takes what the output reports.
func (t *Turns) upstream(f frames.Frame) {
	switch f := f.(type) {
	case *BotStateFrame:
		if t.bot.Busy && !f.Busy {
			t.botTurns++
		}
		if f.Cut && t.turn != nil {
			t.turn.cut = true
		}
		t.bot = f.BotState
		t.started = t.started || f.Busy
		t.changed()
	case *saidFrame:
		t.echo.heard(f.text, time.Now())
	case *pausedFrame:
		if t.turn != nil {
			t.turn.midway = f.left > midway
		}
	case *GenerationFrame:
		t.generating = !f.Over
	}
}

// changed follows a change of the bot's state or of the settings.
func (t *Turns) changed() {
	t.mute()
	t.decide()
	t.watchIdle()
}

// mute asks the mute strategies.
func (t *Turns) mute() {
	muted := t.mutedBy
	s := t.state(SignalNone)
	for _, st := range t.settings.Mute {
		muted = muted || st.Mutes(&s)
	}
	if muted == t.muted {
		return
	}
	t.muted = muted
	if muted && t.turn != nil {
		t.close("muted")
	}
}

// listens reports whether a signal counts. While the bot does not listen, what voice
// activity finds is remembered all the same.
func (t *Turns) listens(f frames.Frame, sig Signal) bool {
	if !t.muted {
		switch {
		case sig == SignalVoiceStarted:
			t.mutedUntil = time.Time{}
		case sig == SignalVoiceStopped && t.turn == nil && !t.voice:
			return false // of speech that nobody listened to
		}
		return true
	}
	switch sig {
	case SignalVoiceStarted:
		t.voice = true
	case SignalVoiceStopped:
		t.voice = false
		t.speechEnd = time.Now().Add(-f.(*frames.VADStoppedFrame).Ago)
		t.mutedUntil = t.speechEnd.Add(t.cfg.Latency + defaultSilence)
	}
	return false
}

// watchIdle starts or stops the clock of the user's silence.
func (t *Turns) watchIdle() {
	quiet := t.settings.Idle > 0 && t.started && t.turn == nil && !t.bot.Busy && !t.generating && !t.muted
	switch {
	case !quiet:
		t.idle.Stop()
	case t.idle == nil:
		t.idle = t.After(pipeline.SessionScope, t.settings.Idle, t.isIdle)
	case !t.idle.Active():
		t.idle.Reset(t.settings.Idle)
	}
}

// isIdle tells that the user has been silent for too long.
func (t *Turns) isIdle() {
	t.idleCount++
	if t.cfg.OnIdle != nil {
		t.cfg.OnIdle(t.idleCount)
	}
	t.Push(&UserIdleFrame{Count: t.idleCount}, pipeline.Downstream)
	t.watchIdle()
}
