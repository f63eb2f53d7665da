package opus_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/opus"
)

func Example() {
	bot := audio.Mono(24000) // a synthesizer's rate; no resampling is needed
	enc, err := opus.NewEncoder(opus.EncoderConfig{Format: bot})
	if err != nil {
		fmt.Println(err)
		return
	}
	dec, err := opus.NewDecoder(audio.Mono(16000)) // a recognizer's
	if err != nil {
		fmt.Println(err)
		return
	}
	packet, err := enc.Encode(nil, make([]int16, 480))
	if err != nil {
		fmt.Println(err)
		return
	}
	heard, err := dec.Decode(nil, packet)
	if err != nil {
		fmt.Println(err)
		return
	}
	heard, err = dec.Decode(heard, nil) // the next packet was lost
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(heard), "samples")
	// Output: 640 samples
}

func BenchmarkEncode20ms(b *testing.B) {
	for _, rate := range []int{16000, 24000, 48000} {
		for _, complexity := range []int{1, 5, 9} {
			b.Run(fmt.Sprintf("%d/complexity%d", rate, complexity), func(b *testing.B) {
				s := speech(b, rate)
				e := encoder(b, opus.EncoderConfig{Format: audio.Mono(rate), Complexity: complexity})
				size, at := rate/50, 0
				packet := make([]byte, 0, opus.MaxPacket)
				b.ReportAllocs()
				for b.Loop() {
					var err error
					if packet, err = e.Encode(packet[:0], s[at:at+size]); err != nil {
						b.Fatal(err)
					}
					at = (at + size) % (len(s) - size)
				}
			})
		}
	}
}

func BenchmarkDecode20ms(b *testing.B) {
	packets := encodeAll(b, opus.EncoderConfig{Format: audio.Mono(48000)}, speech(b, 48000))
	for _, rate := range []int{16000, 48000} {
		b.Run(fmt.Sprint(rate), func(b *testing.B) {
			d := decoder(b, audio.Mono(rate))
			out := make([]int16, 0, 960)
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if out, err = d.Decode(out[:0], packets[i%len(packets)]); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

func BenchmarkFirstFrame(b *testing.B) {
	format := audio.Mono(24000)
	frame := tone(b, format, 300, 20*time.Millisecond)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := encoder(b, opus.EncoderConfig{Format: format}).Encode(nil, frame); err != nil {
			b.Fatal(err)
		}
	}
}
