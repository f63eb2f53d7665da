package elevenlabs_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/speech/elevenlabs"
	"github.com/turnwise/turnwise/speech/internal/socket/sockettest"
)

var hello = speech.Utterance{Text: "Hello there."}

func word(text string, start, end int) speech.Word {
	return speech.Word{Text: text, Start: time.Duration(start) * time.Millisecond, End: time.Duration(end) * time.Millisecond}
}

func TestTextBecomesSoundAndTimesOfWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, func(c *call, id, text string) {
			if text != "Hello there. " {
				t.Errorf("the text is %q", text)
			}
			raw := sockettest.RampBytes(24000)
			c.audio(id, raw[:24001], times("Hello th")) // half a second, and half a sample
			c.audio(id, raw[24001:], times("ere. 東京"))
			c.end(id)
		})
		s := newSynthesizer(t, f, func(c *elevenlabs.Config) {
			c.Language, c.Stability, c.Speed, c.Headers = "de-CH", new(0.0), 1.1, map[string]string{"X-Own": "1"}
		})
		var h sockettest.Heard
		if err := s.Synthesize(t.Context(), speech.Utterance{Text: " Hello there. "}, h.Emit); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(h.Samples, sockettest.Ramp(24000)) {
			t.Errorf("%d samples, not those that were sent", len(h.Samples))
		}
		want := []speech.Word{word("Hello", 0, 50), word("there.", 60, 540), word("東", 550, 560), word("京", 560, 570)}
		if !slices.Equal(h.Words, want) {
			t.Errorf("words are %v, not %v", h.Words, want)
		}
		for name, want := range map[string]string{
			"model_id": "eleven_flash_v2_5", "output_format": "pcm_24000", "language_code": "de", "inactivity_timeout": "180",
			"sync_alignment": "true", "auto_mode": "true",
		} {
			if got := f.seen().Request.URL.Query().Get(name); got != want {
				t.Errorf("%s is %q, not %q", name, got, want)
			}
		}
		if want := (map[string]any{"stability": 0.0, "speed": 1.1}); !reflect.DeepEqual(f.seen().settings, want) {
			t.Errorf("settings are %v, not %v", f.seen().settings, want)
		}
		if f.seen().Request.Header.Get("X-Own") != "1" || s.Rate() != 24000 {
			t.Error("the configuration is not followed")
		}
	})
}

func TestACallNeedsOneConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, func(c *call, id, _ string) {
			c.audio(id, sockettest.RampBytes(24000), nil)
			c.end(id)
		})
		s := newSynthesizer(t, f)
		for range 10 {
			var h sockettest.Heard
			if err := s.Synthesize(t.Context(), hello, h.Emit); err != nil || len(h.Samples) != 24000 {
				t.Errorf("%d samples, %v", len(h.Samples), err)
			}
			time.Sleep(time.Minute)
		}
		if n := f.Connections(); n != 1 {
			t.Errorf("%d connections", n)
		}
	})
}

// The caller talks over the bot: the sentence ends at once, and nothing of it is heard
// in the next.
func TestAnInterruptedSentenceIsNotHeardLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, func(c *call, id, text string) {
			if text == "Old. " {
				c.audio(id, sockettest.RampBytes(24000), nil)
				time.Sleep(time.Second) // the client interrupts, and asks again
				for range 20 {
					c.audio(id, sockettest.RampBytes(24000), times("Old."))
				}
				c.end(id)
				return
			}
			c.audio(id, make([]byte, 100), times("New."))
			c.end(id)
		})
		s := newSynthesizer(t, f)
		ctx, cancel := context.WithCancelCause(t.Context())
		interrupted := errors.New("interrupted")
		time.AfterFunc(100*time.Millisecond, func() { cancel(interrupted) })
		begun := time.Now()
		var h sockettest.Heard
		err := s.Synthesize(ctx, speech.Utterance{Text: "Old."}, h.Emit)
		if took := time.Since(begun); !errors.Is(err, interrupted) || took != 100*time.Millisecond || len(h.Samples) != 24000 {
			t.Errorf("after %s and %d samples: %v", took, len(h.Samples), err)
		}
		h = sockettest.Heard{}
		if err := s.Synthesize(t.Context(), speech.Utterance{Text: "New."}, h.Emit); err != nil || len(h.Samples) != 50 || h.Words[0].Text != "New." {
			t.Errorf("%d samples and %v, %v", len(h.Samples), h.Words, err)
		}
		if n := f.Connections(); n != 1 {
			t.Errorf("%d connections", n)
		}
	})
}

// A server that does not finish what was interrupted: no more than five contexts are
// opened on a connection.
func TestInterruptionsDoNotUseUpAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, func(*call, string, string) {})
		s := newSynthesizer(t, f)
		for range 12 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			_ = s.Synthesize(ctx, hello, new(sockettest.Heard).Emit)
			cancel()
		}
		if n := f.Connections(); n != 3 {
			t.Errorf("%d connections for 12 contexts", n)
		}
	})
}

func TestTroubleHasACategoryAndNoSecret(t *testing.T) {
	for name, c := range map[string]struct {
		status   int
		body     string
		speak    func(c *call, id string)
		category frames.ErrorCategory
		text     string
		samples  int
	}{
		"a wrong key":             {401, `{"detail":{"status":"invalid_api_key","message":"not ` + key + `"}}`, nil, frames.ErrorAuth, "not [redacted] (invalid_api_key)", 0},
		"no money":                {401, `{"detail":{"status":"quota_exceeded","message":"no credits"}}`, nil, frames.ErrorQuota, "no credits", 0},
		"too many at a time":      {429, `{"detail":{"status":"too_many_concurrent_requests","message":"wait"}}`, nil, frames.ErrorRateLimit, "wait", 0},
		"a server that is down":   {503, ``, nil, frames.ErrorServer, "HTTP 503", 0},
		"it dies in mid-sentence": {0, "", func(c *call, id string) { c.audio(id, sockettest.RampBytes(24000), nil); c.Drop() }, frames.ErrorNetwork, llm.ErrCut.Error(), 24000},
		"it hangs up in silence":  {0, "", func(c *call, _ string) { c.Close(1000, "") }, frames.ErrorNetwork, "1000", 0},
		"it hangs up with a word": {0, "", func(c *call, _ string) { c.Close(1008, "quota_exceeded no credits") }, frames.ErrorQuota, "no credits", 0},
		"it sends garbage":        {0, "", func(c *call, _ string) { c.Send("{") }, frames.ErrorServer, "malformed", 0},
		"it sends no base64":      {0, "", func(c *call, id string) { c.Send(map[string]any{"audio": "%", "contextId": id}) }, frames.ErrorServer, "malformed", 0},
		"its times are incomplete": {0, "", func(c *call, id string) {
			c.audio(id, sockettest.RampBytes(24000), map[string]any{"chars": []string{"a"}})
			c.Drop()
		}, frames.ErrorNetwork, "middle", 24000},
		"it reports an error": {0, "", func(c *call, _ string) {
			c.Send(`{"message":"no voice ` + key + `","error":"voice_id_does_not_exist","code":1008}`)
			c.Close(1008, "")
		}, frames.ErrorInvalid, "no voice [redacted] (voice_id_does_not_exist)", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t, func(call *call, id, _ string) { c.speak(call, id) })
				if c.status != 0 {
					f.RefuseWith(c.status, nil, c.body)
				}
				var h sockettest.Heard
				err := newSynthesizer(t, f).Synthesize(t.Context(), hello, h.Emit)
				var e *llm.Error
				if !errors.As(err, &e) || e.Category != c.category || e.Provider != "elevenlabs" || !strings.Contains(err.Error(), c.text) {
					t.Errorf("it ended with %v", err)
				}
				if len(h.Samples) != c.samples || strings.Contains(fmt.Sprint(err), key) {
					t.Errorf("%d samples, %v", len(h.Samples), err)
				}
			})
		})
	}
}

// What has no sound is not an error here; who asked for it knows whether it is one.
func TestASentenceWithoutSound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h sockettest.Heard
		s := newSynthesizer(t, newFake(t, func(c *call, id, _ string) { c.end(id) }))
		if err := s.Synthesize(t.Context(), hello, h.Emit); err != nil || len(h.Samples) != 0 {
			t.Errorf("%d samples, %v", len(h.Samples), err)
		}
	})
}

func TestAListenerWhoStopsListeningEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSynthesizer(t, newFake(t, func(c *call, id, _ string) { c.audio(id, sockettest.RampBytes(24000), nil) }))
		gone := errors.New("gone")
		if err := s.Synthesize(t.Context(), hello, func(speech.Speech) error { return gone }); err != gone {
			t.Errorf("it ended with %v", err)
		}
	})
}

func TestConfigurationsNameWhatIsWrong(t *testing.T) {
	for field, change := range map[string]func(*elevenlabs.Config){
		"APIKey":     func(c *elevenlabs.Config) { c.APIKey = "" },
		"BaseURL":    func(c *elevenlabs.Config) { c.BaseURL = "nowhere" },
		"Voice":      func(c *elevenlabs.Config) { c.Voice = "" },
		"Stability":  func(c *elevenlabs.Config) { c.Stability = new(2.0) },
		"Similarity": func(c *elevenlabs.Config) { c.Similarity = new(-1.0) },
		"Speed":      func(c *elevenlabs.Config) { c.Speed = 3 },
		"Rate":       func(c *elevenlabs.Config) { c.Rate = 48000 },
		"KeepIdle":   func(c *elevenlabs.Config) { c.KeepIdle = time.Hour },
	} {
		cfg := elevenlabs.Config{APIKey: key, Voice: "george"}
		change(&cfg)
		if _, err := elevenlabs.New(cfg); !errors.Is(err, elevenlabs.ErrConfig) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	cfg := elevenlabs.Config{APIKey: key, Headers: map[string]string{"X": key}}
	sockettest.PrintsWithout(t, key, cfg)
}

// A voice for a bot.
func ExampleNew() {
	voice, err := elevenlabs.New(elevenlabs.Config{APIKey: "your-key", Voice: "JBFqnCBsd6RMkjVDRZzb"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer voice.Close()
	fmt.Println("it speaks at", voice.Rate(), "Hz")
	// Output: it speaks at 24000 Hz
}
