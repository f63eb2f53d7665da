package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/turnwise/turnwise/audio/wav"
)

const (
	// defaultTimeout bounds a process that nobody else does.
	defaultTimeout = 30 * time.Second
	// defaultLimit is how many processes run at once.
	defaultLimit = 4
	// killedWait is how long the pipes of a killed process may stay open.
	killedWait = time.Second
)

// runner runs processes, a limited number at once.
type runner struct {
	slots   chan struct{}
	timeout time.Duration
}

func newRunner(limit int, timeout time.Duration) (*runner, error) {
	if limit < 0 || timeout < 0 {
		return nil, fmt.Errorf("%w: Limit and Timeout must not be negative", ErrConfig)
	}
	if limit == 0 {
		limit = defaultLimit
	}
	if timeout == 0 {
		timeout = defaultTimeout
	}
	return &runner{slots: make(chan struct{}, limit), timeout: timeout}, nil
}

// command is one process.
type command struct {
	path  string
	args  []string
	stdin io.Reader
	// read takes the standard output while the process runs. When it fails the
	// process is killed.
	read func(io.Reader) error
}

// run runs a command once there is room, and waits for its end: the process has
// ended when run returns.
func (r *runner) run(ctx context.Context, c command) error {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, r.timeout,
		fmt.Errorf("%w: it ran for more than %s", context.DeadlineExceeded, r.timeout))
	defer cancel()
	return c.run(ctx)
}

func (c *command) run(outer context.Context) error {
	ctx, kill := context.WithCancel(outer)
	defer kill()
	out, in, err := os.Pipe()
	if err != nil {
		return c.failed(err, nil)
	}
	defer func() { _ = out.Close() }()
	var complaints tail
	cmd := c.build(ctx, in, &complaints)
	err = cmd.Start()
	_ = in.Close() // the process has its own
	if err != nil {
		return c.failed(err, nil)
	}
	// A process may have left its group and hold the pipe open.
	stop := context.AfterFunc(ctx, func() { _ = out.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	readErr := c.read(out)
	if readErr != nil && !ended(out, readErr) {
		kill()
	}
	waitErr := cmd.Wait()
	switch {
	case outer.Err() != nil:
		return c.failed(context.Cause(outer), nil)
	case readErr != nil && errors.Is(readErr, errListener):
		return readErr
	case waitErr != nil && ctx.Err() == nil:
		return c.failed(waitErr, &complaints)
	case readErr != nil:
		return c.failed(readErr, &complaints)
	}
	return nil
}

func (c *command) build(ctx context.Context, out *os.File, complaints *tail) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.path, c.args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.stdin, out, complaints
	cmd.Env = []string{"LC_ALL=C.UTF-8"}
	cmd.WaitDelay = killedWait
	ownGroup(cmd)
	return cmd
}

func (c *command) failed(err error, complaints *tail) error {
	e := &ProcessError{Program: c.path, Err: err}
	if complaints != nil {
		e.Stderr = complaints.complaint()
	}
	return e
}

// ended reports whether out was found wrong because it had ended: then the process
// tells better what is wrong than what it wrote.
func ended(out io.Reader, err error) bool {
	if !errors.Is(err, wav.ErrFormat) {
		return false
	}
	_, err = io.CopyN(io.Discard, out, 1)
	return err == io.EOF
}

// errListener is wrapped with the failure of whom the output is for.
var errListener = errors.New("local: the listener has gone")

// discard is the output of a command that has none worth reading, bounded.
func discard(r io.Reader) error {
	n, err := io.CopyN(io.Discard, r, maxTail)
	if err == io.EOF {
		return nil
	}
	if err == nil {
		return fmt.Errorf("%w: more than %d bytes", ErrTooLong, n)
	}
	return err
}
