package server

import (
	"sync"
	"time"
)

// limiter lets events through at a rate, and a number of them at once.
type limiter struct {
	mu    sync.Mutex
	rate  float64 // a second
	burst float64
	left  float64
	last  time.Time
}

func newLimiter(rate, burst int) *limiter {
	return &limiter{rate: float64(rate), burst: float64(burst), left: float64(burst), last: time.Now()}
}

// allow takes one event, or says that there are too many.
func (l *limiter) allow() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.left = min(l.burst, l.left+now.Sub(l.last).Seconds()*l.rate)
	l.last = now
	if l.left < 1 {
		return false
	}
	l.left--
	return true
}
