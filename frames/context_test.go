package frames_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/turnwise/turnwise/frames"
)

func user(text string) frames.Message { return frames.Message{Role: frames.RoleUser, Text: text} }

func assistant(text string) frames.Message {
	return frames.Message{Role: frames.RoleAssistant, Text: text}
}

// called is a message that calls functions, with the placeholders of their results.
func called(ids ...string) []frames.Message {
	m := frames.Message{Role: frames.RoleAssistant}
	out := []frames.Message{{}}
	for _, id := range ids {
		m.ToolCalls = append(m.ToolCalls, frames.ToolCall{ID: id, Name: "f"})
		out = append(out, frames.Message{Role: frames.RoleTool, ToolCallID: id, Pending: true})
	}
	out[0] = m
	return out
}

// texts renders a history in short.
func texts(entries []*frames.Entry) []string {
	var out []string
	for _, e := range entries {
		out = append(out, short(*e.Message()))
	}
	return out
}

func short(m frames.Message) string {
	s := fmt.Sprintf("%s:%s%s", m.Role, m.Text, m.ToolCallID)
	for _, c := range m.ToolCalls {
		s += "+" + c.ID
	}
	if m.Interrupted {
		s += " (interrupted)"
	}
	return s
}

func has(t *testing.T, c *frames.LLMContext, want ...string) {
	t.Helper()
	if got := texts(c.Snapshot().Entries); !slices.Equal(got, want) {
		t.Errorf("the history is %q\nwant %q", got, want)
	}
}

func TestASnapshotStaysAsItWas(t *testing.T) {
	for name, change := range map[string]func(c *frames.LLMContext, ids []frames.EntryID){
		"when something is appended":  func(c *frames.LLMContext, _ []frames.EntryID) { c.AddUserMessage("new") },
		"when an entry is replaced":   func(c *frames.LLMContext, ids []frames.EntryID) { c.Replace(ids[1], user("new")) },
		"when an entry is removed":    func(c *frames.LLMContext, ids []frames.EntryID) { c.Remove(ids[0]) },
		"when the history is dropped": func(c *frames.LLMContext, _ []frames.EntryID) { c.SetMessages([]frames.Message{user("new")}) },
		"when what was heard is settled": func(c *frames.LLMContext, _ []frames.EntryID) {
			c.Heard(7, "pro", true)
		},
		"when nothing was heard": func(c *frames.LLMContext, _ []frames.EntryID) { c.Heard(7, "", true) },
		"when a late response is inserted": func(c *frames.LLMContext, _ []frames.EntryID) {
			s := c.Snapshot()
			c.AddUserMessage("newer")
			c.InsertProvisional(s, 8, assistant("late"))
		},
		"when everything is swapped": func(c *frames.LLMContext, _ []frames.EntryID) {
			system := "other"
			c.Apply(frames.ContextUpdate{System: &system, Reset: true, Tools: frames.NewToolset(frames.Tool{Name: "g"})})
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := frames.NewLLMContext("persona")
			c.SetTools([]frames.Tool{{Name: "f"}})
			ids := []frames.EntryID{c.AddUserMessage("a"), c.AddAssistantMessage("b")}
			c.AppendProvisional(7, assistant("provisional"))
			before := c.Snapshot()
			change(c, ids)
			c.AddUserMessage("afterwards")
			if got := texts(before.Entries); !slices.Equal(got, []string{"user:a", "assistant:b", "assistant:provisional"}) {
				t.Errorf("the snapshot's history became %q", got)
			}
			if before.System.Message().Text != "persona" || !slices.Equal(before.Tools.Names(), []string{"f"}) {
				t.Errorf("the snapshot's persona or tools changed: %q %q", before.System.Message().Text, before.Tools.Names())
			}
			if after := c.Snapshot(); after.Version <= before.Version {
				t.Errorf("the version went from %d to %d", before.Version, after.Version)
			}
		})
	}
}

func TestAnUpdateIsOneChange(t *testing.T) {
	c := frames.NewLLMContext("one")
	c.AddUserMessage("old")
	system, choice := "two", frames.ToolChoiceRequired
	c.Apply(frames.ContextUpdate{
		System: &system, Reset: true, Append: []frames.Message{user("new")},
		Tools: frames.NewToolset(frames.Tool{Name: "f"}), Choice: &choice,
	})
	s := c.Snapshot()
	if s.System.Message().Text != "two" || s.Choice != choice || s.Tools.Len() != 1 {
		t.Errorf("the update made %+v", s)
	}
	has(t, c, "user:new")
	before := c.Snapshot()
	c.Apply(frames.ContextUpdate{})
	if after := c.Snapshot(); !slices.Equal(texts(after.Entries), texts(before.Entries)) || after.Tools != before.Tools || after.System != before.System {
		t.Error("an empty update changed something")
	}
	none := ""
	c.Apply(frames.ContextUpdate{System: &none})
	if c.Snapshot().System != nil || c.System() != "" {
		t.Error("an empty persona is sent")
	}
}

func TestReadersNeverSeeAPartOfAnUpdate(t *testing.T) {
	// Each update changes persona, messages, tools and choice to the same number.
	c := frames.NewLLMContext("")
	set := func(n string) {
		choice := frames.ToolChoice(n)
		c.Apply(frames.ContextUpdate{
			System: &n, Reset: true, Append: append(called(n), user(n)),
			Tools: frames.NewToolset(frames.Tool{Name: n}), Choice: &choice,
		})
	}
	set("start")
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				s := c.Snapshot()
				n := s.System.Message().Text
				last := s.Entries[len(s.Entries)-1].Message().Text
				if last != n || !slices.Equal(s.Tools.Names(), []string{n}) || s.Choice != frames.ToolChoice(n) || len(s.Entries) != 3 {
					t.Errorf("saw %q, %q, %q, %q", n, texts(s.Entries), s.Tools.Names(), s.Choice)
					return
				}
			}
		})
	}
	for i := range 300 {
		set(fmt.Sprint(i))
	}
	close(stop)
	readers.Wait()
}

func TestAnEntryIsFoundReplacedAndRemovedByItsID(t *testing.T) {
	c := frames.NewLLMContext("")
	id := c.Append(append(called("x", "y"), user("next"))...)
	if !c.Replace(id+1, frames.Message{Role: frames.RoleTool, ToolCallID: "x", Text: "42 "}) {
		t.Error("the placeholder was not found")
	}
	has(t, c, "assistant:+x+y", "tool:42 x", "tool:y", "user:next")
	if m, ok := c.Message(id + 1); !ok || m.Text != "42 " {
		t.Errorf("the result is %+v, %t", m, ok)
	}
	if !c.Remove(id) {
		t.Error("the call was not found")
	}
	has(t, c, "user:next")
	_, found := c.Message(id + 1)
	if found || c.Remove(id) || c.Replace(id+2, user("z")) {
		t.Error("what was removed is still there")
	}
	if last, text, ok := c.LastUser(); !ok || text != "next" || last != id+3 {
		t.Errorf("the last user message is %d, %q, %t", last, text, ok)
	}
}

func TestWhatWasHeardTakesThePlaceOfWhatWasGenerated(t *testing.T) {
	for name, c := range map[string]struct {
		message     frames.Message
		text        string
		interrupted bool
		want        []string
	}{
		"all of it":                   {assistant("all of it"), "all of it", false, []string{"assistant:all of it"}},
		"all of it, then interrupted": {assistant("all"), "all", true, []string{"assistant:all"}},
		"a part":                      {assistant("all of it"), "all", true, []string{"assistant:all (interrupted)"}},
		"nothing":                     {assistant("all of it"), "", true, nil},
		"nothing, but it calls": {frames.Message{Role: frames.RoleAssistant, Text: "wait", ToolCalls: []frames.ToolCall{{ID: "x"}}}, "", true,
			[]string{"assistant:+x (interrupted)"}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := frames.NewLLMContext("")
			ctx.AppendProvisional(1, c.message)
			if !ctx.Heard(1, c.text, c.interrupted) {
				t.Error("the response was not found")
			}
			has(t, ctx, c.want...)
			if ctx.Heard(1, "again", false) {
				t.Error("the response was settled twice")
			}
		})
	}
}

func TestACutSettlesEveryProvisionalMessage(t *testing.T) {
	c := frames.NewLLMContext("")
	c.AppendProvisional(1, assistant("first"))
	c.AppendProvisional(2, assistant("second"))
	c.AppendProvisional(3, assistant("third"))
	c.Cut(func(response uint64) string { return map[uint64]string{1: "first", 2: "sec"}[response] })
	has(t, c, "assistant:first", "assistant:sec (interrupted)")
	if c.Heard(3, "third", false) {
		t.Error("a message that was cut is still provisional")
	}
}

func TestALateResponseGoesBehindWhatItAnswers(t *testing.T) {
	c := frames.NewLLMContext("")
	c.AddUserMessage("question")
	asked := c.Snapshot()
	c.AddUserMessage("and another")
	c.InsertProvisional(asked, 1, append([]frames.Message{assistant("answer")}, called("x")...)...)
	has(t, c, "user:question", "assistant:answer", "assistant:+x", "tool:x", "user:and another")
	empty := frames.Snapshot{}
	c.InsertProvisional(empty, 2, assistant("greeting"))
	has(t, c, "assistant:greeting", "user:question", "assistant:answer", "assistant:+x", "tool:x", "user:and another")
	c.SetMessages([]frames.Message{user("anew")})
	c.InsertProvisional(asked, 3, assistant("too late"))
	has(t, c, "user:anew", "assistant:too late")
}

func TestASnapshotCostsTheSameHoweverLongTheConversationIs(t *testing.T) {
	for _, length := range []int{0, 10, 10_000} {
		c := frames.NewLLMContext("persona")
		for range length {
			c.AddUserMessage("message")
		}
		var s frames.Snapshot
		if n := testing.AllocsPerRun(100, func() { s = c.Snapshot() }); n != 0 {
			t.Errorf("with %d messages a snapshot makes %v allocations", length, n)
		}
		if len(s.Entries) != length {
			t.Errorf("the snapshot has %d messages", len(s.Entries))
		}
	}
}

func TestMessagesReturnsACopy(t *testing.T) {
	c := frames.NewLLMContext("")
	c.AddUserMessage("a")
	m := c.Messages()
	m[0].Text = "changed"
	has(t, c, "user:a")
}

func BenchmarkSnapshot(b *testing.B) {
	c := frames.NewLLMContext("persona")
	for range 1000 {
		c.AddUserMessage("message")
	}
	b.ReportAllocs()
	for b.Loop() {
		_ = c.Snapshot()
	}
}

func BenchmarkAppendAfterSnapshot(b *testing.B) {
	c := frames.NewLLMContext("persona")
	b.ReportAllocs()
	for b.Loop() {
		_ = c.Snapshot()
		c.AddUserMessage("message")
	}
}
