package secret_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/turnwise/turnwise/internal/secret"
)

func TestSecretsDoNotSurviveInAnyForm(t *testing.T) {
	c := secret.NewCleaner([]string{"sk-proj-abcdefghijklmnop", "tok", "", "token-of-another"})
	for _, test := range []struct{ name, in, want string }{
		{"whole", "key sk-proj-abcdefghijklmnop is wrong", "key [redacted] is wrong"},
		{"cut short", "key sk-proj-abcdef… is wrong", "key [redacted] is wrong"},
		{"masked at the end", "Incorrect API key provided: sk-pr*********mnop. You can", "Incorrect API key provided: [redacted] You can"},
		{"masked in quotes", `"key":"***mnop"`, `"key":"[redacted]"`},
		{"its ends with dots between", "key sk-p...mnop is wrong", "key [redacted] is wrong"},
		{"its ends with an ellipsis", "(sk-…mnop).", "([redacted])."},
		{"its ends with bullets", "sk-••••••••mnop.", "[redacted]"},
		{"its end alone", "key ...klmnop", "key [redacted]"},
		{"dots of another kind", "wait... no, sk-… what", "wait... no, sk-… what"},
		{"short, only whole", "to or not to, tok", "to or not to, [redacted]"},
		{"one that contains another", "token-of-another", "[redacted]"},
		{"stars of another kind", "a ** b", "a ** b"},
		{"control characters", "a\x1b[31m\nb\x00c", "a [31m b c"},
		{"nothing", "", ""},
	} {
		if got := c.Text(test.in); got != test.want {
			t.Errorf("%s: %q became %q, not %q", test.name, test.in, got, test.want)
		}
	}
}

func TestTextsAreBounded(t *testing.T) {
	got := secret.NewCleaner(nil).Text(strings.Repeat("ä", 1000))
	if len(got) > secret.MaxText || !strings.HasSuffix(got, "ä…") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

func TestACleanErrorIsStillTheError(t *testing.T) {
	err := secret.NewCleaner([]string{"EOF"}).Error(io.EOF)
	if err.Error() != "[redacted]" || !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
}
