package speech

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/turnwise/turnwise/llm/offline/internal/words"
)

// sentences splits a text at the ends of sentences and lines, never inside
// quotation marks.
func sentences(text string) []string {
	var out []string
	start, quote := 0, rune(0)
	add := func(end int) {
		if s := strings.TrimLeft(strings.TrimSpace(text[start:end]), "-*•# "); s != "" {
			out = append(out, withoutNumber(s))
		}
		start = end
	}
	for i, r := range text {
		next := i + utf8.RuneLen(r)
		if r == utf8.RuneError {
			continue
		}
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
				if ends := strings.ContainsRune(".!?", lastRune(text[:i])); ends && startsSentence(text[next:]) {
					add(next)
				}
			}
		case opens(r) != 0 && closesLater(text[next:], opens(r)):
			quote = opens(r)
		case r == '\n':
			add(i)
		case r == ';':
			add(i)
			start = next
		case r == '!' || r == '?' || r == '.' && !abbreviation(text[:i]):
			if startsSentence(text[next:]) {
				add(next)
			}
		}
	}
	add(len(text))
	return out
}

// withoutNumber drops the number of a list item.
func withoutNumber(s string) string {
	digits := strings.TrimLeft(s, "0123456789")
	if len(digits) < len(s) && (strings.HasPrefix(digits, ". ") || strings.HasPrefix(digits, ") ")) {
		return strings.TrimSpace(digits[2:])
	}
	return s
}

func opens(r rune) rune {
	switch r {
	case '"':
		return '"'
	case '“':
		return '”'
	case '«':
		return '»'
	}
	return 0
}

func closesLater(s string, r rune) bool { return strings.ContainsRune(s, r) }

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// startsSentence reports whether what follows an end mark begins something new.
func startsSentence(rest string) bool {
	if rest == "" {
		return true
	}
	trimmed := strings.TrimLeft(rest, " \t\n")
	if len(trimmed) == len(rest) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(trimmed)
	return r == utf8.RuneError || !unicode.IsLower(r)
}

func abbreviation(before string) bool {
	i := strings.LastIndexAny(before, " \n(")
	switch words.Lower(before[i+1:]) {
	case "e.g", "i.e", "mr", "mrs", "ms", "dr", "no", "etc", "st", "a.m", "p.m", "approx", "vs":
		return true
	}
	if len(before) == 0 || i+1 >= len(before) {
		return true
	}
	onlyDigits := strings.Trim(before[i+1:], "0123456789") == ""
	return onlyDigits && (i < 0 || before[i] == '\n')
}

// clauses splits a sentence where another instruction begins: "greet the guest
// and ask for the name" are two. What hangs on a condition is left out.
func clauses(sentence string) []string {
	fields := strings.Fields(sentence)
	var out []string
	start, quoted := 0, false
	for i := 0; i < len(fields); i++ {
		wasQuoted := quoted
		if strings.Count(fields[i], `"`)%2 == 1 {
			quoted = !quoted
		}
		quoted = quoted && !strings.Contains(fields[i], "”") || strings.Contains(fields[i], "“") && !strings.Contains(fields[i], "”")
		if wasQuoted || i == 0 {
			continue
		}
		if !separates(fields, i) {
			continue
		}
		j := skipLinks(fields, i)
		if j >= len(fields) {
			break
		}
		low := bare(fields[j])
		if conditional(low) && (j > i || endsClause(fields[i-1])) && low != "whether" {
			if !(low == "if" && questionVerb(fields[start:i]) && !pauses(fields[j:])) {
				return append(out, strings.Join(fields[start:i], " "))
			}
		}
		if kind := verbKind(low); kind != noVerb {
			out = append(out, strings.Join(fields[start:i], " "))
			start = j
			i = j
		}
	}
	return append(out, strings.Join(fields[start:], " "))
}

// questionVerb reports whether an "if" belongs to the question before it, as in
// "ask for the time and if they need a chair".
func questionVerb(clause []string) bool {
	return len(clause) > 0 && verbKind(bare(clause[0])) == askVerb
}

// pauses reports a comma, behind which stands what a condition is for.
func pauses(fields []string) bool {
	for _, f := range fields {
		if endsClause(f) {
			return true
		}
	}
	return false
}

// separates reports whether a new clause may begin at i.
func separates(fields []string, i int) bool {
	switch bare(fields[i]) {
	case "and", "then", "but", "or":
		return true
	}
	return endsClause(fields[i-1])
}

func endsClause(w string) bool {
	return strings.HasSuffix(w, ",") || strings.HasSuffix(w, ";") || strings.HasSuffix(w, "—") || w == "-" || w == "–"
}

func skipLinks(fields []string, i int) int {
	for i < len(fields) && filler(bare(fields[i])) {
		i++
	}
	return i
}

func filler(w string) bool {
	switch w {
	case "and", "then", "but", "or", "also", "please", "first", "next", "now", "finally", "politely", "warmly", "briefly", "kindly", "gently",
		"lastly", "afterwards", "again", "simply", "just", "once more", "so", "quickly", "clearly", "secondly", "friendly", "cheerfully":
		return true
	}
	return false
}

func bare(w string) string { return strings.Trim(words.Lower(w), ".,;:!?()[]\"“”—") }

func conditional(w string) bool {
	switch w {
	case "if", "when", "once", "after", "unless", "until", "before", "while", "because", "since", "should", "otherwise", "else",
		"whenever", "depending":
		return true
	}
	return false
}

// verb is what an instruction asks the bot to do.
type verb uint8

const (
	noVerb verb = iota
	metaVerb
	greetVerb
	askVerb
	getVerb
	tellVerb
	thankVerb
	sorryVerb
	wishVerb
	offerVerb
	suggestVerb
	recapVerb
	introVerb
	inviteVerb
	helpVerb
	connectVerb
	closeVerb
)

// verbKind classifies a word that may begin an instruction.
func verbKind(w string) verb {
	switch words.Stem(w) {
	case "greet", "welcom":
		return greetVerb
	case "ask", "inquir", "enquir", "question":
		return askVerb
	case "collect", "get", "gather", "obtain", "find", "learn", "determin", "clarif", "establish", "request", "figur", "elicit":
		return getVerb
	case "tel", "inform", "explain", "let", "say", "mention", "announc", "stat", "assur", "reassur", "remind", "advis", "notif", "describ",
		"present", "giv", "list", "warn":
		return tellVerb
	case "thank":
		return thankVerb
	case "apolog", "apologiz", "apologis":
		return sorryVerb
	case "wish", "bid":
		return wishVerb
	case "offer":
		return offerVerb
	case "suggest", "propos", "recommend":
		return suggestVerb
	case "confirm", "read", "repeat", "summariz", "summaris", "recap", "verif", "review", "recit":
		return recapVerb
	case "introduc":
		return introVerb
	case "invit", "encourag", "instruct":
		return inviteVerb
	case "help", "assist":
		return helpVerb
	case "connect", "transfer", "forward", "escalat":
		return connectVerb
	case "end", "clos", "conclud", "finish", "wrap", "hang":
		return closeVerb
	case "be", "keep", "use", "cal", "do", "don't", "never", "avoid", "only", "wait", "answer", "respond", "repl", "speak", "talk", "handl",
		"record", "sav", "stor", "ensur", "mak", "stay", "act", "follow", "listen", "allow", "accept", "always", "not", "tri", "try", "invok",
		"check", "stick", "stop", "mov", "go", "proceed", "continu", "tak", "focus", "pretend", "assum", "treat", "consid", "writ",
		"provid", "start", "begin", "remember", "help's", "without", "look", "set", "updat", "return", "resolv", "understand", "convert", "ignor", "refus":
		return metaVerb
	}
	return noVerb
}
