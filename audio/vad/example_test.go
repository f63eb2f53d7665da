package vad_test

import (
	"fmt"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/vad"
)

func ExampleMachine() {
	detector, err := vad.NewEnergy(16000) // or one of package silero
	if err != nil {
		fmt.Println(err)
		return
	}
	machine, err := vad.NewMachine(detector, vad.Params{})
	if err != nil {
		fmt.Println(err)
		return
	}
	voice, err := audio.NewTone(audio.Mono(16000), 200, -20)
	if err != nil {
		fmt.Println(err)
		return
	}
	call := make([]int16, 3*16000) // silence, a second of sound, silence
	if _, err := voice.Read(call[16000:32000]); err != nil {
		fmt.Println(err)
		return
	}
	for ; len(call) > 0; call = call[320:] {
		for _, e := range machine.Feed(call[:320]) {
			switch {
			case e.Started():
				fmt.Println("started, since", e.Since)
			case e.Stopped():
				fmt.Println("stopped, since", e.Since)
			}
		}
	}
	// Output:
	// started, since 992ms
	// stopped, since 2.016s
}
