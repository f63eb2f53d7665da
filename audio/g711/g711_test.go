package g711_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/g711"
)

// The reference below follows tables 1 and 2 of the recommendation as words, not
// bits: eight segments of sixteen equal intervals, each segment's intervals twice
// as wide as the one's below. It knows where intervals begin, and encodes by
// asking which interval a sample lies in. A value decodes to its interval's middle.

// ulawInterval is where, on the recommendation's 14-bit scale, µ-law interval i (0
// is the innermost) of segment s begins, and how wide it is. The innermost begins
// at -1, below zero.
func ulawInterval(s, i int) (start, width int) {
	width = 2 << s
	return 32<<s - 33 + i*width, width
}

// ulawReference decodes, by tables.
func ulawReference(code byte) int16 {
	s, i := int(^code>>4&7), int(^code&15)
	start, width := ulawInterval(s, i)
	v := 4 * (start + width/2)
	if code&0x80 == 0 {
		v = -v
	}
	return int16(v)
}

// alawReference decodes, by tables: on the 13-bit scale intervals are 2 wide in the
// first two segments, then 4, 8, …, and the value is an interval's middle.
func alawReference(code byte) int16 {
	code ^= 0x55
	s, i := int(code>>4&7), int(code&15)
	width, start := 2, 0
	if s > 0 {
		width, start = 1<<s, 16<<s
	}
	v := 8 * (start + i*width + width/2)
	if code&0x80 == 0 {
		v = -v
	}
	return int16(v)
}

func TestDecodingIsTheRecommendations(t *testing.T) {
	for c := range 256 {
		if got, want := g711.DecodeULaw(byte(c)), ulawReference(byte(c)); got != want {
			t.Errorf("µ-law %#02x decodes to %d, want %d", c, got, want)
		}
		if got, want := g711.DecodeALaw(byte(c)), alawReference(byte(c)); got != want {
			t.Errorf("A-law %#02x decodes to %d, want %d", c, got, want)
		}
	}
}

// TestULawEncodingPicksTheRecommendationsInterval walks all samples: the right interval
// is the last one that begins at or below the magnitude.
func TestULawEncodingPicksTheRecommendationsInterval(t *testing.T) {
	for v := math.MinInt16; v <= math.MaxInt16; v++ {
		magnitude := min(max(v, -v), 32635)
		best := 0
		for n := 1; n < 128; n++ {
			if start, _ := ulawInterval(n/16, n%16); magnitude < 4*start {
				break
			}
			best = n
		}
		want := byte(0xff - best)
		if v < 0 {
			want = byte(0x7f - best)
		}
		if got := g711.EncodeULaw(int16(v)); got != want {
			t.Fatalf("%d encodes to %#02x, want %#02x", v, got, want)
		}
	}
}

// TestALawEncodingPicksTheRecommendationsInterval walks all samples: an A-law
// interval holds the 13-bit magnitudes from its start to before the next.
func TestALawEncodingPicksTheRecommendationsInterval(t *testing.T) {
	for v := math.MinInt16; v <= math.MaxInt16; v++ {
		magnitude, sign := v>>3, byte(0x80)
		if v < 0 {
			magnitude, sign = -1-v>>3, 0 // negative values mirror around -1/2
		}
		best := 0
		for n := 1; n < 128; n++ {
			s, i := n/16, n%16
			width, start := 2, 0
			if s > 0 {
				width, start = 1<<s, 16<<s
			}
			if magnitude < start+i*width {
				break
			}
			best = n
		}
		want := (sign | byte(best)) ^ 0x55
		if got := g711.EncodeALaw(int16(v)); got != want {
			t.Fatalf("%d encodes to %#02x, want %#02x", v, got, want)
		}
	}
}

func TestEveryCodeSurvivesDecodingAndEncoding(t *testing.T) {
	for c := range 256 {
		if got := g711.EncodeALaw(g711.DecodeALaw(byte(c))); got != byte(c) {
			t.Errorf("A-law %#02x comes back as %#02x", c, got)
		}
		// µ-law has two zeros; a sample has one.
		want := byte(c)
		if want == 0x7f {
			want = 0xff
		}
		if got := g711.EncodeULaw(g711.DecodeULaw(byte(c))); got != want {
			t.Errorf("µ-law %#02x comes back as %#02x", c, got)
		}
	}
}

func TestSilenceBytesAreQuiet(t *testing.T) {
	if got := g711.DecodeULaw(g711.ULawSilence); got != 0 {
		t.Errorf("µ-law silence is %d", got)
	}
	if got := g711.DecodeALaw(g711.ALawSilence); got != 8 {
		t.Errorf("A-law silence is %d", got)
	}
}

// TestSpeechLevelKeepsThirtySixDecibels: companding noise is about 37 dB below a
// signal of any ordinary level, which is what it is for.
func TestSpeechLevelKeepsThirtySixDecibels(t *testing.T) {
	for _, level := range []float64{-35, -25, -10} {
		tone, err := audio.NewTone(audio.Mono(g711.Rate), 777, level)
		if err != nil {
			t.Fatal(err)
		}
		in := make([]int16, g711.Rate)
		if _, err := tone.Read(in); err != nil {
			t.Fatal(err)
		}
		for name, out := range map[string][]int16{
			"µ-law": g711.AppendFromULaw(nil, g711.AppendULaw(nil, in)),
			"A-law": g711.AppendFromALaw(nil, g711.AppendALaw(nil, in)),
		} {
			for i := range out {
				out[i] -= in[i]
			}
			if ratio := level - audio.Level(out); ratio < 36 {
				t.Errorf("%s at %.0f dBFS: noise only %.1f dB below", name, level, ratio)
			}
		}
	}
}

func ExampleAppendULaw() {
	wire := g711.AppendULaw(nil, []int16{0, 1000, -1000})
	fmt.Printf("% x -> %v\n", wire, g711.AppendFromULaw(nil, wire))
	// Output: ff ce 4e -> [0 988 -988]
}

func ExampleAppendALaw() {
	wire := g711.AppendALaw(nil, []int16{0, 1000, -1000})
	fmt.Printf("% x -> %v\n", wire, g711.AppendFromALaw(nil, wire))
	// Output: d5 fa 7a -> [8 1008 -1008]
}

func BenchmarkULaw20ms(b *testing.B) {
	in := make([]int16, 160)
	for i := range in {
		in[i] = int16(i * 173)
	}
	wire, out := make([]byte, 0, 160), make([]int16, 0, 160)
	b.ReportAllocs()
	for b.Loop() {
		wire = g711.AppendULaw(wire[:0], in)
		out = g711.AppendFromULaw(out[:0], wire)
	}
	if slices.Equal(in, out) {
		b.Fatal("companding changed nothing")
	}
}
