package resample_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/resample"
)

func noise(seed uint64, n int) []int16 {
	r := rand.New(rand.NewPCG(seed, 9))
	s := make([]int16, n)
	for i := range s {
		s[i] = int16(r.IntN(20001) - 10000)
	}
	return s
}

// inPieces converts in random pieces, empty and odd ones included, and flushes.
func inPieces(r *resample.Resampler, in []int16, seed uint64) []int16 {
	random := rand.New(rand.NewPCG(seed, 8))
	var out []int16
	for len(in) > 0 {
		n := min(len(in), random.IntN(700))
		out = r.Append(out, in[:n])
		in = in[n:]
	}
	return r.Flush(out)
}

func TestOutputDoesNotDependOnPieces(t *testing.T) {
	eachPair(t, func(t *testing.T, f *resample.Filter) {
		for _, channels := range []int{1, 2} {
			in := noise(1, channels*(f.From()/4+7))
			whole := f.New(channels)
			want := whole.Flush(whole.Append(nil, in))
			r := f.New(channels)
			for seed := range uint64(3) { // the second and third after a flush
				if got := inPieces(r, in, seed); !slices.Equal(got, want) {
					t.Fatalf("%d channels, seed %d: output differs", channels, seed)
				}
			}
			if frames := len(want) / channels; frames != f.Frames(len(in)/channels) {
				t.Errorf("%d channels: %d sample times out of %d, want %d", channels, frames, len(in)/channels, f.Frames(len(in)/channels))
			}
		}
	})
}

func TestChannelsAreConvertedApart(t *testing.T) {
	f, err := resample.NewFilter(44100, 16000)
	if err != nil {
		t.Fatal(err)
	}
	left, right := noise(2, 5000), noise(3, 5000)
	both := make([]int16, 0, 10000)
	for i := range left {
		both = append(both, left[i], right[i])
	}
	out := f.New(2).Append(nil, both)
	for c, in := range [][]int16{left, right} {
		want := f.New(1).Append(nil, in)
		for i := range want {
			if out[2*i+c] != want[i] {
				t.Fatalf("channel %d differs at %d", c, i)
			}
		}
	}
}

func TestStreamIsHeldBackNoLongerThanPromised(t *testing.T) {
	eachPair(t, func(t *testing.T, f *resample.Filter) {
		if f.HoldBack() > 5*time.Millisecond {
			t.Errorf("promises %v", f.HoldBack())
		}
		r := f.New(1)
		in, out := 0, 0
		for range 60 {
			n := f.From() / 50
			in += n
			out += len(r.Append(nil, make([]int16, n)))
			behind := audio.Mono(f.From()).Duration(in) - audio.Mono(f.To()).Duration(out)
			if behind > f.HoldBack()+time.Microsecond {
				t.Fatalf("%v behind after %v, promised %v", behind, audio.Mono(f.From()).Duration(in), f.HoldBack())
			}
		}
	})
}

// TestTelephoneAudioMayGiveNothingAtFirst: pieces of 1 ms stay inside the filter
// for a while; an empty result is no error and nothing is lost.
func TestTelephoneAudioMayGiveNothingAtFirst(t *testing.T) { // RT47
	r, err := resample.New(8000, 16000, 1)
	if err != nil {
		t.Fatal(err)
	}
	empty, total := 0, 0
	for range 1000 {
		n := len(r.Append(nil, make([]int16, 8)))
		if n == 0 {
			empty++
		}
		total += n
	}
	total += len(r.Flush(nil))
	if empty == 0 || total != 16000 {
		t.Errorf("%d empty pieces, %d samples", empty, total)
	}
}

func TestNoDriftInAMinute(t *testing.T) {
	r, err := resample.New(44100, 8000, 1)
	if err != nil {
		t.Fatal(err)
	}
	piece, out := make([]int16, 441), 0
	var buf []int16
	for range 6000 {
		buf = r.Append(buf[:0], piece)
		out += len(buf)
	}
	out += len(r.Flush(buf[:0]))
	if out != 60*8000 {
		t.Errorf("%d samples in a minute, want %d", out, 60*8000)
	}
}

func TestEqualRatesCopy(t *testing.T) {
	r, err := resample.New(16000, 16000, 2)
	if err != nil {
		t.Fatal(err)
	}
	in := noise(4, 101)
	if out := r.Flush(r.Append(nil, in)); !slices.Equal(out, in) {
		t.Error("samples differ")
	}
	if f := r.AppendFloat(nil, []float32{0.5}); !slices.Equal(f, []float32{0.5}) || len(r.FlushFloat(nil)) != 0 {
		t.Error("floats differ")
	}
	if r.Filter().HoldBack() != 0 {
		t.Error("a copy is held back")
	}
}

func TestLoudSignalsAreCutNotWrapped(t *testing.T) {
	r, err := resample.New(16000, 48000, 1)
	if err != nil {
		t.Fatal(err)
	}
	square := make([]int16, 1600)
	for i := range square {
		square[i] = 32767
		if i/40%2 == 1 {
			square[i] = -32768
		}
	}
	out := r.Append(nil, square) // the edges overshoot full scale
	for i := 1; i < len(out); i++ {
		if d := int(out[i]) - int(out[i-1]); d > 40000 || d < -40000 {
			t.Fatalf("a jump of %d at %d: wrapped around", d, i)
		}
	}
	if audio.Peak(out) < 32767 {
		t.Error("the test does not reach full scale")
	}
}

func TestFiltersAreMadeOnceAndShared(t *testing.T) {
	var filters resample.Filters
	in := noise(5, 4800)
	var wg sync.WaitGroup
	results := make([][]int16, 8)
	for i := range results {
		wg.Go(func() {
			f, err := filters.Get(24000, 16000)
			if err != nil {
				t.Error(err)
				return
			}
			results[i] = f.New(1).Append(nil, in)
		})
	}
	wg.Wait()
	for i := range results {
		if !slices.Equal(results[i], results[0]) {
			t.Errorf("stream %d differs", i)
		}
	}
	a, _ := filters.Get(24000, 16000)
	b, _ := filters.Get(24000, 16000)
	if a != b {
		t.Error("two filters for one pair")
	}
}

func TestOddPairsWorkAndImpossibleOnesAreRefused(t *testing.T) {
	for _, pair := range [][2]int{{11025, 48000}, {12000, 44100}, {32000, 22050}, {96000, 16000}} {
		if _, err := resample.NewFilter(pair[0], pair[1]); err != nil {
			t.Error(err)
		}
	}
	for _, pair := range [][2]int{{0, 16000}, {16000, -1}, {16000, 1 << 30}, {44099, 48000}} {
		if _, err := resample.NewFilter(pair[0], pair[1]); !errors.Is(err, resample.ErrRates) {
			t.Errorf("%v gives %v", pair, err)
		}
	}
	if _, err := resample.New(8000, 16000, 0); err == nil {
		t.Error("no channels give no error")
	}
}

func TestSourceConvertsToItsEnd(t *testing.T) {
	in := noise(6, 2*4410)
	format := audio.Format{Rate: 44100, Channels: 2}
	src, err := audio.NewSource(in, format)
	if err != nil {
		t.Fatal(err)
	}
	converted, err := resample.NewSource(src, 16000)
	if err != nil {
		t.Fatal(err)
	}
	if converted.Format() != (audio.Format{Rate: 16000, Channels: 2}) {
		t.Errorf("format %v", converted.Format())
	}
	var got []int16
	p := make([]int16, 333)
	for {
		n, err := converted.Read(p)
		got = append(got, p[:n]...)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	r, err := resample.New(44100, 16000, 2)
	if err != nil {
		t.Fatal(err)
	}
	if want := r.Flush(r.Append(nil, in)); !slices.Equal(got, want) {
		t.Errorf("%d samples, want %d", len(got), len(want))
	}
	if same, err := resample.NewSource(src, 44100); err != nil || same != src {
		t.Errorf("an equal rate gives another source: %v", err)
	}
}

func TestSteadyStreamAllocatesNothing(t *testing.T) {
	for _, pair := range [][2]int{{24000, 16000}, {44100, 48000}, {8000, 48000}} {
		r, err := resample.New(pair[0], pair[1], 2)
		if err != nil {
			t.Fatal(err)
		}
		piece := make([]int16, pair[0]/50*2)
		out := make([]int16, 0, pair[1]/50*2+64)
		for range 50 {
			out = r.Append(out[:0], piece)
		}
		if n := testing.AllocsPerRun(200, func() { out = r.Append(out[:0], piece) }); n != 0 {
			t.Errorf("%v: %v allocations a piece", pair, n)
		}
	}
}

func ExampleResampler() {
	r, err := resample.New(24000, 16000, 1) // a synthesizer's rate to a recognizer's
	if err != nil {
		fmt.Println(err)
		return
	}
	var out []int16
	for range 50 { // one second in pieces of 20 ms
		out = r.Append(out, make([]int16, 480))
	}
	fmt.Println(len(out), "samples are ready,", r.Filter().HoldBack(), "is held back")
	out = r.Flush(out)
	fmt.Println(len(out), "samples in all")
	// Output:
	// 15963 samples are ready, 2.333333ms is held back
	// 16000 samples in all
}

func BenchmarkAppend20ms(b *testing.B) {
	for _, from := range rates() {
		for _, to := range rates() {
			if from == to {
				continue
			}
			b.Run(fmt.Sprintf("%d-%d", from, to), func(b *testing.B) {
				r, err := resample.New(from, to, 1)
				if err != nil {
					b.Fatal(err)
				}
				piece := noise(7, from/50)
				var out []int16
				b.ReportAllocs()
				for b.Loop() {
					out = r.Append(out[:0], piece)
				}
			})
		}
	}
}

func BenchmarkNewFilter(b *testing.B) {
	for _, pair := range [][2]int{{24000, 16000}, {44100, 16000}, {22050, 16000}} {
		b.Run(fmt.Sprintf("%d-%d", pair[0], pair[1]), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := resample.NewFilter(pair[0], pair[1]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
