package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// screen is a terminal's screen: what was written so far.
type screen struct {
	mu     sync.Mutex
	b      bytes.Buffer
	change chan struct{}
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.change)
	s.change = make(chan struct{})
	return s.b.Write(p)
}

// shows waits until the screen has a text behind what was there at from, and
// returns where it ends.
func (s *screen) shows(t *testing.T, from int, text string) int {
	t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		s.mu.Lock()
		all, change := s.b.String(), s.change
		s.mu.Unlock()
		if i := strings.Index(all[from:], text); i >= 0 {
			return from + i + len(text)
		}
		select {
		case <-change:
		case <-limit.C:
			t.Fatalf("the screen does not show %q after %q:\n%s", text, all[:from], all)
		}
	}
}

// person is someone at a terminal.
type person struct {
	*screen
	keys   *io.PipeWriter
	breaks chan os.Signal
	ended  chan int
}

// sit starts the command in a terminal.
func sit(t *testing.T, args ...string) *person {
	t.Helper()
	stdin, keys := io.Pipe()
	p := &person{screen: &screen{change: make(chan struct{})}, keys: keys, breaks: make(chan os.Signal), ended: make(chan int, 1)}
	w := &world{
		stdin: stdin, stdout: p.screen, stderr: io.Discard, interactive: true,
		getenv:     func(name string) string { return map[string]string{"NO_COLOR": "1"}[name] },
		interrupts: func() (<-chan os.Signal, func()) { return p.breaks, func() {} },
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.ended <- w.run(ctx, args)
	}()
	t.Cleanup(func() {
		_ = keys.Close()
		cancel()
		<-done
	})
	return p
}

func (p *person) types(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(p.keys, text); err != nil {
		t.Fatal(err)
	}
}

func (p *person) exit(t *testing.T) int {
	t.Helper()
	select {
	case code := <-p.ended:
		return code
	case <-time.After(patience):
		t.Fatal("the chat does not end")
		return -1
	}
}

func TestCtrlCInterruptsTheBotAndTwiceEndsTheChat(t *testing.T) {
	// So slow that the greeting would take minutes.
	p := sit(t, "chat", "--pace", "500ms")
	at := p.shows(t, 0, "stand-in")
	at = p.shows(t, at, "Would ")
	p.types(t, "a table for four\n") // and nobody waits for the bot to end
	at = p.shows(t, at, "(interrupted)")
	at = p.shows(t, at, "Which ")
	p.breaks <- os.Interrupt
	at = p.shows(t, at, "(interrupted)")
	p.shows(t, at, "you: ")
	p.breaks <- os.Interrupt
	if code := p.exit(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestCtrlDEndsTheChat(t *testing.T) {
	p := sit(t, "chat", "--pace", "0")
	p.shows(t, 0, "you: ")
	_ = p.keys.Close()
	if code := p.exit(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestTheChatEndsWithTheFlow(t *testing.T) {
	p := sit(t, "chat", "--pace", "0")
	at := p.shows(t, 0, "you: ")
	p.types(t, "never mind\n")
	p.shows(t, at, "bot: ")
	if code := p.exit(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
