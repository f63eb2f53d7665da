package frames_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/turnwise/turnwise/frames"
)

var seedFlag = flag.Uint64("seed", 0, "run only the random conversation with this seed")

// model is a conversation in the plainest form.
type model struct {
	entries     []modelEntry
	last        frames.EntryID
	provisional map[uint64]frames.EntryID
}

type modelEntry struct {
	id frames.EntryID
	m  frames.Message
}

func (m *model) append(messages []frames.Message) frames.EntryID {
	return m.insert(len(m.entries), messages)
}

func (m *model) insert(at int, messages []frames.Message) frames.EntryID {
	first := m.last + 1
	var added []modelEntry
	for _, msg := range messages {
		m.last++
		added = append(added, modelEntry{m.last, msg})
	}
	m.entries = slices.Insert(slices.Clone(m.entries), at, added...)
	return first
}

func (m *model) find(id frames.EntryID) int {
	return slices.IndexFunc(m.entries, func(e modelEntry) bool { return e.id == id })
}

func (m *model) heard(id frames.EntryID, text string, interrupted bool) {
	i := m.find(id)
	if i < 0 || m.entries[i].m.Text == text {
		return
	}
	m.entries = slices.Clone(m.entries)
	e := &m.entries[i]
	if text == "" && len(e.m.ToolCalls) == 0 {
		m.entries = slices.Delete(m.entries, i, i+1)
		return
	}
	e.m.Interrupted = interrupted || len(text) < len(e.m.Text)
	e.m.Text = text
}

func (m *model) texts() []string {
	var out []string
	for _, e := range m.entries {
		out = append(out, fmt.Sprint(e.id, short(e.m)))
	}
	return out
}

func idTexts(entries []*frames.Entry) []string {
	var out []string
	for _, e := range entries {
		out = append(out, fmt.Sprint(e.ID(), short(*e.Message())))
	}
	return out
}

// TestRandomConversationsAgreeWithASimpleModel changes conversations at random and
// compares them with the model, and every snapshot with what it was when it was
// taken. Run a failing seed alone with -seed.
func TestRandomConversationsAgreeWithASimpleModel(t *testing.T) {
	first, cases := rand.Uint64N(1<<40), 200
	if *seedFlag != 0 {
		first, cases = *seedFlag, 1
	}
	t.Logf("seeds from %d", first)
	for i := range cases {
		if !randomConversation(t, first+uint64(i)) {
			t.Fatalf("failed with -seed %d", first+uint64(i))
		}
	}
}

func randomConversation(t *testing.T, seed uint64) bool {
	rng := rand.New(rand.NewPCG(seed, 0))
	c, m := frames.NewLLMContext(""), &model{provisional: map[uint64]frames.EntryID{}}
	type taken struct {
		s    frames.Snapshot
		want []string
	}
	var snapshots []taken
	calls, response := 0, uint64(0)
	messages := func() []frames.Message {
		out := []frames.Message{assistant(fmt.Sprint("text ", rng.IntN(100)))}
		if n := rng.IntN(3); n > 0 {
			var ids []string
			for range n {
				calls++
				ids = append(ids, fmt.Sprint("call", calls))
			}
			out = called(ids...)
			out[0].Text = "text"
		}
		return out
	}
	some := func() frames.EntryID { return frames.EntryID(1 + rng.Uint64N(uint64(m.last)+1)) }
	for range 60 {
		switch rng.IntN(10) {
		case 0, 1:
			msgs := messages()
			if a, b := c.Append(msgs...), m.append(msgs); a != b {
				t.Errorf("appending gave %d, want %d", a, b)
			}
		case 2:
			msgs := messages()
			response++
			c.AppendProvisional(response, msgs...)
			m.provisional[response] = m.append(msgs)
		case 3:
			replaceOne(t, c, m, some(), rng)
		case 4:
			removeOne(t, c, m, some())
		case 5:
			text := []string{"", "te", "text", "text and more"}[rng.IntN(4)]
			r := rng.Uint64N(response + 1)
			id, ok := m.provisional[r]
			interrupted := rng.IntN(2) == 0
			if got := c.Heard(r, text, interrupted); got != ok {
				t.Errorf("settling response %d gave %t", r, got)
			}
			if ok {
				delete(m.provisional, r)
				m.heard(id, text, interrupted)
			}
		case 6:
			if rng.IntN(4) == 0 {
				c.Apply(frames.ContextUpdate{Reset: true, Append: []frames.Message{user("anew")}})
				m.entries, m.provisional = nil, map[uint64]frames.EntryID{}
				m.append([]frames.Message{user("anew")})
			}
		case 7:
			if len(snapshots) > 0 {
				s := snapshots[rng.IntN(len(snapshots))].s
				msgs := messages()
				response++
				c.InsertProvisional(s, response, msgs...)
				m.provisional[response] = m.insert(m.behind(s), msgs)
			}
		default:
			snapshots = append(snapshots, taken{c.Snapshot(), m.texts()})
		}
		if got := idTexts(c.Snapshot().Entries); !slices.Equal(got, m.texts()) {
			t.Errorf("the history is %q\nwant %q", got, m.texts())
		}
		checkPairs(t, c.Snapshot())
		if t.Failed() {
			return false
		}
	}
	for _, s := range snapshots {
		if got := idTexts(s.s.Entries); !slices.Equal(got, s.want) {
			t.Errorf("a snapshot became %q\nwas %q", got, s.want)
		}
	}
	return !t.Failed()
}

// behind is where what answers the snapshot goes.
func (m *model) behind(s frames.Snapshot) int {
	if len(s.Entries) == 0 {
		return 0
	}
	if i := m.find(s.Entries[len(s.Entries)-1].ID()); i >= 0 {
		return i + 1
	}
	return len(m.entries)
}

// replaceOne fills in a result, or says something else in an entry without calls.
func replaceOne(t *testing.T, c *frames.LLMContext, m *model, id frames.EntryID, rng *rand.Rand) {
	i := m.find(id)
	msg := user(fmt.Sprint("replaced ", rng.IntN(100)))
	if i >= 0 {
		old := m.entries[i].m
		msg.Role, msg.ToolCallID, msg.ToolCalls = old.Role, old.ToolCallID, old.ToolCalls
	}
	if got := c.Replace(id, msg); got != (i >= 0) {
		t.Errorf("replacing entry %d gave %t", id, got)
	}
	if i >= 0 {
		m.entries = slices.Clone(m.entries)
		m.entries[i].m = msg
	}
}

// removeOne takes out an entry, with the results of its calls; a result is not
// taken out alone.
func removeOne(t *testing.T, c *frames.LLMContext, m *model, id frames.EntryID) {
	i := m.find(id)
	if i >= 0 && m.entries[i].m.Role == frames.RoleTool {
		return
	}
	if got := c.Remove(id); got != (i >= 0) {
		t.Errorf("removing entry %d gave %t", id, got)
	}
	if i >= 0 {
		m.entries = slices.Delete(slices.Clone(m.entries), i, i+1+len(m.entries[i].m.ToolCalls))
	}
}

// checkPairs checks that each call has exactly one result, behind it.
func checkPairs(t *testing.T, s frames.Snapshot) {
	for i := 0; i < len(s.Entries); i++ {
		m := s.Entries[i].Message()
		if m.Role == frames.RoleTool {
			t.Errorf("the result of %s has no call before it: %q", m.ToolCallID, texts(s.Entries))
			return
		}
		for k, call := range m.ToolCalls {
			if i+1+k >= len(s.Entries) || s.Entries[i+1+k].Message().ToolCallID != call.ID {
				t.Errorf("call %s has no result behind it: %q", call.ID, texts(s.Entries))
				return
			}
		}
		i += len(m.ToolCalls)
	}
}
