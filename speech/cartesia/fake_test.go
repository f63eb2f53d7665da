package cartesia_test

import (
	"encoding/base64"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/turnwise/turnwise/speech/cartesia"
	"github.com/turnwise/turnwise/speech/internal/socket/sockettest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "sk_car_very-secret-key"

// fake is Cartesia, as strict as its reference: what it would refuse or not understand
// fails the test.
type fake struct {
	*sockettest.Server
	// speak is told each request, and speaks; cancelled which of them are cancelled.
	speak     func(c *call, id string, request map[string]any)
	cancelled func(c *call, id string)
	last      atomic.Pointer[call]
}

// call is one connection.
type call struct {
	*sockettest.Peer
	t *testing.T
	// contexts are those that were opened; true ones were cancelled.
	contexts map[string]bool
}

func newFake(t *testing.T, speak func(c *call, id string, request map[string]any)) *fake {
	t.Helper()
	f := &fake{speak: speak, cancelled: func(*call, string) {}}
	f.Server = sockettest.New(t, func(p *sockettest.Peer) {
		c := &call{Peer: p, t: t, contexts: map[string]bool{}}
		f.last.Store(c)
		if r := p.Request; r.URL.Path != "/tts/websocket" || r.URL.RawQuery != "" || r.Header.Get("Authorization") != "Bearer "+key || r.Header.Get("Cartesia-Version") != "2026-03-01" {
			t.Errorf("handshake for %s with %v", r.URL, r.Header)
		}
		for {
			object, data, err := p.Receive()
			if err != nil {
				return
			}
			if data != nil {
				t.Errorf("%d bytes of binary data", len(data))
			}
			c.take(f, object)
		}
	})
	return f
}

// take follows a message.
func (c *call) take(f *fake, m map[string]any) {
	id, _ := m["context_id"].(string)
	cancelled, known := c.contexts[id]
	if m["cancel"] != nil {
		if m["cancel"] != true || len(m) != 2 || !known || cancelled {
			c.t.Errorf("cannot cancel with %v", m)
		}
		c.contexts[id] = true
		f.cancelled(c, id)
		return
	}
	text, _ := m["transcript"].(string)
	voice, _ := m["voice"].(map[string]any)
	format, _ := m["output_format"].(map[string]any)
	if id == "" || known || text == "" || m["model_id"] == "" || m["continue"] != false || m["add_timestamps"] != true ||
		voice["mode"] != "id" || voice["id"] != "anna" || format["container"] != "raw" || format["encoding"] != "pcm_s16le" || format["sample_rate"] != 24000.0 {
		c.t.Errorf("no request: %v", m)
	}
	for name := range m {
		switch name {
		case "context_id", "transcript", "voice", "output_format", "model_id", "continue", "add_timestamps", "language", "generation_config":
		default:
			c.t.Errorf("there is no field %s", name)
		}
	}
	c.contexts[id] = false
	f.speak(c, id, m)
}

// chunk sends samples, in bytes that may be half a sample more or less.
func (c *call) chunk(id string, raw []byte) {
	c.Send(map[string]any{"type": "chunk", "data": base64.StdEncoding.EncodeToString(raw), "done": false, "status_code": 206, "step_time": 12.5, "context_id": id})
}

// times sends the times of words.
func (c *call) times(id string, words []string, starts, ends []float64) {
	c.Send(map[string]any{
		"type": "timestamps", "done": false, "status_code": 206, "context_id": id,
		"word_timestamps": map[string]any{"words": words, "start": starts, "end": ends},
	})
}

// done ends a context.
func (c *call) done(id string) {
	c.Send(map[string]any{"type": "done", "done": true, "status_code": 206, "context_id": id})
}

func newSynthesizer(t *testing.T, f *fake, change ...func(*cartesia.Config)) *cartesia.Synthesizer {
	t.Helper()
	cfg := cartesia.Config{APIKey: key, BaseURL: sockettest.URL, Dial: f.Dial, Voice: "anna"}
	for _, apply := range change {
		apply(&cfg)
	}
	s, err := cartesia.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// seen is the last connection, once nothing moves any more.
func (f *fake) seen() *call {
	synctest.Wait()
	return f.last.Load()
}
