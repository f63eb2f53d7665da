package speech

import (
	"strings"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// Opening and closing turns, and what becomes of the bot's words.

// open opens a turn, or makes the open one interrupt.
func (t *Turns) open(interrupted bool) {
	t.started = true
	if u := t.turn; u != nil {
		u.interrupted = u.interrupted || interrupted
		return
	}
	now := time.Now()
	t.turn = &userTurn{begun: now, activity: now, voiced: t.voice, interrupted: interrupted, over: t.bot.Speaking}
	t.turn.disturbed = interrupted && t.wasBusy
	t.Push(&frames.UserStartedSpeakingFrame{Quiet: !interrupted}, pipeline.Downstream)
}

// mayPause reports whether the bot is paused rather than interrupted: while a sound
// may turn out to have no words, and all that the bot has to say is there.
func (t *Turns) mayPause(sig Signal) bool {
	return (t.turn == nil || !t.turn.interrupted) && sig == SignalVoiceStarted && t.settings.Recovery == RecoverByPause && t.bot.Speaking && !t.generating
}

func (t *Turns) pause() {
	t.turn.paused, t.turn.disturbed, t.turn.pausedAt = true, true, time.Now()
	t.Push(&PauseFrame{On: true}, pipeline.Downstream)
}

// resume lets the bot go on where it was paused.
func (t *Turns) resume() {
	if t.turn.paused {
		t.turn.paused = false
		t.Push(&PauseFrame{}, pipeline.Downstream)
	}
}

// Interrupt notes that the bot was interrupted, whoever did it.
func (t *Turns) Interrupt(*frames.InterruptionFrame) {
	t.wasBusy = t.bot.Busy || t.generating
	t.generating = false
	if u := t.turn; u != nil {
		u.disturbed = u.disturbed || t.wasBusy
		u.paused = false
	}
}

// limits is when the turn has to end even if no strategy ends it, and why; or when a
// pause has to.
func (t *Turns) limits() (wait time.Duration, by string) {
	u := t.turn
	if u.paused && t.voice {
		if left := time.Until(u.pausedAt.Add(pauseLimit)); left > 0 {
			return left, ""
		}
		return 0, byPause
	}
	if t.voice {
		if !t.interims {
			return forever, ""
		}
		return time.Until(later(u.begun, t.lastWords).Add(t.settings.Noise)), "noise"
	}
	wait, by = time.Until(u.activity.Add(t.settings.Watchdog)), "watchdog"
	if u.disturbed && u.text == "" && u.interim == "" {
		if w := time.Until(u.activity.Add(t.settings.FalseAlarm)); w < wait {
			return w, "false alarm"
		}
	}
	return wait, by
}

const (
	// forever is longer than any turn.
	forever = 24 * time.Hour
	// byPause says that not the turn but the pause is over.
	byPause = "pause"
)

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// over closes the turn, or ends a pause whose sound has not become words: it was
// noise if the recognizer would have told by now, else it is taken for speech.
func (t *Turns) over(by string) {
	switch {
	case by != byPause:
		t.close(by)
	case t.interims:
		t.resume()
		t.decide()
	default:
		t.turn.interrupted = true
		t.Base.Interrupt(interruptionReason, nil, pipeline.Downstream)
		t.turn.paused = false
		t.decide()
	}
}

// close closes the turn.
func (t *Turns) close(by string) {
	u := t.turn
	if u.text == "" && u.interim != "" {
		t.promote(u)
	}
	t.turn = nil
	t.check.Stop()
	now := time.Now()
	switch {
	case u.text != "":
		t.echo.alarms = 0
	case u.disturbed:
		t.echo.alarms++
	}
	if u.text != "" {
		t.idleCount = 0
		t.Push(&journeyFrame{journey: t.begunJourney(u, now)}, pipeline.Downstream)
	}
	t.Push(&frames.UserStoppedSpeakingFrame{}, pipeline.Downstream)
	f := &UserTurnFrame{Text: u.text, By: by, Started: u.begun, Stopped: now}
	if t.cfg.OnTurn != nil {
		t.cfg.OnTurn(f)
	}
	t.Push(f, pipeline.Downstream)
	if u.text == "" {
		t.recover(u)
	}
	t.watchIdle()
}

// promote takes words for final that the recognizer has never finished.
func (t *Turns) promote(u *userTurn) {
	u.text, t.promoted = u.interim, u.interim
	t.lastFinal = time.Now()
	t.Push(&frames.TranscriptionFrame{Text: u.interim, Time: t.lastFinal}, pipeline.Downstream)
}

// recover gives the bot its words back when the turn had none.
func (t *Turns) recover(u *userTurn) {
	switch {
	case u.paused:
		t.Push(&PauseFrame{}, pipeline.Downstream)
	case u.cut && t.settings.Recovery != RecoverNever && !t.bot.Busy:
		// What was still being generated is generated again by the service of its
		// own accord; the requests merge.
		t.Push(&frames.LLMRunFrame{}, pipeline.Downstream)
	}
}

// begunJourney is the beginning of the way to an answer.
func (t *Turns) begunJourney(u *userTurn, now time.Time) *journey {
	j := &journey{stopped: t.speechEnd, recognized: t.lastFinal, decided: now}
	if !u.voiced || j.stopped.IsZero() {
		j.stopped = t.lastWords
	}
	return j
}

// stale reports whether words that come now were spoken while nobody listened, or
// have been taken for final before.
func (t *Turns) stale(sig Signal, words string) bool {
	if time.Now().Before(t.mutedUntil) {
		return true
	}
	if t.promoted == "" || t.turn != nil {
		return false
	}
	same := strings.HasPrefix(string(folded(words)), string(folded(t.promoted))) && time.Since(t.lastFinal) < 2*t.cfg.Latency+defaultWatchdog
	if sig == SignalFinal || !same {
		t.promoted = ""
	}
	return same
}
