package speech_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/turnwise/turnwise/speech"
)

func TestCleaner(t *testing.T) {
	cases := []struct{ name, text, said string }{
		{"plain text", "It is open, isn't it?", "It is open, isn't it?"},
		{"white space", "  It   is\nopen. ", "It is open."},
		{"emphasis", "This is **very** important, *really*, __so__ _much_ ~~not~~.", "This is very important, really, so much not."},
		{"inline code", "Run `go test` now.", "Run go test now."},
		{"names of code", "Set max_open_files.", "Set max open files."},
		{"headings", "## Opening hours ##", "Opening hours"},
		{"hashtags and numbers", "#fun is #1", "fun is #1"},
		{"bullets", "- First thing\n* Second thing", "First thing Second thing"},
		{"tasks", "- [x] Call them", "Call them"},
		{"numbered lists", "1. First thing", "1. First thing"},
		{"quotations", "> > He said so.", "He said so."},
		{"rules", "Above\n---\nbelow", "Above below"},
		{"tables", "| Day | Hours |\n|---|:--|\n| Mon | 9-5 |", "Day, Hours Mon, 9-5"},
		{"links", "See [our *page*](https://example.com/a?b=c).", "See our page."},
		{"images", "Look ![a cat](cat.png)!", "Look a cat!"},
		{"references", "See [the page][1] and this[^2].", "See the page and this."},
		{"tags", "A<br>new <b>line</b>.", "A new line."},
		{"entities", "Fish &amp; chips &lt;3", "Fish and chips <3"},
		{"escapes", `5 \* 3 is \_not\_ code`, "5 * 3 is _not_ code"},
		{"products", "2 * 3 × 4 = 24", "2 times 3 times 4 equals 24"},
		{"about", "It takes ~5 minutes.", "It takes about 5 minutes."},
		{"addresses", "Go to https://www.example.com/help?x=1 or www.test.org.", "Go to example dot com slash help or test dot org."},
		{"addresses in brackets", "Go there (https://example.com) or <https://example.org>.", "Go there (example dot com) or example dot org."},
		{"long addresses", "https://example.com/a/b/c/d/e/f.html", "example dot com"},
		{"mailboxes", "Write to jo.do_e@mail.example.com, please.", "Write to jo dot do underscore e at mail dot example dot com, please."},
		{"emoji", "Done! 🎉👍🏽 Thanks 👨‍👩‍👧 ❤️ 🇩🇪", "Done! Thanks"},
		{"arrows", "Monday → Friday", "Monday – Friday"},
		{"shouting", "Stop!!! What?!?! Now...... go", "Stop! What? Now... go"},
		{"dashes", "Yes -- no --- maybe — so", "Yes – no – maybe – so"},
		{"marks", "Acme® Inc.™ © 2024", "Acme Inc. 2024"},
		{"money and shares", "50 % of €3.20 or $4", "50 % of €3.20 or $4"},
		{"other scripts", "你好，世界。 नमस्ते दुनिया। مرحبا", "你好，世界。 नमस्ते दुनिया। مرحبا"},
		{"nothing to say", "🎉 *** ✨", ""},
		{"broken bytes", "a\xffb", "ab"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := speech.NewCleaner(speech.CleanerConfig{}).Clean(c.text); got != c.said {
				t.Errorf("%q became\n%q, want\n%q", c.text, got, c.said)
			}
		})
	}
}

func TestCleanerLeavesOutCodeThatSpansPieces(t *testing.T) {
	c := speech.NewCleaner(speech.CleanerConfig{})
	var said []string
	for _, piece := range []string{"Try this:\n", "```go\n", "fmt.Println(1)\n", "```\n", "That is all."} {
		said = append(said, c.Clean(piece))
	}
	want(t, "said", said, "Try this:", "", "", "", "That is all.")
	c.Clean("```\ncode")
	c.Reset()
	if got := c.Clean("A new text."); got != "A new text." {
		t.Errorf("after a reset: %q", got)
	}
}

func TestCleanerSpeaksLanguages(t *testing.T) {
	for language, said := range map[string]string{
		"de-DE": "a Punkt b at c Punkt de", "fr": "a point b arobase c point de", "es": "a punto b arroba c punto de",
		"it": "a punto b chiocciola c punto de", "pt-BR": "a ponto b arroba c ponto de", "nl": "a punt b apenstaartje c punt de", "xx": "a dot b at c dot de",
	} {
		if got := speech.NewCleaner(speech.CleanerConfig{Language: language}).Clean("a.b@c.de"); got != said {
			t.Errorf("%s: %q, want %q", language, got, said)
		}
	}
}

func FuzzCleaner(f *testing.F) {
	for _, s := range []string{
		"**a** _b_ `c` [d](e) <f> https://g.h/i a@b.c", "![x](y)\n# h\n- l\n> q\n|a|b|\n```\ncode\n", "\xff\xfe &#x1F600; &lt;b&gt;",
		strings.Repeat("!?", 50), strings.Repeat("-", 50), strings.Repeat(".", 50), "[[[[", "<<<<", "www.", "http://", "@.", "\\",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2000 {
			return
		}
		c := speech.NewCleaner(speech.CleanerConfig{})
		said := c.Clean(text)
		switch {
		case !utf8.ValidString(said):
			t.Errorf("%q is not UTF-8", said)
		case len(said) > 14*len(text)+14:
			t.Errorf("%d bytes became %d", len(text), len(said))
		case strings.Contains(said, "  ") || strings.TrimSpace(said) != said:
			t.Errorf("%q has white space to spare", said)
		}
	})
}

func BenchmarkCleaner(b *testing.B) {
	for name, text := range map[string]string{
		"plain": "The table is booked for you. ", "markup": "The **table** for _two_ is [booked](https://example.com) 🎉.",
	} {
		b.Run(name, func(b *testing.B) {
			c := speech.NewCleaner(speech.CleanerConfig{})
			b.ReportAllocs()
			for b.Loop() {
				c.Clean(text)
			}
		})
	}
}
