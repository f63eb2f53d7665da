package main

import (
	"strings"
	"testing"

	"github.com/turnwise/turnwise/llm/offline"
)

func TestAConversationThroughAPipe(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), offline.New(offline.Config{}), strings.NewReader("it is L1234\nthe lamp is broken\nthe switch\n/person\n"), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"number of the order", "broken", "A new switch", "A colleague will call you back", "Goodbye!"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the bot never says %q:\n%s", want, &out)
		}
	}
}
