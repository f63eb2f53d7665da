// Package load holds many conversations at once against a server process on this
// machine, and reports errors, latencies, memory and goroutines:
//
//	go test ./test/load -run TestLoad -v -args -sessions 2000 -duration 2m -every 10s
//
// Without flags it is small enough for every test run. It never talks to
// another machine, and stops by itself.
package load

import (
	"context"
	"flag"
	"fmt"
	"sync"
	"testing"
	"time"
)

var (
	sessions = flag.Int("sessions", 50, "conversations at a time")
	duration = flag.Duration("duration", 6*time.Second, "how long they go on, at most 30m")
	every    = flag.Duration("every", time.Second, "pause between two turns of a conversation")
)

// script is what each client says to the table booking demo.
var script = []string{
	"A table for four, please.",
	"Tomorrow at 7 pm.",
	"My name is Ada Lovelace.",
	"Yes, that is right.",
}

func TestLoad(t *testing.T) {
	if *sessions < 1 || *sessions > 9000 || *duration > 30*time.Minute || *every <= 0 {
		t.Fatalf("-sessions must be 1 to 9000, -duration at most 30m, -every positive")
	}
	// A client comes back at once, before the server has closed what it left.
	server := startServer(t, "--max-sessions", fmt.Sprint(*sessions*3/2+50))
	atRest, err := server.sample(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	// Without a deadline: a dialer would hand one on to its connection, which then
	// fails a moment before the context says that the time is over.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	defer time.AfterFunc(*duration, cancel).Stop()
	result := &result{}
	var clients sync.WaitGroup
	for i := range *sessions {
		c := &client{url: "ws://" + server.address + "/ws", script: script, every: *every, result: result}
		// They do not come all at once, and later speak at different times.
		delay := *every * time.Duration(i) / time.Duration(*sessions)
		clients.Go(func() { c.run(ctx, delay) })
	}
	watch(ctx, t, server)
	clients.Wait()

	t.Logf("%d sessions for %s, a turn every %s each\n%s", *sessions, *duration, *every, result)
	if n := result.errors(); n > 0 {
		t.Errorf("%d errors", n)
	}
	// The end of a session is bounded by a second. On a machine that stalls for
	// longer the answer to a goodbye may not get out in time.
	if share := result.uncleanShare(); share > 0.01 {
		t.Errorf("the server did not answer %.1f %% of the closing handshakes", 100*share)
	}
	if result.turns() == 0 {
		t.Error("no turn was completed")
	}
	awaitRest(t, server, atRest)
	if err := server.stop(15 * time.Second); err != nil {
		t.Errorf("the server's end: %v", err)
	}
}

// watch samples the server until ctx ends, and fails the test when its heap still
// grows in the second half of a run that is long enough to tell.
func watch(ctx context.Context, t *testing.T, server *process) {
	t.Helper()
	const samples = 48 // many, since garbage makes the heap swing between once and twice what is live
	tick := time.NewTicker(max(*duration/samples, 250*time.Millisecond))
	defer tick.Stop()
	begun := time.Now()
	var heap []float64
	for {
		select {
		case <-ctx.Done():
			judgeGrowth(t, heap)
			return
		case <-tick.C:
			s, err := server.sample(ctx)
			if err != nil {
				continue // the run has ended, or the server has: the clients will say
			}
			heap = append(heap, s.heapMB)
			if len(heap)%4 == 0 {
				t.Logf("%6s  %s", time.Since(begun).Round(100*time.Millisecond), s)
			}
		}
	}
}

// judgeGrowth compares the heap in the third quarter of a run with that in the
// last. By then every session has been through whole conversations, so what is
// still growing would grow for ever.
func judgeGrowth(t *testing.T, heap []float64) {
	t.Helper()
	if *duration < time.Minute || len(heap) < 16 {
		return
	}
	half, quarter := len(heap)/2, len(heap)/4
	third, last := mean(heap[half:half+quarter]), mean(heap[half+quarter:])
	if last > third*1.25+1 {
		t.Errorf("the heap still grew at the end: %.1f MB in the third quarter, %.1f MB in the last", third, last)
	}
}

func mean(of []float64) float64 {
	sum := 0.0
	for _, v := range of {
		sum += v
	}
	return sum / float64(len(of))
}

// awaitRest waits until the server has as many goroutines as before the first
// client, give or take those of idle HTTP connections.
func awaitRest(t *testing.T, server *process, atRest sample) {
	t.Helper()
	const slack = 10
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(15 * time.Second)
	for {
		s, err := server.sample(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if s.goroutines <= atRest.goroutines+slack {
			t.Logf("all left  %s; before %s", s, atRest)
			return
		}
		select {
		case <-deadline:
			t.Errorf("%d goroutines are left of %d sessions; there were %d before", s.goroutines, *sessions, atRest.goroutines)
			return
		case <-tick.C:
		}
	}
}
