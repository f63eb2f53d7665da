package speech_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/turnwise/turnwise/speech"
)

// split writes a text rune by rune and shows the pieces.
func split(s speech.Splitter, text string) []string {
	var pieces []string
	for i := 0; i < len(text); {
		_, size := utf8.DecodeRuneInString(text[i:])
		pieces = append(pieces, s.Write(text[i:i+size])...)
		i += size
	}
	if rest := s.Flush(); rest != "" {
		pieces = append(pieces, rest)
	}
	return pieces
}

func TestSplitter(t *testing.T) {
	// A bar stands where a piece ends.
	cases := []string{
		"Hello there. |How are you today? |I am fine!",
		"Dr. Smith and Mrs. Jones met Prof. Xavier at St. Mary's. |They talked.",
		"It costs 3.14 dollars. |Or 1.000,50 Euro! |Or 1,000.50 dollars.",
		"We meet at 10.30 Uhr. |Bring a friend, e.g. Anna, i.e. your sister.",
		"Das gilt z. B. für Hunde, d. h. für alle. |Auch z.B. Berlin, u. a. Potsdam. |Ja, bzw. Nein ist möglich.",
		"Am 3. Oktober ist Feiertag. |Im 19. Jahrhundert war das anders. |Es war 1999. |Danach kam 2000.",
		"See https://example.com/a.b?c=d. |Or write to a.b@example.com. |Thanks for that.",
		"J. R. R. Tolkien wrote it. |So did George R. R. Martin.",
		"Well... |Maybe not. |I wonder… |Perhaps... but then again.",
		"\"Stop it!\" |He ran (very fast.) |Then he stopped. |“Really?” |Yes, really.",
		"\"Really?\" he said. |She said \"yes.\" |And left.",
		"« Bonjour à tous. » |Il part demain.",
		"„Guten Tag.“ |Er sagte: »Ja, gern.« |Dann ging er.",
		"¿Qué tal estás? |¡Muy bien, gracias! |El Sr. López y la Sra. Pérez, p. ej. Ana, vienen.",
		"Il Sig. Rossi e la Sig.ra Bianchi arrivano. |Va bene?",
		"De heer De Vries, d.w.z. Jan, komt bijv. Morgen om 5 uur. |Tot ziens dan.",
		"O Sr. Silva chegou. |A Sra. Costa não.",
		"M. Dupont et Mme. Durand sont là. |C'est tout.",
		"We open at 9 a.m. |Closing is at 5 p.m. on Sundays. |He lives in the U.S. |She does not.",
		"你好。|今天天气很好！|你呢？|我也是。",
		"これはペンです。|「そうですか。」|はい。",
		"यह एक वाक्य है। |यह दूसरा है।",
		"هل أنت بخير؟ |نعم، شكرا لك.",
		"Here is a list:\n|1. First of all\n|2. Second thing\n|- Third thing without end\n|Done.",
		"The answer is No. |I do not know. |See No. 5 for that.",
		"I like Apple Inc. |They make phones, tablets, etc. |Do you?",
		"Is it me or I. |That is the question.",
		"Wait!!! |What?! |No way.",
		"Jan. 5 is fine. |So is Feb. 6 for me.",
		"**Note.** |Read this now. |_Done._ |All right.",
	}
	for _, text := range cases {
		s := speech.NewSplitter(speech.SplitterConfig{Min: -1})
		pieces := split(s, strings.ReplaceAll(text, "|", ""))
		if got := strings.Join(pieces, "|"); got != text {
			t.Errorf("got  %q\nwant %q", got, text)
		}
	}
}

func TestSplitterJoinsShortSentencesButTheFirst(t *testing.T) {
	s := speech.NewSplitter(speech.SplitterConfig{})
	pieces := split(s, "Hi! Yes. No. Of course I will. Ok. Bye.")
	want(t, "pieces", pieces, "Hi! ", "Yes. No. Of course I will. ", "Ok. Bye.")
}

func TestSplitterMayEndTheFirstPieceWithAClause(t *testing.T) {
	s := speech.NewSplitter(speech.SplitterConfig{FirstClause: 15})
	pieces := split(s, "Well, as I told you before, it is open, mostly, until nine. Or, some days, until ten.")
	want(t, "pieces", pieces, "Well, as I told you before, ", "it is open, mostly, until nine. ", "Or, some days, until ten.")
}

func TestSplitterCutsWhatHasNoEnd(t *testing.T) {
	s := speech.NewSplitter(speech.SplitterConfig{Max: 40})
	cases := map[string][]string{
		"this goes on and on, without any end, and then it goes on": {"this goes on and on, without any end, ", "and then it goes on"},
		"no commas here at all just words and words and more words": {"no commas here at all just words and ", "words and more words"},
		strings.Repeat("长", 90):                                     {strings.Repeat("长", 40), strings.Repeat("长", 40), strings.Repeat("长", 10)},
	}
	for text, pieces := range cases {
		want(t, text, split(s, text), pieces...)
	}
}

func TestSplitterWhenTheTextIsLate(t *testing.T) {
	cases := []struct{ text, late, partial string }{
		{"One moment. ", "One moment. ", ""},
		{"One moment.", "One moment.", ""},
		{"Ask Dr. ", "", "Ask "},
		{"It costs 3.", "", "It costs "},
		{"It costs 3. ", "It costs 3. ", ""},
		{"Well, let me see, I th", "", "Well, let me see, I "},
		{"Hm", "", ""},
		{"他说好。", "他说好。", ""},
	}
	for _, c := range cases {
		s := speech.NewSplitter(speech.SplitterConfig{})
		if p := s.Write(c.text); len(p) != 0 {
			t.Errorf("%q gave %q at once", c.text, p)
		}
		late := s.Late(false)
		if late != c.late {
			t.Errorf("%q: late gave %q, want %q", c.text, late, c.late)
		}
		if partial := s.Late(true); partial != c.partial {
			t.Errorf("%q: partial gave %q, want %q", c.text, partial, c.partial)
		}
	}
}

func TestSplitterKnowsMoreAbbreviations(t *testing.T) {
	s := speech.NewSplitter(speech.SplitterConfig{Min: -1, Abbreviations: []string{"Bhf"}})
	want(t, "pieces", split(s, "Wir treffen uns am Bhf. Zoo. Bis dann."), "Wir treffen uns am Bhf. Zoo. ", "Bis dann.")
}

func FuzzSplitter(f *testing.F) {
	for _, s := range []string{
		"Hello there. How are you?", "z. B. 3.14 «a. » 你好。\n\n- x\n", strings.Repeat(".", 600), strings.Repeat(" \n", 400),
		"a\xff\xfe. B\xe4\xbd", strings.Repeat("é́", 300), "1. 2. 3. Mai", "…… ?! »", "Dr.", "\u00a0. \u202f»",
	} {
		f.Add(s, uint64(1))
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		if len(text) > 5000 {
			return
		}
		r := rand.New(rand.NewPCG(seed, 1))
		const most = 60
		s := speech.NewSplitter(speech.SplitterConfig{Max: most, FirstClause: int(seed % 30)})
		var joined strings.Builder
		add := func(piece string) {
			joined.WriteString(piece)
			if len(piece) > 10*4*most {
				t.Errorf("a piece of %d bytes", len(piece))
			}
			if utf8.ValidString(text) && !utf8.ValidString(piece) {
				t.Errorf("%q is cut within a letter", piece)
			}
		}
		for rest := text; len(rest) > 0; {
			n := min(1+r.IntN(20), len(rest))
			for _, p := range s.Write(rest[:n]) {
				add(p)
			}
			rest = rest[n:]
			if len(rest) > 0 && r.IntN(20) == 0 && utf8.RuneStart(rest[0]) {
				add(s.Late(r.IntN(2) == 0))
			}
		}
		add(s.Flush())
		if joined.String() != text {
			t.Errorf("joined %q, want %q", joined.String(), text)
		}
	})
}

func BenchmarkSplitter(b *testing.B) {
	text := strings.Repeat("The table for Dr. Smith is booked at 10.30, as you asked. Is there anything else? ", 20)
	s := speech.NewSplitter(speech.SplitterConfig{})
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		for i := 0; i < len(text); i += 4 {
			s.Write(text[i:min(i+4, len(text))])
		}
		s.Flush()
	}
}
