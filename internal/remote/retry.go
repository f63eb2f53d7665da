package remote

import (
	"math"
	"net/http"
	"strconv"
	"time"
)

// maxRetryAfter is the longest wait that is believed.
const maxRetryAfter = 24 * time.Hour

// RetryAfter is how long the server asks to wait: "Retry-After-Ms", or
// "Retry-After" in seconds or as a date, which is compared with the server's own
// clock if it tells that. It is at most a day; 0 means that it does not say.
func RetryAfter(h http.Header) time.Duration {
	if ms, ok := number(h.Get("Retry-After-Ms")); ok {
		return bounded(ms * float64(time.Millisecond))
	}
	text := h.Get("Retry-After")
	if s, ok := number(text); ok {
		return bounded(s * float64(time.Second))
	}
	date, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	now := time.Now()
	if server, err := http.ParseTime(h.Get("Date")); err == nil {
		now = server
	}
	return bounded(float64(date.Sub(now)))
}

func number(text string) (float64, bool) {
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil && !math.IsNaN(f)
}

func bounded(d float64) time.Duration {
	return time.Duration(min(max(d, 0), float64(maxRetryAfter)))
}
