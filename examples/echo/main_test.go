package main

import (
	"strings"
	"testing"
)

func TestWhatIsTypedComesBack(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), strings.NewReader("hello\nworld\n"), &out); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "bot: Type something; end with Ctrl-D.\nbot: hello\nbot: world\n"; got != want {
		t.Errorf("the output is %q, want %q", got, want)
	}
}
