package speech

import "strings"

// withoutAudience takes off who is spoken to.
func withoutAudience(fields []string) []string {
	if len(fields) == 0 {
		return fields
	}
	low := bare(fields[0])
	width := 0
	switch low {
	case "them", "him", "her":
		width = 1
		if low == "her" && len(fields) > 1 && !isWh(bare(fields[1])) && bare(fields[1]) != "for" && bare(fields[1]) != "to" && bare(fields[1]) != "that" && bare(fields[1]) != "if" {
			width = 0
		}
	case "to":
		if len(fields) > 1 {
			if w, own := audience(fields[1:], 0); w > 0 && !own {
				width = w + 1
			}
		}
	default:
		if w, own := audience(fields, 0); !own {
			width = w
		}
		if width == 0 && low != "" && (listener(low) || low == "everyone" || low == "people") && len(fields) > 1 {
			width = 1
		}
	}
	rest := fields[width:]
	if width > 0 && len(rest) > 0 && bare(rest[0]) == "know" {
		rest = rest[1:]
	}
	if width > 0 && len(rest) > 0 && strings.Trim(rest[0], ",:") == "" {
		rest = rest[1:]
	}
	return rest
}

// trimManner takes off how something is to be said.
func trimManner(text string) string {
	text = strings.TrimRight(strings.TrimSpace(text), ",;:. ")
	for {
		before := text
		for _, manner := range [...]string{"politely", "warmly", "briefly", "kindly", "gently", "in a friendly way", "in a friendly manner", "in one sentence",
			"in one short sentence", "in a short sentence", "in a few words", "clearly", "cheerfully", "in a warm tone", "in a friendly tone", "nicely", "first", "very briefly",
			"with a smile", "one at a time", "in your own words", "in a sentence", "as well", "please", "now", "then", "and", "by name", "courteously", "for now"} {
			if n := len(text) - len(manner); n > 0 && text[n-1] == ' ' && strings.EqualFold(text[n:], manner) {
				text = strings.TrimRight(text[:n], ",;: ")
			}
		}
		if text == before {
			return text
		}
	}
}

// withoutBrackets drops asides.
func withoutBrackets(text string) string {
	for {
		open := strings.IndexAny(text, "([")
		if open < 0 {
			return text
		}
		end := strings.IndexAny(text[open:], ")]")
		if end < 0 {
			return text
		}
		text = strings.TrimRight(text[:open], " ") + text[open+end+1:]
	}
}

// quoted is the first quotation in a text.
func quoted(text string) string {
	for _, marks := range [...][2]string{{`"`, `"`}, {"“", "”"}, {"«", "»"}, {" '", "'"}} {
		_, after, ok := strings.Cut(text, marks[0])
		if !ok {
			continue
		}
		if end := strings.LastIndex(after, marks[1]); end > 0 {
			return strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(after[:end], marks[0], ""), marks[1], quoteKept(marks[1])))
		}
	}
	return ""
}

// quoteKept keeps apostrophes inside single quotation marks.
func quoteKept(mark string) string {
	if mark == "'" {
		return mark
	}
	return ""
}
