package openai_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/wav"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/speech/openai"
)

// text answers with JSON.
func text(json string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, json)
	}
}

func TestATranscription(t *testing.T) {
	s := fake(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Form.Get("model") != "stt" || r.Form.Get("language") != "en" || r.Form.Get("prompt") != "Turnwise" {
			t.Errorf("form is %v", r.Form["language"])
		}
		if r.Form.Get("file") != string(wav.Append(nil, audio.Mono(16000), ramp(3200))) {
			t.Error("the samples arrived otherwise")
		}
		text(`{"text":" A table for four. \n"}`)(w, r)
	})
	tr := newTranscriber(t, s.URL+"/v1", func(c *openai.TranscriberConfig) { c.Language, c.Prompt = "en-GB", "Turnwise" })
	if words, err := tr.Transcribe(t.Context(), ramp(3200), 16000); err != nil || words != "A table for four." {
		t.Errorf("heard %q, %v", words, err)
	}
}

func TestNothingIsNotSent(t *testing.T) {
	tr := newTranscriber(t, "http://127.0.0.1:1/v1")
	if words, err := tr.Transcribe(t.Context(), nil, 16000); err != nil || words != "" {
		t.Errorf("heard %q, %v", words, err)
	}
	_, err := tr.Transcribe(t.Context(), ramp(10), 1)
	wantError(t, err, frames.ErrorInvalid, "rate")
	_, err = tr.Transcribe(t.Context(), make([]int16, 13<<20), 16000)
	wantError(t, err, frames.ErrorInvalid, "too long")
}

func TestAnswersThatAreNoTranscription(t *testing.T) {
	for name, c := range map[string]struct {
		answer   http.HandlerFunc
		category frames.ErrorCategory
		want     string
	}{
		"not JSON":            {text("hello"), frames.ErrorServer, "malformed"},
		"a web page":          {sound("text/html", []byte("<html>")), frames.ErrorServer, "BaseURL"},
		"far too much":        {text(`{"text":"` + strings.Repeat("a", 2<<20) + `"}`), frames.ErrorServer, "more than"},
		"far too much plain":  {sound("text/plain", make([]byte, 2<<20)), frames.ErrorServer, "more than"},
		"an error that is OK": {text(`{"error":"no model"}`), frames.ErrorServer, "no model"},
		"cut": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			text(`{"text":"hel`)(w, r)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, frames.ErrorNetwork, llm.ErrCut.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			words, err := newTranscriber(t, fake(t, c.answer).URL+"/v1").Transcribe(t.Context(), ramp(10), 16000)
			if wantError(t, err, c.category, c.want); words != "" {
				t.Errorf("heard %q", words)
			}
		})
	}
}

func TestADeadlineEndsATranscription(t *testing.T) {
	s := fake(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(t.Context(), 1)
	defer cancel()
	_, err := newTranscriber(t, s.URL+"/v1").Transcribe(ctx, ramp(10), 16000)
	if wantError(t, err, frames.ErrorTimeout); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v", err)
	}
}
