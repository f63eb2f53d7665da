package local

import (
	"slices"
	"strings"
	"unicode"
)

const (
	// maxTail is how much of a program's complaints is kept, in bytes.
	maxTail = 8 << 10
	// maxComplaint is how much of that is told.
	maxComplaint = 400
)

// tail keeps the last bytes that were written to it.
type tail struct{ b []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p[max(0, len(p)-maxTail):]...)
	if extra := len(t.b) - maxTail; extra > 0 {
		t.b = slices.Delete(t.b, 0, extra)
	}
	return len(p), nil
}

// complaint is what is worth telling: the lines that call themselves errors if
// there are some, else the last ones.
func (t *tail) complaint() string {
	text := strings.ToValidUTF8(string(t.b), "\ufffd")
	var errors []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, "ERROR") || strings.Contains(line, "FATAL") {
			errors = append(errors, line)
		}
	}
	if len(errors) > 0 {
		text = strings.Join(errors, " ")
	}
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if extra := len(text) - maxComplaint; extra > 0 {
		text = "…" + strings.ToValidUTF8(text[extra+len("…"):], "")
	}
	return text
}
