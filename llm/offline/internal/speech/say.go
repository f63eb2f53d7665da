package speech

import (
	"strings"

	"github.com/turnwise/turnwise/llm/offline/internal/words"
)

// clause adds what one instruction gives to say.
func (s *Script) clause(text string) {
	text = trimManner(withoutLead(withoutBrackets(text)))
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return
	}
	kind := verbKind(bare(fields[0]))
	if kind == metaVerb && !checksWhether(fields) || kind == noVerb {
		return
	}
	if quote := quoted(text); quote != "" {
		s.spoken(quote)
		return
	}
	if before, after, ok := strings.Cut(text, ": "); ok && len(strings.Fields(before)) <= 10 && kind != askVerb {
		s.afterColon(kind, after)
		return
	}
	rest := afterVerb(fields, kind)
	switch kind {
	case greetVerb:
		s.greet(rest)
	case askVerb, getVerb, metaVerb:
		s.ask(rest, kind)
	case tellVerb:
		s.tell(rest)
	case thankVerb:
		s.add(Say, Sentence("thank you "+ToListener(join1(withoutAudience(rest))), "!"))
	case sorryVerb:
		s.apologize(rest)
	case wishVerb:
		s.wish(withoutAudience(rest))
	case offerVerb:
		s.offer(rest)
	case suggestVerb:
		s.add(Offer, ToListener(join1(rest)))
	case recapVerb:
		s.recap(rest)
	case introVerb:
		s.introduce(rest)
	case inviteVerb:
		s.please(withoutAudience(rest))
	case helpVerb:
		s.add(Say, Sentence("let me help you "+ToListener(join1(withoutAudience(rest))), "."))
	case connectVerb:
		s.add(Say, Sentence("I'm connecting you "+ToListener(join1(withoutAudience(rest))), "."))
	case closeVerb:
		s.add(Close, "")
	}
}

func join1(fields []string) string { return strings.Join(fields, " ") }

func (s *Script) spoken(quote string) {
	if strings.HasSuffix(quote, "?") {
		s.add(Ask, quote)
		return
	}
	s.add(Say, Sentence(quote, "."))
}

// afterColon takes what stands behind a colon as it stands.
func (s *Script) afterColon(kind verb, text string) {
	switch kind {
	case recapVerb:
		s.add(Say, Sentence("let me confirm: "+text, "."))
	case offerVerb, suggestVerb:
		s.add(Say, Sentence("I can offer "+lowerFirst(text), "."))
	default:
		s.spoken(strings.TrimSpace(text))
	}
}

func checksWhether(fields []string) bool {
	return len(fields) > 2 && words.Stem(bare(fields[0])) == "check" && (bare(fields[1]) == "if" || bare(fields[1]) == "whether")
}

// afterVerb is what stands behind the verb and its small companion: "find out",
// "read back", "tell them".
func afterVerb(fields []string, kind verb) []string {
	rest := fields[1:]
	for len(rest) > 0 {
		switch w := bare(rest[0]); {
		case w == "out" || w == "back" || w == "over" || w == "again" || w == "politely" || w == "warmly" || w == "briefly" || w == "kindly":
			rest = rest[1:]
		case kind == askVerb && (w == "for" || w == "of"):
			return rest
		default:
			return rest
		}
	}
	return rest
}

func (s *Script) greet(rest []string) {
	for i, w := range rest {
		if bare(w) == "to" && i+1 < len(rest) && i < 4 {
			s.add(Say, Sentence("welcome to "+ToListener(join1(rest[i+1:])), "!"))
			return
		}
	}
	s.add(Greet, "")
}

func (s *Script) ask(rest []string, kind verb) {
	if kind == askVerb {
		rest = withoutAudience(rest)
	}
	if len(rest) == 0 {
		return
	}
	switch bare(rest[0]) {
	case "for":
		s.question(wantedOrWh(rest[1:]))
		return
	case "about":
		s.add(Ask, Sentence("could you tell me about "+ToListener(join1(rest[1:])), "?"))
		return
	case "to":
		s.please(rest)
		return
	}
	text := join1(rest)
	first := bare(rest[0])
	if kind == askVerb && !isWh(first) && first != "if" && first != "whether" && !isPreposition(first) {
		if !beginsNoun(first) && first != "their" && first != "his" && first != "her" {
			text = "the " + text
		}
		s.question(Sentence("what is "+ToListener(text), "?"))
		return
	}
	for _, part := range splitQuestions(text) {
		s.question(Question(part))
	}
}

func wantedOrWh(rest []string) string { return Question(join1(rest)) }

func (s *Script) question(text string) {
	if text != "" {
		s.add(Ask, text)
	}
}

// splitQuestions separates two questions joined by "and": "what broke and how
// they want to go on".
func splitQuestions(text string) []string {
	for _, w := range [...]string{"how", "what", "when", "where", "whether", "if", "who", "which", "why"} {
		for _, link := range [...]string{" and ", ", and ", " and also "} {
			if i := strings.Index(text, link+w+" "); i > 0 {
				return append([]string{text[:i]}, splitQuestions(text[i+len(link):])...)
			}
		}
	}
	return []string{text}
}

func (s *Script) please(rest []string) {
	if len(rest) > 1 && bare(rest[0]) == "to" {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return
	}
	if words.Stem(bare(rest[0])) == "confirm" && len(rest) < 3 {
		s.add(Ask, "Is that right?")
		return
	}
	s.add(Ask, Sentence("please "+ToListener(join1(rest)), "."))
}

func (s *Script) tell(rest []string) {
	rest = withoutAudience(rest)
	if len(rest) == 0 {
		return
	}
	switch first := bare(rest[0]); first {
	case "goodbye", "bye", "farewell", "good-bye":
		s.add(Close, "")
	case "hello", "hi", "good":
		s.add(Greet, "")
	case "thanks", "thank":
		s.add(Say, "Thank you!")
	case "sorry":
		s.add(Say, "I'm sorry.")
	case "that":
		s.add(Say, Sentence(ToListener(join1(rest[1:])), "."))
	case "to":
		s.please(rest)
	case "something", "anything", "nothing":
	case "about", "of", "what", "how", "where", "which", "who", "when", "whether", "if":
		s.add(Values, ToListener(join1(rest[1:])))
	case "a", "an", "one", "some":
		s.add(Values, ToListener(join1(rest[1:])))
	default:
		if hasVerb(rest) {
			s.add(Say, Sentence(ToListener(join1(rest)), "."))
			return
		}
		s.add(Values, ToListener(join1(rest)))
	}
}

// hasVerb guesses whether words make a statement.
func hasVerb(fields []string) bool {
	for i, f := range fields {
		low := bare(f)
		if i > 0 && auxiliary(low) || strings.HasSuffix(low, "'ll") || strings.HasSuffix(low, "'re") {
			return true
		}
		if low == "they" || low == "you" || low == "we" || low == "it" || low == "there" {
			return true
		}
		if i > 1 && !strings.HasSuffix(low, "ss") && strings.HasSuffix(low, "s") && i+1 < len(fields) && isPreposition(bare(fields[i+1])) && bare(fields[i+1]) != "of" {
			return true
		}
	}
	return false
}

func (s *Script) apologize(rest []string) {
	rest = withoutAudience(rest)
	if len(rest) > 0 && bare(rest[0]) == "for" || len(rest) > 0 && bare(rest[0]) == "that" {
		s.add(Say, Sentence("I'm sorry "+ToListener(join1(rest)), "."))
		return
	}
	s.add(Say, "I'm sorry.")
}

func (s *Script) wish(rest []string) {
	switch first := bare(at(rest, 0)); {
	case first == "goodbye" || first == "farewell" || first == "":
		s.add(Close, "")
	case first == "a" || first == "an":
		s.add(Close, Sentence("have "+ToListener(join1(rest)), "!"))
	default:
		s.add(Say, Sentence(ToListener(join1(rest)), "!"))
	}
}

func at(fields []string, i int) string {
	if i < len(fields) {
		return fields[i]
	}
	return ""
}

func (s *Script) offer(all []string) {
	rest := withoutAudience(all)
	switch {
	case len(rest) == 0:
		return
	case bare(rest[0]) == "to" && len(rest) < len(all):
		s.add(Ask, Sentence("would you like "+ToListener(join1(rest)), "?"))
		return
	case bare(rest[0]) == "to":
		s.add(Ask, Sentence("would you like me "+ToListener(join1(rest)), "?"))
		return
	}
	s.add(Offer, ToListener(join1(rest)))
}

// recap reads back; what carries details itself is spoken as it stands.
func (s *Script) recap(rest []string) {
	rest = withoutAudience(rest)
	first := bare(at(rest, 0))
	switch {
	case first == "whether" || first == "if":
		s.question(Question(join1(rest)))
	case first == "that" && len(rest) > 2:
		s.confirmThat(rest[1:])
	case first == "with" || first == "to":
		s.add(Recap, "")
	default:
		what := trimBack(rest)
		if strings.ContainsAny(what, "0123456789") {
			s.add(Say, Sentence("let me confirm: "+ToListener(what), "."))
			return
		}
		s.add(Recap, ToListener(what))
	}
}

func (s *Script) confirmThat(statement []string) {
	switch bare(statement[len(statement)-1]) {
	case "right", "correct", "ok", "okay", "accurate", "fine":
		s.question(polar(strings.Fields(strings.TrimRight(ToListener(join1(statement)), ".,;:!"))))
	default:
		s.add(Say, Sentence(ToListener(join1(statement)), "."))
	}
}

// trimBack takes off "back", "with the guest" and "to them".
func trimBack(fields []string) string {
	for i := 1; i < len(fields); i++ {
		low := bare(fields[i])
		if low == "back" || (low == "with" || low == "to") && len(withoutAudience(fields[i+1:])) < len(fields[i+1:]) {
			return join1(fields[:i])
		}
	}
	return join1(fields)
}

func (s *Script) introduce(rest []string) {
	for i, w := range rest {
		if bare(w) == "as" && i+1 < len(rest) {
			s.add(Say, Sentence("I'm "+ToListener(join1(rest[i+1:])), "."))
			return
		}
	}
}
