// Command turnwise serves conversations that a flow steers, in the browser and in
// the terminal. `turnwise --help` tells how.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"
)

// The exit codes.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

// world is what the command has of the process it runs in.
type world struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	// interactive tells that a person types and reads.
	interactive bool
	// interrupts passes on every Ctrl-C until stop is called.
	interrupts func() (breaks <-chan os.Signal, stop func())
}

func main() {
	w := &world{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv,
		interactive: isTerminal(os.Stdin) && isTerminal(os.Stdout), interrupts: interrupts,
	}
	os.Exit(w.run(context.Background(), os.Args[1:]))
}

// usageError is a fault of the command line that kong cannot see.
type usageError string

func (e usageError) Error() string { return string(e) }

// run is the whole command; it returns the exit code.
func (w *world) run(ctx context.Context, args []string) int {
	var c cli
	exited := -1
	parser, err := kong.New(&c,
		kong.Name("turnwise"), kong.Description(description), kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Help(withExamples),
		kong.Writers(w.stdout, w.stderr), kong.Exit(func(code int) { exited = code }),
		kong.Vars{"version": version()},
	)
	if err != nil {
		fmt.Fprintln(w.stderr, "turnwise:", err)
		return exitFailure
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if exited >= 0 { // help was asked for
		return exited
	}
	if err == nil {
		err = w.command(ctx, &c, parsed)
	} else {
		err = usageError(err.Error())
	}
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		fmt.Fprintf(w.stderr, "turnwise: %v\nTry: turnwise %s--help\n", err, commandOf(args))
		return exitUsage
	}
	fmt.Fprintln(w.stderr, "turnwise:", err)
	return exitFailure
}

// command runs what the command line asks for.
func (w *world) command(ctx context.Context, c *cli, parsed *kong.Context) error {
	switch name := parsed.Command(); name {
	case "serve":
		return c.Serve.run(ctx, w, c)
	case "chat":
		return c.Chat.run(ctx, w, c)
	case "offline-llm":
		return c.OfflineLLM.run(ctx, w, c)
	case "call <url>":
		return c.Call.run(ctx, w)
	case "doctor":
		return c.Doctor.run(ctx, w)
	case "version":
		_, err := fmt.Fprintln(w.stdout, "turnwise", version())
		return err
	default:
		return usageError("unknown command " + name)
	}
}

// commandOf is the command of a command line, for pointing at its help.
func commandOf(args []string) string {
	switch args[0] {
	case "serve", "chat", "offline-llm", "call", "doctor", "version":
		return args[0] + " "
	}
	return ""
}

// isTerminal reports whether a person is at the other end of f.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
