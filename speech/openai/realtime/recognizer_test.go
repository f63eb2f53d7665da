package realtime_test

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
	"github.com/turnwise/turnwise/speech/internal/socket/sockettest"
	"github.com/turnwise/turnwise/speech/openai/realtime"
)

func TestOnlySpeechIsSentAndBecomesWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, func(c *call, kind string) {
			n := fmt.Sprint(len(c.commits))
			if kind == "append" && c.samples == 12000 { // the moments before
				next := fmt.Sprint(len(c.commits) + 1)
				c.delta(next, "Book")
				c.delta(next, " a table")
			}
			if kind == "commit" {
				c.committed(n)
				c.completed(n, " Book a table, "+n+".")
			}
		})
		r := newRecognizer(t, f, func(c *realtime.Config) {
			c.Language, c.Prompt, c.NoiseReduction, c.Headers = "de-CH", "Linden Tree", "near_field", map[string]string{"X-Own": "1"}
		})
		in := speech.NewAudio(10 * realtime.Rate)
		say(in)
		in.Write(make([]int16, realtime.Rate))
		say(in)
		in.Write(make([]int16, realtime.Rate))
		in.Close()
		var h heard
		if err := r.Recognize(t.Context(), in, h.emit); err != nil {
			t.Fatal(err)
		}
		want := []speech.Transcript{
			{Text: "Book"}, {Text: "Book a table"}, {Text: "Book a table, 1.", Final: true},
			{Text: "Book"}, {Text: "Book a table"}, {Text: "Book a table, 2.", Final: true},
		}
		if !slices.Equal(h.all, want) {
			t.Errorf("heard %v, not %v", h.all, want)
		}
		if !slices.Equal(f.seen().commits, []int{36000, 36000}) || f.seen().samples != 0 {
			t.Errorf("%v samples were sent, and %d more", f.seen().commits, f.seen().samples)
		}
		model := map[string]any{"model": "gpt-live-transcribe", "language": "de", "prompt": "Linden Tree"}
		if !reflect.DeepEqual(f.seen().input["transcription"], model) || f.seen().input["turn_detection"] != nil ||
			!reflect.DeepEqual(f.seen().input["noise_reduction"], map[string]any{"type": "near_field"}) {
			t.Errorf("the session is %v", f.seen().input)
		}
		if f.seen().Request.Header.Get("X-Own") != "1" || r.Rate() != 24000 || r.Latency() != 1700*time.Millisecond {
			t.Error("the configuration is not followed")
		}
	})
}

func TestTheServerFindsTheEndsOfTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, func(c *call, kind string) {
			if c.samples == 24000 && kind == "append" {
				c.Send(`{"type":"input_audio_buffer.speech_started","item_id":"a","audio_start_ms":0}`)
				c.Send(`{"type":"input_audio_buffer.speech_stopped","item_id":"a","audio_end_ms":900}`)
				c.committed("a")
				c.completed("a", "yes")
			}
			if kind == "commit" {
				c.completed("b", "")
			}
		})
		r := newRecognizer(t, f, func(c *realtime.Config) { c.TurnDetection, c.Model = realtime.SemanticVAD, "gpt-4o-transcribe" })
		in := speech.NewAudio(10 * realtime.Rate)
		for range 10 {
			in.Write(make([]int16, 2400))
		}
		in.Close()
		var h heard
		if err := r.Recognize(t.Context(), in, h.emit); err != nil {
			t.Fatal(err)
		}
		if want := []speech.Transcript{{Text: "yes", Final: true, EndOfTurn: true}}; !slices.Equal(h.all, want) {
			t.Errorf("heard %v, not %v", h.all, want)
		}
		if !reflect.DeepEqual(f.seen().input["turn_detection"], map[string]any{"type": "semantic_vad"}) {
			t.Errorf("turn detection is %v", f.seen().input["turn_detection"])
		}
	})
}

// Words of a later piece of speech can be ready before those of an earlier one.
func TestWordsComeInTheOrderInWhichTheyWereSpoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, func(c *call, kind string) {
			if kind != "commit" {
				return
			}
			c.committed(fmt.Sprint(len(c.commits)))
			if len(c.commits) == 3 {
				c.delta("3", "three")
				c.completed("3", "three")
				c.completed("2", "")
				time.Sleep(time.Second)
				c.completed("1", "one")
			}
		})
		in := speech.NewAudio(10 * realtime.Rate)
		say(in)
		say(in)
		say(in)
		in.Close()
		var h heard
		if err := newRecognizer(t, f).Recognize(t.Context(), in, h.emit); err != nil {
			t.Fatal(err)
		}
		if want := []speech.Transcript{{Text: "one", Final: true}, {Text: "three", Final: true}}; !slices.Equal(h.all, want) {
			t.Errorf("heard %v, not %v", h.all, want)
		}
	})
}

func TestAShortWordIsEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, func(c *call, kind string) {
			if kind == "commit" {
				c.Send(`{"type":"error","error":{"type":"invalid_request_error","code":"input_audio_buffer_commit_empty","message":"nothing there"}}`)
			}
		})
		in := speech.NewAudio(realtime.Rate)
		in.Mark(speech.SpeechStopped) // of speech before the listening
		in.Mark(speech.SpeechStarted)
		in.Write(make([]int16, 100))
		in.Mark(speech.SpeechStopped)
		in.Close()
		begun := time.Now()
		if err := newRecognizer(t, f).Recognize(t.Context(), in, new(heard).emit); err != nil || time.Since(begun) != 0 {
			t.Errorf("after %s: %v", time.Since(begun), err)
		}
	})
}

// A caller who says nothing for an hour costs nothing, and is heard then.
func TestAConnectionIsKeptThroughSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, func(c *call, kind string) {
			if kind == "commit" {
				c.completed("a", "still here")
			}
		})
		in := speech.NewAudio(10 * realtime.Rate)
		var h heard
		done := make(chan error, 1)
		go func() { done <- newRecognizer(t, f).Recognize(t.Context(), in, h.emit) }()
		for range 60 {
			time.Sleep(time.Minute)
			in.Write(make([]int16, realtime.Rate))
		}
		say(in)
		in.Close()
		if err := <-done; err != nil || len(h.all) != 1 || f.Connections() != 1 || !slices.Equal(f.seen().commits, []int{36000}) {
			t.Errorf("heard %v on %d connections, %v", h.all, f.Connections(), err)
		}
	})
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

func TestTroubleHasACategoryAndNoSecret(t *testing.T) {
	for name, c := range map[string]struct {
		status   int
		heard    func(c *call)
		category frames.ErrorCategory
		text     string
	}{
		"a wrong key":              {401, nil, frames.ErrorAuth, "not with [redacted]"},
		"too many sessions":        {429, nil, frames.ErrorRateLimit, "HTTP 429"},
		"a server that is down":    {503, nil, frames.ErrorServer, "HTTP 503"},
		"it dies in mid-sentence":  {0, func(c *call) { c.delta("a", "boo"); c.Drop() }, frames.ErrorNetwork, "middle"},
		"it hangs up":              {0, func(c *call) { c.Close(1000, "") }, frames.ErrorNetwork, "1000"},
		"it hangs up with a word":  {0, func(c *call) { c.Close(1011, "keepalive ping timeout") }, frames.ErrorServer, "keepalive"},
		"it sends garbage":         {0, func(c *call) { c.Send("]") }, frames.ErrorServer, "malformed"},
		"the session is too long":  {0, told("error", `"code":"session_expired"`), frames.ErrorTimeout, "no [redacted] (session_expired)"},
		"it has no such model":     {0, told("error", `"code":"model_not_found"`), frames.ErrorInvalid, "(model_not_found)"},
		"something is wrong there": {0, told("error", `"code":null`), frames.ErrorServer, "(server_error)"},
		"it cannot transcribe":     {0, told("conversation.item.input_audio_transcription.failed", `"code":"insufficient_quota"`), frames.ErrorQuota, "(insufficient_quota)"},
		"it hears without an end": {0, func(c *call) {
			for i := range 100 {
				c.committed(fmt.Sprint(i))
			}
		}, frames.ErrorTimeout, "too many"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t, func(call *call, _ string) { c.heard(call) })
				if c.status != 0 {
					f.RefuseWith(c.status, nil, `{"error":{"message":"not with `+key+`"}}`)
				}
				in := speech.NewAudio(10 * realtime.Rate)
				say(in)
				err := newRecognizer(t, f).Recognize(t.Context(), in, new(heard).emit)
				var e *llm.Error
				if !errors.As(err, &e) || e.Category != c.category || e.Provider != "openai" || !strings.Contains(err.Error(), c.text) {
					t.Errorf("it ended with %v", err)
				}
				if strings.Contains(fmt.Sprint(err), key) {
					t.Errorf("it tells the key: %v", err)
				}
			})
		})
	}
}

// told reports an error.
func told(kind, code string) func(c *call) {
	return func(c *call) {
		c.Send(`{"type":"` + kind + `","item_id":"a","error":{"type":"server_error",` + code + `,"message":"no ` + key + `"}}`)
	}
}

func TestTheLastWordsAreNotWaitedForForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := speech.NewAudio(10 * realtime.Rate)
		in.Mark(speech.SpeechStarted)
		in.Write(make([]int16, realtime.Rate))
		in.Close() // in mid-speech
		f := newFake(t, func(*call, string) {})
		begun := time.Now()
		if err := newRecognizer(t, f).Recognize(t.Context(), in, new(heard).emit); err != nil || time.Since(begun) > 4*time.Second {
			t.Errorf("after %s: %v", time.Since(begun), err)
		}
		if !slices.Equal(f.seen().commits, []int{24000}) {
			t.Errorf("%v samples were sent", f.seen().commits)
		}
	})
}

func TestAListenerWhoStopsListeningEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecognizer(t, newFake(t, func(c *call, _ string) { c.completed("a", "b") }))
		in := speech.NewAudio(10 * realtime.Rate)
		say(in)
		gone := errors.New("gone")
		if err := r.Recognize(t.Context(), in, func(speech.Transcript) error { return gone }); err != gone {
			t.Errorf("it ended with %v", err)
		}
	})
}

func TestConfigurationsNameWhatIsWrong(t *testing.T) {
	for field, change := range map[string]func(*realtime.Config){
		"APIKey":         func(c *realtime.Config) { c.APIKey = "" },
		"BaseURL":        func(c *realtime.Config) { c.BaseURL = "nowhere" },
		"NoiseReduction": func(c *realtime.Config) { c.NoiseReduction = "all" },
		"TurnDetection":  func(c *realtime.Config) { c.TurnDetection = "guess" },
		"Before":         func(c *realtime.Config) { c.Before = time.Minute },
		"Latency":        func(c *realtime.Config) { c.Latency = -1 },
	} {
		cfg := realtime.Config{APIKey: key}
		change(&cfg)
		if _, err := realtime.New(cfg); !errors.Is(err, realtime.ErrConfig) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	cfg := realtime.Config{APIKey: key, Headers: map[string]string{"X": key}}
	sockettest.PrintsWithout(t, key, cfg)
}

// Ears for a bot.
func ExampleNew() {
	ears, err := realtime.New(realtime.Config{APIKey: "your-key", Language: "en"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("it listens at", ears.Rate(), "Hz")
	// Output: it listens at 24000 Hz
}
