package openai_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
)

// aimock starts the third-party server of test/peers/aimock and returns its
// address.
func aimock(t *testing.T) string {
	t.Helper()
	dir := filepath.Join("..", "..", "test", "peers", "aimock")
	cli := filepath.Join("node_modules", "@copilotkit", "aimock", "dist", "cli.js")
	_, err := os.Stat(filepath.Join(dir, cli))
	if err == nil {
		_, err = exec.LookPath("node")
	}
	if err != nil {
		const help = "the server aimock is not installed: run `npm ci --prefix test/peers/aimock` (needs Node.js 20 or newer)"
		if os.Getenv("TURNWISE_REQUIRE_PEERS") == "1" {
			t.Fatal(help)
		}
		t.Skip(help)
	}
	// The test's context ends before its clean-up runs.
	cmd := exec.CommandContext(t.Context(), "node", cli, "-p", "0", "-f", "fixtures")
	cmd.Dir = dir
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	drained := make(chan struct{})
	t.Cleanup(func() {
		<-drained
		_ = cmd.Wait() // it was interrupted
	})
	var said []string
	for lines.Scan() {
		said = append(said, lines.Text())
		if _, address, ok := strings.Cut(lines.Text(), "listening on "); ok {
			go func() {
				defer close(drained)
				for lines.Scan() {
				}
			}()
			return address + "/v1"
		}
	}
	close(drained)
	t.Fatalf("aimock did not start:\n%s", strings.Join(said, "\n"))
	return ""
}

func TestThirdPartyServer(t *testing.T) {
	m := newModel(t, aimock(t))
	tools := []frames.Tool{
		{Name: "get_weather", Description: "Tells the weather.", Parameters: []byte(`{"type":"object","properties":{"city":{"type":"string"},"unit":{"type":"string"}}}`)},
		{Name: "get_time", Parameters: []byte(`{"type":"object","properties":{"zone":{"type":"string"}}}`)},
	}
	asking := func(text string) *frames.LLMContext {
		convo := frames.NewLLMContext("You help.")
		convo.SetTools(tools)
		convo.AddUserMessage(text)
		return convo
	}
	run := func(convo *frames.LLMContext) result {
		return collect(t.Context(), m, &llm.Request{Context: convo.Snapshot()})
	}

	t.Run("text, two calls and a follow-up with their results", func(t *testing.T) {
		convo := asking("weather and time in Paris please")
		r := run(convo)
		const want = `{"Text":"Let me check both.","Calls":[{"ID":"call_w","Name":"get_weather","Args":{"city":"Paris","unit":"celsius"}},` +
			`{"ID":"call_t","Name":"get_time","Args":{"zone":"Europe/Paris"}}],` +
			`"Usage":{"Prompt":40,"Completion":25,"Total":65,"CachedPrompt":0,"Reasoning":0},"Finish":"tool_calls"}`
		if r.Err != nil || r.String() != want {
			t.Fatalf("got %v, %v\nwant %s", r, r.Err, want)
		}
		convo.Append(frames.Message{Role: frames.RoleAssistant, Text: r.Text, ToolCalls: r.Calls})
		for _, c := range r.Calls {
			convo.Append(frames.Message{Role: frames.RoleTool, ToolCallID: c.ID, Name: c.Name, Text: `{"ok":true}`})
		}
		r = run(convo)
		if r.Err != nil || r.Text != "It is 21 degrees and ten past nine in Paris." || r.Finish != llm.FinishStop || r.Usage == nil {
			t.Errorf("got %v, %v", r, r.Err)
		}
	})
	t.Run("reasoning is not passed on", func(t *testing.T) {
		if r := run(asking("think first")); r.Err != nil || r.Text != "Forty-two." {
			t.Errorf("got %v, %v", r, r.Err)
		}
	})
	t.Run("rate limit", func(t *testing.T) {
		e := wantError(t, run(asking("limit")).Err, frames.ErrorRateLimit)
		if e.Status != 429 || e.RetryAfter != 3*time.Second {
			t.Errorf("status %d, retry after %v", e.Status, e.RetryAfter)
		}
	})
	t.Run("wrong key", func(t *testing.T) {
		wantError(t, run(asking("wrong key")).Err, frames.ErrorAuth)
	})
	t.Run("server error", func(t *testing.T) {
		wantError(t, run(asking("out of order")).Err, frames.ErrorServer)
	})
	t.Run("stream cut inside a call", func(t *testing.T) {
		r := run(asking("break off"))
		wantError(t, r.Err, frames.ErrorNetwork)
		if !errors.Is(r.Err, llm.ErrCut) || r.Calls != nil {
			t.Errorf("got %v, %v", r, r.Err)
		}
	})
	t.Run("cancelled in the middle", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		text, last := "", error(nil)
		for c, err := range m.Stream(ctx, &llm.Request{Context: asking("long story").Snapshot()}) {
			if text += c.Text; text != "" {
				cancel()
			}
			last = err
		}
		wantError(t, last, frames.ErrorInternal)
		if !errors.Is(last, context.Canceled) || len(text) > 20 {
			t.Errorf("got %q, %v", text, last)
		}
	})
}
