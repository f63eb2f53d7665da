package opus_test

import (
	"errors"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/opus"
	"github.com/turnwise/turnwise/audio/resample"
	"github.com/turnwise/turnwise/audio/wav"
)

func formats() []audio.Format {
	var all []audio.Format
	for _, rate := range []int{8000, 12000, 16000, 24000, 48000} {
		for channels := 1; channels <= 2; channels++ {
			all = append(all, audio.Format{Rate: rate, Channels: channels})
		}
	}
	return all
}

func encoder(t testing.TB, cfg opus.EncoderConfig) opus.Encoder {
	t.Helper()
	e, err := opus.NewEncoder(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func decoder(t testing.TB, format audio.Format) opus.Decoder {
	t.Helper()
	d, err := opus.NewDecoder(format)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// encodeAll encodes whole frames.
func encodeAll(t testing.TB, cfg opus.EncoderConfig, samples []int16) [][]byte {
	t.Helper()
	e := encoder(t, cfg)
	size := cfg.Format.Samples(20 * time.Millisecond)
	if cfg.Frame > 0 {
		size = cfg.Format.Samples(cfg.Frame)
	}
	var packets [][]byte
	for ; len(samples) >= size; samples = samples[size:] {
		p, err := e.Encode(nil, samples[:size])
		if err != nil {
			t.Fatal(err)
		}
		packets = append(packets, p)
	}
	return packets
}

func decodeAll(t testing.TB, format audio.Format, packets [][]byte) []int16 {
	t.Helper()
	d := decoder(t, format)
	var out []int16
	for _, p := range packets {
		var err error
		if out, err = d.Decode(out, p); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func tone(t testing.TB, format audio.Format, frequency float64, d time.Duration) []int16 {
	t.Helper()
	src, err := audio.NewTone(format, frequency, -15)
	if err != nil {
		t.Fatal(err)
	}
	s := make([]int16, format.Samples(d))
	if _, err := src.Read(s); err != nil {
		t.Fatal(err)
	}
	return s
}

// speech is a recorded sentence at the given rate.
func speech(t testing.TB, rate int) []int16 {
	t.Helper()
	f, err := os.Open("../vad/silero/testdata/speech16k.wav")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := wav.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	src, err := resample.NewSource(r, rate)
	if err != nil {
		t.Fatal(err)
	}
	s, err := audio.ReadAll(audio.Take(src, 3500*time.Millisecond), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// frequency of a tone, by its zero crossings between the first and the last.
func frequency(mono []int16, rate int) float64 {
	first, last, count := -1.0, 0.0, 0
	for i := 1; i < len(mono); i++ {
		if mono[i-1] < 0 && mono[i] >= 0 {
			at := float64(i) - float64(mono[i])/float64(int(mono[i])-int(mono[i-1]))
			if first < 0 {
				first = at
			} else {
				count++
			}
			last = at
		}
	}
	return float64(count) * float64(rate) / (last - first)
}

func TestToneSurvivesEveryPairOfFormats(t *testing.T) {
	for _, in := range formats() {
		packets := encodeAll(t, opus.EncoderConfig{Format: in}, tone(t, in, 440, time.Second))
		for _, out := range formats() {
			got := decodeAll(t, out, packets)
			if len(got) != out.Samples(time.Second) {
				t.Errorf("%v to %v: %d samples in a second", in, out, len(got))
				continue
			}
			mono := audio.AppendMono(nil, got, out.Channels)[out.Rate/5:]
			if f := frequency(mono, out.Rate); math.Abs(f/440-1) > 0.001 {
				t.Errorf("%v to %v: 440 Hz becomes %.2f", in, out, f)
			}
			if level := audio.Level(mono); math.Abs(level+15) > 1 {
				t.Errorf("%v to %v: -15 dBFS becomes %.1f", in, out, level)
			}
		}
	}
}

// noiseBelow is the power of all that is not the tone, relative to it, in dB.
func noiseBelow(mono []int16, rate int, frequency float64) float64 {
	n := len(mono) - len(mono)%(rate/20) // whole waves
	var re, im, power float64
	for i, v := range mono[:n] {
		s, c := math.Sincos(2 * math.Pi * frequency * float64(i) / float64(rate))
		re, im, power = re+float64(v)*s, im+float64(v)*c, power+float64(v)*float64(v)
	}
	tone := (re*re + im*im) * 2 / float64(n)
	return 10 * math.Log10((power-tone)/tone)
}

func TestToneIsNotBuriedInNoise(t *testing.T) {
	for _, music := range []bool{false, true} {
		for _, in := range formats() {
			packets := encodeAll(t, opus.EncoderConfig{Format: in, Music: music}, tone(t, in, 440, time.Second))
			out := audio.Mono(48000)
			got := decodeAll(t, out, packets)
			if n := noiseBelow(got[out.Rate/5:], out.Rate, 440); n > -30 {
				t.Errorf("%v, music %v: noise only %.1f dB below", in, music, n)
			}
		}
	}
}

func TestEveryFrameDurationWorks(t *testing.T) {
	format := audio.Mono(48000)
	for _, d := range []time.Duration{2500, 5000, 10000, 20000, 40000, 60000} {
		d *= time.Microsecond
		packets := encodeAll(t, opus.EncoderConfig{Format: format, Frame: d, Bitrate: 64000}, tone(t, format, 440, 600*time.Millisecond))
		for i, p := range packets {
			if got, err := opus.Duration(p); err != nil || got != d {
				t.Fatalf("frames of %v: packet %d says %v, %v", d, i, got, err)
			}
		}
		if n := len(decodeAll(t, audio.Mono(16000), packets)); n != 9600 {
			t.Errorf("frames of %v: %d samples", d, n)
		}
	}
}

func TestWrongFramesAndSettingsAreRefused(t *testing.T) {
	e := encoder(t, opus.EncoderConfig{Format: audio.Mono(16000)})
	for _, n := range []int{0, 319, 321, 640} {
		if out, err := e.Encode([]byte{1}, make([]int16, n)); !errors.Is(err, opus.ErrFrame) || len(out) != 1 {
			t.Errorf("a frame of %d samples gives %v", n, err)
		}
	}
	for name, cfg := range map[string]opus.EncoderConfig{
		"no format":       {},
		"44.1 kHz":        {Format: audio.Mono(44100)},
		"three channels":  {Format: audio.Format{Rate: 48000, Channels: 3}},
		"a frame of 30ms": {Format: audio.Mono(48000), Frame: 30 * time.Millisecond},
		"1 kbit/s":        {Format: audio.Mono(48000), Bitrate: 1000},
		"complexity 11":   {Format: audio.Mono(48000), Complexity: 11},
		"loss of 101 %":   {Format: audio.Mono(48000), Loss: 101},
	} {
		if _, err := opus.NewEncoder(cfg); !errors.Is(err, opus.ErrConfig) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := opus.NewDecoder(audio.Mono(22050)); !errors.Is(err, opus.ErrConfig) {
		t.Errorf("a decoder for 22.05 kHz gives %v", err)
	}
	if err := e.Adapt(0, 0); !errors.Is(err, opus.ErrConfig) {
		t.Errorf("a bit rate of 0 gives %v", err)
	}
}

func TestBitrateFollowsTheNetwork(t *testing.T) {
	s := speech(t, 24000)
	e := encoder(t, opus.EncoderConfig{Format: audio.Mono(24000)})
	rate := func() float64 {
		total := 0
		for i := 0; i+480 <= len(s); i += 480 {
			p, err := e.Encode(nil, s[i:i+480])
			if err != nil {
				t.Fatal(err)
			}
			total += len(p)
		}
		return float64(total*8) / (float64(len(s)) / 24000)
	}
	for _, want := range []int{64000, 24000, 40000} {
		if err := e.Adapt(want, 0); err != nil {
			t.Fatal(err)
		}
		if got := rate(); got > 1.1*float64(want) || got < 0.5*float64(want) {
			t.Errorf("%.0f bit/s, want about %d", got, want)
		}
	}
}

func TestResetBeginsANewStream(t *testing.T) {
	format := audio.Mono(24000)
	s := speech(t, 24000)
	e, d := encoder(t, opus.EncoderConfig{Format: format}), decoder(t, format)
	e.Reset()
	d.Reset() // before anything was made
	run := func() (all []byte, out []int16) {
		for i := 0; i+480 <= len(s)/2; i += 480 {
			p, err := e.Encode(nil, s[i:i+480])
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, p...)
			if out, err = d.Decode(out, p); err != nil {
				t.Fatal(err)
			}
		}
		return all, out
	}
	packets, samples := run()
	e.Reset()
	d.Reset()
	again, samplesAgain := run()
	if !slices.Equal(packets, again) || !slices.Equal(samples, samplesAgain) {
		t.Error("the same stream after Reset differs")
	}
}

func TestSteadyStreamAllocatesNothing(t *testing.T) {
	format := audio.Mono(24000)
	s := speech(t, 24000)
	e, d := encoder(t, opus.EncoderConfig{Format: format}), decoder(t, audio.Mono(16000))
	packet, out := make([]byte, 0, opus.MaxPacket), make([]int16, 0, 5760)
	at := 0
	step := func() {
		var err error
		if packet, err = e.Encode(packet[:0], s[at:at+480]); err != nil {
			t.Fatal(err)
		}
		if out, err = d.Decode(out[:0], packet); err != nil {
			t.Fatal(err)
		}
		at = (at + 480) % (len(s) - 480)
	}
	for range 100 {
		step()
	}
	if n := testing.AllocsPerRun(100, step); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}
