package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/turnwise/turnwise/flows/run"
	"github.com/turnwise/turnwise/flows/store/sqlite"
)

var (
	crashDir  = flag.String("crash-dir", "", "carry the runs of this directory on until all have ended: what the crash test starts and kills")
	crashSeed = flag.Uint64("crash-seed", 0, "seed of the times at which the crash test kills; 0 draws one")
	kills     = flag.Int("kills", 200, "how often the crash test kills")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *crashDir != "" {
		if err := carryOn(*crashDir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

const (
	crashRuns  = 20
	crashSteps = 40 // calls of each run's tool
)

// working is a flow that calls a tool forty times, asks it once in the middle, and ends.
var working = fmt.Sprintf(`{"turnwise": 1, "flow": "working", "start": "step", "state": {"n": {"type": "integer", "default": 0}},
"tools": {"effect": {"go": "effect", "idempotent": true}},
"nodes": {
  "step": {"call": "effect", "args": {"n": "{{ state.n }}"}, "save": {"n": "{{ state.n + 1 }}"}, "max_visits": 1000, "on_error": "failed",
           "next": [{"when": "state.n < %d", "to": "step"}, {"to": "done"}]},
  "failed": {"end": {"outcome": "failed", "success": false, "value": "{{ error.message }}"}},
  "done": {"end": {"outcome": "done", "value": "{{ state.n }}"}}}}`, crashSteps)

// effects is a tool that honours idempotency keys: what it does is a file of that name.
type effects struct{ dir string }

func (e effects) CallTool(_ context.Context, c run.ToolCall) (any, error) {
	if c.Args["n"] == int64(crashSteps/2) && c.Answers["sure"] == nil {
		return c.Ask(run.Question{Name: "sure", Reason: "half is done"})
	}
	f, err := os.OpenFile(filepath.Join(e.dir, c.Key), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return "was done", nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	_, err = fmt.Fprintf(f, "%s %v", c.Run, c.Args["n"])
	return "done", err
}

// carryOn is the process that is killed.
func carryOn(dir string) error {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(dir, "runs.db")})
	if err != nil {
		return err
	}
	p, err := run.Compile([]byte(working), run.Options{})
	if err != nil {
		return err
	}
	r := &run.Runner{Plan: p, Store: store, Tools: effects{filepath.Join(dir, "effects")}}
	fmt.Println("ready")
	var all sync.WaitGroup
	errs := make([]error, crashRuns)
	for i := range crashRuns {
		all.Go(func() { errs[i] = carryOne(ctx, r, fmt.Sprint("run-", i)) })
	}
	all.Wait()
	return errors.Join(append(errs, store.Close())...)
}

// carryOne starts or resumes a run and answers what it asks, to the end.
func carryOne(ctx context.Context, r *run.Runner, id string) error {
	at, err := r.Start(ctx, run.Start{ID: id})
	if errors.Is(err, run.ErrExists) {
		at, err = r.Resume(ctx, id)
	}
	for err == nil && at.Status != run.StatusEnded {
		for _, i := range at.Interrupts {
			if _, err = r.Answer(ctx, id, run.Answer{Interrupt: i.ID, Value: "yes"}); err != nil {
				return err
			}
		}
		at, err = r.Resume(ctx, id)
	}
	return err
}

// TestRunsSurviveBeingKilledAtAnyInstant kills a process with twenty runs again and again.
// Every run comes to its right end, and each effect has happened once.
func TestRunsSurviveBeingKilledAtAnyInstant(t *testing.T) {
	seed := *crashSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-args -crash-seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 1))
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "effects"), 0o700); err != nil {
		t.Fatal(err)
	}
	killed, last := 0, ""
	for killed < *kills {
		// Most lives are short; what they achieve differs, as long as runs are under way.
		if ended, out := live(t, dir, time.Duration(chance.Int64N(int64(6*time.Millisecond)))); ended {
			last = out
			break
		}
		killed++
	}
	if killed < *kills && killed < 3 {
		t.Fatalf("the runs had ended after %d kills: %s", killed, last)
	}
	t.Logf("killed %d times", killed)
	if ended, out := live(t, dir, time.Minute); !ended {
		t.Fatalf("the runs do not come to an end: %s", out)
	}
	expectDone(t, dir)
}

// live has the process carry the runs on for some time. It tells whether it came to the end.
func live(t *testing.T, dir string, most time.Duration) (ended bool, out string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-crash-dir", dir)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(pipe).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("%q, %v, %v: %s", line, err, cmd.Wait(), &stderr)
	}
	kill := time.AfterFunc(most, func() { _ = cmd.Process.Kill() }) // it may have ended
	defer kill.Stop()
	err = cmd.Wait()
	if err != nil && stderr.Len() > 0 {
		t.Fatalf("%v: %s", err, &stderr)
	}
	return err == nil, stderr.String()
}

// expectDone expects every run to have ended well, and each effect to be there once.
func expectDone(t *testing.T, dir string) {
	t.Helper()
	store := open(t, sqlite.Config{Path: filepath.Join(dir, "runs.db")})
	want := map[string]bool{}
	for i := range crashRuns {
		id := fmt.Sprint("run-", i)
		rec, err := store.Load(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if o := rec.Run.Outcome; o == nil || o.Name != "done" || o.Value != int64(crashSteps) {
			t.Fatalf("%s ended as %+v", id, o)
		}
		for n := range crashSteps {
			want[fmt.Sprint(id, " ", n)] = true
		}
		var events []run.Event
		for e, err := range store.Watch(t.Context(), id, 0) {
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, e)
		}
		if again, err := run.Replay(events); err != nil || again.Outcome == nil || again.Seq != rec.Run.Seq {
			t.Fatalf("%s: its history comes to something else, %v", id, err)
		}
	}
	files, err := os.ReadDir(filepath.Join(dir, "effects"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		raw, err := os.ReadFile(filepath.Join(dir, "effects", f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		// A process killed between making the file and writing into it has made it empty.
		if len(raw) > 0 && !want[string(raw)] {
			t.Errorf("the effect %q happened twice, or should not have", raw)
		}
		delete(want, string(raw))
	}
	if len(files) != crashRuns*crashSteps {
		t.Errorf("%d effects, want %d", len(files), crashRuns*crashSteps)
	}
}
