package openai_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/speech/openai"
)

// A voice of a server of one's own.
func ExampleNewSynthesizer() {
	voice, err := openai.NewSynthesizer(openai.SynthesizerConfig{
		Server: openai.Server{BaseURL: "http://localhost:8000/v1"},
		Model:  "kokoro", Voice: "af_heart",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer voice.Close()
	fmt.Println("it speaks at", voice.Rate(), "Hz")
	// Output: it speaks at 24000 Hz
}

// Speech into words, as a recognizer for a call.
func ExampleNewTranscriber() {
	ears, err := openai.NewTranscriber(openai.TranscriberConfig{
		Server: openai.Server{APIKey: "your key"}, Model: "gpt-4o-mini-transcribe", Language: "en",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ears.Close()
	recognizer, err := speech.NewSegmented(speech.SegmentedConfig{Transcriber: ears})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("it listens at", recognizer.Rate(), "Hz")
	// Output: it listens at 16000 Hz
}

// An error names what is wrong.
func ExampleServer() {
	_, err := openai.NewSynthesizer(openai.SynthesizerConfig{
		Server: openai.Server{BaseURL: "localhost:8000"}, Model: "m", Voice: "v",
	})
	fmt.Println(err)
	// Output:
	// openai speech: invalid configuration: openai: invalid configuration: BaseURL must be an http or https address without user, query and fragment, such as http://localhost:11434/v1
}

// A deadline belongs into the context.
func ExampleSynthesizer_Synthesize() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(make([]byte, 2*24000)) // stands for a server that speaks
	}))
	defer server.Close()
	voice, err := openai.NewSynthesizer(openai.SynthesizerConfig{
		Server: openai.Server{BaseURL: server.URL + "/v1"}, Model: "m", Voice: "v",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer voice.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	samples := 0
	err = voice.Synthesize(ctx, speech.Utterance{Text: "Hello."}, func(s speech.Speech) error {
		samples += len(s.Samples)
		return nil
	})
	fmt.Println(samples, err)
	// Output: 24000 <nil>
}
