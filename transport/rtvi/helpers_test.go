package rtvi_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/transport/rtvi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sent is one message that a client was sent.
type sent struct {
	Label    string
	Type     rtvi.Type
	ID       string
	Data     json.RawMessage
	priority rtvi.Priority
}

// client is a sender that remembers.
type client struct {
	t  testing.TB
	mu sync.Mutex
	in []sent
	au []frames.PCM
}

func (c *client) Send(msg []byte, p rtvi.Priority) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := sent{priority: p}
	if err := json.Unmarshal(msg, &m); err != nil {
		c.t.Errorf("sent %q, which is not JSON: %v", msg, err)
	}
	if m.Label != "rtvi-ai" {
		c.t.Errorf("sent %q, without the label", msg)
	}
	c.in = append(c.in, m)
}

func (c *client) SendAudio(pcm frames.PCM) { c.au = append(c.au, pcm) }

// take returns what was sent since the last time.
func (c *client) take() []sent {
	c.mu.Lock()
	defer c.mu.Unlock()
	got := c.in
	c.in = nil
	return got
}

// brief writes messages as "type data", one to a line.
func brief(messages []sent) string {
	lines := make([]string, len(messages))
	for i, m := range messages {
		lines[i] = strings.TrimSpace(string(m.Type) + " " + string(m.Data))
	}
	return strings.Join(lines, "\n")
}

// is compares what was sent with lines as brief makes them. Whatever was not asked
// for, such as the deprecated bot-transcription, is named in ignore.
func (c *client) is(want string, ignore ...rtvi.Type) {
	c.t.Helper()
	var got []sent
	for _, m := range c.take() {
		keep := true
		for _, t := range ignore {
			keep = keep && m.Type != t
		}
		if keep {
			got = append(got, m)
		}
	}
	want = strings.TrimSpace(strings.ReplaceAll(want, "\t", ""))
	if brief(got) != want {
		c.t.Errorf("the client was sent\n%s\nwant\n%s", brief(got), want)
	}
}

// feed stands before the output and pushes what it is told to, on the loop.
type feed struct{ pipeline.Base }

// burst is a list of frames that feed pushes at once.
type burst struct {
	frames.SystemFrame
	push []frames.Frame
}

func (p *feed) Process(f frames.Frame, dir pipeline.Direction) {
	b, ok := f.(*burst)
	if !ok {
		p.Push(f, dir)
		return
	}
	for _, f := range b.push {
		p.Push(f, pipeline.Downstream)
	}
}

// tail stands behind the output and remembers what passed.
type tail struct {
	pipeline.Base
	passed []frames.Frame
}

func (p *tail) Process(f frames.Frame, dir pipeline.Direction) {
	p.passed = append(p.passed, f)
	p.Push(f, dir)
}
