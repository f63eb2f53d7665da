package realtime_test

import (
	"encoding/base64"
	"reflect"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/speech/internal/socket/sockettest"
	"github.com/turnwise/turnwise/speech/openai/realtime"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "sk-very-secret-key"

// fake is OpenAI, as strict as its reference: what it would refuse or not understand
// fails the test.
type fake struct {
	*sockettest.Server
	// heard is told "append" and "commit", and answers.
	heard func(c *call, kind string)
	last  atomic.Pointer[call]
}

// call is one connection.
type call struct {
	*sockettest.Peer
	t       *testing.T
	input   map[string]any // of the session
	samples int            // since the last commit
	commits []int          // samples of each
}

func newFake(t *testing.T, heard func(c *call, kind string)) *fake {
	t.Helper()
	f := &fake{heard: heard}
	f.Server = sockettest.New(t, func(p *sockettest.Peer) {
		c := &call{Peer: p, t: t}
		f.last.Store(c)
		if r := p.Request; r.URL.RequestURI() != "/v1/realtime?intent=transcription" || r.Header.Get("Authorization") != "Bearer "+key {
			t.Errorf("handshake for %s with %v", r.URL, r.Header)
		}
		c.Send(`{"type":"session.created","event_id":"e","session":{"type":"transcription"}}`)
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
	kind, _ := m["type"].(string)
	if c.input == nil && kind != "session.update" {
		c.t.Errorf("%s before the session is configured", kind)
	}
	switch kind {
	case "session.update":
		c.configure(m)
	case "input_audio_buffer.append":
		text, _ := m["audio"].(string)
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(raw) == 0 || len(raw)%2 != 0 || len(m) != 2 {
			c.t.Errorf("%d bytes of audio, %v", len(raw), err)
		}
		c.samples += len(raw) / 2
		f.heard(c, "append")
	case "input_audio_buffer.commit":
		if c.samples < realtime.Rate/10 || len(m) != 1 {
			c.t.Errorf("%d samples are committed; the server wants 100 ms", c.samples)
		}
		c.commits = append(c.commits, c.samples)
		c.samples = 0
		f.heard(c, "commit")
	default:
		c.t.Errorf("there is no message %v", m)
	}
}

// configure checks the session.
func (c *call) configure(m map[string]any) {
	session, _ := m["session"].(map[string]any)
	sound, _ := session["audio"].(map[string]any)
	input, _ := sound["input"].(map[string]any)
	if c.input != nil || session["type"] != "transcription" || len(session) != 2 || len(sound) != 1 {
		c.t.Errorf("the session is %v", m)
	}
	if want := (map[string]any{"type": "audio/pcm", "rate": 24000.0}); !reflect.DeepEqual(input["format"], want) {
		c.t.Errorf("the format is %v", input["format"])
	}
	if _, ok := input["turn_detection"]; !ok {
		c.t.Error("turn detection is left to the server's default")
	}
	c.input = input
	c.Send(`{"type":"session.updated","event_id":"e","session":{"type":"transcription"}}`)
}

// committed tells of a piece of speech.
func (c *call) committed(id string) {
	c.Send(map[string]any{"type": "input_audio_buffer.committed", "event_id": "e", "item_id": id, "previous_item_id": nil})
}

// delta tells more of its words.
func (c *call) delta(id, text string) {
	c.Send(map[string]any{"type": "conversation.item.input_audio_transcription.delta", "event_id": "e", "item_id": id, "content_index": 0, "delta": text})
}

// completed tells all its words.
func (c *call) completed(id, text string) {
	c.Send(map[string]any{"type": "conversation.item.input_audio_transcription.completed", "event_id": "e", "item_id": id, "content_index": 0, "transcript": text})
}

func newRecognizer(t *testing.T, f *fake, change ...func(*realtime.Config)) *realtime.Recognizer {
	t.Helper()
	cfg := realtime.Config{APIKey: key, BaseURL: sockettest.URL + "/v1", Dial: f.Dial}
	for _, apply := range change {
		apply(&cfg)
	}
	r, err := realtime.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// seen is the last connection, once nothing moves any more.
func (f *fake) seen() *call {
	synctest.Wait()
	return f.last.Load()
}

// say is silence for a second, and speech for another.
func say(in *speech.Audio) {
	in.Write(make([]int16, realtime.Rate))
	in.Mark(speech.SpeechStarted)
	in.Write(make([]int16, realtime.Rate))
	in.Mark(speech.SpeechStopped)
}

// heard collects what is emitted.
type heard struct{ all []speech.Transcript }

func (h *heard) emit(t speech.Transcript) error {
	h.all = append(h.all, t)
	return nil
}
