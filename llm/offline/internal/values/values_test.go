package values

import (
	"fmt"
	"testing"
	"time"
)

// wednesday is 3 June 2026, half past two in the afternoon.
var wednesday = time.Date(2026, time.June, 3, 14, 30, 0, 0, time.UTC)

func read(text string) *Reading { return Read(text, wednesday) }

func TestNumbersAreHeardInDigitsAndInWords(t *testing.T) {
	for text, want := range map[string]string{
		"four":                                 "[4]",
		"a table for 4":                        "[4]",
		"twenty-one people":                    "[21]",
		"twenty one people":                    "[21]",
		"ninety nine":                          "[99]",
		"a couple of us":                       "[2]",
		"two couples":                          "[2]",
		"half a dozen":                         "[6]",
		"a dozen":                              "[12]",
		"two dozen eggs":                       "[24]",
		"a hundred":                            "[100]",
		"one hundred and five":                 "[105]",
		"three hundred":                        "[300]",
		"two thousand three hundred and seven": "[2307]",
		"a thousand and one":                   "[1001]",
		"thirty two thousand":                  "[32000]",
		"one million":                          "[1e+06]",
		"1,200 euros":                          "[1200]",
		"3.5":                                  "[3.5]",
		"three point one four":                 "[3.14]",
		"two and a half":                       "[2.5]",
		"minus five":                           "[-5]",
		"-5":                                   "[-5]",
		"4-5":                                  "[4 5]",
		"four or five":                         "[4 5]",
		"just me":                              "[1]",
		"this one please":                      "[]",
		"one moment":                           "[]",
		"no numbers here":                      "[]",
		"12345678901234567890":                 "[]",
		"the 3rd":                              "[3]",
		"twenty-first":                         "[21]",
		"two adults and three kids":            "[2 3]",
		"":                                     "[]",
	} {
		got := []float64{}
		for _, n := range read(text).Numbers {
			got = append(got, n.Value)
		}
		if s := fmt.Sprint(got); s != want {
			t.Errorf("in %q the numbers are %s, want %s", text, s, want)
		}
	}
}

func TestDaysAreHeard(t *testing.T) {
	for text, want := range map[string]string{
		"today":                     "2026-06-03",
		"tonight at eight":          "2026-06-03",
		"tomorrow":                  "2026-06-04",
		"the day after tomorrow":    "2026-06-05",
		"on friday":                 "2026-06-05",
		"this friday":               "2026-06-05",
		"wednesday":                 "2026-06-03",
		"next friday":               "2026-06-12",
		"next wednesday evening":    "2026-06-10",
		"monday":                    "2026-06-08",
		"on sat":                    "2026-06-06",
		"this weekend":              "2026-06-06",
		"in three days":             "2026-06-06",
		"in 2 weeks":                "2026-06-17",
		"3rd of May":                "2027-05-03",
		"the third of july":         "2026-07-03",
		"May 3rd":                   "2027-05-03",
		"3 May 2028":                "2028-05-03",
		"December 24, 2026 at six":  "2026-12-24",
		"the 15th":                  "2026-06-15",
		"the 2nd":                   "2026-07-02",
		"2026-07-04":                "2026-07-04",
		"4/7/2026":                  "2026-07-04",
		"7/24/2026":                 "2026-07-24",
		"4.7.2026":                  "2026-07-04",
		"on 4.7. please":            "2026-07-04",
		"29 February":               "2028-02-29",
		"31st of June":              "",
		"2026-13-40":                "",
		"may I have a table":        "",
		"we sat down in the sun":    "",
		"four people":               "",
		"twenty first of september": "2026-09-21",
	} {
		got := ""
		if d := read(text).Dates; len(d) > 0 {
			got = d[0].Day.Format(time.DateOnly)
		}
		if got != want {
			t.Errorf("in %q the day is %q, want %q", text, got, want)
		}
	}
}

func TestTimesAreHeard(t *testing.T) {
	for text, want := range map[string]string{
		"7pm":                        "19:00",
		"7 p.m. please":              "19:00",
		"at 11 am":                   "11:00",
		"12 am":                      "00:00",
		"12pm":                       "12:00",
		"19:30":                      "19:30",
		"7:30 pm":                    "19:30",
		"07:15":                      "07:15",
		"19h45":                      "19:45",
		"half past seven":            "19:30",
		"half past 7 in the evening": "19:30",
		"half seven":                 "19:30",
		"quarter to eight":           "19:45",
		"a quarter past six":         "18:15",
		"ten to nine tonight":        "20:50",
		"twenty past five":           "17:20",
		"seven o'clock":              "19:00",
		"seven thirty":               "19:30",
		"at seven":                   "19:00",
		"at 8 in the morning":        "08:00",
		"tomorrow morning at nine":   "09:00",
		"noon":                       "12:00",
		"midnight":                   "00:00",
		"at twelve":                  "12:00",
		"quarter to one":             "12:45",
		"at four people":             "",
		"four people":                "",
		"25:00":                      "",
		"for seven thirty people":    "",
		"3rd of May":                 "",
		"2026-06-05":                 "",
	} {
		got := ""
		if c := read(text).Clocks; len(c) > 0 {
			h, m := c[0].On24(true)
			got = fmt.Sprintf("%02d:%02d", h, m)
		}
		if got != want {
			t.Errorf("in %q the time is %q, want %q", text, got, want)
		}
	}
}

func TestYesAndNoAreHeard(t *testing.T) {
	for answer, texts := range map[string][]string{
		"yes": {"yes", "Yeah, that's right", "yep", "sure!", "ok", "of course", "that's correct", "sounds good", "go ahead", "correct",
			"well, yes", "I think that's right", "please do", "no problem", "perfect, thanks", "book it", "I do", "looks good to me", "please"},
		"no": {"no", "Nope.", "no thanks", "not really", "that's wrong", "that's not right", "I don't think so", "absolutely not", "wrong", "no, five",
			"no no", "it isn't", "that is not correct", "not yet", "I'm not"},
		"": {"I don't know", "maybe", "four", "good evening", "right now", "what?", "", "not sure", "knowing", "I have a question", "please help"},
	} {
		for _, text := range texts {
			got := ""
			if a := read(text).Answer; a.Given {
				got = map[bool]string{true: "yes", false: "no"}[a.Yes]
			}
			if got != answer {
				t.Errorf("%q answers %q, want %q", text, got, answer)
			}
		}
	}
}

func TestNamesAreHeard(t *testing.T) {
	for _, c := range []struct {
		text  string
		asked bool
		want  string
	}{
		{"my name is anna", false, "Anna"},
		{"My name is Anna van der Berg and I'd like a table", false, "Anna van der Berg"},
		{"it's Anna", true, "Anna"},
		{"its bob", true, "Bob"},
		{"it's late", true, ""},
		{"it's Anna", false, ""},
		{"I'm Bob", false, "Bob"},
		{"I'm hungry", false, ""},
		{"this is Dr. Smith speaking", false, "Smith"},
		{"call me Al", false, "Al"},
		{"under the name of O'Brien", false, "O'Brien"},
		{"under Smith please", false, "Smith"},
		{"a table for four", true, ""},
		{"for Anna", true, "Anna"},
		{"anna", true, "Anna"},
		{"anna", false, ""},
		{"Anna Schmidt, please", true, "Anna Schmidt"},
		{"ANNA", true, "Anna"},
		{"Anne-Marie", true, "Anne-Marie"},
		{"McDonald", true, "McDonald"},
		{"Anna here", true, "Anna"},
		{"yes", true, ""},
		{"what do you need it for?", true, ""},
		{"Zoë", true, "Zoë"},
		{"the name is Bond, James Bond", false, "Bond"},
		{"what are your opening hours", true, ""},
	} {
		got, _ := PersonName(read(c.text).Tokens, c.asked)
		if got.Text != c.want {
			t.Errorf("in %q (asked: %v) the name is %q, want %q", c.text, c.asked, got.Text, c.want)
		}
	}
}

func TestAddressesAreHeard(t *testing.T) {
	for text, want := range map[string]string{
		"anna@example.com":                              "anna@example.com",
		"it's Anna.Smith@Example.co.uk.":                "anna.smith@example.co.uk",
		"write to a_b-c+d@mail-host.example.org please": "a_b-c+d@mail-host.example.org",
		"anna at example dot com":                       "anna@example.com",
		"anna dot smith at example dot co dot uk":       "anna.smith@example.co.uk",
		"my email is anna at example dot com thanks":    "anna@example.com",
		"anna2 at example dot com":                      "anna2@example.com",
		"meet me at seven":                              "",
		"anna@example":                                  "",
		"@":                                             "",
	} {
		got, _ := Email(read(text).Tokens)
		if got.Text != want {
			t.Errorf("in %q the address is %q, want %q", text, got.Text, want)
		}
	}
}

func TestPhoneNumbersAreHeard(t *testing.T) {
	for text, want := range map[string]string{
		"+44 20 7946 0958":                        "+442079460958",
		"call (555) 123-4567 please":              "5551234567",
		"zero seven double four one two three":    "0744123",
		"030/1234567":                             "0301234567",
		"12345":                                   "",
		"four people":                             "",
		"5 5 5 1 2 3 4":                           "5551234",
		"12345678901234567890":                    "",
		"plus four nine three zero one two three": "+4930123",
	} {
		got, _ := Phone(read(text).Tokens)
		if got.Text != want {
			t.Errorf("in %q the number is %q, want %q", text, got.Text, want)
		}
	}
}

func TestCodesAreFoundByTheirPattern(t *testing.T) {
	for _, c := range []struct{ pattern, text, want string }{
		{"^[A-Z]{2}[0-9]{4}$", "AB1234", "AB1234"},
		{"^[A-Z]{2}[0-9]{4}$", "it's ab1234", "AB1234"},
		{"^[A-Z]{2}[0-9]{4}$", "my order number is AB 12 34, thanks", "AB1234"},
		{"^[A-Z]{2}[0-9]{4}$", "a b 1 2 3 4", "AB1234"},
		{"^[A-Z]{2}[0-9]{4}$", "AB one two three four", "AB1234"},
		{"^[A-Z]{2}[0-9]{4}$", "ab-1234", "AB1234"},
		{"^[A-Z]{2}[0-9]{4}$", "order 12345", ""},
		{"^[0-9]{8}$", "number 1234 5678", "12345678"},
		{"[0-9]{3}", "just 123", "123"},
		{"^\\d{2}:\\d{2}$", "19:30", "19:30"},
	} {
		got, _, _ := NewPattern(c.pattern).Find(read(c.text).Tokens)
		if got != c.want {
			t.Errorf("%q in %q is %q, want %q", c.pattern, c.text, got, c.want)
		}
	}
}

func TestPatternsShowASample(t *testing.T) {
	for pattern, want := range map[string]string{
		"^[A-Z]{2}[0-9]{4}$": "AB1234", "^[0-9]{8}$": "12345678", "^\\d{3}-[a-z]+$": "123-a", "^(yes|no)$": "yes", "^RE-\\d{2}$": "RE-12",
	} {
		if got := NewPattern(pattern).Sample; got != want {
			t.Errorf("a sample of %q is %q, want %q", pattern, got, want)
		}
	}
	if NewPattern("(") != nil {
		t.Error("a broken pattern was taken")
	}
}

func FuzzReadNeverPanicsAndStaysInside(f *testing.F) {
	for _, s := range []string{"four at half past seven", "a.b@c.d", "twenty", "minus", "next", "in", "the 3rd of", "quarter to", "plus 1", "at", "3.5.", "a hundred and"} {
		f.Add(s)
	}
	code := NewPattern("^[A-Z]{2}[0-9]{4}$")
	f.Fuzz(func(t *testing.T, text string) {
		r := read(text)
		spans := []Span{r.Answer.Span}
		for _, n := range r.Numbers {
			spans = append(spans, n.Span)
		}
		for _, d := range r.Dates {
			spans = append(spans, d.Span)
		}
		for _, c := range r.Clocks {
			spans = append(spans, c.Span)
			if h, m := c.On24(true); h < 0 || h > 23 || m < 0 || m > 59 {
				t.Errorf("%q gives the time %d:%d", text, h, m)
			}
		}
		if s, span, ok := code.Find(r.Tokens); ok && !code.Matches(s) {
			t.Errorf("%q does not match", s)
		} else {
			spans = append(spans, span)
		}
		for _, asked := range []bool{true, false} {
			name, _ := PersonName(r.Tokens, asked)
			spans = append(spans, name.Span)
		}
		email, _ := Email(r.Tokens)
		phone, _ := Phone(r.Tokens)
		for _, s := range append(spans, email.Span, phone.Span, Span{0, r.CorrectedAt()}) {
			if s.From < 0 || s.To < s.From || s.To > len(r.Tokens) {
				t.Errorf("%q gives the span %v of %d tokens", text, s, len(r.Tokens))
			}
		}
	})
}
