package deepgram_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/speech/deepgram"
	"github.com/turnwise/turnwise/speech/internal/socket/sockettest"
)

func TestSpeechBecomesWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, func(c *call, kind string) {
			switch {
			case kind == "audio" && c.samples < 5000:
				c.Send(`{"type":"SpeechStarted","channel":[0],"timestamp":0.1}`)
				c.results("book a")
				c.results("")
			case kind == "Finalize":
				c.results("book a table", "is_final", "speech_final", "from_finalize")
				c.results("", "is_final", "speech_final")
				c.Send(`{"type":"UtteranceEnd","channel":[0,1],"last_word_end":1}`)
			}
		})
		r := newRecognizer(t, f, func(c *deepgram.Config) {
			c.Model, c.Language, c.Keyterms, c.SmartFormat = "nova-2", "de-CH", []string{"Linden Tree", "Oak"}, true
			c.Endpointing, c.EndOfTurn, c.Headers = 450*time.Millisecond, true, map[string]string{"X-Own": "1"}
		})
		var h heard
		if err := r.Recognize(t.Context(), said(), h.emit); err != nil {
			t.Fatal(err)
		}
		want := []speech.Transcript{
			{Text: "book a", Confidence: 0.9, Language: "en"},
			{Text: "book a table", Final: true, Confidence: 0.9, Language: "en"}, // it was asked for: no end of a turn
			{Final: true, EndOfTurn: true, Confidence: 0.9, Language: "en"},
		}
		if !slices.Equal(h.all, want) {
			t.Errorf("heard %v, not %v", h.all, want)
		}
		if f.seen().samples != 16000 || !slices.Equal(f.seen().kinds, []string{"Finalize", "CloseStream"}) {
			t.Errorf("%d samples and %q were sent", f.seen().samples, f.seen().kinds)
		}
		for name, want := range map[string]string{
			"model": "nova-2", "language": "de-CH", "keyterm": "Linden Tree,Oak", "endpointing": "450", "smart_format": "true",
			"interim_results": "true", "channels": "1",
		} {
			if got := strings.Join(f.seen().query[name], ","); got != want {
				t.Errorf("%s is %q, not %q", name, got, want)
			}
		}
		if f.seen().Request.Header.Get("X-Own") != "1" || r.Rate() != 16000 || r.Latency() != 350*time.Millisecond {
			t.Error("the configuration is not followed")
		}
	})
}

func TestTheEndOfATurnIsToldWhenItIsWanted(t *testing.T) {
	for _, wanted := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake(t, func(c *call, kind string) {
				if kind == "Finalize" {
					c.results("yes", "is_final", "from_finalize")
					c.results("", "is_final", "speech_final")
				}
			})
			var h heard
			r := newRecognizer(t, f, func(c *deepgram.Config) { c.EndOfTurn = wanted })
			if err := r.Recognize(t.Context(), said(), h.emit); err != nil {
				t.Fatal(err)
			}
			if got := h.all[len(h.all)-1].EndOfTurn; got != wanted || len(h.all) > 2 {
				t.Errorf("wanted %v: heard %v", wanted, h.all)
			}
		})
	}
}

func TestFluxTellsTheEndsOfTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, func(c *call, kind string) {
			if kind != "audio" || c.samples != 1280 {
				return
			}
			c.Send(`{"type":"Connected","request_id":"r","sequence_id":0}`)
			c.turn("Update", "")
			c.turn("StartOfTurn", "book")
			c.turn("EagerEndOfTurn", "book a")
			c.turn("TurnResumed", "book a ta")
			c.turn("EndOfTurn", "Book a table.")
		})
		r := newRecognizer(t, f, func(c *deepgram.Config) {
			c.Model, c.Language, c.Keyterms = "flux-general-multi", "de-CH", []string{"Linden"}
			c.EndOfTurnThreshold, c.EndOfTurnTimeout = 0.8, 3*time.Second
		})
		var h heard
		if err := r.Recognize(t.Context(), said(), h.emit); err != nil {
			t.Fatal(err)
		}
		want := []speech.Transcript{
			{Text: "book"}, {Text: "book a"}, {Text: "book a ta"}, {Text: "Book a table.", Final: true, EndOfTurn: true},
		}
		if !slices.Equal(h.all, want) {
			t.Errorf("heard %v, not %v", h.all, want)
		}
		if f.seen().samples != 16000 {
			t.Errorf("%d samples were sent", f.seen().samples)
		}
		for name, want := range map[string]string{"language_hint": "de", "keyterm": "Linden", "eot_threshold": "0.8", "eot_timeout_ms": "3000"} {
			if got := strings.Join(f.seen().query[name], ","); got != want {
				t.Errorf("%s is %q, not %q", name, got, want)
			}
		}
	})
}

// A microphone that is muted for a minute: the connection is kept, as Deepgram asks.
func TestAConnectionIsKeptThroughSilence(t *testing.T) {
	for _, model := range []string{"nova-3", "flux-general-en"} {
		t.Run(model, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t, func(*call, string) {})
				r := newRecognizer(t, f, func(c *deepgram.Config) { c.Model = model })
				in := speech.NewAudio(16000)
				done := make(chan error, 1)
				go func() { done <- r.Recognize(t.Context(), in, new(heard).emit) }()
				time.Sleep(time.Minute + time.Millisecond)
				in.Write(make([]int16, 320))
				in.Close()
				if err := <-done; err != nil || f.Connections() != 1 {
					t.Errorf("%v, %d connections", err, f.Connections())
				}
				alive := strings.Count(strings.Join(f.seen().kinds, " "), "KeepAlive")
				silence := (f.seen().samples - 320) / 16000
				if model == "nova-3" && (alive != 15 || silence != 0) || model != "nova-3" && (alive != 0 || silence != 60) {
					t.Errorf("%d signs of life and %d s of silence in a minute", alive, silence)
				}
			})
		})
	}
}

func TestACancelledRecognitionEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecognizer(t, newFake(t, func(*call, string) {}))
		ctx, cancel := context.WithCancelCause(t.Context())
		hungUp := errors.New("hung up")
		time.AfterFunc(time.Second, func() { cancel(hungUp) })
		begun := time.Now()
		err := r.Recognize(ctx, speech.NewAudio(16000), new(heard).emit)
		if !errors.Is(err, context.Canceled) || !errors.Is(err, hungUp) || time.Since(begun) != time.Second {
			t.Errorf("it ended with %v after %s", err, time.Since(begun))
		}
	})
}

func TestAListenerWhoStopsListeningEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecognizer(t, newFake(t, func(c *call, _ string) { c.results("a") }))
		in := speech.NewAudio(16000)
		in.Write(make([]int16, 320))
		gone := errors.New("gone")
		if err := r.Recognize(t.Context(), in, func(speech.Transcript) error { return gone }); err != gone {
			t.Errorf("it ended with %v", err)
		}
	})
}

func TestTroubleHasACategoryAndNoSecret(t *testing.T) {
	for name, c := range map[string]struct {
		status   int
		heard    func(c *call)
		category frames.ErrorCategory
		text     string
	}{
		"a wrong key":                       {401, nil, frames.ErrorAuth, "not with [redacted]"},
		"no money":                          {402, nil, frames.ErrorQuota, "HTTP 402"},
		"too many connections":              {429, nil, frames.ErrorRateLimit, "HTTP 429"},
		"a model that is not there":         {400, nil, frames.ErrorInvalid, "HTTP 400"},
		"a server that is down":             {503, nil, frames.ErrorServer, "HTTP 503"},
		"it dies in mid-sentence":           {0, func(c *call) { c.Drop() }, frames.ErrorNetwork, "middle"},
		"it hangs up":                       {0, func(c *call) { c.Close(1000, "") }, frames.ErrorNetwork, "1000"},
		"it hangs up for lack of audio":     {0, func(c *call) { c.Close(1011, "NET-0001 no audio") }, frames.ErrorTimeout, "no audio (NET-0001)"},
		"it cannot read the audio":          {0, func(c *call) { c.Close(1008, "DATA-0000 bad") }, frames.ErrorInvalid, "bad (DATA-0000)"},
		"it reports an error":               {0, func(c *call) { c.Send(`{"type":"Error","description":"bad ` + key + `"}`) }, frames.ErrorServer, "bad [redacted]"},
		"it sends garbage":                  {0, func(c *call) { c.Send("]") }, frames.ErrorServer, "malformed"},
		"it sends results of another shape": {0, func(c *call) { c.Send(`{"type":"Results","channel":[1]}`) }, frames.ErrorServer, "malformed"},
		"it sends sound":                    {0, func(c *call) { c.SendBinary([]byte{1, 2}) }, frames.ErrorServer, "malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t, func(call *call, _ string) { c.heard(call) })
				if c.status != 0 {
					f.RefuseWith(c.status, map[string]string{"Retry-After": "2"}, `{"err_msg":"not with `+key+`"}`)
				}
				in := speech.NewAudio(16000)
				in.Write(make([]int16, 320))
				err := newRecognizer(t, f).Recognize(t.Context(), in, new(heard).emit)
				var e *llm.Error
				if !errors.As(err, &e) || e.Category != c.category || e.Provider != "deepgram" || !strings.Contains(err.Error(), c.text) {
					t.Errorf("it ended with %v", err)
				}
				if err != nil && strings.Contains(err.Error(), "very-secret") {
					t.Errorf("it tells the key: %v", err)
				}
			})
		})
	}
}

func TestTheLastWordsAreNotWaitedForForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, func(c *call, kind string) {
			if c.hangUp = true; kind == "CloseStream" {
				time.Sleep(2 * time.Second)
				c.results("at last", "is_final")
			}
		})
		var h heard
		begun := time.Now()
		if err := newRecognizer(t, f).Recognize(t.Context(), said(), h.emit); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took > 4*time.Second || len(h.all) != 1 || h.all[0].Text != "at last" {
			t.Errorf("heard %v, after %s", h.all, took)
		}
	})
}

func TestConfigurationsNameWhatIsWrong(t *testing.T) {
	for field, change := range map[string]func(*deepgram.Config){
		"APIKey":             func(c *deepgram.Config) { c.APIKey = "" },
		"BaseURL":            func(c *deepgram.Config) { c.BaseURL = "nowhere" },
		"Headers":            func(c *deepgram.Config) { c.Headers = map[string]string{"a b": "c"} },
		"Rate":               func(c *deepgram.Config) { c.Rate = 7 },
		"Latency":            func(c *deepgram.Config) { c.Latency = -1 },
		"KeepAlive":          func(c *deepgram.Config) { c.KeepAlive = time.Minute },
		"EndOfTurnThreshold": func(c *deepgram.Config) { c.EndOfTurnThreshold = 0.1 },
		"EndOfTurnTimeout":   func(c *deepgram.Config) { c.EndOfTurnTimeout = 1 },
		"Flux":               func(c *deepgram.Config) { c.EndOfTurnThreshold = 0.7 },
	} {
		cfg := deepgram.Config{APIKey: key}
		change(&cfg)
		if _, err := deepgram.New(cfg); !errors.Is(err, deepgram.ErrConfig) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	cfg := deepgram.Config{APIKey: key, Headers: map[string]string{"X": key}, Model: "nova-3"}
	sockettest.PrintsWithout(t, key, cfg)
}

// Ears for a bot.
func ExampleNew() {
	ears, err := deepgram.New(deepgram.Config{APIKey: "your-key", Language: "en"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("it listens at", ears.Rate(), "Hz")
	// Output: it listens at 16000 Hz
}
