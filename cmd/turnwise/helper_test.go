package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if wanted.Load() {
			if path, err := built(); err == nil {
				_ = os.RemoveAll(filepath.Dir(path))
			}
		}
		os.Exit(code)
	}))
}

// wanted tells that the binary was built.
var wanted atomic.Bool

// patience is how long a test waits for what must come. Tests pass sooner.
const patience = time.Minute

// result is what a run of the command gave.
type result struct {
	code           int
	stdout, stderr string
}

// run runs the command in this process.
func run(t *testing.T, env map[string]string, stdin string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	w := &world{
		stdin: strings.NewReader(stdin), stdout: &stdout, stderr: &stderr,
		getenv: func(name string) string { return env[name] },
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return result{w.run(ctx, args), stdout.String(), stderr.String()}
}

// built is the binary, built once for all tests.
var built = sync.OnceValues(func() (string, error) {
	wanted.Store(true)
	dir, err := os.MkdirTemp("", "turnwise-test")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "turnwise")
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), err
	}
	return path, nil
})

// binary is the path of the built command.
func binary(t *testing.T) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, path)
	}
	return path
}

var addressPattern = regexp.MustCompile(`http://[^/; ]+`)

// serving starts a command that serves, in this process, and returns its address.
// The command is stopped when the test ends; its exit code must be code.
func serving(t *testing.T, code int, args ...string) string {
	t.Helper()
	return servingWith(t, nil, code, args...)
}

// servingWith is serving in an environment.
func servingWith(t *testing.T, env map[string]string, code int, args ...string) string {
	t.Helper()
	r, stdout := io.Pipe()
	var stderr bytes.Buffer
	w := &world{stdin: strings.NewReader(""), stdout: stdout, stderr: &stderr, getenv: func(name string) string { return env[name] }}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	go func() {
		ended <- w.run(ctx, args)
		_ = stdout.Close()
	}()
	lines := bufio.NewScanner(r)
	if !lines.Scan() {
		t.Fatalf("turnwise %s said nothing: %s", strings.Join(args, " "), stderr.String())
	}
	go func() {
		for lines.Scan() {
			continue
		}
	}()
	t.Cleanup(func() {
		stop()
		if got := <-ended; got != code {
			t.Errorf("turnwise %s ended with %d, not %d: %s", strings.Join(args, " "), got, code, stderr.String())
		}
	})
	address := addressPattern.FindString(lines.Text())
	if address == "" {
		t.Fatalf("turnwise %s does not say where it serves: %s", strings.Join(args, " "), lines.Text())
	}
	return strings.Replace(address, "localhost", "127.0.0.1", 1)
}
