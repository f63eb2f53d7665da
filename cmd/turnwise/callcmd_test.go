package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/wav"
	"github.com/turnwise/turnwise/internal/caller"
	"github.com/turnwise/turnwise/speech/local"
	"github.com/turnwise/turnwise/test/peer"
)

// spoken writes a text, as a synthesizer speaks it, to a WAV file.
func spoken(t *testing.T, name, text string) string {
	t.Helper()
	samples, rate := peer.Speech(t, text)
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, wav.Append(nil, audio.Mono(rate), samples), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestACallFromTheCommandLineIsToldAndRecorded(t *testing.T) {
	if r := local.Find(t.Context()); len(r.Install()) > 0 {
		peer.Missing(t, "no local voice: "+r.String())
	}
	address := serving(t, 0, "serve", "--addr", "127.0.0.1:0", "--log-level", "warn", "--drain", "10s")
	record := filepath.Join(t.TempDir(), "call.wav")
	got := run(t, nil, "", "call", "--json", "--record", record,
		"--wav", spoken(t, "table.wav", "we need a table for four people"),
		"--wav", spoken(t, "day.wav", "tomorrow at half past seven"),
		"--text", "Ada Lovelace", address)
	if got.code != 0 {
		t.Fatalf("exit code %d: %s\n%s", got.code, got.stderr, got.stdout)
	}
	var report caller.Report
	if err := json.Unmarshal([]byte(got.stdout), &report); err != nil {
		t.Fatalf("%v in %s", err, got.stdout)
	}
	var said []string
	for _, l := range report.Lines {
		said = append(said, string(l.Who)+": "+l.Text)
	}
	// What a simple recognizer makes of it on a busy machine is another matter.
	all := strings.Join(said, "\n")
	for what, least := range map[string]int{"bot: Would you like": 1, "you: ": 3, "you: Ada Lovelace": 1, "node: ": 2} {
		if strings.Count(all, what) < least {
			t.Errorf("%q is not there %d times in\n%s", what, least, all)
		}
	}
	var turns []string
	for _, r := range report.Replies {
		turns = append(turns, r.Turn)
		if r.Latency <= 0 {
			t.Errorf("the answer to %s took %s", r.Turn, r.Latency)
		}
		spoken := strings.HasSuffix(r.Turn, ".wav")
		var sum time.Duration
		for _, p := range r.Parts {
			sum += p.Took
		}
		if spoken != (len(r.Parts) == 6) || sum > r.Latency+time.Second {
			t.Errorf("of the %s until the answer to %s, the parts are %v", r.Latency, r.Turn, r.Parts)
		}
	}
	if got := strings.Join(turns, ", "); got != `greeting, table.wav, day.wav, "Ada Lovelace"` {
		t.Errorf("what was answered is %s", got)
	}

	f, err := os.Open(record)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in, err := wav.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	format := in.Format()
	samples, err := audio.ReadAll(in, format.Samples(5*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	// The recording begins when the call stands.
	last := report.Lines[len(report.Lines)-1].At - report.Lines[0].At
	if length := format.Duration(len(samples)); format.Channels != 2 || length < last {
		t.Errorf("recorded are %s of %s of a call in which the last word fell after %s", length, format, last)
	}
}

func TestACallThatFailsHasAnExitCode(t *testing.T) {
	notWAV := filepath.Join(t.TempDir(), "x.wav")
	if err := os.WriteFile(notWAV, []byte("no sound at all, but long enough for a header, as one may say"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, args string
		code       int
		says       string
	}{
		{"nobody there", "call http://127.0.0.1:1", 1, "cannot call"},
		{"a file that is not there", "call --wav /nowhere.wav http://127.0.0.1:1", 1, "/nowhere.wav"},
		{"a file without sound", "call --wav " + notWAV + " http://127.0.0.1:1", 1, "x.wav"},
		{"a place that cannot be written", "call --record /nowhere/at/all.wav http://127.0.0.1:1", 1, "/nowhere/at/all.wav"},
		{"no address", "call", 2, "url"},
		{"no patience", "call --patience 0s http://127.0.0.1:1", 2, "--patience"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := run(t, nil, "", strings.Fields(c.args)...)
			if got.code != c.code || !strings.Contains(got.stderr, c.says) {
				t.Errorf("exit code %d, not %d, with %q: %s", got.code, c.code, c.says, got.stderr)
			}
		})
	}
}
