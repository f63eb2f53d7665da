package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/speech/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "sk-very-secret-key"

// fake is a server that refuses what OpenAI's would, and answers the rest.
func fake(t *testing.T, answer http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var wrong string
		switch r.Method + " " + r.URL.Path {
		case "POST /v1/audio/speech":
			wrong = wrongSpeech(r)
		case "POST /v1/audio/transcriptions":
			wrong = wrongTranscription(r)
		default:
			wrong = "no such endpoint: " + r.Method + " " + r.URL.Path
		}
		if got := r.Header.Get("Authorization"); got != "Bearer "+key {
			wrong = "authorization is " + got
		}
		if wrong != "" {
			t.Errorf("wrong request: %s", wrong)
			http.Error(w, wrong, http.StatusBadRequest)
			return
		}
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// wrongSpeech is what is wrong with a request for speech. It leaves the request's
// fields in its form.
func wrongSpeech(r *http.Request) string {
	if kind := r.Header.Get("Content-Type"); kind != "application/json" {
		return "content type " + kind
	}
	var fields struct {
		Model, Input, Voice, Instructions string
		ResponseFormat                    string `json:"response_format"`
		Speed                             *float64
	}
	in := json.NewDecoder(r.Body)
	in.DisallowUnknownFields()
	if err := in.Decode(&fields); err != nil {
		return err.Error()
	}
	if fields.Model == "" || fields.Input == "" || fields.Voice == "" || fields.ResponseFormat == "" {
		return "a field is missing"
	}
	r.Form = map[string][]string{
		"model": {fields.Model}, "input": {fields.Input}, "voice": {fields.Voice},
		"instructions": {fields.Instructions}, "response_format": {fields.ResponseFormat},
	}
	if fields.Speed != nil {
		r.Form.Set("speed", strconv.FormatFloat(*fields.Speed, 'g', -1, 64))
	}
	return ""
}

// wrongTranscription is what is wrong with a request for a transcription. It leaves
// the file in the form's field "file".
func wrongTranscription(r *http.Request) string {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return "content type " + kind
	}
	r.Form = map[string][]string{}
	parts := multipart.NewReader(r.Body, params["boundary"])
	for {
		p, err := parts.NextPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err.Error()
		}
		b, err := io.ReadAll(p)
		if err != nil {
			return err.Error()
		}
		if p.FormName() == "file" && !strings.HasSuffix(p.FileName(), ".wav") {
			return "file name " + p.FileName()
		}
		r.Form.Add(p.FormName(), string(b))
	}
	if r.Form.Get("model") == "" || r.Form.Get("response_format") != "json" || !strings.HasPrefix(r.Form.Get("file"), "RIFF") {
		return "a field is missing or wrong"
	}
	return ""
}

func newSynthesizer(t *testing.T, baseURL string, change ...func(*openai.SynthesizerConfig)) *openai.Synthesizer {
	t.Helper()
	cfg := openai.SynthesizerConfig{
		Server: openai.Server{BaseURL: baseURL, APIKey: key}, Model: "tts", Voice: "coral",
	}
	for _, f := range change {
		f(&cfg)
	}
	s, err := openai.NewSynthesizer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func newTranscriber(t *testing.T, baseURL string, change ...func(*openai.TranscriberConfig)) *openai.Transcriber {
	t.Helper()
	cfg := openai.TranscriberConfig{Server: openai.Server{BaseURL: baseURL, APIKey: key}, Model: "stt"}
	for _, f := range change {
		f(&cfg)
	}
	tr, err := openai.NewTranscriber(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	return tr
}

// say collects what a synthesizer emits.
func say(ctx context.Context, s speech.Synthesizer) ([]int16, error) {
	var all []int16
	err := s.Synthesize(ctx, speech.Utterance{Text: "Hello."}, func(p speech.Speech) error {
		all = append(all, p.Samples...)
		return nil
	})
	return all, err
}

// wantError checks the kind of a failure, and that it can be told to anybody.
func wantError(t *testing.T, err error, category frames.ErrorCategory, words ...string) *llm.Error {
	t.Helper()
	var e *llm.Error
	if !errors.As(err, &e) {
		t.Fatalf("error is %v", err)
	}
	if e.Category != category || e.Provider != "openai" {
		t.Errorf("%v is of category %q, not %q", err, e.Category, category)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q does not contain %q", err, w)
		}
	}
	if strings.Contains(err.Error(), key) || len(err.Error()) > 1000 {
		t.Errorf("%q holds the key, or is too long", err)
	}
	return e
}

// ramp is sound that can be told apart.
func ramp(n int) []int16 {
	s := make([]int16, n)
	for i := range s {
		s[i] = int16(i * 7 % 20000)
	}
	return s
}
