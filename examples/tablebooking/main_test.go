package main

import (
	"strings"
	"testing"

	"github.com/turnwise/turnwise/llm/offline"
)

func TestAConversationThroughAPipe(t *testing.T) {
	var out strings.Builder
	in := strings.NewReader("a table for four\ntomorrow at seven in the evening\nAda Lovelace\nyes\n")
	if err := run(t.Context(), offline.New(offline.Config{}), in, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Welcome to the Linden Tree!", "Which day", "name for the booking", "4 people", "Reference: LT-", "Goodbye!"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the bot never says %q:\n%s", want, &out)
		}
	}
}
