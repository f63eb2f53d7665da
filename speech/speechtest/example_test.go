package speechtest_test

import (
	"context"
	"fmt"
	"time"

	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/speech/speechtest"
)

// Ears that hear what they are to hear when somebody has spoken.
func ExampleDictation() {
	in := speech.NewAudio(16000)
	in.Write(make([]int16, 1600))
	in.Mark(speech.SpeechStopped)
	in.Mark(speech.SpeechStopped)
	in.Mark(speech.SpeechStopped) // there is nothing left to be heard
	in.Close()
	err := speechtest.Dictation("a table for four", "tomorrow").Recognize(context.Background(), in, func(t speech.Transcript) error {
		fmt.Println(t.Text)
		return nil
	})
	fmt.Println(err)
	// Output:
	// a table for four
	// tomorrow
	// <nil>
}

// A mouth that hums as long as it would speak.
func ExampleHumming() {
	mouth := speechtest.Humming{Word: 250 * time.Millisecond}
	err := mouth.Synthesize(context.Background(), speech.Utterance{Text: "a table for four"}, func(s speech.Speech) error {
		fmt.Println(len(s.Samples), "samples at", mouth.Rate(), "Hz")
		return nil
	})
	fmt.Println(err)
	// Output:
	// 24000 samples at 24000 Hz
	// <nil>
}
