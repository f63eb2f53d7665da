package openai_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/wav"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/speech/openai"
)

// sound answers with bytes of a media type, in odd pieces.
func sound(kind string, b []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		for piece := range slices.Chunk(b, 997) {
			_, _ = w.Write(piece)
			w.(http.Flusher).Flush()
		}
	}
}

func format(f openai.Format) func(*openai.SynthesizerConfig) {
	return func(c *openai.SynthesizerConfig) { c.Format = f }
}

func TestTheRequestForSpeech(t *testing.T) {
	s := fake(t, func(w http.ResponseWriter, r *http.Request) {
		for name, want := range map[string]string{
			"model": "tts", "voice": "coral", "input": "Hello.", "response_format": "pcm", "instructions": "Whisper.", "speed": "1.25",
		} {
			if got := r.Form.Get(name); got != want {
				t.Errorf("%s is %q", name, got)
			}
		}
		if r.Header.Get("OpenAI-Project") != "p" || r.UserAgent() != "turnwise" {
			t.Errorf("headers are %v", r.Header)
		}
		sound("audio/pcm", audio.AppendBytes(nil, ramp(10)))(w, r)
	})
	_, err := say(t.Context(), newSynthesizer(t, s.URL+"/v1/", func(c *openai.SynthesizerConfig) {
		c.Instructions, c.Speed = "Whisper.", 1.25
		c.Server.Headers = map[string]string{"OpenAI-Project": "p"}
	}))
	if err != nil {
		t.Error(err)
	}
}

func TestFormats(t *testing.T) {
	want := ramp(30000)
	raw := audio.AppendBytes(nil, want)
	file := wav.Append(nil, audio.Mono(24000), want)
	streamed := slices.Clone(file)
	copy(streamed[4:], []byte{0xff, 0xff, 0xff, 0xff})
	copy(streamed[40:], []byte{0xff, 0xff, 0xff, 0xff})
	for name, c := range map[string]struct {
		ask  openai.Format
		kind string
		b    []byte
	}{
		"raw samples":                            {openai.PCM, "audio/pcm", raw},
		"raw samples of no known type":           {openai.PCM, "application/octet-stream", raw},
		"a WAV file":                             {openai.WAV, "audio/wav", file},
		"a WAV stream of unknown length":         {openai.WAV, "audio/x-wav", streamed},
		"WAV although raw samples were asked":    {openai.PCM, "audio/wav", file},
		"WAV that does not call itself anything": {openai.PCM, "", file},
	} {
		t.Run(name, func(t *testing.T) {
			s := fake(t, sound(c.kind, c.b))
			got, err := say(t.Context(), newSynthesizer(t, s.URL+"/v1", format(c.ask)))
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("got %d samples of %d, %v", len(got), len(want), err)
			}
		})
	}
}

func TestMP3(t *testing.T) {
	for _, file := range []string{"mono24k.mp3", "stereo44k.mp3"} {
		b, err := os.ReadFile("../../audio/mp3/testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, ask := range []openai.Format{openai.MP3, openai.PCM} {
			got, err := say(t.Context(), newSynthesizer(t, fake(t, sound("audio/mpeg", b)).URL+"/v1", format(ask)))
			if d := audio.Mono(24000).Duration(len(got)); err != nil || d.Milliseconds() < 100 || audio.Level(got) < -40 {
				t.Errorf("%s: %s of sound at %.0f dB, %v", file, d, audio.Level(got), err)
			}
		}
	}
}

func TestAnotherRateIsConverted(t *testing.T) {
	s := newSynthesizer(t, fake(t, sound("audio/pcm", make([]byte, 48000))).URL+"/v1", func(c *openai.SynthesizerConfig) { c.Rate = 16000 })
	if got, err := say(t.Context(), s); err != nil || len(got) < 15990 || len(got) > 16010 || s.Rate() != 16000 {
		t.Errorf("a second has %d samples, %v", len(got), err)
	}
}

func TestAudioComesWhileTheServerStillSpeaks(t *testing.T) {
	heard := make(chan struct{})
	s := fake(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(make([]byte, 2001)) // half a sample comes later
		w.(http.Flusher).Flush()
		<-heard
		_, _ = w.Write(make([]byte, 999))
	})
	n := 0
	err := newSynthesizer(t, s.URL+"/v1").Synthesize(t.Context(), speech.Utterance{Text: "x"}, func(p speech.Speech) error {
		if n == 0 {
			close(heard)
		}
		n += len(p.Samples)
		return nil
	})
	if err != nil || n != 1500 {
		t.Errorf("%d samples, %v", n, err)
	}
}

func TestAnAnswerThatIsCut(t *testing.T) {
	file := wav.Append(nil, audio.Mono(24000), ramp(5000))
	for name, c := range map[string]struct {
		kind   string
		b      []byte
		length int // that is promised; 0 closes the connection in the middle of a chunk
		heard  int
	}{
		"raw samples, shorter than promised":     {"audio/pcm", make([]byte, 2000), 4000, 1000},
		"raw samples, broken off":                {"audio/pcm", make([]byte, 2000), 0, 1000},
		"a WAV file, broken off":                 {"audio/wav", file[:2044], 0, 1000},
		"a WAV file, shorter than itself":        {"audio/wav", file[:2044], 2044, 1000},
		"raw samples that end within one":        {"audio/pcm", make([]byte, 2001), 2001, 1000},
		"nothing of what was promised has come":  {"audio/pcm", nil, 1000, 0},
		"a WAV file that ends within its header": {"audio/wav", file[:20], 4000, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := fake(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				if c.length > 0 {
					w.Header().Set("Content-Length", strconv.Itoa(c.length))
				}
				_, _ = w.Write(c.b)
				w.(http.Flusher).Flush()
				if len(c.b) != c.length {
					panic(http.ErrAbortHandler)
				}
			})
			got, err := say(t.Context(), newSynthesizer(t, s.URL+"/v1"))
			e := wantError(t, err, frames.ErrorNetwork)
			if !errors.Is(err, llm.ErrCut) || !e.Retryable() || len(got) != c.heard {
				t.Errorf("%d samples, then %v", len(got), err)
			}
		})
	}
}

func TestAnAnswerThatIsNoSound(t *testing.T) {
	for name, c := range map[string]struct {
		ask  openai.Format
		kind string
		text string
		want string
	}{
		"nothing":             {openai.PCM, "audio/pcm", "", "no sound"},
		"no MP3":              {openai.MP3, "audio/mpeg", "hello", "MP3"},
		"no WAV":              {openai.WAV, "audio/wav", "hello, this is no sound at all", "WAV"},
		"a web page":          {openai.PCM, "text/html; charset=utf-8", "<html>", "BaseURL"},
		"JSON":                {openai.PCM, "application/json", `{"audio":"aGVsbG8="}`, "JSON"},
		"an error that is OK": {openai.PCM, "application/json", `{"error":{"message":"no voice ` + key + `"}}`, "no voice [redacted]"},
	} {
		t.Run(name, func(t *testing.T) {
			s := fake(t, sound(c.kind, []byte(c.text)))
			_, err := say(t.Context(), newSynthesizer(t, s.URL+"/v1", format(c.ask)))
			wantError(t, err, frames.ErrorServer, c.want)
		})
	}
}

func TestCancellingEndsTheAnswer(t *testing.T) {
	over := make(chan struct{})
	s := fake(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(make([]byte, 2000))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(over)
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted")
	err := newSynthesizer(t, s.URL+"/v1").Synthesize(ctx, speech.Utterance{Text: "x"}, func(speech.Speech) error {
		cancel(interrupted)
		return nil
	})
	wantError(t, err, frames.ErrorInternal)
	if !errors.Is(err, context.Canceled) || !errors.Is(err, interrupted) {
		t.Errorf("error is %v", err)
	}
	<-over
}

func TestTheListenersFailureEndsTheAnswer(t *testing.T) {
	over := make(chan struct{})
	s := fake(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(bytes.Repeat([]byte{1, 2}, 5000))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(over)
	})
	gone := errors.New("gone")
	err := newSynthesizer(t, s.URL+"/v1").Synthesize(t.Context(), speech.Utterance{Text: "x"}, func(speech.Speech) error { return gone })
	if err != gone {
		t.Errorf("error is %v", err)
	}
	<-over
}
