package deepgram_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/speech/deepgram"
	"github.com/turnwise/turnwise/speech/internal/socket/sockettest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "dg-very-secret-key"

// fake is Deepgram, as strict as its reference: what it would refuse, not understand or
// hang up for fails the test.
type fake struct {
	*sockettest.Server
	// heard is told the type of each message, "audio" for audio, and answers.
	heard func(c *call, kind string)
	last  atomic.Pointer[call]
}

// call is one connection.
type call struct {
	*sockettest.Peer
	t       *testing.T
	query   map[string][]string
	flux    bool
	samples int
	kinds   []string
	hangUp  bool // does not answer the end of the audio as it should
}

func newFake(t *testing.T, heard func(c *call, kind string)) *fake {
	t.Helper()
	f := &fake{heard: heard}
	f.Server = sockettest.New(t, func(p *sockettest.Peer) {
		c := &call{Peer: p, t: t, query: p.Request.URL.Query()}
		f.last.Store(c)
		c.handshake()
		c.listen(f.heard)
	})
	return f
}

// handshake checks the address and the headers.
func (c *call) handshake() {
	r := c.Request
	if got := r.Header.Get("Authorization"); got != "Token "+key {
		c.t.Errorf("authorization is %q", got)
	}
	c.flux = strings.HasPrefix(r.URL.Query().Get("model"), "flux-")
	want, known := "/v1/listen", "model encoding sample_rate channels interim_results punctuate endpointing language smart_format keyterm"
	if c.flux {
		want, known = "/v2/listen", "model encoding sample_rate language_hint keyterm eot_threshold eot_timeout_ms"
	}
	if r.URL.Path != want {
		c.t.Errorf("the path is %s", r.URL.Path)
	}
	for name := range c.query {
		if !strings.Contains(" "+known+" ", " "+name+" ") {
			c.t.Errorf("there is no parameter %s", name)
		}
	}
	if c.query["encoding"][0] != "linear16" || c.query["sample_rate"][0] != "16000" {
		c.t.Errorf("the audio is %v at %v", c.query["encoding"], c.query["sample_rate"])
	}
}

// listen reads until the client is gone or has said that it has finished.
func (c *call) listen(heard func(c *call, kind string)) {
	for {
		object, data, err := c.Poll(10 * time.Second)
		switch {
		case err != nil:
			return
		case object == nil && data == nil:
			c.t.Error("nothing came for ten seconds; Deepgram hangs up")
			c.Close(1011, "NET-0001")
			return
		case data != nil:
			if len(data) == 0 || len(data)%2 != 0 {
				c.t.Errorf("%d bytes of audio", len(data))
			}
			c.samples += len(data) / 2
			heard(c, "audio")
			continue
		}
		kind, _ := object["type"].(string)
		if len(object) != 1 || kind != "CloseStream" && (c.flux || kind != "KeepAlive" && kind != "Finalize") {
			c.t.Errorf("there is no message %v", object)
		}
		c.kinds = append(c.kinds, kind)
		heard(c, kind)
		if kind == "CloseStream" && !c.hangUp {
			c.Send(`{"type":"Metadata","transaction_key":"deprecated","channels":1}`)
			c.Close(1000, "")
			if object, data, err := c.Receive(); err == nil {
				c.t.Errorf("after the end came %v and %d bytes", object, len(data))
			}
			return
		}
	}
}

// results sends words as Nova does.
func (c *call) results(text string, flags ...string) {
	m := map[string]any{
		"type": "Results", "channel_index": []int{0, 1}, "duration": 1.0, "start": 0.0, "is_final": false, "speech_final": false,
		"channel":  map[string]any{"alternatives": []any{map[string]any{"transcript": text, "confidence": 0.9, "words": []any{}, "languages": []string{"en"}}}},
		"metadata": map[string]any{"request_id": "r"},
	}
	for _, f := range flags {
		m[f] = true
	}
	c.Send(m)
}

// turn sends what Flux makes of a turn.
func (c *call) turn(event, text string) {
	c.Send(map[string]any{
		"type": "TurnInfo", "request_id": "r", "sequence_id": 1, "event": event, "turn_index": 0,
		"audio_window_start": 0.0, "audio_window_end": 1.0, "transcript": text, "words": []any{}, "end_of_turn_confidence": 0.8,
	})
}

func newRecognizer(t *testing.T, f *fake, change ...func(*deepgram.Config)) *deepgram.Recognizer {
	t.Helper()
	cfg := deepgram.Config{APIKey: key, BaseURL: sockettest.URL, Dial: f.Dial}
	for _, apply := range change {
		apply(&cfg)
	}
	r, err := deepgram.New(cfg)
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

// said is a second of speech, and the end.
func said() *speech.Audio {
	in := speech.NewAudio(160000)
	in.Mark(speech.SpeechStarted)
	in.Write(make([]int16, 16000))
	in.Mark(speech.SpeechStopped)
	in.Close()
	return in
}

// heard collects what is emitted.
type heard struct{ all []speech.Transcript }

func (h *heard) emit(t speech.Transcript) error {
	h.all = append(h.all, t)
	return nil
}
