package deepgram_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/speech/deepgram"
)

// said fills a queue with a second of speech and closes it.
func said() *speech.Audio {
	in := speech.NewAudio(10 * deepgram.Rate)
	in.Mark(speech.SpeechStarted)
	in.Write(make([]int16, deepgram.Rate))
	in.Mark(speech.SpeechStopped)
	in.Close()
	return in
}

func TestSpeechBecomesWords(t *testing.T) {
	f := &fake{on: func(f *fake, kind string, samples int) {
		switch {
		case f.samples == samples:
			f.send(`{"type":"SpeechStarted","channel":[0],"timestamp":0.1}`)
			f.results("book a", false, false)
			f.results("", false, false)
		case kind == "Finalize":
			f.results("book a table", true, true)
			f.send(`{"type":"UtteranceEnd","channel":[0,1],"last_word_end":1}`)
		}
	}}
	cfg := deepgram.Config{Model: "nova-2", Language: "de", Keyterms: []string{"Linden Tree"}, Endpointing: 450 * time.Millisecond}
	with(t, f, cfg, func(t *testing.T, r *deepgram.Recognizer) {
		var h heard
		if err := r.Recognize(t.Context(), said(), h.emit); err != nil {
			t.Fatal(err)
		}
		want := []speech.Transcript{{Text: "book a", Confidence: 0.9}, {Text: "book a table", Final: true, Confidence: 0.9}}
		if fmt.Sprint(h.all) != fmt.Sprint(want) {
			t.Errorf("heard %v, not %v", h.all, want)
		}
		if f.samples != deepgram.Rate {
			t.Errorf("%d samples were sent", f.samples)
		}
		if got := strings.Join(f.kinds, " "); got != "Finalize CloseStream" {
			t.Errorf("the messages were %q", got)
		}
		for name, want := range map[string]string{"model": "nova-2", "language": "de", "keyterm": "Linden Tree", "endpointing": "450"} {
			if f.query[name] != want {
				t.Errorf("%s is %q, not %q", name, f.query[name], want)
			}
		}
	})
}

func TestTheEndOfATurnIsToldWhenItIsWanted(t *testing.T) {
	for _, wanted := range []bool{false, true} {
		f := &fake{on: func(f *fake, kind string, _ int) {
			if kind == "Finalize" {
				f.results("yes", true, false)
				f.results("", true, true)
			}
		}}
		with(t, f, deepgram.Config{EndOfTurn: wanted}, func(t *testing.T, r *deepgram.Recognizer) {
			var h heard
			if err := r.Recognize(t.Context(), said(), h.emit); err != nil {
				t.Fatal(err)
			}
			if got := h.all[len(h.all)-1].EndOfTurn; got != wanted || len(h.all) > 2 {
				t.Errorf("wanted %v: heard %v", wanted, h.all)
			}
		})
	}
}

// A microphone that is muted for a minute: the connection is kept, as Deepgram asks.
func TestAConnectionIsKeptThroughSilence(t *testing.T) {
	f := &fake{}
	with(t, f, deepgram.Config{}, func(t *testing.T, r *deepgram.Recognizer) {
		in := speech.NewAudio(deepgram.Rate)
		done := make(chan error, 1)
		go func() { done <- r.Recognize(t.Context(), in, new(heard).emit) }()
		time.Sleep(time.Minute)
		in.Write(make([]int16, 320))
		time.Sleep(time.Second)
		in.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if f.calls != 1 || f.samples != 320 {
			t.Errorf("%d connections, %d samples", f.calls, f.samples)
		}
		if n := strings.Count(strings.Join(f.kinds, " "), "KeepAlive"); n < 10 || n > 20 {
			t.Errorf("%d signs of life in a minute", n)
		}
	})
}

func TestACancelledRecognitionEndsAtOnce(t *testing.T) {
	f := &fake{}
	with(t, f, deepgram.Config{}, func(t *testing.T, r *deepgram.Recognizer) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.Recognize(ctx, speech.NewAudio(deepgram.Rate), new(heard).emit) }()
		time.Sleep(time.Second)
		begun := time.Now()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) || time.Since(begun) != 0 {
			t.Errorf("it ended with %v after %s", err, time.Since(begun))
		}
		synctest.Wait()
	})
}

func TestAListenerWhoStopsListeningEndsIt(t *testing.T) {
	gone := errors.New("gone")
	f := &fake{on: func(f *fake, kind string, samples int) { f.results("a", false, false) }}
	with(t, f, deepgram.Config{}, func(t *testing.T, r *deepgram.Recognizer) {
		in := speech.NewAudio(deepgram.Rate)
		in.Write(make([]int16, 320))
		if err := r.Recognize(t.Context(), in, func(speech.Transcript) error { return gone }); !errors.Is(err, gone) {
			t.Errorf("it ended with %v", err)
		}
	})
}

func TestTroubleHasACategoryAndNoSecret(t *testing.T) {
	for _, c := range []struct {
		name string
		fake fake
		want frames.ErrorCategory
	}{
		{"a wrong key", fake{refuse: 401}, frames.ErrorAuth},
		{"no money", fake{refuse: 402}, frames.ErrorQuota},
		{"too many connections", fake{refuse: 429}, frames.ErrorRateLimit},
		{"a model that is not there", fake{refuse: 400}, frames.ErrorInvalid},
		{"a server that is down", fake{refuse: 503}, frames.ErrorServer},
		{"it dies in mid-sentence", fake{on: func(f *fake, _ string, _ int) { _ = f.ws.Close() }}, frames.ErrorNetwork},
		{"it hangs up with a reason", fake{on: func(f *fake, _ string, _ int) {
			bye := websocket.FormatCloseMessage(1011, "NET-0001 for "+key)
			_ = f.ws.WriteControl(websocket.CloseMessage, bye, time.Now().Add(time.Second))
		}}, frames.ErrorServer},
		{"it reports an error", fake{on: func(f *fake, _ string, _ int) { f.send(`{"type":"Error","description":"bad ` + key + `"}`) }}, frames.ErrorServer},
		{"it sends garbage", fake{on: func(f *fake, _ string, _ int) { f.send("]") }}, frames.ErrorServer},
		{"it sends results of another shape", fake{on: func(f *fake, _ string, _ int) { f.send(`{"type":"Results","channel":[1]}`) }}, frames.ErrorServer},
	} {
		t.Run(c.name, func(t *testing.T) {
			with(t, &c.fake, deepgram.Config{}, func(t *testing.T, r *deepgram.Recognizer) {
				in := speech.NewAudio(deepgram.Rate)
				in.Write(make([]int16, 320))
				err := r.Recognize(t.Context(), in, new(heard).emit)
				var e *llm.Error
				if !errors.As(err, &e) || e.Category != c.want || e.Provider != "deepgram" {
					t.Errorf("it ended with %v, not with %s", err, c.want)
				}
				if err != nil && strings.Contains(err.Error(), "very-secret") {
					t.Errorf("it tells the key: %v", err)
				}
			})
		})
	}
}

// A server that never answers the end of the audio.
func TestTheLastWordsAreNotWaitedForForever(t *testing.T) {
	f := &fake{on: func(f *fake, kind string, _ int) {
		if kind == "CloseStream" {
			time.Sleep(time.Minute)
		}
	}}
	with(t, f, deepgram.Config{}, func(t *testing.T, r *deepgram.Recognizer) {
		begun := time.Now()
		if err := r.Recognize(t.Context(), said(), new(heard).emit); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took > 3*time.Second {
			t.Errorf("it took %s", took)
		}
		time.Sleep(time.Minute) // until the server has noticed
	})
}

func TestConfigurationsNameWhatIsWrong(t *testing.T) {
	for field, cfg := range map[string]deepgram.Config{
		"APIKey": {}, "URL": {APIKey: key, URL: "https://x"}, "Endpointing": {APIKey: key, Endpointing: -1}, "Latency": {APIKey: key, Latency: -1},
	} {
		if _, err := deepgram.New(cfg); !errors.Is(err, deepgram.ErrConfig) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	if out := fmt.Sprintf("%v %+v %#v", deepgram.Config{APIKey: key}, deepgram.Config{APIKey: key}, deepgram.Config{APIKey: key}); strings.Contains(out, key) {
		t.Errorf("printed %s", out)
	}
}

// Ears for a bot.
func ExampleNew() {
	ears, err := deepgram.New(deepgram.Config{APIKey: "your key", Language: "en"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("it listens at", ears.Rate(), "Hz")
	// Output: it listens at 16000 Hz
}
