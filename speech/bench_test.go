package speech_test

import (
	"context"
	"testing"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/speech"
)

// BenchmarkMicrophone20ms is 20 ms of the user's audio through a whole chain: voice
// activity (without a model), recognizer's queue, turn taking, down to the end.
func BenchmarkMicrophone20ms(b *testing.B) {
	h := &hearing{script: func(_ int, ctx context.Context, in *speech.Audio, _ func(speech.Transcript) error) error {
		for {
			if _, err := in.Next(ctx); err != nil {
				return nil
			}
		}
	}}
	convo := frames.NewLLMContext("")
	arrived := make(chan struct{}, 1)
	pipe := must(pipeline.New(
		must(speech.NewActivity(speech.ActivityConfig{Detector: loud{}})),
		must(speech.NewRecognition(speech.RecognitionConfig{Recognizer: h})),
		must(speech.NewTurns(speech.TurnsConfig{})),
		llm.NewUserAggregator(convo), must(llm.NewService(llm.Config{Model: &model{}, Context: convo})),
		must(speech.NewSynthesis(speech.SynthesisConfig{Synthesizer: &voice{}})),
		must(speech.NewPlayout(speech.PlayoutConfig{Buffer: &speech.Buffer{}, Rate: rate})),
		llm.NewAssistantAggregator(convo),
		pipeline.Func("end", func(p *pipeline.Base, f frames.Frame, dir pipeline.Direction) {
			if _, ok := f.(*frames.InputAudioFrame); ok {
				arrived <- struct{}{}
			}
			p.Push(f, dir)
		}),
	))
	task := must(pipeline.NewTask(pipe, pipeline.Params{}))
	done := make(chan error, 1)
	go func() { done <- task.Run(context.Background()) }()
	f := &frames.InputAudioFrame{PCM: noise(20*time.Millisecond, rate, 1, false)}
	b.ReportAllocs()
	for b.Loop() {
		task.QueueFrame(f)
		<-arrived
	}
	b.StopTimer()
	task.Cancel("done")
	<-done
}

// BenchmarkSpokenSecond is a second of the bot's speech from the synthesizer to the
// pacer, words released as they are heard.
func BenchmarkSpokenSecond(b *testing.B) {
	v := &voice{words: true}
	buf := &speech.Buffer{}
	convo := frames.NewLLMContext("")
	heard := make(chan struct{}, 1)
	pipe := must(pipeline.New(
		must(speech.NewSynthesis(speech.SynthesisConfig{Synthesizer: v})),
		must(speech.NewPlayout(speech.PlayoutConfig{Buffer: buf, Rate: rate})),
		llm.NewAssistantAggregator(convo),
		pipeline.Func("end", func(p *pipeline.Base, f frames.Frame, dir pipeline.Direction) {
			if _, ok := f.(*frames.SpeakFrame); ok {
				heard <- struct{}{}
			}
			p.Push(f, dir)
		}),
	))
	task := must(pipeline.NewTask(pipe, pipeline.Params{}))
	done := make(chan error, 1)
	go func() { done <- task.Run(context.Background()) }()
	dst := make([]int16, rate/50)
	b.ReportAllocs()
	for b.Loop() {
		task.QueueFrame(&frames.SpeakFrame{Text: "Three words spoken.", NoContext: true})
		for waiting := true; waiting; {
			select {
			case <-heard:
				waiting = false
			default:
				buf.Read(dst)
			}
		}
	}
	b.StopTimer()
	task.Cancel("done")
	<-done
}
