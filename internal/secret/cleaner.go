// Package secret keeps keys out of texts that come from outside, such as what a
// server says of a request it refuses, before they reach a log or a user.
package secret

import (
	"slices"
	"strings"
	"unicode"
)

const (
	// MaxText is the length of the longest text that a [Cleaner] gives, in bytes.
	MaxText = 400
	// redacted stands where a secret was.
	redacted = "[redacted]"
	// telling is how much of a secret's beginning gives it away, in bytes: servers
	// repeat keys cut short. Shorter secrets are found only whole.
	telling = 8
	// tellingEnds is how much of both ends of a secret, together, gives away that
	// what stands between them is a secret with its middle left out.
	tellingEnds = 6
)

// Of are the texts that no error about requests with a key and these headers may hold.
// Of headers it is the words, too, such as the token behind a "Bearer".
func Of(key string, headers map[string]string) []string {
	var out []string
	if len(key) >= 4 {
		out = append(out, key)
	}
	for _, value := range headers {
		for _, word := range append(strings.Fields(value), value) {
			if len(word) >= 8 {
				out = append(out, word)
			}
		}
	}
	return out
}

// Cleaner makes texts from outside fit for logs. It is safe for concurrent use.
type Cleaner struct {
	// secrets are the longest first.
	secrets []string
	// whole replaces them.
	whole *strings.Replacer
	// begins are the telling beginnings of those that are long enough.
	begins []string
}

// NewCleaner makes a cleaner that knows the secrets. Empty ones are ignored.
func NewCleaner(secrets []string) Cleaner {
	secrets = slices.DeleteFunc(slices.Clone(secrets), func(s string) bool { return s == "" })
	// A secret that is part of another must not leave the rest of it behind.
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	c := Cleaner{secrets: secrets}
	pairs := make([]string, 0, 2*len(secrets))
	for _, s := range secrets {
		pairs = append(pairs, s, redacted)
		if len(s) > telling {
			c.begins = append(c.begins, s[:telling])
		}
	}
	c.whole = strings.NewReplacer(pairs...)
	return c
}

// Text is s without secrets, whether whole, cut short or masked, and without control
// characters, bounded to [MaxText].
func (c Cleaner) Text(s string) string {
	s = c.whole.Replace(s)
	for _, begin := range c.begins {
		s = cutShort(s, begin)
	}
	s = c.gaps(masked(s))
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\ufffd"), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if len(s) > MaxText {
		s = strings.ToValidUTF8(s[:MaxText-len("…")], "") + "…"
	}
	return s
}

// cutShort redacts what starts with begin, up to a space or a quotation mark.
func cutShort(s, begin string) string {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(s, begin)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		out.WriteString(redacted)
		s = ""
		if end := strings.IndexAny(after, " \t\r\n\"'"); end >= 0 {
			s = after[end:]
		}
	}
}

// around are the characters that end a word.
const around = " \t\r\n\"'`<>(){},;:="

// masked redacts what servers make of a key that they repeat: some of its
// characters with asterisks for the rest.
func masked(s string) string {
	for from := 0; ; {
		i := strings.Index(s[from:], "***")
		if i < 0 {
			return s
		}
		i += from
		begin := strings.LastIndexAny(s[:i], around) + 1
		end := len(s)
		if n := strings.IndexAny(s[i:], around); n >= 0 {
			end = i + n
		}
		s = s[:begin] + redacted + s[end:]
		from = begin + len(redacted)
	}
}

// gaps redacts words that are both ends of a secret with dots or bullets for the rest.
func (c Cleaner) gaps(s string) string {
	for _, gap := range []string{"...", "…", "••"} {
		for from := 0; ; {
			i := strings.Index(s[from:], gap)
			if i < 0 {
				break
			}
			i += from
			begin := strings.LastIndexAny(s[:i], around) + 1
			last := i + len(s[i:]) - len(strings.TrimLeft(s[i:], ".…•"))
			end := len(s)
			if n := strings.IndexAny(s[last:], around); n >= 0 {
				end = last + n
			}
			from = last
			if c.hasEnds(s[begin:i], strings.TrimRight(s[last:end], ".!?")) {
				s = s[:begin] + redacted + s[end:]
				from = begin + len(redacted)
			}
		}
	}
	return s
}

// hasEnds reports whether a secret has these ends, and they are long enough to tell.
func (c Cleaner) hasEnds(begin, end string) bool {
	return len(begin)+len(end) >= tellingEnds && slices.ContainsFunc(c.secrets, func(s string) bool {
		return len(s) > len(begin)+len(end) && strings.HasPrefix(s, begin) && strings.HasSuffix(s, end)
	})
}

// Error gives err a clean text. The error itself can still be found in it with
// errors.Is and errors.As, and so must not be printed by itself.
func (c Cleaner) Error(err error) error {
	return &cleanError{text: c.Text(err.Error()), err: err}
}

type cleanError struct {
	text string
	err  error
}

func (e *cleanError) Error() string { return e.text }
func (e *cleanError) Unwrap() error { return e.err }
