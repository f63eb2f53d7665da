package main

import (
	"bytes"
	"context"
	"errors"
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

func TestChatWithAModelThatCannotBeReachedSaysSo(t *testing.T) {
	got := pipe(t, "hello\n", "chat", "--base-url", "http://127.0.0.1:1/v1", "--model", "none", "--log-level", "error")
	if got.code != 0 || !strings.Contains(got.stdout, "technical problem") {
		t.Errorf("exit code %d, said %q and %q", got.code, got.stdout, got.stderr)
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
