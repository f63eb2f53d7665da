package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// pipe runs the built command with input from a pipe.
func pipe(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	path := binary(t) // building takes its own time
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if ctx.Err() != nil {
		t.Fatalf("turnwise %s did not end; it said\n%s%s", strings.Join(args, " "), stdout.String(), stderr.String())
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func TestChatInAPipeAnswersTheLastLineAndEnds(t *testing.T) {
	got := pipe(t, "a table for four\n", "chat")
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	if got.code != 0 || got.stderr != "" {
		t.Fatalf("exit code %d: %s", got.code, got.stderr)
	}
	if !strings.HasPrefix(lines[0], "bot: ") {
		t.Errorf("the bot does not greet first:\n%s", got.stdout)
	}
	if !strings.Contains(got.stdout, "\nyou: a table for four\nbot: ") {
		t.Errorf("the answer does not follow what was said:\n%s", got.stdout)
	}
	if strings.Contains(got.stdout, "\x1b") {
		t.Errorf("a pipe was given colours: %q", got.stdout)
	}
}

func TestChatInAPipeHoldsAWholeConversation(t *testing.T) {
	got := pipe(t, "a table for four\n\ntomorrow at 7 pm\nAda Lovelace\nyes\nnobody hears this\n", "chat", "--inside")
	if got.code != 0 || got.stderr != "" {
		t.Fatalf("exit code %d: %s", got.code, got.stderr)
	}
	at := 0
	for _, part := range []string{"bot: Welcome", "you: a table for four", "node date_time", "you: tomorrow at 7 pm", "you: Ada Lovelace", "Ada Lovelace", "you: yes", "Goodbye"} {
		i := strings.Index(got.stdout[at:], part)
		if i < 0 {
			t.Fatalf("after %q there is no %q:\n%s", got.stdout[:at], part, got.stdout)
		}
		at += i
	}
	if strings.Contains(got.stdout, "nobody hears this") {
		t.Errorf("the conversation went on after the farewell:\n%s", got.stdout)
	}
}

func TestChatWithoutInputGreetsAndEnds(t *testing.T) {
	got := pipe(t, "", "chat")
	if got.code != 0 || !strings.HasPrefix(got.stdout, "bot: ") || strings.Contains(got.stdout, "you:") {
		t.Errorf("exit code %d, said %q and %q", got.code, got.stdout, got.stderr)
	}
}

func TestChatInAPipeFailsWhenTheModelDoesAndStillAnswersEachLineInTurn(t *testing.T) {
	got := pipe(t, "hello\nis anybody there?\n", "chat", "--base-url", "http://127.0.0.1:1/v1", "--model", "none", "--log-level", "error")
	if got.code != 1 || !strings.Contains(got.stderr, "the model failed") {
		t.Errorf("exit code %d, said %q", got.code, got.stderr)
	}
	// The greeting and both lines have an apology each, before the next line.
	var who []string
	for line := range strings.Lines(got.stdout) {
		if name, said, ok := strings.Cut(line, ": "); ok && (name == "you" || strings.Contains(said, "technical problem")) {
			who = append(who, name)
		}
	}
	if want := "bot you bot you bot"; strings.Join(who, " ") != want {
		t.Errorf("who spoke: %v, want %s:\n%s", who, want, got.stdout)
	}
}

func TestChatFailsWhenALineIsTooLongButAnswersTheOnesBefore(t *testing.T) {
	got := pipe(t, "a table for four\n"+strings.Repeat("x", maxLine+1)+"\nnobody hears this\n", "chat")
	if got.code != 1 || !strings.Contains(got.stderr, "line 2 has more than 32768 bytes") {
		t.Errorf("exit code %d, said %q", got.code, got.stderr)
	}
	if !strings.Contains(got.stdout, "you: a table for four\nbot: ") || strings.Contains(got.stdout, "nobody") {
		t.Errorf("printed\n%s", got.stdout)
	}
}

func TestChatFailsWhenTheInputIsADirectory(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), binary(t), "chat")
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	var stderr strings.Builder
	cmd.Stdin, cmd.Stderr = dir, &stderr
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "is a directory") {
		t.Errorf("ended with %v, said %q", err, stderr.String())
	}
}

func TestChatFailsWhenTheOutputCannotBeWritten(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	defer full.Close()
	cmd := exec.CommandContext(t.Context(), binary(t), "chat")
	var stderr strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("hello\n"), full, &stderr
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "the output cannot be written") {
		t.Errorf("ended with %v, said %q", err, stderr.String())
	}
}

func TestChatAgainstTheOfflineServerIsTheSameConversation(t *testing.T) {
	address := serving(t, 0, "offline-llm", "--addr", "127.0.0.1:0")
	script := "a table for four\ntomorrow at 7 pm\nAda Lovelace\nyes\n"
	remote := pipe(t, script, "chat", "--base-url", address+"/v1", "--model", "turnwise-offline")
	local := pipe(t, script, "chat")
	if remote.code != 0 || remote.stdout != local.stdout {
		t.Errorf("over HTTP:\n%s%s\ninside:\n%s", remote.stdout, remote.stderr, local.stdout)
	}
}
