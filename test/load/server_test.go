package load

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// process is a turnwise server in a process of its own, on a loopback port, with
// the offline model.
type process struct {
	address string // host:port
	cmd     *exec.Cmd
	log     string // file
	exited  chan error
}

// startServer builds the command, starts it and waits until it is ready. The
// process has ended when the test has.
func startServer(t *testing.T, flags ...string) *process {
	t.Helper()
	dir := t.TempDir()
	binary := filepath.Join(dir, "turnwise")
	build := exec.Command("go", "build", "-o", binary, "./cmd/turnwise")
	build.Dir = "../.."
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the server: %v\n%s", err, out)
	}

	p := &process{address: freeAddress(t), log: filepath.Join(dir, "log"), exited: make(chan error, 1)}
	log, err := os.Create(p.log)
	if err != nil {
		t.Fatal(err)
	}
	p.cmd = exec.Command(binary, append([]string{"serve", "--addr", p.address, "--log-level", "warn"}, flags...)...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.exited <- p.cmd.Wait()
		_ = log.Close()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // already gone when the test stopped it
		if t.Failed() {
			t.Logf("the server's log:\n%s", p.tail())
		}
	})
	if err := p.awaitReady(10 * time.Second); err != nil {
		t.Fatalf("the server did not become ready: %v\n%s", err, p.tail())
	}
	return p
}

// freeAddress is a loopback address that nothing listened on a moment ago.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// awaitReady asks /readyz until it says yes.
func (p *process) awaitReady(limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for {
		_, err := p.get(ctx, "/readyz")
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case exit := <-p.exited:
			return fmt.Errorf("it ended: %w", errors.Join(exit, err))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// get returns what the server answers at a path.
func (p *process) get(ctx context.Context, path string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.address+path, nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("GET %s: %s", path, response.Status)
	}
	return string(body), nil
}

// sample is what the server says of itself at one moment.
type sample struct {
	goroutines int
	// heapMB is what is allocated on the heap, garbage included, in megabytes;
	// residentMB is what the system says the process has.
	heapMB, residentMB float64
}

// String is one line of the report.
func (s sample) String() string {
	return fmt.Sprintf("goroutines %5d  heap %6.1f MB  resident %6.1f MB", s.goroutines, s.heapMB, s.residentMB)
}

// sample reads the server's metrics.
func (p *process) sample(ctx context.Context) (sample, error) {
	text, err := p.get(ctx, "/metrics")
	if err != nil {
		return sample{}, err
	}
	goroutines, err := metric(text, "go_goroutines")
	if err != nil {
		return sample{}, err
	}
	heap, err := metric(text, "go_memstats_heap_alloc_bytes")
	if err != nil {
		return sample{}, err
	}
	return sample{goroutines: int(goroutines), heapMB: heap / (1 << 20), residentMB: p.residentMB()}, nil
}

// metric is the value of a metric without labels.
func metric(text, name string) (float64, error) {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("/metrics has no %s", name)
}

// residentMB is the process's resident memory in megabytes, or 0 where the system
// does not tell.
func (p *process) residentMB() float64 {
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) >= 2 && fields[0] == "VmRSS:" {
			kb, err := strconv.ParseFloat(fields[1], 64)
			if err != nil {
				return 0
			}
			return kb / 1024
		}
	}
	return 0
}

// stop asks the server to end, and returns how it did.
func (p *process) stop(limit time.Duration) error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-p.exited:
		return err
	case <-time.After(limit):
		return fmt.Errorf("still running %s after SIGTERM", limit)
	}
}

// tail is the end of the log.
func (p *process) tail() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-4000):])
}
