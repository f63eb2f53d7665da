package silero_test

import (
	"fmt"

	"github.com/turnwise/turnwise/audio/vad/silero"
)

func Example() {
	model := silero.New() // one for the program
	detector, err := model.Detector(16000)
	if err != nil {
		fmt.Println(err)
		return
	}
	silence := make([]int16, detector.Window())
	fmt.Printf("%d samples, speech: %v\n", len(silence), detector.Confidence(silence) >= 0.7)
	// Output: 512 samples, speech: false
}
