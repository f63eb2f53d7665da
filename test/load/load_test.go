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
	server := startServer(t, "--max-sessions", fmt.Sprint(*sessions+100))
	atRest, err := server.goroutines(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), *duration)
	defer cancel()
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
	if result.turns() == 0 {
		t.Error("no turn was completed")
	}
	awaitRest(t, server, atRest)
	if err := server.stop(15 * time.Second); err != nil {
		t.Errorf("the server's end: %v", err)
	}
}

// watch samples the server until ctx ends, and fails the test when its memory still
// grows in the second half of a run that is long enough to tell.
func watch(ctx context.Context, t *testing.T, server *process) {
	t.Helper()
	const samples = 12
	tick := time.NewTicker(max(*duration/samples, 500*time.Millisecond))
	defer tick.Stop()
	begun := time.Now()
	var memory []float64
	for {
		select {
		case <-ctx.Done():
			judgeGrowth(t, memory)
			return
		case <-tick.C:
			goroutines, err := server.goroutines(ctx)
			if err != nil {
				continue // the run has ended, or the server has: the clients will say
			}
			mb := server.residentMB()
			memory = append(memory, mb)
			t.Logf("%6s  resident %6.1f MB  goroutines %d", time.Since(begun).Round(time.Second), mb, goroutines)
		}
	}
}

// judgeGrowth compares the largest memory of the third quarter of a run with that
// of the last. By then every session has been through whole conversations, so what
// is still growing would grow for ever.
func judgeGrowth(t *testing.T, memory []float64) {
	t.Helper()
	if *duration < time.Minute || len(memory) < 8 {
		return
	}
	third, last := 0.0, 0.0
	for i, mb := range memory {
		switch quarter := i * 4 / len(memory); quarter {
		case 2:
			third = max(third, mb)
		case 3:
			last = max(last, mb)
		}
	}
	if last > third*1.15 {
		t.Errorf("resident memory still grew at the end: %.1f MB in the third quarter, %.1f MB in the last", third, last)
	}
}

// awaitRest waits until the server has as many goroutines as before the first
// client, give or take those of idle HTTP connections.
func awaitRest(t *testing.T, server *process, atRest int) {
	t.Helper()
	const slack = 10
	limit := time.Now().Add(15 * time.Second)
	for {
		goroutines, err := server.goroutines(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if goroutines <= atRest+slack {
			t.Logf("all left: resident %.1f MB, goroutines %d (%d before)", server.residentMB(), goroutines, atRest)
			return
		}
		if time.Now().After(limit) {
			t.Errorf("%d goroutines are left of %d sessions; there were %d before", goroutines, *sessions, atRest)
			return
		}
		time.Sleep(50 * time.Millisecond) // another process: nothing to wait on
	}
}
