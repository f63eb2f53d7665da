package load

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// result collects what all clients saw. It is safe for concurrent use.
type result struct {
	mu       sync.Mutex
	greeting []time.Duration // dial → greeting complete
	first    []time.Duration // text sent → first word
	reply    []time.Duration // text sent → reply complete
	clean    int             // closing handshakes that the server answered
	unclean  int             // and that it did not
	failures map[string]int  // by text
}

func (r *result) connected(took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.greeting = append(r.greeting, took)
}

func (r *result) turned(first, reply time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.first = append(r.first, first)
	r.reply = append(r.reply, reply)
}

// left counts a client that closed its connection.
func (r *result) left(clean bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if clean {
		r.clean++
	} else {
		r.unclean++
	}
}

// uncleanShare is the share of closing handshakes that the server did not answer.
func (r *result) uncleanShare() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return float64(r.unclean) / float64(max(1, r.clean+r.unclean))
}

// failed counts an error. The texts of net errors hold port numbers; they are
// shortened to what they have in common.
func (r *result) failed(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failures == nil {
		r.failures = map[string]int{}
	}
	text := err.Error()
	if i := strings.Index(text, "127.0.0.1:"); i >= 0 {
		text = text[:i] + "…" + text[strings.LastIndex(text, ":"):]
	}
	r.failures[text]++
}

func (r *result) errors() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	total := 0
	for _, n := range r.failures {
		total += n
	}
	return total
}

func (r *result) turns() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.reply)
}

// String is the report, one line for each thing measured.
func (r *result) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	line := func(what string, of []time.Duration) {
		fmt.Fprintf(&b, "%-38s n=%-7d p50 %-9s p90 %-9s p99 %-9s max %s\n", what, len(of),
			quantile(of, 0.50), quantile(of, 0.90), quantile(of, 0.99), quantile(of, 1))
	}
	line("dial → greeting complete", r.greeting)
	line("text sent → first message of the reply", r.first)
	line("text sent → reply complete", r.reply)
	fmt.Fprintf(&b, "%-38s %d answered, %d not\n", "closing handshakes", r.clean, r.unclean)
	for _, text := range slices.Sorted(maps.Keys(r.failures)) {
		fmt.Fprintf(&b, "error ×%d: %s\n", r.failures[text], text)
	}
	return b.String()
}

// quantile is the nearest-rank quantile of unsorted durations, rounded for reading.
func quantile(of []time.Duration, q float64) time.Duration {
	if len(of) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(of))
	i := min(int(q*float64(len(sorted))), len(sorted)-1)
	return sorted[i].Round(10 * time.Microsecond)
}
