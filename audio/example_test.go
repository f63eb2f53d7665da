package audio_test

import (
	"fmt"
	"time"

	"github.com/turnwise/turnwise/audio"
)

func ExampleFormat_Samples() {
	phone := audio.Mono(8000)
	fmt.Println(phone, "has", phone.Samples(20*time.Millisecond), "samples in 20 ms")
	// Output: 8000 Hz mono has 160 samples in 20 ms
}

func ExampleNewTone() {
	tone, err := audio.NewTone(audio.Mono(16000), 440, -20)
	if err != nil {
		fmt.Println(err)
		return
	}
	beep, err := audio.ReadAll(audio.Take(tone, 250*time.Millisecond), 16000)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d samples at %.1f dBFS\n", len(beep), audio.Level(beep))
	// Output: 4000 samples at -20.0 dBFS
}

func ExampleByteDecoder() {
	var d audio.ByteDecoder
	pcm := d.Append(nil, []byte{0x01, 0x00, 0x02}) // cut in the middle of a sample
	pcm = d.Append(pcm, []byte{0x00})
	fmt.Println(pcm)
	// Output: [1 2]
}

func ExampleNormaliser() {
	n, err := audio.NewNormaliser(audio.NormaliserConfig{Format: audio.Mono(16000)})
	if err != nil {
		fmt.Println(err)
		return
	}
	whisper, err := audio.NewTone(audio.Mono(16000), 200, -45)
	if err != nil {
		fmt.Println(err)
		return
	}
	pcm := make([]int16, 3*16000)
	if _, err := whisper.Read(pcm); err != nil {
		fmt.Println(err)
		return
	}
	n.Process(pcm)
	fmt.Printf("%.0f dBFS\n", audio.Level(pcm[2*16000:]))
	// Output: -20 dBFS
}
