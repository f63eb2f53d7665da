package cartesia_test

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
	"github.com/turnwise/turnwise/speech/cartesia"
	"github.com/turnwise/turnwise/speech/internal/socket/sockettest"
)

var hello = speech.Utterance{Text: "Hello there."}

func TestTextBecomesSoundAndTimesOfWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, func(c *call, id string, r map[string]any) {
			want := map[string]any{"speed": 1.2, "volume": 0.5}
			if r["transcript"] != "Hello there." || r["model_id"] != "sonic-3.5" || r["language"] != "de" || !reflect.DeepEqual(r["generation_config"], want) {
				t.Errorf("the request is %v", r)
			}
			raw := sockettest.RampBytes(24000)
			c.times(id, []string{"Hello"}, []float64{0}, []float64{0.45})
			c.chunk(id, raw[:24001]) // half a second, and half a sample
			c.times(id, []string{"there."}, []float64{0.5}, []float64{0.9})
			c.Send(map[string]any{"type": "flush_done", "done": false, "flush_done": true, "flush_id": 1, "status_code": 206, "context_id": id})
			c.chunk(id, raw[24001:])
			c.done(id)
		})
		s := newSynthesizer(t, f, func(c *cartesia.Config) {
			c.Language, c.Speed, c.Volume, c.Headers = "en-GB", 1.2, 0.5, map[string]string{"X-Own": "1"}
		})
		var h sockettest.Heard
		if err := s.Synthesize(t.Context(), speech.Utterance{Text: "Hello there.", Language: "de-CH"}, h.Emit); err != nil {
			t.Fatal(err)
		}
		want := []speech.Word{{Text: "Hello", End: 450 * time.Millisecond}, {Text: "there.", Start: 500 * time.Millisecond, End: 900 * time.Millisecond}}
		if !slices.Equal(h.Samples, sockettest.Ramp(24000)) || !slices.Equal(h.Words, want) {
			t.Errorf("%d samples and %v", len(h.Samples), h.Words)
		}
		if f.seen().Request.Header.Get("X-Own") != "1" || s.Rate() != 24000 {
			t.Error("the configuration is not followed")
		}
	})
}

func TestACallNeedsOneConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, func(c *call, id string, _ map[string]any) {
			c.chunk(id, sockettest.RampBytes(24000))
			c.done(id)
		})
		s := newSynthesizer(t, f)
		for range 10 {
			var h sockettest.Heard
			if err := s.Synthesize(t.Context(), hello, h.Emit); err != nil || len(h.Samples) != 24000 {
				t.Errorf("%d samples, %v", len(h.Samples), err)
			}
			time.Sleep(3 * time.Minute)
		}
		if n := f.Connections(); n != 1 {
			t.Errorf("%d connections", n)
		}
	})
}

// The caller talks over the bot: the sentence ends at once, the server is told, and
// nothing of it is heard in the next.
func TestAnInterruptedSentenceIsCancelledAndNotHeardLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, func(c *call, id string, r map[string]any) {
			c.chunk(id, sockettest.RampBytes(24000))
			if r["transcript"] == "New." {
				c.done(id)
			}
		})
		var at time.Time
		f.cancelled = func(c *call, id string) {
			at = time.Now()
			for range 20 {
				c.chunk(id, sockettest.RampBytes(24000)) // what has begun is not stopped
			}
			c.done(id)
		}
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
		if err := s.Synthesize(t.Context(), speech.Utterance{Text: "New."}, h.Emit); err != nil || len(h.Samples) != 24000 {
			t.Errorf("%d samples, %v", len(h.Samples), err)
		}
		if told := at.Sub(begun); told != 100*time.Millisecond || f.Connections() != 1 {
			t.Errorf("told after %s, %d connections", told, f.Connections())
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
		"a wrong key":           {401, `{"error_code":null,"title":"Unauthorized","message":"not ` + key + `"}`, nil, frames.ErrorAuth, "not [redacted]", 0},
		"no money":              {402, `{"error_code":"quota_exceeded","title":"No credits","message":""}`, nil, frames.ErrorQuota, "No credits (quota_exceeded)", 0},
		"too many connections":  {429, `{"error_code":"concurrency_limited","title":"x","message":"wait"}`, nil, frames.ErrorRateLimit, "wait", 0},
		"a server that is down": {503, ``, nil, frames.ErrorServer, "HTTP 503", 0},
		"too many at a time": {0, "", func(c *call, id string) {
			c.Send(`{"type":"error","done":true,"status_code":429,"error_code":"concurrency_limited","title":"Too many","message":"wait","context_id":"` + id + `"}`)
		}, frames.ErrorRateLimit, "wait (concurrency_limited)", 0},
		"a wrong voice": {0, "", func(c *call, id string) {
			c.Send(`{"type":"error","done":true,"status_code":404,"error_code":"voice_not_found","title":"No voice ` + key + `","context_id":"` + id + `"}`)
		}, frames.ErrorInvalid, "No voice [redacted]", 0},
		"an error of an older version": {0, "", func(c *call, _ string) { c.Send(`{"type":"error","done":true,"status_code":500,"error":"oh no"}`) }, frames.ErrorServer, "oh no", 0},
		"it dies in mid-sentence":      {0, "", func(c *call, id string) { c.chunk(id, sockettest.RampBytes(24000)); c.Drop() }, frames.ErrorNetwork, llm.ErrCut.Error(), 24000},
		"it hangs up in silence":       {0, "", func(c *call, _ string) { c.Close(1000, "") }, frames.ErrorNetwork, "1000", 0},
		"it sends garbage":             {0, "", func(c *call, _ string) { c.Send("{") }, frames.ErrorServer, "malformed", 0},
		"it sends no base64":           {0, "", func(c *call, id string) { c.Send(map[string]any{"type": "chunk", "data": "%", "context_id": id}) }, frames.ErrorServer, "malformed", 0},
		"its times are incomplete":     {0, "", func(c *call, id string) { c.times(id, []string{"a"}, nil, nil) }, frames.ErrorServer, "malformed", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t, func(call *call, id string, _ map[string]any) { c.speak(call, id) })
				if c.status != 0 {
					f.RefuseWith(c.status, nil, c.body)
				}
				var h sockettest.Heard
				err := newSynthesizer(t, f).Synthesize(t.Context(), hello, h.Emit)
				var e *llm.Error
				if !errors.As(err, &e) || e.Category != c.category || e.Provider != "cartesia" || !strings.Contains(err.Error(), c.text) {
					t.Errorf("it ended with %v", err)
				}
				if len(h.Samples) != c.samples || strings.Contains(fmt.Sprint(err), key) {
					t.Errorf("%d samples, %v", len(h.Samples), err)
				}
			})
		})
	}
}

// An error of one context leaves the connection to the next one.
func TestARefusedSentenceDoesNotCostTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, func(c *call, id string, r map[string]any) {
			if r["transcript"] == "Bad." {
				c.Send(`{"type":"error","done":true,"status_code":400,"error_code":null,"title":"no","message":"no","context_id":"` + id + `"}`)
				return
			}
			c.chunk(id, sockettest.RampBytes(24000))
			c.done(id)
		})
		s := newSynthesizer(t, f)
		if err := s.Synthesize(t.Context(), speech.Utterance{Text: "Bad."}, new(sockettest.Heard).Emit); err == nil {
			t.Error("it was spoken")
		}
		if err := s.Synthesize(t.Context(), hello, new(sockettest.Heard).Emit); err != nil || f.Connections() != 1 {
			t.Errorf("%v, %d connections", err, f.Connections())
		}
	})
}

func TestAListenerWhoStopsListeningEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, func(c *call, id string, _ map[string]any) { c.chunk(id, sockettest.RampBytes(24000)) })
		cancelled := false
		f.cancelled = func(*call, string) { cancelled = true }
		gone := errors.New("gone")
		err := newSynthesizer(t, f).Synthesize(t.Context(), hello, func(speech.Speech) error { return gone })
		if synctest.Wait(); err != gone || !cancelled {
			t.Errorf("it ended with %v", err)
		}
	})
}

func TestConfigurationsNameWhatIsWrong(t *testing.T) {
	for field, change := range map[string]func(*cartesia.Config){
		"APIKey":   func(c *cartesia.Config) { c.APIKey = "" },
		"BaseURL":  func(c *cartesia.Config) { c.BaseURL = "nowhere" },
		"Voice":    func(c *cartesia.Config) { c.Voice = "" },
		"Speed":    func(c *cartesia.Config) { c.Speed = 3 },
		"Volume":   func(c *cartesia.Config) { c.Volume = 3 },
		"Rate":     func(c *cartesia.Config) { c.Rate = 11025 },
		"KeepIdle": func(c *cartesia.Config) { c.KeepIdle = time.Hour },
	} {
		cfg := cartesia.Config{APIKey: key, Voice: "anna"}
		change(&cfg)
		if _, err := cartesia.New(cfg); !errors.Is(err, cartesia.ErrConfig) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	cfg := cartesia.Config{APIKey: key, Headers: map[string]string{"X": key}}
	sockettest.PrintsWithout(t, key, cfg)
}

// A voice for a bot.
func ExampleNew() {
	voice, err := cartesia.New(cartesia.Config{APIKey: "your-key", Voice: "a0e99841-438c-4a64-b679-ae501e7d6091"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer voice.Close()
	fmt.Println("it speaks at", voice.Rate(), "Hz")
	// Output: it speaks at 24000 Hz
}
