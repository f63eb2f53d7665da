package words

import (
	"strings"
	"testing"
)

func TestWordsAboutTheSameThingShareAConcept(t *testing.T) {
	for _, same := range [][]string{
		{"booking", "bookings", "booked", "reserve", "reservation", "reservations"},
		{"open", "opening", "opens", "opened", "close", "closing", "closes"},
		{"people", "guests", "guest", "party", "parties"},
		{"vegetarian", "vegetarians", "vegan", "veggie"},
		{"dish", "dishes", "menu", "meal", "meals", "food"},
		{"cancel", "cancelled", "cancellation", "cancelling"},
		{"person", "human", "agent", "someone", "representative"},
		{"deliver", "delivery", "deliveries", "delivered", "shipping", "shipment", "parcel"},
		{"bill", "billing", "invoice", "invoices", "payment", "pay", "refund"},
		{"problem", "issue", "issues", "trouble"},
		{"phone", "telephone", "mobile"},
		{"satisfied", "satisfy"},
		{"available", "availability"},
	} {
		want := Concept(Stem(same[0]))
		for _, w := range same[1:] {
			if got := Concept(Stem(w)); got != want {
				t.Errorf("%q is about %q, but %q is about %q", same[0], want, w, got)
			}
		}
	}
}

func TestWordsAboutDifferentThingsDoNot(t *testing.T) {
	for _, pair := range [][2]string{
		{"party", "person"}, {"open", "order"}, {"menu", "name"}, {"bill", "build"}, {"time", "date"}, {"hour", "house"},
	} {
		if a, b := Concept(Stem(pair[0])), Concept(Stem(pair[1])); a == b {
			t.Errorf("%q and %q are both about %q", pair[0], pair[1], a)
		}
	}
}

func TestTextIsCutIntoTokens(t *testing.T) {
	for text, want := range map[string]string{
		"Four at 7pm, please!":     "four at 7 pm , please !",
		"I don’t know":             "i don't know",
		"O'Brien's dogs' tails":    "o'brien's dogs ' tails",
		"anna.b@example.com":       "anna . b @ example . com",
		"Zoë  naïve\ttab\nline":    "zoë naïve tab line",
		"":                         "",
		"AB1234":                   "ab 1234",
		"twenty-one":               "twenty - one",
		"\xff\xfe broken":          "\xff \xfe broken",
		"one two three four five ": "one two three four five",
	} {
		tokens := Split(text, 100)
		low := make([]string, len(tokens))
		for i, token := range tokens {
			low[i] = token.Low
			if text[token.Start:token.End] != token.Text {
				t.Errorf("%q: token %q is not at its place", text, token.Text)
			}
		}
		if got := strings.Join(low, " "); got != strings.ToLower(want) && got != want && !strings.Contains(text, "\xff") {
			t.Errorf("%q was cut into %q, want %q", text, got, want)
		}
	}
	if n := len(Split(strings.Repeat("word ", 1000), 10)); n != 10 {
		t.Errorf("the limit of 10 tokens gave %d", n)
	}
}

func TestIdentifiersReadAsWords(t *testing.T) {
	for name, want := range map[string]string{
		"party_size": "party size", "partySize": "party size", "party-size": "party size", "Name": "name", "orderNo": "order no", "_x": "x", "": "",
	} {
		if got := Identifier(name); got != want {
			t.Errorf("Identifier(%q) = %q, want %q", name, got, want)
		}
	}
}
