package pipeline

import (
	"time"

	"github.com/turnwise/turnwise/frames"
)

// active notes that something happened, for the idle timeout.
func (l *loop) active() {
	if l.task.params.IdleTimeout > 0 {
		l.lastActive = time.Now()
	}
}

// watchIdle ends a session in which nothing has happened for too long.
func (l *loop) watchIdle() {
	limit := l.task.params.IdleTimeout
	if limit <= 0 {
		return
	}
	l.lastActive = time.Now()
	var t *Timer
	t = l.timers.after(SessionScope, limit, func() {
		if left := limit - time.Since(l.lastActive); left > 0 {
			t.Reset(left)
			return
		}
		if h := l.task.params.OnIdle; h != nil && h() {
			l.lastActive = time.Now()
			t.Reset(limit)
			return
		}
		l.log.Info("session idle", "for", limit)
		l.task.End("idle")
	})
}

// beatHeart sends heartbeats through the pipeline.
func (l *loop) beatHeart() {
	every := l.task.params.Heartbeat
	if every <= 0 {
		return
	}
	var t *Timer
	t = l.timers.after(SessionScope, every, func() {
		l.walkTo(l.head, &frames.HeartbeatFrame{Sent: time.Now()}, Downstream)
		t.Reset(every)
	})
}

func (l *loop) heartbeatArrived(took time.Duration) {
	if h := l.task.params.OnHeartbeat; h != nil {
		h(took)
	}
}
