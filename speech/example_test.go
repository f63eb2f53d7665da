package speech_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/speech"
)

func ExampleSentenceSplitter() {
	s := speech.NewSplitter(speech.SplitterConfig{})
	for _, token := range []string{"Dr. Smith is", " in at 10", ".30. ", "Shall I", " book it?"} {
		for _, piece := range s.Write(token) {
			fmt.Printf("%q\n", piece)
		}
	}
	fmt.Printf("%q\n", s.Flush())
	// Output:
	// "Dr. Smith is in at 10.30. "
	// "Shall I book it?"
}

func ExampleCleaner() {
	c := speech.NewCleaner(speech.CleanerConfig{})
	fmt.Println(c.Clean("**Booked!!!** 🎉 See [your table](https://example.com/t/17) or www.example.com."))
	// Output: Booked! See your table or example dot com.
}

// beeper speaks by beeping: 100 ms for each word.
type beeper struct{}

func (beeper) Rate() int { return 16000 }

func (beeper) Synthesize(ctx context.Context, u speech.Utterance, emit func(speech.Speech) error) error {
	for i, word := range strings.Fields(u.Text) {
		at := time.Duration(i) * 100 * time.Millisecond
		if err := emit(speech.Speech{
			Samples: make([]int16, 1600),
			Words:   []speech.Word{{Text: word, Start: at, End: at + 100*time.Millisecond}},
		}); err != nil {
			return err
		}
	}
	return nil
}

// A line is spoken and enters the conversation as it is heard.
func ExamplePlayout() {
	convo := frames.NewLLMContext("")
	buffer := &speech.Buffer{}
	synthesis, err := speech.NewSynthesis(speech.SynthesisConfig{Synthesizer: beeper{}})
	if err != nil {
		panic(err)
	}
	playout, err := speech.NewPlayout(speech.PlayoutConfig{Buffer: buffer, Rate: 16000})
	if err != nil {
		panic(err)
	}
	pipe, err := pipeline.New(synthesis, playout, llm.NewAssistantAggregator(convo))
	if err != nil {
		panic(err)
	}
	task, err := pipeline.NewTask(pipe, pipeline.Params{})
	if err != nil {
		panic(err)
	}
	task.QueueFrame(&frames.SpeakFrame{Text: "Good evening. What can I do for you?"})
	task.End("said it")

	// The transport's pacer takes 20 ms every 20 ms; this one is in a hurry.
	go func() {
		packet := make([]int16, 320)
		for {
			select {
			case <-task.Done():
				return
			case <-time.After(100 * time.Microsecond):
				buffer.Read(packet)
			}
		}
	}()
	if err := task.Run(context.Background()); err != nil {
		panic(err)
	}
	fmt.Println(convo.Messages()[0].Text)
	fmt.Println(buffer.Played(), "samples were heard")
	// Output:
	// Good evening. What can I do for you?
	// 12800 samples were heard
}

// At a node that asks for a long number, people pause.
func ExampleTurnSettingsFrame() {
	patient := &speech.TurnSettings{
		Stop: []speech.StopStrategy{speech.SpeechTimeout{Silence: 2 * time.Second}},
		Idle: 20 * time.Second,
	}
	fmt.Println(patient.Validate())
	// task.QueueFrame(&speech.TurnSettingsFrame{Settings: patient}) when the node is
	// entered, and &speech.TurnSettingsFrame{} when it is left.

	// Output: <nil>
}
