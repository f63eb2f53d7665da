package speech

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/turnwise/turnwise/frames"
)

// taker notes what a ledger releases.
type taker struct {
	text   map[uint64]*strings.Builder
	order  []string
	frames int
}

func (k *taker) spoken(s *segment, from int) {
	if k.text == nil {
		k.text = map[uint64]*strings.Builder{}
	}
	b := k.text[s.number]
	if b == nil {
		b = &strings.Builder{}
		k.text[s.number] = b
	}
	b.WriteString(s.text[from:s.said])
	if s.said > from {
		k.order = append(k.order, fmt.Sprint("segment ", s.number))
	}
}

func (k *taker) arrived(f frames.Frame) {
	k.frames++
	k.order = append(k.order, f.(*frames.TextFrame).Text)
}

func TestLedgerReleasesEverythingOnceAndInOrder(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		l := ledger{rate: 1000}
		var k taker
		var b Buffer
		var texts []string
		var expected []string
		framesIn := 0
		dst := make([]int16, 20)
		var begun uint64
		for range 40 {
			switch r.IntN(4) {
			case 0:
				name := fmt.Sprint("frame ", framesIn)
				l.frame(&frames.TextFrame{Text: name})
				framesIn++
				expected = append(expected, name)
			default:
				text := strings.Repeat("word über 字 ", 1+r.IntN(4))
				texts = append(texts, text)
				l.begin(&SegmentStartFrame{Text: text, Spoken: text, Response: 1})
				begun++
				expected = append(expected, fmt.Sprint("segment ", begun))
				step(r, &l, &b, &k, dst, text)
				failed, said := r.IntN(4) == 0, 0
				if failed {
					said = l.open.heard(l.open.length)
				}
				s := l.open
				l.finish(said, failed)
				texts[len(texts)-1] = s.text
				if s.text == "" {
					expected = expected[:len(expected)-1]
				}
			}
		}
		for b.Read(dst) > 0 {
			l.due(b.Played(), &k)
		}
		l.due(b.Played(), &k)
		if !l.empty() || l.end != b.Played() {
			t.Fatalf("seed %d: %d entries left, end %d, played %d", seed, len(l.entries)-l.first, l.end, b.Played())
		}
		for i, text := range texts {
			got := ""
			if s := k.text[uint64(i+1)]; s != nil {
				got = s.String()
			}
			if got != text {
				t.Fatalf("seed %d: segment %d: %q was released, want %q", seed, i+1, got, text)
			}
		}
		if got := squeeze(k.order); strings.Join(got, ",") != strings.Join(squeeze(expected), ",") {
			t.Fatalf("seed %d: order\n%q, want\n%q", seed, got, expected)
		}
	}
}

// step gives the open segment audio and words at random while some of it is played.
func step(r *rand.Rand, l *ledger, b *Buffer, k *taker, dst []int16, text string) {
	var words []Word
	if r.IntN(2) == 0 {
		for i, w := range strings.Fields(text) {
			words = append(words, Word{Text: w, Start: time.Duration(i) * 50 * time.Millisecond})
		}
	}
	for range 1 + r.IntN(6) {
		if n := min(len(words), r.IntN(4)); n > 0 {
			l.words(words[:n])
			words = words[n:]
		}
		n := r.IntN(300)
		b.Append(make([]int16, n))
		l.audio(n)
		for range r.IntN(12) {
			b.Read(dst)
			before := *l
			l.due(b.Played(), k)
			if l.first == before.first && len(l.entries) > l.first {
				if at := l.next(b.Played()); at != 0 && at <= b.Played() {
					panic(fmt.Sprintf("next is %d, played are %d", at, b.Played()))
				}
			}
		}
	}
}

// squeeze takes out repetitions.
func squeeze(in []string) []string {
	var out []string
	for i, s := range in {
		if i == 0 || s != in[i-1] {
			out = append(out, s)
		}
	}
	return out
}

func TestACutKeepsWhatWasHeardAndWhatSurvives(t *testing.T) {
	text := "one two three four five six seven eight nine ten."
	for at := uint64(0); at <= 1000; at += 7 {
		l := ledger{rate: 1000}
		l.begin(&SegmentStartFrame{Text: text, Response: 3})
		l.audio(500)
		l.finish(0, false)
		l.frame(&frames.TextFrame{Text: "lost"})
		l.frame(&frames.LLMRunFrame{})
		l.begin(&SegmentStartFrame{Text: text, Response: 4})
		l.audio(500)
		l.finish(0, false)
		var whole taker
		for now := uint64(0); now+100 < at; now += 20 {
			l.due(now, &released{&whole})
		}
		got := map[uint64]string{}
		for _, e := range []uint64{1, 2} {
			if b := whole.text[e]; b != nil {
				got[e+2] = b.String()
			}
		}
		for _, h := range l.heard(at) {
			got[h.Response] += h.Text
		}
		for i, from := range []uint64{0, 500} {
			want := ""
			if at > from {
				s := segment{text: text, length: 500, closed: true, rate: 1000}
				want = text[:s.heard(at-from)]
			}
			if got[uint64(i+3)] != want {
				t.Fatalf("at %d: of segment %d %q was heard, want %q", at, i, got[uint64(i+3)], want)
			}
		}
		if dropped, unheard := l.cut(at); unheard != (at < 1000) || len(dropped) > 1 || l.end != at {
			t.Errorf("at %d: %d frames dropped, unheard %t", at, len(dropped), unheard)
		}
		if at < 600 && l.first == len(l.entries) {
			t.Errorf("at %d: what survives is gone", at)
		}
	}
}

// released is a taker of any frames.
type released struct{ *taker }

func (released) arrived(frames.Frame) {}

func TestWhatIsHeardNeverShrinks(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 9))
		text := strings.Repeat("some words und ein 好字 ", 3)
		s := segment{text: text, spoken: text, rate: 1000}
		last := 0
		for played := uint64(0); played < 2000; played += uint64(r.IntN(30)) {
			if s.length < 1500 {
				s.length += uint64(r.IntN(60))
			} else {
				s.closed = true
			}
			if seed%2 == 0 && r.IntN(10) == 0 && len(s.cuts) < 15 {
				s.words([]Word{{Text: strings.Fields(text)[len(s.cuts)], Start: time.Duration(len(s.cuts)) * 100 * time.Millisecond}})
			}
			n := s.heard(min(played, s.length))
			s.said = max(s.said, n)
			if s.said < last {
				t.Fatalf("seed %d: %d bytes heard at %d, before %d", seed, n, played, last)
			}
			last = s.said
		}
	}
}

func TestNextIsExactlyWhenMoreIsHeard(t *testing.T) {
	text := "one two three four five six seven"
	for _, timed := range []bool{false, true} {
		for _, closed := range []bool{false, true} {
			s := segment{text: text, spoken: text, rate: 1000, length: 3000, closed: closed}
			if timed {
				for i, w := range strings.Fields(text) {
					s.words([]Word{{Text: w, Start: time.Duration(i) * 400 * time.Millisecond}})
				}
			}
			for played := uint64(0); played < 2999; {
				s.said = s.heard(played)
				next := s.next(played)
				if next == 0 {
					break
				}
				if s.heard(next-1) != s.said {
					t.Errorf("timed %t, closed %t: at %d more was heard before %d", timed, closed, played, next)
				}
				if s.heard(next) <= s.said && next != s.length {
					t.Errorf("timed %t, closed %t: at %d nothing more was heard", timed, closed, next)
				}
				played = next
			}
			if s.heard(3000) != len(text) {
				t.Errorf("timed %t, closed %t: %d bytes heard in the end", timed, closed, s.heard(3000))
			}
		}
	}
}

func TestSpokenWordsAreFoundInTheText(t *testing.T) {
	cases := []struct {
		text, spoken string
		words        string // as the synthesizer gives them; the spoken ones by default
		at           []string
	}{
		{"It is **very** good.", "It is very good.", "",
			[]string{"It ", "It is ", "It is **very** ", "It is **very** good."}},
		{"See https://www.example.com/x now.", "See example dot com slash x now.", "",
			[]string{"See ", "See https://www.example.com/x ", "See https://www.example.com/x ", "See https://www.example.com/x ",
				"See https://www.example.com/x ", "See https://www.example.com/x ", "See https://www.example.com/x now."}},
		{"You owe 5 € today", "You owe 5 € today", "You owe five euros today",
			[]string{"You ", "You owe ", "You owe 5 ", "You owe 5 € ", "You owe 5 € today"}},
		{"I don't know, Jean-Luc", "I don't know, Jean-Luc", "i dont know jean luc",
			[]string{"I ", "I don't ", "I don't know, ", "I don't know, Jean-Luc", "I don't know, Jean-Luc"}},
		{"a table, a chair and a lamp", "a table, a chair and a lamp", "",
			[]string{"a ", "a table, ", "a table, a ", "a table, a chair ", "a table, a chair and ", "a table, a chair and a ", "a table, a chair and a lamp"}},
		{"你好世界", "你好世界", "你 好 世界", []string{"你", "你好", "你好世界"}},
		{"für Ältere", "für Ältere", "FÜR ältere", []string{"für ", "für Ältere"}},
		{"one two", "one two", "xx yy zz", []string{"one ", "one two", "one two"}},
	}
	for _, c := range cases {
		m := newMatcher(c.text, c.spoken)
		words := c.words
		if words == "" {
			words = c.spoken
		}
		for i, w := range strings.Fields(words) {
			if got := c.text[:m.word(w)]; i < len(c.at) && got != c.at[i] {
				t.Errorf("%q: after %q %q is heard, want %q", c.text, w, got, c.at[i])
			}
		}
	}
}

func TestBufferWatchesAPosition(t *testing.T) {
	var b Buffer
	calls := 0
	dst := make([]int16, 10)
	b.Append(make([]int16, 25))
	if !b.watch(15, func() { calls++ }) {
		t.Fatal("15 has not been reached")
	}
	b.Read(dst)
	if calls != 0 {
		t.Error("told too soon")
	}
	b.Read(dst)
	b.Read(dst)
	if calls != 1 {
		t.Errorf("told %d times", calls)
	}
	if b.watch(25, func() { calls++ }) || calls != 1 {
		t.Error("25 has been reached")
	}
	if n := b.Read(dst); n != 0 || b.Played() != 25 || b.Queued() != 0 {
		t.Errorf("read %d, played %d, queued %d", n, b.Played(), b.Queued())
	}
}

func TestBufferPausesAndClears(t *testing.T) {
	var b Buffer
	dst := make([]int16, 10)
	b.Append(make([]int16, 100))
	b.Read(dst)
	if at := b.Pause(true); at != 10 || b.Read(dst) != 0 {
		t.Errorf("paused at %d, and read on", at)
	}
	b.Pause(false)
	if b.Read(dst) != 10 || b.Queued() != 80 {
		t.Errorf("%d samples wait after the pause", b.Queued())
	}
	b.Pause(true)
	if at := b.Clear(); at != 20 || b.Queued() != 0 {
		t.Errorf("cleared at %d, %d samples wait", at, b.Queued())
	}
	b.Append(dst)
	if b.Read(dst) != 10 {
		t.Error("clearing does not lift the pause")
	}
}

func TestReadingAllocatesNothing(t *testing.T) {
	var b Buffer
	dst, chunk := make([]int16, 320), make([]int16, 333)
	cycle := func() {
		b.Append(chunk)
		b.Read(dst)
		if b.Queued() > 4000 {
			for b.Queued() > 100 {
				b.Read(dst)
			}
		}
	}
	for range 100 {
		cycle()
	}
	if n := testing.AllocsPerRun(1000, cycle); n != 0 {
		t.Errorf("%v allocations for each 20 ms", n)
	}
}

func BenchmarkBufferRead20ms(b *testing.B) {
	var buf Buffer
	dst, chunk := make([]int16, 480), make([]int16, 4800)
	b.ReportAllocs()
	for b.Loop() {
		if buf.Queued() == 0 {
			buf.Append(chunk)
		}
		buf.Read(dst)
	}
}

// BenchmarkCut is the playout's part of an interruption with so many seconds queued.
func BenchmarkCut(b *testing.B) {
	for _, seconds := range []int{1, 30, 300} {
		b.Run(fmt.Sprintf("%ds", seconds), func(b *testing.B) {
			const rate = 24000
			chunk := make([]int16, rate/50)
			var l ledger
			var buf Buffer
			var took time.Duration
			cuts := 0
			for b.Loop() {
				buf, l = Buffer{}, ledger{rate: rate}
				for s := range seconds {
					if s%4 == 0 {
						l.begin(&SegmentStartFrame{Text: "A sentence of ten words that takes four seconds, say.", Response: 1})
					}
					for range 50 {
						buf.Append(chunk)
						l.audio(len(chunk))
					}
				}
				buf.Read(make([]int16, 1000))
				begun := time.Now()
				played := buf.Clear()
				l.heard(played)
				l.cut(played)
				took += time.Since(begun)
				cuts++
			}
			b.ReportMetric(float64(took.Nanoseconds())/float64(cuts), "ns/cut")
		})
	}
}
