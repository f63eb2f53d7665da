package main

import "testing"

func TestWhatWouldSteerTheTerminalIsLeftOut(t *testing.T) {
	for text, want := range map[string]string{
		"plain text":                     "plain text",
		"two\nlines\tand a tab":          "two\nlines\tand a tab",
		"Hi \x1b]0;title\x07\x1b[31mred": "Hi ]0;title[31mred",
		"over\rwritten\u009b2J":          "overwritten2J",
		"Grüße, 你好 🙂":                    "Grüße, 你好 🙂",
	} {
		if got := printable(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
