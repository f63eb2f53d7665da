package rtvi

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// split cuts a text that is written in the given pieces.
func split(pieces ...string) []string {
	var s splitter
	var out []string
	for _, p := range pieces {
		s.write(p)
		for {
			seg, ok := s.next()
			if !ok {
				break
			}
			out = append(out, string(seg))
		}
	}
	if seg, ok := s.rest(); ok {
		out = append(out, string(seg))
	}
	return out
}

func TestSplitterCutsAtSentences(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"marks with white space behind end a sentence", "Hello. How are you? Fine!", []string{"Hello.", "How are you?", "Fine!"}},
		{"a mark without white space behind does not", "It costs 3.50 at shop.example.org today.", []string{"It costs 3.50 at shop.example.org today."}},
		{"titles and initials do not", "Dr. A. Weber and Mrs. Jones came. Both.", []string{"Dr. A. Weber and Mrs. Jones came.", "Both."}},
		{"e.g. does not", "Bring food, e.g. fruit. Thanks.", []string{"Bring food, e.g. fruit.", "Thanks."}},
		{"I does", "So do I. Good.", []string{"So do I.", "Good."}},
		{"numbers of a list stay with their items", "1. Soup\n2. Salad", []string{"1. Soup", "2. Salad"}},
		{"a year ends a sentence", "It was 1984. Long ago.", []string{"It was 1984.", "Long ago."}},
		{"quotes and brackets stay with their sentence", `He said "stop." Then (really!) left.`, []string{`He said "stop."`, "Then (really!)", "left."}},
		{"several marks are one end", "What?! No... Yes.", []string{"What?!", "No...", "Yes."}},
		{"lines end a sentence", "Menu\n\n- soup\n- salad", []string{"Menu", "- soup", "- salad"}},
		{"full-width marks need no white space", "你好。今天好吗？好", []string{"你好。", "今天好吗？", "好"}},
		{"white space alone is nothing", " \n \n", nil},
		{"nothing is nothing", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := split(tt.text); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSplitterSaysTheSameHoweverTheTextIsCut(t *testing.T) {
	const alphabet = "ab I.!?… \n\"')1。é🙂Dr Mr. e.g"
	runes := []rune(alphabet)
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		var b strings.Builder
		for range r.IntN(60) {
			b.WriteRune(runes[r.IntN(len(runes))])
		}
		text := b.String()
		whole := split(text)
		var pieces []string
		for rest := text; rest != ""; {
			n := 1 + r.IntN(len(rest)) // also in the middle of a rune
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		if got := split(pieces...); !slices.Equal(got, whole) {
			t.Fatalf("seed %d: %q as %q gives %q, in one piece %q", seed, text, pieces, got, whole)
		}
		if squeeze(strings.Join(whole, "")) != squeeze(text) {
			t.Fatalf("seed %d: %q becomes %q", seed, text, whole)
		}
	}
}

func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

func TestSplitterBoundsASegment(t *testing.T) {
	for name, text := range map[string]string{
		"words": strings.Repeat("word ", 2000), "no spaces": strings.Repeat("é", 5000),
	} {
		t.Run(name, func(t *testing.T) {
			segs := split(text)
			if squeeze(strings.Join(segs, "")) != squeeze(text) {
				t.Error("text was lost")
			}
			for _, s := range segs {
				if len(s) > maxSegment || strings.ContainsRune(s, unicode.ReplacementChar) {
					t.Fatalf("a segment of %d bytes: %.40q", len(s), s)
				}
			}
		})
	}
}

func TestNegotiate(t *testing.T) {
	tests := []struct {
		version, announce string
		dialect           dialect
		known             bool
	}{
		{"2.1.0", Version, dialectSegments, true},
		{"2.0.0", Version, dialectSegments, true},
		{"2.9.3", Version, dialectSegments, true},
		{"1.0.0", "1.0.0", dialectOld, true},
		{"1.4", "1.4", dialectOld, true},
		{"0.3.0", Version, dialectSegments, false},
		{"3.0.0", Version, dialectSegments, false},
		{"", Version, dialectSegments, false},
		{"2", Version, dialectSegments, false},
		{"two", Version, dialectSegments, false},
		{"2.1.0.7", Version, dialectSegments, false},
		{"1.-4.0", Version, dialectSegments, false},
		{"1.0000000000000000000000000000000000000", Version, dialectSegments, false},
	}
	for _, tt := range tests {
		if a, d, known := negotiate(tt.version); a != tt.announce || d != tt.dialect || known != tt.known {
			t.Errorf("%q: got %q, %d, %v", tt.version, a, d, known)
		}
	}
}
