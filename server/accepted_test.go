package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/turnwise/turnwise/flows"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/server"
)

// A client types faster than anyone can answer, among messages that are refused. What
// was accepted is in the conversation, each once and in order, though all but the last
// interrupted what was being said.
func TestEverythingThatWasAcceptedIsInTheConversation(t *testing.T) {
	bot := testBot()
	convos := make(chan *frames.LLMContext, 1)
	bot.Configure = func(_ *server.Session, c *flows.Config) { convos <- c.Context }
	_, address := serve(t, server.Config{Bot: bot})
	c := dial(t, address)
	c.ready()
	c.hears("Who are you?")
	convo := <-convos
	const texts = 100
	for i := range texts {
		c.say(fmt.Sprintf("text %d", i))
		switch i % 5 {
		case 1:
			c.send("send-text", map[string]any{"content": "  "})
		case 2:
			c.send("no-such-type", nil)
		case 3:
			c.send("send-text", map[string]any{"content": strings.Repeat("x", 40_000)})
		}
	}
	refusals := func() (n int) {
		for _, m := range c.types() {
			if strings.HasPrefix(m, "error-response") {
				n++
			}
		}
		return n
	}
	said := func() (out []string) {
		for _, e := range convo.Snapshot().Entries {
			if m := e.Message(); m.Role == frames.RoleUser {
				out = append(out, m.Text)
			}
		}
		return out
	}
	eventually(t, "all was taken or refused", func() bool { return len(said()) >= texts && refusals() == 60 })
	for i, text := range said() {
		if want := fmt.Sprintf("text %d", i); text != want {
			t.Fatalf("number %d is %q", i, text)
		}
	}
	c.say("take_name")
	c.hears("Goodbye, Ada.")
}
