package desk_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/turnwise/turnwise/examples/internal/talk"
	"github.com/turnwise/turnwise/examples/supportdesk/desk"
	"github.com/turnwise/turnwise/flows"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm/offline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func converse(t *testing.T, talkWith func(t *testing.T, c *talk.Conversation, f *desk.Flow)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := desk.New(desk.SlowCarrier{Delay: 4 * time.Second})
		c := talk.Start(t, offline.New(offline.Config{}), flows.Config{GlobalFunctions: f.GlobalFunctions()}, f.Start())
		c.Pass(0)
		talkWith(t, c, f)
	})
}

func wantSays(t *testing.T, said string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(said, p) {
			t.Errorf("the bot says %q and not %q", said, p)
		}
	}
}

func TestTheConversationGoesOnWhileTheCarrierIsAsked(t *testing.T) {
	converse(t, func(t *testing.T, c *talk.Conversation, _ *desk.Flow) {
		c.Say("it is L1234")
		wantSays(t, c.Say("where is my parcel?"), "moment")
		wantSays(t, c.Say("how long can I send a lamp back?"), "thirty days")
		wantSays(t, c.Pass(2*time.Second), "a little slow")
		wantSays(t, c.Pass(2*time.Second), "in the van")
		if got := desk.Status.Value(c.Flow.State()); !strings.Contains(got, "in the van") {
			t.Errorf("the status is %q", got)
		}
	})
}

func TestAnotherOrderStartsAfresh(t *testing.T) {
	converse(t, func(t *testing.T, c *talk.Conversation, _ *desk.Flow) {
		c.Say("it is L1234")
		c.Say("the lamp is broken")
		wantSays(t, c.Say("the switch"), "A new switch is on its way")
		c.Say("I have another order")
		if got := c.Nodes(); got != "identify order fault order identify" {
			t.Errorf("the way was %q", got)
		}
		for _, m := range c.Flow.CurrentContext() {
			if strings.Contains(m.Text, "switch") {
				t.Errorf("the history still has %q", m.Text)
			}
		}
	})
}

func TestAPersonTakesOverFromOutside(t *testing.T) {
	converse(t, func(t *testing.T, c *talk.Conversation, f *desk.Flow) {
		c.Say("it is L1234")
		if err := c.Flow.SetNode(t.Context(), f.Person()); err != nil {
			t.Fatal(err)
		}
		wantSays(t, c.Pass(0), "A colleague will call you back", "Goodbye")
		first := c.Flow.CurrentContext()[0]
		if first.Role != frames.RoleDeveloper || !strings.HasPrefix(first.Text, "Summary of the conversation so far") || !strings.Contains(first.Text, "L1234") {
			t.Errorf("the history begins with %q", first.Text)
		}
		if !c.Over() {
			t.Error("the session goes on")
		}
	})
}

func TestTheOutline(t *testing.T) {
	f := desk.New(desk.SlowCarrier{})
	if o := f.Outline(); len(o.Nodes) != len(f.Nodes()) || o.Nodes[0].Name != f.Start().Name {
		t.Errorf("the outline is %+v", o)
	}
}
