package pipeline_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/pipeline"
)

var (
	seedFlag  = flag.Uint64("seed", 0, "run only the random session with this seed")
	casesFlag = flag.Int("cases", 2000, "how many random sessions to run")
)

// TestRandomSessions drives random chains with random frames, jobs, interruptions,
// holds, timers and panics, and checks what R1, R3, R4, R5 and R6 promise. A failure
// names its seed; run it alone with -run TestRandomSessions -seed N.
func TestRandomSessions(t *testing.T) {
	first, cases := rand.Uint64N(1<<40), *casesFlag
	if testing.Short() {
		cases /= 10
	}
	if *seedFlag != 0 {
		first, cases = *seedFlag, 1
	}
	t.Logf("seeds from %d", first)
	for i := range cases {
		seed := first + uint64(i)
		if !t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { randomSession(t, seed) })
		}) {
			return
		}
	}
}

// randomSession runs one session from beginning to end.
func randomSession(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	w := newWitness(t, rng.IntN(4) == 0)
	var sampled []pipeline.Observer
	if rng.IntN(3) == 0 {
		sampled = append(sampled, pipeline.ObserverFunc(func(pipeline.Hop) {}))
	}
	procs := w.chain(rng, 1+rng.IntN(5), 0)
	procs = append([]pipeline.Processor{&gauge{w: w}}, append(procs, &finish{w: w})...)
	pipe, err := pipeline.New(procs...)
	if err != nil {
		t.Fatal(err)
	}
	task, err := pipeline.NewTask(pipe, pipeline.Params{Observers: sampled, EndLimit: time.Hour, EndTimeout: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	w.task = task
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	driver := rand.New(rand.NewPCG(seed, 2))
	go w.drive(ctx, driver, cancel)
	err = task.Run(ctx)
	w.driven.Wait()
	synctest.Wait()
	w.judge(err)
	if t.Failed() {
		t.Logf("chain: %s; ended with %v", pipe, err)
	}
}

// drive queues random frames and then ends the session in a random way.
func (w *witness) drive(ctx context.Context, rng *rand.Rand, cancel func()) {
	defer w.driven.Done()
	for range rng.IntN(60) {
		w.driveOnce(ctx, rng)
		if rng.IntN(3) == 0 {
			time.Sleep(time.Duration(rng.IntN(30)) * time.Millisecond)
		}
	}
	switch rng.IntN(8) {
	case 0:
		w.cut.Store(true)
		w.task.Cancel("test")
	case 1:
		w.cut.Store(true)
		cancel()
	default:
		w.ending.Store(w.tick())
		w.task.End("test")
	}
	for range rng.IntN(10) { // what comes late is settled too
		w.driveOnce(ctx, rng)
		time.Sleep(time.Duration(rng.IntN(10)) * time.Millisecond)
	}
}

func (w *witness) driveOnce(ctx context.Context, rng *rand.Rand) {
	switch rng.IntN(12) {
	case 0:
		id := w.begins()
		w.task.Interrupt(id)
	case 1:
		w.outside(&trigger{reason: w.begins()}, func(f witnessed) { w.task.QueueFrame(f) })
	case 2:
		w.task.QueueFrame(audio)
	case 3:
		w.outside(w.frame(rng), func(f witnessed) {
			short, stop := context.WithTimeout(ctx, time.Duration(rng.IntN(20))*time.Millisecond)
			defer stop()
			if err := w.task.Enqueue(short, f); err != nil {
				f.facts().refused = true
			}
		})
	default:
		w.outside(w.frame(rng), func(f witnessed) { w.task.QueueFrame(f) })
	}
}

// judge checks what can only be known at the end.
func (w *witness) judge(err error) {
	graceful := err == nil
	switch {
	case graceful:
	case w.cut.Load() && errors.As(err, new(*pipeline.CancelError)):
	case w.explosive && errors.As(err, new(*pipeline.PanicError)):
	default:
		w.t.Errorf("the session ended with %v", err)
	}
	end := w.ending.Load()
	for _, f := range w.all {
		k := f.facts()
		if settles(f) && k.arrived+k.dropped != 1 {
			w.t.Errorf("%s arrived %d times and was dropped %d times", k, k.arrived, k.dropped)
		}
		if k.arrived > 1 {
			w.t.Errorf("%s arrived %d times", k, k.arrived)
		}
		owed := graceful && k.accepted && !k.refused && f.Class().Survives() && k.after.Load() < end
		if owed && k.arrived != 1 {
			w.t.Errorf("%s survives interruptions and did not arrive", k)
		}
	}
}
