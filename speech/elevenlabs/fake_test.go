package elevenlabs_test

import (
	"encoding/base64"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/turnwise/turnwise/speech/elevenlabs"
	"github.com/turnwise/turnwise/speech/internal/socket/sockettest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "xi-very-secret-key"

// fake is ElevenLabs, as strict as its reference: what it would refuse, not understand
// or hang up for fails the test.
type fake struct {
	*sockettest.Server
	// speak is told each text once its context is closed, and speaks.
	speak func(c *call, id, text string)
	last  atomic.Pointer[call]
}

// call is one connection.
type call struct {
	*sockettest.Peer
	t *testing.T
	// contexts are those that have not ended, with their texts; closed are those that
	// the client has closed.
	contexts map[string]string
	closed   map[string]bool
	settings any
}

func newFake(t *testing.T, speak func(c *call, id, text string)) *fake {
	t.Helper()
	f := &fake{speak: speak}
	f.Server = sockettest.New(t, func(p *sockettest.Peer) {
		c := &call{Peer: p, t: t, contexts: map[string]string{}, closed: map[string]bool{}}
		f.last.Store(c)
		c.handshake()
		for {
			object, data, err := p.Receive()
			if err != nil {
				return
			}
			if data != nil {
				t.Errorf("%d bytes of binary data", len(data))
			}
			if id, text := c.take(object); id != "" {
				f.speak(c, id, text)
			}
		}
	})
	return f
}

// handshake checks the address and the headers.
func (c *call) handshake() {
	r := c.Request
	if r.URL.Path != "/v1/text-to-speech/george/multi-stream-input" || r.Header.Get("xi-api-key") != key {
		c.t.Errorf("%s with key %q", r.URL.Path, r.Header.Get("xi-api-key"))
	}
	known := " model_id language_code output_format inactivity_timeout sync_alignment auto_mode "
	for name := range r.URL.Query() {
		if !strings.Contains(known, " "+name+" ") {
			c.t.Errorf("there is no parameter %s", name)
		}
	}
}

// take follows a message. It returns a context that has been closed, with its text.
func (c *call) take(m map[string]any) (id, text string) {
	id, _ = m["context_id"].(string)
	said, open := c.contexts[id]
	words, speaks := m["text"].(string)
	switch {
	case id == "":
		c.t.Errorf("a message without a context: %v", m)
	case c.closed[id]:
		c.t.Errorf("a closed context is mentioned: %v", m)
	case m["close_context"] == true:
		if !open || said == "" || len(m) != 2 {
			c.t.Errorf("closed without anything to say: %v", m)
		}
		c.closed[id] = true
		return id, said
	case !open:
		if words != " " {
			c.t.Errorf("a context begins with %q, not a space", words)
		}
		if c.contexts[id] = ""; len(c.contexts) > 5 {
			c.t.Error("more than five contexts")
		}
		c.settings = m["voice_settings"]
	case !speaks || !strings.HasSuffix(words, " ") || strings.HasSuffix(words, "  ") || m["flush"] != true || m["voice_settings"] != nil:
		c.t.Errorf("there is no message %v", m)
	default:
		c.contexts[id] += words
	}
	return "", ""
}

// audio sends samples, in bytes that may be half a sample more or less, with the times
// of characters.
func (c *call) audio(id string, raw []byte, alignment any) {
	c.Send(map[string]any{
		"audio": base64.StdEncoding.EncodeToString(raw), "contextId": id, "isFinal": nil,
		"alignment": alignment, "normalizedAlignment": nil,
	})
}

// end ends a context.
func (c *call) end(id string) {
	delete(c.contexts, id)
	c.Send(map[string]any{"isFinal": true, "contextId": id})
}

// times are those of characters that take 10 ms each.
func times(text string) any {
	chars, starts, durations := []string{}, []int{}, []int{}
	for i, c := range []rune(text) {
		chars, starts, durations = append(chars, string(c)), append(starts, 10*i), append(durations, 10)
	}
	return map[string]any{"chars": chars, "charStartTimesMs": starts, "charDurationsMs": durations}
}

func newSynthesizer(t *testing.T, f *fake, change ...func(*elevenlabs.Config)) *elevenlabs.Synthesizer {
	t.Helper()
	cfg := elevenlabs.Config{APIKey: key, BaseURL: sockettest.URL, Dial: f.Dial, Voice: "george"}
	for _, apply := range change {
		apply(&cfg)
	}
	s, err := elevenlabs.New(cfg)
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
