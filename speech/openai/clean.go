package openai

import (
	"slices"
	"strings"
	"unicode"
)

// maxMessage is the length of the longest error text, in bytes.
const maxMessage = 400

// cleaner makes texts from outside fit for logs.
type cleaner struct{ secrets *strings.Replacer }

func newCleaner(secrets []string) cleaner {
	// A secret that is part of another must not leave the rest of it behind.
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(secrets))
	for _, s := range secrets {
		pairs = append(pairs, s, "[redacted]")
	}
	return cleaner{secrets: strings.NewReplacer(pairs...)}
}

// text is s without secrets and control characters, bounded.
func (c cleaner) text(s string) string {
	s = c.secrets.Replace(s)
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\ufffd"), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if len(s) > maxMessage {
		s = strings.ToValidUTF8(s[:maxMessage-len("…")], "") + "…"
	}
	return s
}

// error gives err a clean text. The error itself can still be found in it.
func (c cleaner) error(err error) error { return &cleanError{text: c.text(err.Error()), err: err} }

type cleanError struct {
	text string
	err  error
}

func (e *cleanError) Error() string { return e.text }
func (e *cleanError) Unwrap() error { return e.err }
